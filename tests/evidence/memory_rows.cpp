#include "evidence/memory_rows.h"

#include <cmath>
#include <cstdio>

namespace fourfold::tests {

void Residuals::add(double estimated, double measured, const std::string& id) {
    const double error = estimated / measured - 1;
    ++rows;
    sum += std::abs(error);
    signed_sum += error;
    if (std::abs(error) > most) most = std::abs(error), worst = id;
}

bool is_memory_row(const EvidenceRow& row) { return row.row.contains("peak_bytes") && row.row.contains("stage"); }

std::map<std::string, MemoryResiduals> memory_residuals(const std::vector<AnsweredRow>& rows) {
    std::map<std::string, MemoryResiduals> families;
    for (const auto& [source, row, answer] : rows) {
        const auto stage = row->row.value("stage", std::size_t{0});
        if (!is_memory_row(*row) || stage >= answer.peak_bytes.size()) continue;
        MemoryResiduals& family = families[row->row.value("family", source->name)];
        const double peak = row->row["peak_bytes"], between = row->row.value("static_bytes", 0.0);
        family.peak.add(answer.peak_bytes[stage], peak, row->id);
        (row->row.value("large", false) ? family.peak_large : family.peak_small).add(answer.peak_bytes[stage], peak, row->id);
        if (between > 0) family.between.add(answer.static_bytes[stage], between, row->id);
    }
    return families;
}

std::string memory_table(const std::map<std::string, MemoryResiduals>& families) {
    std::string table;
    const auto line = [&](const std::string& name, const char* what, const Residuals& r) {
        if (r.rows == 0) return;
        char text[200];
        std::snprintf(text, sizeof text, "%-20s %-14s %4d rows  mean %6.3f %%  most %7.3f %%  bias %+7.3f %%  ", name.c_str(), what, r.rows,
                      100 * r.mean(), 100 * r.most, 100 * r.bias());
        table += text + r.worst + "\n";
    };
    for (const auto& [name, family] : families) {
        line(name, "peak", family.peak);
        line(name, "peak, small", family.peak_small);
        line(name, "peak, large", family.peak_large);
        line(name, "between steps", family.between);
    }
    return table;
}

}  // namespace fourfold::tests
