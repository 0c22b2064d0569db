// clang-format off
// The contract between the core and everything outside it: JSON text in, JSON text out.
//
// Every function takes UTF-8 text, never throws, never returns invalid JSON, keeps no state, and answers the same for the same
// input. Nothing that a user can type is an error of the program: a mistake comes back as a list of problems.
//
//   problem    {"field": "tensor_parallel",        the key of the request that is wrong ("" = the request as a whole; a nested key is
//                                                  written "model.hidden_size")
//               "rule": "heads_divide",            which rule: one of catalog().rules; "no_split" (no legal plan on these GPUs);
//                                                  "cluster_has_other_gpu"; how reading failed: "syntax", "type", "range", "missing",
//                                                  "unknown", "unsupported", "version", "too_large"; or, among warnings,
//                                                  "tensor_parallel_across_nodes", "sequence_beyond_model", "partly_used_node", "idle_stages"
//               "value": 3,                        what was given (numbers, short texts; null when there is none)
//               "message": "…",                    one or two plain sentences: what was expected and why
//               "suggestion": "…",                 what to do ("" when the message says it)
//               "nearest": 4}                      the nearest value of that field with which every rule holds, else with which this
//                                                  one does, or null
//
// Units: keys ending in _bytes are bytes, "share" is a fraction of the card (0.7 = 70 %), everything else is a plain count unless its
// key says otherwise. A card's size is its nominal one times 2^30 bytes: "80 GB" is 80 GiB, as the cited paper counts it.
//
// ------------------------------------------------------------------------------------------------ the job (a request's common part)
// A flat object of at most 1 MB. Every key may be left out and then takes its default; an unknown key is a problem; of two equal keys the
// last one counts.
//   "version"             1. A larger number is refused ("version").
//   "model"               id from catalog().models, or a Hugging Face config object (what config.json holds).
//   "gpu"                 id from catalog().gpus.
//   "cluster"             id from catalog().clusters, or "" (none). It must be made of that GPU; it sets gpus_per_node's default.
//   "method"              id from catalog().methods ("fujii2024").
// and the fields of the plan, described in catalog().fields with label, help, unit, range and default:
//   "gpus" "gpus_per_node" "sequence_length" "global_batch"                              whole numbers; gpus_per_node may be "auto"
//   "tensor_parallel" "context_parallel" "pipeline_parallel" "micro_batch"               whole numbers or "auto" (the default)
//   "virtual_stages"                                                                     whole number, 1 = not interleaved
//   "distributed_optimizer" "gradients_in_fp32" "hidden_dropout" "attention_dropout"     true or false
//   "attention"           "flash", "selective" (plain attention, recomputed in backward) or "plain"
// "auto" = the smallest split (TP*CP*PP, then fewest pipeline stages, then fewest context ranks) whose estimate stays within 80 % of the
// card, then the largest micro-batch that still does. When no plan stays within 80 %, the one with the lowest estimate. What is set is
// kept. The candidates are those of search(); when none of them is legal, every divisor is tried. gpus_per_node "auto" is the cluster's, or
// without one the GPU's usual number.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold::api {

// catalog() -> everything that the page must know before the first question:
//   {"version": 1,
//    "gpus":     [{"id", "label", "memory_gib", "gpus_per_node", "bf16_dense_tflop_per_s", …, "sources": [{"title", "url", "fields": […]}]}],
//    "clusters": [{"id", "label", "gpu", "gpus_per_node", …, "sources"}],
//    "models":   [{"id", "label", "parameters" (exact count), "max_position_embeddings", "sources"}],
//    "methods":  [{"id", "label", "summary", "source": {"title", "url"}, "limits": [texts: what this method is known not to count]}],
//    "fields":   [{"key", "link" (its short name in a link), "type": "integer"|"boolean"|"choice", "label", "help", "unit", "default",
//                  "min", "max" (integers), "choices": [{"id", "label", "help"}] (choices), "auto": true when "auto" is allowed}],
//    "rules":    [{"id", "label" (what such a plan breaks, for "3,960 do not divide the GPUs")}]}
std::string catalog();

// import_config(text of a config.json) -> a model that "model" of a job accepts.
//   {"ok": true, "model": {the Hugging Face keys that matter here, each resolved}, "label": "…", "parameters": 8030261248,
//    "used": [keys], "ignored": [keys that change no number here], "assumed": [{"key", "value", "why"}]}
//   {"ok": false, "problems": […]}
// A config that nests its text model ("text_config") is read from there. Text above 1 MB is refused ("too_large").
std::string import_config(std::string_view text);

