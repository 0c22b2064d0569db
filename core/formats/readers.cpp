// Which format a list of settings is in: its keys tell.
#include <algorithm>

#include "formats/read_jobs.h"
#include "formats/readers.h"

namespace fourfold {

// The more particular ones first: a file of Primus has the names of Megatron-LM too.
static constexpr FormatReader kReaders[] = {
    {"primus", primus_likeness, read_primus},
    {"nanotron", nanotron_likeness, read_nanotron},
    {"torchtitan", torchtitan_likeness, read_torchtitan},
    {"gpt-neox", neox_likeness, read_neox},
    {"axolotl", axolotl_likeness, read_axolotl},
    {"llama-factory", llama_factory_likeness, read_llama_factory},
    {"transformers", transformers_likeness, read_transformers},
    {"llm-foundry", foundry_likeness, read_foundry},
    {"maxtext", maxtext_likeness, read_maxtext},
    {"accelerate", accelerate_likeness, read_accelerate},
    {"deepspeed", deepspeed_likeness, read_deepspeed},
    {"nemo-1", nemo1_likeness, read_nemo1},
    {"megatron-bridge", bridge_likeness, read_bridge},
    {"nemo-2", nemo2_likeness, read_nemo2},
    {"megatron-lm", megatron_yaml_likeness, read_megatron_yaml},
};

int count_like(const std::vector<Entry>& entries, std::initializer_list<std::string_view> patterns) {
    return static_cast<int>(std::count_if(entries.begin(), entries.end(), [&](const Entry& entry) {
        return std::any_of(patterns.begin(), patterns.end(), [&](std::string_view one) { return matches(one, entry.key); });
    }));
}

const FormatReader* reader_of(const std::vector<Entry>& entries) {
    const auto found =
        std::find_if(std::begin(kReaders), std::end(kReaders), [&](const FormatReader& one) { return one.likeness(entries) > 0; });
    return found == std::end(kReaders) ? nullptr : &*found;
}

const FormatReader* reader_called(std::string_view id) {
    const auto found = std::find_if(std::begin(kReaders), std::end(kReaders), [&](const FormatReader& one) { return one.id == id; });
    return found == std::end(kReaders) ? nullptr : &*found;
}

std::optional<ReadJobs> read_setting_jobs(std::vector<Entry> entries, const NamesSet& set) {
    const FormatReader* reader = reader_of(entries);
    if (reader == nullptr) return std::nullopt;
    ReadJobs read{std::string(reader->id), true, {}, {}};
    for (auto& [title, part] : parts_of(std::move(entries))) {
        ReadJob job;
        job.title = title;
        job.line = part.empty() ? 0 : part[0].line;
        job.in.entries = std::move(part);
        job.in.answers = set;
        reader->read(job.in);
        read.jobs.push_back(std::move(job));
    }
    return read;
}

}  // namespace fourfold
