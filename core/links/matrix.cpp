// A matrix as text: CSV, TSV or columns of spaces, with or without a row of names above and a column of names on the left.
#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/table.h"
#include "base/text.h"
#include "links/read.h"

namespace fourfold {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity(), kNan = -kInfinite;  // what a cell said, kept until rows have names

bool same_word(std::string_view text, std::string_view lower_case) {
    if (text.size() != lower_case.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i)
        if ((text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i]) != lower_case[i]) return false;
    return true;
}

struct Cell {
    bool is_text = false;
    double value = kNotMeasured;  // or kInfinite, kNan
    const Unit* unit = nullptr;   // written behind the number
};

Cell read_cell(std::string_view cell, char separator) {
    Cell result;
    if (const auto number = number_of(cell)) {
        result.value = *number;
        return result;
    }
    for (const std::string_view nothing : {"", "-", "--", "x", "na", "n/a", "null", "none"})
        if (same_word(cell, nothing)) return result;
    for (const std::string_view infinite : {"inf", "+inf", "-inf", "infinity", "\u221e"})
        if (same_word(cell, infinite)) result.value = kInfinite;
    if (same_word(cell, "nan")) result.value = kNan;
    if (!std::isnan(result.value)) return result;
    std::size_t end = 0, length = 0;
    while (end < cell.size() && ((cell[end] >= '0' && cell[end] <= '9') || cell[end] == '.' || cell[end] == ',' || cell[end] == '-')) ++end;
    const std::string_view rest = trimmed(cell.substr(end));
    result.unit = unit_at(rest, length);
    const auto number = number_of(with_point(cell.substr(0, end), separator));
    result.is_text = !number || (!rest.empty() && (result.unit == nullptr || length != rest.size()));
    if (result.is_text)
        result.unit = nullptr;
    else
        result.value = *number;
    return result;
}

class MatrixReader {
 public:
    MatrixReader(const Unit* chosen, FirstProblems& problems) : chosen_(chosen), problems_(problems) {}

    Measured read(std::string_view text) {
        read_rows(text);
        if (!lines_.empty()) arrange();
        if (header_is_a_row()) {
            name_words_of_header();
            return {};
        }
        if (lines_.size() < kFewestUnits) {
            problems_.add("text", "missing", nullptr, "problem.matrix.none", "suggestion.matrix.rows");
            return {};
        }
        if (looks_like_prose()) return {};
        if (!is_square()) return {};
        take_names();
        take_values();
        take_unit();
        return std::move(measured_);
    }

 private:
    struct Place {
        std::size_t row, column;
        std::string_view text;
    };
    struct Ragged {
        std::size_t row, cells;
    };

    void read_rows(std::string_view text) {
        std::vector<std::string_view> cells;
        for (Lines lines(text); lines.next();) {
            const std::string_view bare = trimmed(lines.line);
            if (bare.empty()) continue;
            if (bare.front() == '#' || bare.front() == '%' || bare.starts_with("//")) {
                find_units(bare, said_);
                continue;
            }
            if (lines_.size() > kMostUnits + 1) {
                ++lines_left_out_;
                continue;
            }
            if (separator_ == '\0') separator_ = separator_of(lines.line);
            split_cells(lines.line, separator_, cells, kMostCells);
            add_row(lines.line, lines.number, cells);
        }
    }

    void add_row(std::string_view line, std::size_t number, const std::vector<std::string_view>& cells) {
        if (lines_.empty() && header_.empty() && cells.size() <= kMostUnits + 1) {
            for (std::size_t i = 1; i < cells.size(); ++i)
                if (read_cell(cells[i], separator_).is_text) {
                    header_ = cells;
                    header_line_ = number;
                    find_units(line, said_);
                    return;
                }
        }
        if (lines_.empty()) columns_ = std::min(cells.size(), kMostUnits + 2), top_ = cells;
        if (lines_.size() == 1 && header_.empty() && cells.size() == top_.size() + 1) {  // the names above are numbers
            header_ = top_;
            lines_.clear(), first_.clear(), values_.clear();
            columns_ = cells.size();
        }
        const std::size_t row = lines_.size();
        lines_.push_back(number);
        first_.push_back(cells.empty() ? std::string_view() : cells[0]);
        if (cells.size() != columns_) ragged_.push_back({row, cells.size()});
        values_.resize(values_.size() + columns_, kNotMeasured);
        double* values = values_.data() + values_.size() - columns_;
        for (std::size_t i = 0; i < std::min(cells.size(), columns_); ++i) {
            const Cell cell = read_cell(cells[i], separator_);
            values[i] = cell.value;
            ++cells_;
            if (cell.is_text) ++(i == 0 ? text_on_left_ : text_cells_);
            if (cell.is_text) i == 0 ? add_odd(odd_first_, row, i, cells[i]) : add_odd(odd_, row, i, cells[i]);
            if (cell.unit != nullptr) add_unit(row, i, cell.unit);
            if (i + 1 == columns_ && !cells[i].empty()) last_is_empty_ = false;
        }
    }