// estimate(job) -> the memory of the fullest GPU, item by item.
//   {"ok": true,
//    "job": {every key of the job, with "auto" replaced by the number chosen; "model" is the id, or the config as import_config returns it},
//    "auto": [which of the four degrees were chosen],
//    "model": {"label", "parameters", "config": {as import_config returns it}}, "gpu": {"id", "label", "memory_gib"},
//    "method": {as in catalog().methods},
//    "data_parallel": 4, "micro_batches": 256 (per step and pipeline), "padded_vocabulary": 128256,
//    "total_bytes", "card_bytes", "share", "class": "fits" (share <= 0.8) | "at_risk" (<= 1) | "does_not_fit", "line_share": 0.8,
//    "groups": [{"id": "weights"|"gradients"|"optimizer"|"activations", "label", "summary" (one plain sentence), "bytes", "share",
//                "items": [ITEM]}],                                            groups sum to total_bytes, items to their group
//    "used":        [{"id", "text"}]      what was taken from the request
//    "assumed":     [{"id", "text", "field": key that changes it, or ""}]
//    "not_counted": [{"id", "text"}]
//    "warnings":    [problem]             legal but unusual or slow (rule "tensor_parallel_across_nodes", …)
//    "knobs":  [{"field": "tensor_parallel", "value": 2, "options": [{"value": 1, "legal": true, "total_bytes", "share", "class",
//                "change_bytes": +-, "problem": null}                          what each neighbour of each degree would do, alone;
//                | {"value": 3, "legal": false, "problem": problem}]}],        for an illegal one, the first rule that it breaks
//    "auto_plan": null | {"tensor_parallel", "context_parallel", "pipeline_parallel", "micro_batch", "total_bytes", "share", "class"}}
//                                         the plan "auto" would choose; null when it is the plan shown
//   ITEM {"id", "label", "summary", "bytes", "share",
//         "formula": [TOKEN], "numbers": [TOKEN], "latex", "latex_numbers",
//         "where": [{"symbol": "P", "meaning", "unit", "value", "formula": [TOKEN] | null, "numbers": [TOKEN] | null}],
//                                         every symbol of the formula once, first those that are themselves computed
//         "source": {"title", "url", "where": "equation or table"}}
//   TOKEN a text ("·", "(", "/", …: print it), a number (print it in the reader's locale), or {"symbol": "h"} (explained in "where")
//   {"ok": false, "problems": [all of them], "job": the part of the job that could be read, or null}
std::string estimate(std::string_view request);

// search(job + {"gpu_counts": [8, 16, …]}) -> every legal (TP, CP, PP, micro-batch) for every GPU count.
// Degrees that the job sets are kept; those on "auto" range over: TP every whole number up to gpus_per_node, PP up to the layers, CP and
// micro-batch powers of two. gpu_counts defaults to gpus/4 … gpus*8 in doublings (whole numbers only); at most 16 counts.
//   summary {"ok": true, "job": …, "gpu_counts": […], "card_bytes", "line_share", "candidates", "legal", "fits", "at_risk", "does_not_fit",
//            "rejected": [{"rule": id, "count": n}] (most first; every candidate is counted once, under the first rule it breaks),
//            "auto": [{"gpus", "row"}] (the row that "auto" would choose for each count)}  or {"ok": false, "problems": […]}
//   columns one entry per legal plan, sorted by (TP, CP, PP, micro-batch, GPU count); plans that differ in the GPU count only share a "row"
// In JavaScript: search(text) -> {summary: text, columns: {row, gpus, tensor_parallel, context_parallel, pipeline_parallel, micro_batch,
// data_parallel: Int32Array; total_bytes, share: Float64Array; class: Uint8Array (0 fits, 1 at risk, 2 does not fit)}}.
struct SearchColumns {
    std::vector<std::int32_t> row, gpus, tensor_parallel, context_parallel, pipeline_parallel, micro_batch, data_parallel;
    std::vector<double> total_bytes, share;
    std::vector<std::uint8_t> fit_class;
};
struct SearchAnswer {
    std::string summary;
    SearchColumns columns;
};
SearchAnswer search(std::string_view request);

// clang-format on
// Runs `count` memory estimates over many plans without any text and returns the sum of their bytes: the rate that a search can reach,
// for the benchmarks that compare the module with the native build.
double benchmark_estimates(std::int32_t count);

}  // namespace fourfold::api
