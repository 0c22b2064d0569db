#include "job/config_format.h"

#include <algorithm>

namespace fourfold {

static constexpr ConfigFormatRow kRows[] = {
    {"megatron-lm", "megatron", "Megatron-LM", "sh", {}, true},
    {"megatron-lm-slurm", "sbatch", "Megatron-LM", "sh", "megatron-lm", true},
    {"megatron-bridge", "bridge", "Megatron-Bridge", "txt"},
    {"nemo-2", "nemo2", "NeMo 2", "sh"},
    {"torchtitan", "torchtitan", "torchtitan", "toml"},
    {"nanotron", "nanotron", "nanotron", "yaml"},
    {"deepspeed", "deepspeed", "DeepSpeed", "json"},
    {"accelerate", "accelerate", "accelerate", "yaml"},
};
const std::span<const ConfigFormatRow> kConfigFormats = kRows;

static constexpr Choice kReleases[] = {{"0.9"},  {"0.10"}, {"0.11"}, {"0.12"}, {"0.13"}, {"0.14"},
                                       {"0.15"}, {"0.16"}, {"0.17"}, {"0.18"}, {"0.19"}};
const std::span<const Choice> kReleaseChoices = kReleases;

static void read_hosts(FieldReader& reader, ExportAsked& asked, Problems& problems) {
    constexpr std::size_t kMost = 100'000;
    const Json* given = reader.any("hosts");
    if (given == nullptr || given->is_null()) return;
    const bool fine = given->is_array() && given->size() <= kMost &&
                      std::all_of(given->begin(), given->end(), [](const Json& one) { return one.is_string(); });
    if (!fine) {
        problems.push_back({"hosts", "type", nullptr, "problem.export_hosts", {}, nullptr});
        return;
    }
    for (const Json& one : *given) asked.hosts.push_back(one.get<std::string>());
}

ExportAsked read_export(FieldReader& reader, Problems& problems) {
    ExportAsked asked;
    std::vector<Choice> names;  // those that are told; both are taken
    for (const ConfigFormatRow& row : kRows) names.push_back({row.name});
    const std::string* given = reader.text("format");
    const auto is_given = [&](const ConfigFormatRow& row) { return given != nullptr && (row.name == *given || row.id == *given); };
    const auto named = std::find_if(std::begin(kRows), std::end(kRows), is_given);
    if (named == std::end(kRows))
        reader.choice({"format"}, asked.format, names);
    else
        asked.format = static_cast<ConfigFormat>(named - std::begin(kRows));
    const ConfigFormatRow& row = kRows[static_cast<std::size_t>(asked.format)];
    reader.choice({"release"}, asked.release, kReleaseChoices);
    read_hosts(reader, asked, problems);
    reader.boolean({"whole|-"}, asked.whole);
    const auto elsewhere = [&](const char* field, const char* format) {
        problems.push_back({field, "not_here", nullptr, Text("problem.export_elsewhere").with("label", row.label),
                            Text("suggestion.export_format").with("format", format), nullptr});
    };
    if (asked.release >= 0 && !row.has_releases) elsewhere("release", "megatron-lm");
    if (!asked.hosts.empty() && row.slurm_of.empty()) elsewhere("hosts", "megatron-lm-slurm");
    return asked;
}

Json describe_config_formats() {
    Json all = Json::array(), releases = Json::array();
    for (const Choice& one : kReleases) releases.push_back(one.id);
    for (const ConfigFormatRow& row : kRows)
        all.push_back(Object()
                          .add("id", row.id)
                          .add("name", row.name)
                          .add("label", row.label)
                          .add("ending", row.ending)
                          .add("slurm_of", row.slurm_of.empty() ? Json() : Json(row.slurm_of))
                          .add("releases", row.has_releases ? releases : Json::array()));
    return all;
}

}  // namespace fourfold