    static void add_odd(std::vector<Place>& list, std::size_t row, std::size_t column, std::string_view text) {
        if (list.size() <= FirstProblems::kMost) list.push_back({row, column, text});
    }

    void add_unit(std::size_t row, std::size_t column, const Unit* unit) {
        if (cell_unit_ == nullptr) cell_unit_ = unit;
        if (unit != cell_unit_ && other_units_.size() < FirstProblems::kMost) other_units_.push_back({row, column, unit->id});
    }

    void drop_first_row() {
        for (const std::string_view cell : top_) header_.push_back(cell);
        lines_.erase(lines_.begin());
        first_.erase(first_.begin());
        values_.erase(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(columns_));
        for (auto* list : {&odd_, &odd_first_, &other_units_}) {
            std::erase_if(*list, [](const Place& place) { return place.row == 0; });
            for (Place& place : *list) --place.row;
        }
        std::erase_if(ragged_, [](const Ragged& ragged) { return ragged.row == 0; });
        for (Ragged& ragged : ragged_) --ragged.row;
    }

    // 0, 1, 2 … or 1, 2, 3 …, as a table has that was written with its index.
    bool counts(std::size_t first, std::size_t step, std::size_t count) const {
        if (count < kFewestUnits || (values_[first] != 0 && values_[first] != 1)) return false;
        for (std::size_t i = 0; i < count; ++i)
            if (values_[first + i * step] != values_[first] + static_cast<double>(i)) return false;
        return true;
    }

    // Where the names are.
    void arrange() {
        const bool last_is_empty = last_is_empty_ && columns_ > 1;
        if (header_.empty()) {
            const std::size_t rows = lines_.size();
            const bool both =
                rows == columns_ && std::isnan(values_[0]) && counts(1, 1, columns_ - 1) && counts(columns_, columns_, rows - 1);
            named_ = both;
            if (both || (rows == columns_ + 1 && counts(0, 1, columns_))) drop_first_row();
        }
        const std::size_t rows = lines_.size();
        const bool numbers_on_left = columns_ == rows + 1 && !last_is_empty && (!header_.empty() || counts(0, columns_, rows));
        named_ = named_ || (text_on_left_ > 0 && columns_ != rows) || numbers_on_left;
        width_ = columns_ - (named_ ? 1 : 0);
        if (width_ == rows + 1 && last_is_empty) --width_;  // a separator behind the last value
        if (!named_) odd_.insert(odd_.begin(), odd_first_.begin(), odd_first_.end());
    }

    // A line with numbers was taken for the row of names because a word stands in it; now a row is missing, or the names do not match.
    bool header_is_a_row() const {
        const auto is_number = [](std::string_view cell) { return number_of(cell).has_value(); };
        const std::size_t names = text_on_left_ > 0 ? 1 : 0;
        if (header_.size() != columns_ || columns_ != lines_.size() + 1 + names) return false;
        if (names == 0 && std::equal(first_.begin(), first_.end(), header_.begin() + 1)) return false;
        return std::any_of(header_.begin() + static_cast<std::ptrdiff_t>(names), header_.end(), is_number);
    }

    void name_words_of_header() {
        for (std::size_t i = text_on_left_ > 0 ? 1 : 0; i < header_.size(); ++i)
            if (read_cell(header_[i], separator_).is_text)
                problems_.add("text", "type", shown(header_[i]),
                              Text("problem.matrix.word").with("line", header_line_).with("word", shown(header_[i])),
                              "suggestion.matrix.gap");
    }

