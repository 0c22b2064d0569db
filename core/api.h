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
//                                                  "tensor_parallel_across_nodes", "sequence_beyond_model", "partly_used_node", "idle_stages",
//                                               "sharding_with_pipeline", "offload_of_whole_optimizer"
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
//   "method"              id from catalog().methods: "detailed" (the default) or "fujii2024".
// and the fields of the plan, described in catalog().fields with label, help, unit, range and default. An "integer" field is a whole number,
// or "auto" where it says so; a "number" field need not be whole; a "choice" is one of its ids, a "set" a text of ids with commas between.
// Those that a reader meets first:
//   "gpus" "gpus_per_node" "sequence_length" "global_batch"                              gpus_per_node may be "auto"
//   "tensor_parallel" "context_parallel" "pipeline_parallel" "micro_batch"               "auto" is their default
//   "virtual_stages" "schedule"         chunks per GPU (1 = not interleaved); "1f1b", "gpipe", "zb-h1", "zb-v"
//   "zero" "shard_replicas"             "none", "optimizer" (ZeRO-1, the default), "gradients", "weights" (ZeRO-3, FSDP); HSDP's copies
//   "recompute" "recompute_modules" "recompute_layers"     "none", "selective" (the modules), "full", "block" (of so many layers)
//   "precision" "gradients_in_fp32" "moments" "optimizer_offload"
//   "expert_parallel" "expert_tensor_parallel" "expert_imbalance"
//   "token_budget" "price_per_gpu_hour" "watts_per_gpu"    numbers; 0 = not asked for
//   "framework" "attention" "loss"      whose kernels and habits are counted; "auto" = as that framework does on that GPU
// "fujii2024" knows only part of them; not_counted of its answers says which of those set it leaves out.
// "auto" = the fastest plan whose estimate fits (class "fits"); of equally fast ones the smallest split (TP*CP*PP, then fewest pipeline
// stages, then fewest context ranks), then the largest micro-batch. When no plan fits, the one with the lowest estimate. What is set is
// kept. "expert_parallel" on "auto" (the default) is, plan by plan, the smallest power of two with which it fits; 1 without experts. The
// candidates are those of search(); when none of them is legal, every divisor is tried. gpus_per_node "auto" is the cluster's, or without
// one the GPU's usual number.
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
//    "fields":   [{"key", "link" (its short name in a link), "type": "integer"|"number"|"boolean"|"choice"|"set", "label", "help", "unit", "default",
//                  "min", "max" (integers, numbers), "choices": [{"id", "label", "help"}] (choices, sets), "auto": true when "auto" is
//                  allowed (integers)}],
//    "rules":    [{"id", "label" (what such a plan breaks, for "3,960 do not divide the GPUs")}]}
std::string catalog();

// import_config(text of a config.json) -> a model that "model" of a job accepts.
//   {"ok": true, "model": {the Hugging Face keys that matter here, each resolved}, "label": "…", "parameters": 8030261248,
//    "used": [keys], "ignored": [keys that change no number here], "assumed": [{"key", "value", "why"}]}
//   {"ok": false, "problems": […]}
// A config that nests its text model ("text_config") is read from there. Text above 1 MB is refused ("too_large").
std::string import_config(std::string_view text);

