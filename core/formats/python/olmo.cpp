// OLMo-core 01157a0d3 (src/olmo_core/internal/experiment.py, train/train_module/transformer/config.py) and before: what the arguments of
// its objects are called among the settings of OLMo.
#include "formats/python/olmo.h"

#include <algorithm>

#include "base/text.h"
#include "formats/python/arguments.h"
#include "formats/readers.h"

namespace fourfold {

namespace {

constexpr PythonObject kOlmoObjects[] = {
    {"TransformerTrainModuleConfig", "module."},
    {"TransformerPipelineTrainModuleConfig", "module."},
    {"TransformerDataParallelConfig", "dp."},
    {"DataParallelConfig", "dp."},
    {"TransformerTensorParallelConfig", "tp."},
    {"TensorParallelConfig", "tp."},
    {"TransformerContextParallelConfig", "cp."},
    {"TransformerPipelineParallelConfig", "pp."},
    {"TransformerActivationCheckpointingConfig", "ac."},
    {"TrainerConfig", "module."},  // which held the micro-batch before
    {"NumpyDatasetConfig", "data."},
    {"NumpyFSLDatasetConfig", "data."},
    {"NumpyDataLoaderConfig", "loader."},
    {"Float8Config", "float8."},
    {"main", "main."},
    {"partial", "main."},  // of build_config
    {"build_config", "main."},
    {"build_common_components", "main."},
};
// Their arguments, and the settings that they are.
struct OlmoArgument {
    std::string_view theirs, ours;
};
constexpr OlmoArgument kOlmoArguments[] = {
    {"module.rank_microbatch_size", "rank_microbatch_size"},
    {"module.max_sequence_length", "max_sequence_length"},
    {"data.sequence_length", "max_sequence_length"},
    {"main.sequence_length", "max_sequence_length"},
    {"main.max_sequence_length", "max_sequence_length"},
    {"loader.global_batch_size", "global_batch_size"},
    {"main.global_batch_size", "global_batch_size"},
    {"dp.name", "fsdp.sharding_strategy"},
    {"dp.num_replicas", "fsdp.hybrid_sharding_num_model_replicas"},
    {"dp.param_dtype", "precision"},
    {"dp.reduce_dtype", "fsdp.precision"},
    {"ac.mode", "activation_checkpointing"},
    {"tp.degree", "tp.degree"},
    {"cp.degree", "cp.degree"},
    {"pp.degree", "pp.degree"},
    {"float8.enabled", "float8.enabled"},
};
// Members of its enumerations by the words of OLMo's.
constexpr OlmoArgument kOlmoMembers[] = {
    {"bfloat16", "amp_bf16"}, {"float16", "amp_fp16"}, {"hsdp", "HYBRID_SHARD"}, {"fsdp", "FULL_SHARD"}, {"ddp", "NO_SHARD"}};

void name_olmo_member(Entry& entry) {
    if (entry.open.size() != 1 || entry.open[0].find('.') == std::string::npos) return;
    const std::string member = last_part(entry.open[0]);
    const std::string kind = entry.open[0].substr(0, entry.open[0].find('.'));
    if (kind != "DataParallelType" && kind != "DType" && !kind.ends_with("Mode")) return;
    entry.open.clear();
    entry.value = member;
    if (entry.key == "fsdp.precision") {
        entry.value = member == "float32" ? "mixed" : "pure";
        return;
    }
    for (const auto& [theirs, ours] : kOlmoMembers)
        if (member == theirs) entry.value = std::string(ours);
}

// "TransformerConfig.olmo2_7B(": how a model of that name is made.
bool makes_model(const PythonTokens& tokens, std::size_t at) {
    constexpr std::string_view kMaker = "TransformerConfig.";
    if (tokens[at].kind != PythonToken::name || !has_sign_at(tokens, at + 1, "(")) return false;
    const std::size_t begin = tokens[at].value.rfind(kMaker);
    return begin != std::string::npos && tokens[at].value.find('.', begin + kMaker.size()) == std::string::npos &&
           (begin == 0 || tokens[at].value[begin - 1] == '.');
}

// Where the number begins in "Duration.tokens(4e12)" and "Duration(int(4e12), DurationUnit.tokens)".
void add_length(const PythonTokens& tokens, std::size_t at, const PythonArguments& reader, std::vector<Entry>& entries) {
    constexpr std::pair<std::string_view, const char*> kUnits[] = {{"tokens", "train_tokens"}, {"steps", "train_iters"}};
    if (!is_token(tokens, at, PythonToken::name, "max_duration") || !has_sign_at(tokens, at + 1, "=") || !has_sign_at(tokens, at + 3, "("))
        return;
    const bool whole = is_token(tokens, at + 4, PythonToken::name, "int");
    const std::size_t number = at + (whole ? 6 : 4), unit = number + (whole ? 3 : 2);
    const bool apart = tokens[at + 2].value == "Duration";
    if (number >= tokens.size() || (apart && unit >= tokens.size())) return;
    for (const auto& [name, key] : kUnits)
        if (tokens[apart ? unit : at + 2].value == joined({apart ? "DurationUnit." : "Duration.", name}))
            if (const auto value = reader.value_at(number); value && number_in(*value))
                entries.push_back({key, "max_duration", *value, tokens[at].line});
}

// "rank_microbatch_size=2 * common.max_sequence_length": so many sequences, however long they are.
void add_sequences(const PythonTokens& tokens, std::size_t at, std::vector<Entry>& entries) {
    if (!is_token(tokens, at, PythonToken::name, "rank_microbatch_size") || !has_sign_at(tokens, at + 1, "=") || at + 5 >= tokens.size())
        return;
    const bool times = tokens[at + 2].kind == PythonToken::number && has_sign_at(tokens, at + 3, "*");
    const std::size_t length = at + (times ? 4 : 2);
    const bool alone = has_sign_at(tokens, length + 1, ",") || has_sign_at(tokens, length + 1, ")");
    if (tokens[length].kind == PythonToken::name && tokens[length].value.ends_with(".max_sequence_length") && alone)
        entries.push_back(
            {"rank_sequences", "rank_microbatch_size", times ? python_number(tokens[at + 2].value) : Json(1), tokens[at].line});
}

}  // namespace

std::optional<ReadJobs> read_python_olmo(std::string_view text, const std::vector<Entry>& all, const NamesSet& set) {
    if (text.find("olmo_core") == std::string_view::npos || text.find("TransformerConfig.") == std::string_view::npos) return std::nullopt;
    const PythonTokens tokens = with_usual_environment(python_tokens(text), set);
    const PythonArguments reader(tokens, all, set, false);
    ReadJob job;
    std::vector<Entry>& entries = job.in.entries;
    constexpr std::size_t kMostSections = 100;
    for (std::size_t i = 0, found = 0; i < tokens.size() && found < kMostSections; ++i) {
        std::vector<Entry> said;
        add_length(tokens, i, reader, entries);
        add_sequences(tokens, i, entries);
        if (makes_model(tokens, i)) {
            entries.push_back({"model.factory", "TransformerConfig", last_part(tokens[i].value), tokens[i].line});
            reader.arguments(i + 1, said, "model.");
            for (Entry& entry : said)
                if (entry.key.find('.', 6) == std::string::npos && !entry.key.ends_with("_config")) entries.push_back(std::move(entry));
            ++found;
            continue;
        }
        const PythonObject* const row = object_at(tokens, i, kOlmoObjects);
        if (row == nullptr) continue;
        reader.arguments(i + 1, said, std::string(row->path));
        ++found;
        for (Entry& entry : said)
            for (const auto& [theirs, ours] : kOlmoArguments)
                if (entry.key == theirs) {
                    entry.shown = entry.key.substr(entry.key.find('.') + 1);
                    entry.key = ours;
                    name_olmo_member(entry);
                    // "sequence_length=common.max_sequence_length" hands on what is said elsewhere.
                    if (entry.open.empty() || entry.open[0].find('.') == std::string::npos) entries.push_back(entry);
                    break;
                }
    }
    if (olmo_likeness(entries) < 1) return std::nullopt;
    // build_config() has this length where nothing is said.
    if (count_like(entries, {"max_sequence_length"}) == 0 && text.find("experiment import") != std::string_view::npos)
        entries.push_back({"max_sequence_length", "", 4'096, 0});
    job.line = entries[0].line;
    job.in.answers = set;
    read_olmo(job.in);
    ReadJobs read{"olmo", true, {}, {}};
    add_job(read, std::move(job));
    return read;
}

}  // namespace fourfold