    bool looks_like_prose() {
        if ((text_cells_ + text_on_left_) * 2 <= cells_) return false;
        problems_.add("text", "syntax", nullptr, "problem.matrix.prose", "suggestion.matrix.formats");
        return true;
    }

    bool is_square() {
        for (const Ragged& ragged : ragged_) {
            if (!problems_.keeps_more()) break;
            Text message("problem.matrix.row_length");
            message.with("line", lines_[ragged.row]).with("values", ragged.cells).with("columns", columns_);
            problems_.add("text", "square", static_cast<std::int64_t>(ragged.cells), std::move(message), "suggestion.matrix.row_length");
        }
        if (lines_.size() + lines_left_out_ > kMostUnits + 1 || width_ > kMostUnits)
            problems_.add("text", "range", nullptr, Text("problem.matrix.too_many").with("most", kMostUnits), "suggestion.links.nodes");
        else if (ragged_.empty() && width_ != lines_.size())
            problems_.add("text", "square", nullptr, Text("problem.matrix.not_square").with("rows", lines_.size()).with("columns", width_),
                          "suggestion.matrix.square");
        return ragged_.empty() && width_ == lines_.size() && width_ <= kMostUnits;
    }

    void take_names() {
        std::vector<std::string>& names = measured_.links.names;
        std::vector<std::string_view> above;
        if (header_.size() >= width_) above.assign(header_.end() - static_cast<std::ptrdiff_t>(width_), header_.end());
        if (header_.size() == width_ + 1 && header_.back().empty() && !named_)  // a separator behind the last name
            above.assign(header_.begin(), header_.end() - 1);
        if (!header_.empty() && (header_.size() < width_ || header_.size() > width_ + 1))
            problems_.add("text", "square", static_cast<std::int64_t>(header_.size()),
                          Text("problem.matrix.names").with("names", header_.size()).with("columns", width_), {});
        for (std::size_t i = 0; i < width_; ++i) {
            const std::string_view left = named_ ? first_[i] : std::string_view();
            if (named_ && !above.empty() && left != above[i])
                problems_.add(
                    "text", "unknown", shown(left),
                    Text("problem.matrix.other_name").with("number", i + 1).with("row", shown(left)).with("column", shown(above[i])),
                    "suggestion.matrix.same_names");
            if (named_)
                names.emplace_back(left);
            else if (!above.empty())
                names.emplace_back(above[i]);
            else
                names.push_back(joined({"node", std::to_string(i)}));
        }
        if (!named_ && header_.empty()) measured_.notes.emplace_back("note.matrix.no_names");
    }

    // What is said of the link at a place of the table.
    Text of_cell(const char* id, const Place& place) const {
        return of_link(id, measured_.links.names, place.row, place.column - (named_ ? 1 : 0));
    }

    void take_values() {
        std::vector<double>& rates = measured_.links.byte_per_s;
        rates.resize(width_ * width_);
        for (const Place& odd : odd_)
            if (odd.column - (named_ ? 1 : 0) < width_)
                problems_.add("text", "type", shown(odd.text), of_cell("problem.link.word", odd).with("word", shown(odd.text)),
                              "suggestion.matrix.gap");
        for (std::size_t i = odd_.size(); i < text_cells_ + (named_ ? 0 : text_on_left_); ++i) problems_.count();
        for (std::size_t from = 0; from < width_; ++from)
            for (std::size_t to = 0; to < width_; ++to) {
                double value = values_[from * columns_ + to + (named_ ? 1 : 0)];
                if (from == to) value = 0;
                if (std::isinf(value)) {
                    if (problems_.keeps_more())
                        problems_.add("text", "range", value > 0 ? "inf" : "nan",
                                      of_link(value > 0 ? "problem.rate.infinite" : "problem.rate.nan", measured_.links.names, from, to),
                                      "suggestion.rate.again_or_dash");
                    else
                        problems_.count();
                    value = kNotMeasured;
                }
                rates[from * width_ + to] = value;
            }
    }