// estimate(job + {"stage": index or "auto"}) -> the memory of a pipeline stage, item by item; "auto" (the default), and a stage that
// the plan does not have, are the fullest one.
//   {"ok": true,
//    "job": {every key of the job, with "auto" replaced by the number chosen; "model" is the id, or the config as import_config returns it},
//    "auto": [which of the degrees were chosen],
//    "model": {"label", "parameters", "config": {as import_config returns it}}, "gpu": {"id", "label", "memory_gib"},
//    "method": {as in catalog().methods},
//    "data_parallel": 4, "micro_batches": 256 (per step and pipeline), "padded_vocabulary": 128256,
//    "total_bytes", "share"               allocated on the fullest GPU at the worst moment: what torch.cuda.max_memory_allocated() reports
//    "reserved_bytes", "whole_bytes"      with what PyTorch's allocator sets aside besides; with NCCL and the CUDA context too (nvidia-smi)
//    "card_bytes", "line_share": 0.8      the paper's line
//    "class": "fits" | "at_risk" | "does_not_fit"       detailed: probability >= 0.95, between, <= 0.02; fujii2024: share <= 0.8, <= 1, above
//    "probability": 0.97 | null           that the run does not run out of memory; null by fujii2024
//    "verdict": one short sentence, "verdict_basis": the evidence behind it
//    "outside": [ITEM]                    what lies between total_bytes and whole_bytes; empty by fujii2024 (then the three are equal)
//    "stage": 0, "worst_stage": 0         the stage shown, the fullest one
//    "worst_why": "…"                     one sentence; "" with one stage
//    "groups": [{"id": "weights"|"gradients"|"optimizer"|"activations"|"temporaries"|"workspaces", "label", "summary" (one plain sentence),
//                "bytes", "share", "items": [ITEM]}],     of the stage shown: groups sum to its bytes, items to their group
//    "stages": [{"layers", "embedding": bool, "head": bool, "in_flight": micro-batches alive (a whole stage each, so 1.5 is possible),
//                "bytes", "share", "static_bytes" (between steps), "groups": {"weights": bytes, …}}],       one per stage; fujii2024: the first
//    "curve": null | {"micro_batches": shown (all, or enough to see the pattern; then "cut": true), "cut",
//                "start": […], "end": […] in forward passes of the stage, "bytes": […], "after": […] (once it is done), "kind": ["F"|"B"|"W"], "micro_batch": […],
//                "chunk": […]}              the stage shown, per operation of its schedule; a backward pass drawn twice as long as a forward pass
//    "time": TIME (below)
//    "host": null | {"bytes_per_gpu", "bytes_per_node", "pcie_bytes_per_step" (per GPU)}                    when the optimizer is offloaded
//    "comparison": {"method" (the other one's id), "label", "total_bytes", "share", "class",
//                "rows": [{"id" (of a group), "label", "bytes" (here), "other_bytes", "why"}]}              groups in which they differ
//    "used":        [{"id", "text"}]      what was taken from the request
//    "assumed":     [{"id", "text", "field": key that changes it, or ""}]
//    "not_counted": [{"id", "text"}]
//    "warnings":    [problem]             legal but unusual or slow (rule "tensor_parallel_across_nodes", …)
//    "changes":     [{"set": {keys of the job: new values}, "label" ("Recompute every layer"), "touches" (what else it changes, or ""),
//                     "saved_bytes", BRIEF}]
//                                         single changes that lower the fullest GPU's bytes, most saved first
//    "knobs":  [{"field": "tensor_parallel", "value": 2, "options": [{"value": 1, "legal": true, BRIEF, "change_bytes": +-, "problem": null}
//                                         what each neighbour of each degree would do, alone;
//                | {"value": 3, "legal": false, "problem": problem}]}],        for an illegal one, the first rule that it breaks
//    "auto_plan": null | {"tensor_parallel", "context_parallel", "pipeline_parallel", "micro_batch", BRIEF}}
//                                         the plan "auto" would choose; null when it is the plan shown
//   BRIEF "total_bytes", "share", "class", "probability", "step_seconds"
//   TIME {"step_seconds", "low_seconds", "high_seconds" (nine of ten measured runs of that kind lie between), "basis" (which runs),
//            "tokens_per_step", "tokens_per_s", "tokens_per_s_per_gpu", "tflop_per_s_per_gpu", "mfu" (of the dense peak), "convention"
//            (which FLOP are counted), "items": [{"id", "kind", "label", "summary", "seconds", "share", "formula", "numbers", "latex",
//            "latex_numbers", "where", "source"}] (the last six as in ITEM, except that in "where" "numbers" is null: a formula goes down to
//            single multiplications and messages, and the values to put in stand beside its symbols. What another item explains is given under
//            the same letter there. What is zero is left out; sum to step_seconds), "stage_seconds": [seconds of one micro-batch, forward and backward, per stage],
//            "run": null | {"steps", "days", "low_days", "high_days", "gpu_hours", "cost": number | null, "energy_kwh": number | null}}
//            "run" is there when the job has a token_budget; its kind is one of "compute", "tensor", "context", "pipeline", "data", "bubble",
//            "other"
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
//            "auto": [{"gpus", "row"}] (the row that "auto" would choose for each count),
//            "ranking": [{"gpus", "fastest": [entries that fit, fastest first, at most 200], "front": [of all entries that fit, those that no
//                         other beats in both memory and step time, fastest first]}]}  or {"ok": false, "problems": […]}
//   columns one entry per legal plan, sorted by (TP, CP, PP, micro-batch, GPU count); plans that differ in the GPU count only share a "row"
// In JavaScript: search(text) -> {summary: text, columns: {row, gpus, tensor_parallel, context_parallel, pipeline_parallel, micro_batch,
// data_parallel, expert_parallel: Int32Array; total_bytes, share, step_seconds: Float64Array; class: Uint8Array (0 fits, 1 at risk, 2 does not fit)}}.
struct SearchColumns {
    std::vector<std::int32_t> row, gpus, tensor_parallel, context_parallel, pipeline_parallel, micro_batch, data_parallel, expert_parallel;
    std::vector<double> total_bytes, share, step_seconds;
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
