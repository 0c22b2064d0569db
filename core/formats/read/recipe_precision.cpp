// Names: NeMo, nemo/collections/llm/recipes/precision/mixed_precision.py; Megatron-Bridge, src/megatron/bridge/training/mixed_precision.py;
// short ones ("fp8_cs"): _perf_precision and get_precision_config of its performance recipes.
#include "formats/read/recipe_precision.h"

#include <algorithm>
#include <span>

#include "base/text.h"

namespace fourfold {

namespace {

// A part of a name, and whether weights are gathered in 8 bits with it.
struct Scaling {
    std::string_view part;
    bool nemo, bridge;
};
constexpr Scaling kScalings[] = {
    {"mxfp8", false, true},   {"fp8_mx", false, true},        {"subchannel", false, false}, {"fp8_sc", false, false},
    {"fp8_ss", false, false}, {"delayed", true, true},        {"fp8_ds", true, true},       {"current", true, true},
    {"fp8_cs", true, true},   {"with_fp8_mixed", true, true},
};

constexpr std::string_view kFormats[] = {"fp8", "fp8_format", "fp8_hybrid", "fp8_e4m3"};
constexpr std::string_view kWeights[] = {"fp8_param_gather", "fp8_param"};

bool any_of(std::span<const std::string_view> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_off(const Json& value) {
    if (value.is_null() || value == Json(false)) return true;
    const auto* text = value.get_ptr<const Json::string_t*>();
    return text != nullptr && (lower_case(*text) == "false" || lower_case(*text) == "none" || lower_case(*text) == "null");
}

// The object that holds the precision overwrites what the model says (update_config_with_precision_overrides).
bool is_of_model(const Entry& entry) { return entry.shown.find("model.") != std::string::npos; }

const Entry* last_of(const Import& in, std::span<const std::string_view> names, bool named) {
    const auto found = std::find_if(in.entries.rbegin(), in.entries.rend(),
                                    [&](const Entry& one) { return any_of(names, one.key) && !(named && is_of_model(one)); });
    return found == in.entries.rend() ? nullptr : &*found;
}

// Of several, the last one counts; an object's own settings stand beside it.
std::size_t last_named(Import& in) {
    std::size_t last = in.entries.size();
    for (std::size_t i = 0; i < in.entries.size(); ++i) {
        Entry& entry = in.entries[i];
        if (entry.key != "mixed_precision" || entry.value.is_null()) continue;
        const bool object = !entry.open.empty() && entry.open[0].find("MixedPrecision") != std::string::npos;
        if (object) {
            entry.key = "precision_object";
            entry.fate = Fate::no_number;
        } else {
            last = i;
        }
    }
    for (std::size_t i = 0; i < last && last < in.entries.size(); ++i) {
        Entry& entry = in.entries[i];
        if (entry.key != "mixed_precision" || entry.value.is_null()) continue;
        const bool both_open = !entry.open.empty() && !in.entries[last].open.empty();
        entry.key = "former_precision";
        entry.fields = {"precision"};
        entry.fate = both_open ? Fate::open : entry.value == in.entries[last].value ? Fate::used : Fate::contradicted;
    }
    return last;
}

// Without 8 bits these say nothing.
void drop_formats(Import& in) {
    for (Entry& entry : in.entries)
        if ((any_of(kFormats, entry.key) || any_of(kWeights, entry.key)) && entry.open.empty()) {
            entry.key = "off." + entry.key;
            entry.fate = Fate::no_number;
        }
}

}  // namespace

void read_recipe_precision(Import& in, bool bridge) {
    const std::size_t at = last_named(in);
    const bool named = at < in.entries.size();
    const bool closed = named && in.entries[at].open.empty();
    std::string name = closed && in.entries[at].value.is_string() ? lower_case(in.entries[at].value.get<std::string>()) : "";
    std::replace(name.begin(), name.end(), '-', '_');
    name.erase(0, name.rfind('.') + 1);  // of a function in Python, with its module
    for (Entry& entry : in.entries)
        if (named && (any_of(kFormats, entry.key) || any_of(kWeights, entry.key)) && is_of_model(entry)) {
            entry.key = "model." + entry.key;
            entry.fate = Fate::no_number;
        }
    if (named && !closed) in.text("mixed_precision", "precision");
    const bool fp8_name = name.find("fp8") != std::string::npos, fp4 = name.find("fp4") != std::string::npos;
    const Entry* format = last_of(in, kFormats, named);
    const bool is_open = format != nullptr && !format->open.empty();
    const bool in_8_bits = format != nullptr ? is_open || !is_off(format->value) : fp8_name;
    const bool fp16 = name.starts_with("fp16") || name.starts_with("16");
    if (!name.empty() && (fp16 || fp8_name || fp4 || name.find("bf16") != std::string::npos)) {
        const auto* scaling = std::find_if(std::begin(kScalings), std::end(kScalings),
                                           [&](const Scaling& one) { return name.find(one.part) != std::string::npos; });
        const bool weights = scaling != std::end(kScalings) && (bridge ? scaling->bridge : scaling->nemo);
        const bool says_weights = last_of(in, kWeights, named) != nullptr, says_format = format != nullptr;
        in.become(in.entries[at], fp16 ? "fp16" : "bf16", true);
        const Entry origin = in.entries[at];
        if (in_8_bits && !says_format) in.derive(origin, "fp8_format", "hybrid");
        if (in_8_bits && weights && !says_weights) in.derive(origin, "fp8_param_gather", true);
        if (fp4) in.derive(origin, "fp4_format", "e2m1");
    }
    if (!in_8_bits) drop_formats(in);
}

}  // namespace fourfold