    void take_unit() {
        if (cell_unit_ != nullptr && chosen_ != nullptr && chosen_ != cell_unit_)
            problems_.add("unit", "unit", chosen_->id,
                          Text("problem.unit.written").with("unit", cell_unit_->label()).with("chosen", chosen_->label()),
                          "suggestion.unit.auto");
        for (const Place& other : other_units_)
            problems_.add("text", "unit", other.text,
                          of_cell("problem.unit.mixed", other).with("unit", Text("unit", other.text)).with("first", cell_unit_->label()),
                          "suggestion.unit.one");
        if (chosen_ == nullptr && cell_unit_ == nullptr && said_.size() > 1)
            problems_.add("unit", "unit", nullptr,
                          Text("problem.unit.several").with("first", said_[0]->label()).with("second", said_[1]->label()),
                          "suggestion.unit.choose");
        measured_.unit = chosen_ != nullptr ? chosen_ : cell_unit_ != nullptr ? cell_unit_ : said_.size() == 1 ? said_[0] : nullptr;
        measured_.unit_source = chosen_ != nullptr ? kChosen : kSaidByFile;
        if (chosen_ != nullptr && said_.size() == 1 && said_[0] != chosen_)
            measured_.notes.push_back(Text("note.unit.chosen").with("said", said_[0]->label()).with("chosen", chosen_->label()));
        if (measured_.unit == nullptr && said_.empty()) ask_for_unit();
        const double scale = measured_.unit != nullptr ? measured_.unit->byte_per_s : 1;
        for (double& value : measured_.links.byte_per_s) value *= scale;
        if (measured_.unit != nullptr) return;
        for (std::size_t i = 0; i < width_ * width_; ++i)  // what is wrong in every unit
            if (i / width_ != i % width_ && measured_.links.byte_per_s[i] <= 0)
                check_rate(measured_.links.byte_per_s[i], measured_.links.names, i / width_, i % width_, "text", problems_);
    }

    // Names the units that would make an ordinary link of the middle number.
    void ask_for_unit() {
        std::vector<double> known;
        for (const double value : measured_.links.byte_per_s)
            if (value > 0) known.push_back(value);
        if (known.empty()) return;                                     // each number is a problem already
        constexpr double kLeast = 0.3e9, kMost = 1e12, kUsual = 25e9;  // B/s: 2.5 Gbit Ethernet, NVLink, a port of InfiniBand HDR
        const double middle = median(std::move(known));
        Json candidates = Json::array();
        const Unit* best = nullptr;
        const auto distance = [&](const Unit* unit) { return std::abs(std::log2(middle * unit->byte_per_s / kUsual)); };
        for (const char* id : {"gbyte_per_s", "gbit_per_s", "mbyte_per_s", "mbit_per_s", "byte_per_s"}) {
            const Unit* unit = unit_of_id(id);
            const double rate = middle * unit->byte_per_s;
            if (rate < kLeast || rate > kMost) continue;
            candidates.push_back(Text("suggestion.unit.candidate").with("unit", unit->label()).with("rate", rate).json());
            if (best == nullptr || distance(unit) < distance(best)) best = unit;
        }
        Text suggestion(best == nullptr ? "suggestion.unit.unusual" : "suggestion.unit.likely");
        suggestion.with("middle", middle);
        if (best != nullptr) suggestion.with("units", std::move(candidates)).with("best", best->label());
        problems_.add("unit", "unit", nullptr, "problem.unit.none", std::move(suggestion));
    }

    const Unit* chosen_;
    FirstProblems& problems_;
    Measured measured_;
    char separator_ = '\0';
    std::vector<std::string_view> header_, top_, first_;
    std::vector<std::size_t> lines_;  // the line of each row
    std::vector<double> values_;      // rows of columns_
    std::vector<Ragged> ragged_;
    std::vector<Place> odd_, odd_first_, other_units_;
    std::vector<const Unit*> said_;
    const Unit* cell_unit_ = nullptr;
    std::size_t columns_ = 0, width_ = 0, header_line_ = 0, lines_left_out_ = 0, text_cells_ = 0, text_on_left_ = 0, cells_ = 0;
    bool last_is_empty_ = true, named_ = false;
};

}  // namespace

Measured read_matrix_text(std::string_view text, const Unit* chosen, FirstProblems& problems) {
    return MatrixReader(chosen, problems).read(text);
}

}  // namespace fourfold
