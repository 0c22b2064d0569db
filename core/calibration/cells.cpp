#include "calibration/cells.h"

#include <algorithm>

#include "base/table.h"

namespace fourfold {

const Measure* measure_of(std::string_view key) {
    for (const Measure& measure : kMeasures)
        if (measure.key == key) return &measure;
    return nullptr;
}

namespace {

// "12k" is 12,000: what follows the letter is the unit.
double take_thousands(std::string_view& unit) {
    const char letter = unit.empty() ? ' ' : unit[0];
    if (letter != 'k' && letter != 'K' && letter != 'M') return 1;
    unit = trimmed(unit.substr(1));
    return letter == 'M' ? 1e6 : 1e3;
}

// Whether a value with such a unit may stand in such a column; "tokens/s" leaves open of how many GPUs.
bool fits(MeasuredIn unit, MeasuredIn column) {
    return unit == column || (is_memory(unit) && is_memory(column)) || (unit == MeasuredIn::tokens && column == MeasuredIn::tokens_per_gpu);
}

// 0: it is none, or measures something else.
double factor_of(std::string_view unit, const Measure& column) {
    constexpr double kPercentAsShare = 1e-2, kMinute = 60, kPeta = 1e3;  // of seconds, of tera
    if (unit == "%") return column.what == MeasuredIn::mfu ? kPercentAsShare : 0;
    if (unit == "min") return column.what == MeasuredIn::seconds ? kMinute / column.unit : 0;
    if (unit.substr(0, 5) == "PFLOP") return kPeta * factor_of("T" + std::string(unit.substr(1)), column);
    const Measure* const of =
        measure_of(unit == "MB" ? "allocated_mib" : ColumnNames::known().key_of(unit));  // a column "mb" has micro-batches
    return of != nullptr && fits(of->what, column.what) ? of->unit / column.unit : 0;
}

// 0 where the unit is none of the column's.
double scale_of(std::string_view unit, const Measure& column) {
    if (unit.empty()) return 1;
    if (const double factor = factor_of(unit, column); factor > 0) return factor;
    const double thousands = take_thousands(unit);
    return thousands == 1 ? 0 : unit.empty() ? thousands : thousands * factor_of(unit, column);
}

}  // namespace

void join_units(const RunColumns& columns, std::vector<std::string_view>& cells) {
    if (columns.separator != ' ' || cells.size() <= columns.keys.size()) return;
    std::size_t kept = 0;
    for (const std::string_view cell : cells) {
        const Measure* const column = kept > 0 && kept <= columns.keys.size() ? measure_of(columns.keys[kept - 1]) : nullptr;
        if (column != nullptr && !cell.empty() && scale_of(cell, *column) > 0)
            cells[kept - 1] = {cells[kept - 1].data(), static_cast<std::size_t>(cell.data() + cell.size() - cells[kept - 1].data())};
        else
            cells[kept++] = cell;
    }
    cells.erase(cells.begin() + static_cast<std::ptrdiff_t>(kept), cells.end());
}

// "1,024" may mean either and stays a text, which the reader is asked about.
Json cell_value(std::string_view cell, std::string_view key, char separator) {
    const std::size_t end = std::min(cell.find_first_not_of("-+0123456789.,eE"), cell.size());
    const std::string_view unit = trimmed(cell.substr(end));
    const Measure* const column = measure_of(key);
    const double scale = column != nullptr ? scale_of(unit, *column) : unit.empty() ? 1 : 0;
    const auto number = number_of(with_point(trimmed(cell.substr(0, end)), separator));
    if (number && scale > 0) return *number * scale;
    if (cell == "true" || cell == "false") return cell == "true";
    return cell;
}

}  // namespace fourfold
