// clang-format off
// The contract between the core and everything outside it: JSON text in, JSON text out.
//
// Every function takes UTF-8 text, never throws, never returns invalid JSON, keeps no state, and answers the same for the same
// input. Nothing that a user can type is an error of the program: a mistake comes back as a list of problems.
//
//   problem    {"field": "tensor_parallel",        the key of the request that is wrong ("" = the request as a whole; a nested key is
//                                                  written "model.hidden_size", an entry of a list "gpu_counts[1]", counted from 0)
//               "rule": "heads_divide",            which rule: one of catalog().rules; "no_split" (no legal plan on these GPUs);
//                                                  "cluster_has_other_gpu", "precision_needs_card" (fp8 on a card without it); how reading failed: "syntax", "type", "range", "missing",
//                                                  "unknown", "unsupported", "version", "too_large"; or, among warnings,
//                                                  "tensor_parallel_across_nodes", "sequence_beyond_model", "partly_used_node", "idle_stages",
//                                               "sharding_with_pipeline", "offload_of_whole_optimizer", "faster_than_peak"
//               "value": 3,                        what was given (numbers, short texts; null when there is none)
//               "message": TEXT,                   what was expected and why
//               "suggestion": TEXT | null,         what to do (null when the message says it)
//               "nearest": 4}                      the nearest value of that field with which every rule holds, else with which this
//                                                  one does, or null
//   TEXT       {"id": "problem.no_json",           what is said: the id of a sentence in core/data/words,
//               "args": {"line": 2, "column": 9}}  and what stands in it ("args" is left out where nothing does): a number in SI units, a name
//                                                  that is no prose, a TEXT, or a list of these
// What an answer names by an id (a field, a choice, an item, a group, a rule, a symbol, …) has words of that id: "item.weights".
// Of what a request can hold any number of (unknown keys, ids of a set, runs, units, links) the first 20 mistakes are listed, then one
// problem of rule "range" that says how many there are.
//
// Units: keys ending in _bytes are bytes, "share" is a fraction of the card (0.7 = 70 %), everything else is a plain count unless its
// key says otherwise. A card's size is its nominal one times 2^30 bytes: "80 GB" is 80 GiB, as the cited paper counts it.
//
// ------------------------------------------------------------------------------------------------ the job (a request's common part)
// A flat object of at most 1 MB. Every key may be left out and then takes its default; an unknown key is a problem; of two equal keys the
// last one counts.
//   "version"             2 (the default). 1 = as requests of version 1 meant it: what catalog().fields gives as "default_1" where a field is
//                         absent. A larger number is refused ("version").
//   "model"               id from catalog().models, or a Hugging Face config object (what config.json holds).
//   "gpu"                 id from catalog().gpus.
//   "cluster"             id from catalog().clusters, or "" (none). It must be made of that GPU; it sets gpus_per_node's default.
//   "method"              id from catalog().methods: "detailed" (the default) or "fujii2024".
// and the fields of the plan, described in catalog().fields with unit, range and default. An "integer" field is a whole number,
// or "auto" where it says so; a "number" field need not be whole; a "choice" is one of its ids, a "set" a text of ids with commas between.
// Those that a reader meets first:
//   "gpus" "gpus_per_node" "sequence_length" "global_batch"                              gpus_per_node may be "auto"
//   "tensor_parallel" "context_parallel" "pipeline_parallel" "micro_batch"               "auto" is their default, and of all down to "moments"
//   "schedule" "virtual_stages"         "1f1b", "gpipe", "zb-h1", "zb-v", "dualpipe", "dualpipev"; chunks per GPU (1 = not
//                                       interleaved)
//   "virtual_stage_group"               micro-batches that pass through a chunk in a row; "auto" = PP
//   "layout"                            which layers stand on which chunk: "equal", "front" (the first chunks hold one layer more), or as
//                                       Megatron's --pipeline-model-parallel-layout: "Et*7|(t*8|)*14t*7L" is 126 layers on 16 chunks (E the
//                                       embedding, t a layer, m a layer that predicts further tokens, L the loss, | the border of two chunks).
//                                       The older "first_stage_layers", "last_stage_layers", "count_embedding_as_layer" and
//                                       "count_loss_as_layer" go with "equal".
//   "zero" "shard_replicas"             "none", "optimizer" (ZeRO-1), "gradients", "weights" (ZeRO-3, FSDP); HSDP's copies
//   "recompute" "recompute_modules" "recompute_layers"     "none", "selective" (the modules), "full", "block" (of so many layers)
//   "expert_parallel" "expert_tensor_parallel" "expert_imbalance"
//   "sequence_parallel" "moments"
//   "precision" "gradients_in_fp32" "optimizer_offload"
//   "time_factor" "site" "site_…"       a calibration with runs of one's own, as calibrate() proposes it: a factor on every time; with the
//                                       site "own", its constants
//   "token_budget" "price_per_gpu_hour" "watts_per_gpu"    numbers; 0 = not asked for
//   "leave_out" "risk"                  what the search leaves out, although it may be chosen; the risk of running out of memory that it accepts
//   "framework" "attention" "loss"      whose kernels and habits are counted; "auto" = as that framework does on that GPU
// "fujii2024" knows only part of them; not_counted of its answers says which of those set it leaves out.
//
// "auto": what is set is kept, all that is on "auto" is searched, and the answer is the first plan of rank(), whoever asks. A plan may be
// chosen when its probability to run is at least 1 - "risk" (by fujii2024: when it fits). Plans are ordered by time; those within "tie_width"
// of the fastest, which the estimate cannot tell apart, by how little they are exposed to what varies on real clusters: fewest context ranks,
// least recomputation, less traffic between nodes (in powers of two), the smallest split. The space: TP up to a node; CP and micro-batch
// whatever divides sequence and batch; PP up to the layers; up to 32 chunks per GPU; layers equal, or balanced by time and moved where memory
// wants it so; EP whatever divides the experts, ETP 1 or TP; ZeRO-1, with PyTorch all of ZeRO; sequence parallelism; of recomputation and
// 16-bit states as little as makes a plan fit. When none fits, the plan with the lowest estimate. gpus_per_node
// "auto" is the cluster's, or without one the GPU's usual number.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/columns.h"

namespace fourfold::api {

// catalog() -> everything that the page must know before the first question:
//   {"version": 2,
//    "gpus":     [{"id", "label", "memory_gib", "gpus_per_node", "bf16_dense_tflop_per_s", …, "sources": [{"title", "url", "fields": […]}]}],
//    "clusters": [{"id", "label", "gpu", "gpus_per_node", …, "sources"}],
//    "models":   [{"id", "label", "parameters" (exact count), "max_position_embeddings", "sources"}],
//    "methods":  [{"id", "source": {"title", "url"}, "limits": [ids: what this method is known not to count]}],
//    "fields":   [{"key", "link" (its short name in a link), "type": "integer"|"number"|"boolean"|"choice"|"set"|"text", "unit" (an id, or ""), "default",
//                  "min", "max" (integers, numbers), "choices": [{"id"}] (choices, sets, texts), "auto": true when "auto" is
//                  allowed, "default_1": where requests of version 1 meant something else}],
//    "rules":    [{"id"}]}
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
//    "auto": [keys of the fields that were chosen],
//    "equally_good": {"count": plans as fast as the one chosen, within what the estimate can tell, this one included (0: it does not fit),
//                     "width": 0.015},
//    "model": {"label", "parameters", "config": {as import_config returns it}}, "gpu": {"id", "label", "memory_gib"},
//    "data_parallel": 4, "micro_batches": 256 (per step and pipeline), "padded_vocabulary": 128256,
//    "total_bytes", "share"               allocated on the fullest GPU at the worst moment: what torch.cuda.max_memory_allocated() reports
//    "reserved_bytes", "whole_bytes"      with what PyTorch's allocator sets aside besides; with NCCL and the CUDA context too (nvidia-smi)
//    "card_bytes", "line_share": 0.8      the paper's line
//    "class": "fits" | "at_risk" | "does_not_fit"       detailed: probability >= 0.95, between, <= 0.02; fujii2024: share <= 0.8, <= 1, above
//    "probability": 0.97 | null           that the run does not run out of memory; null by fujii2024
//    "verdict": TEXT, "verdict_basis": TEXT, the evidence behind it
//    "outside": [ITEM]                    what lies between total_bytes and whole_bytes; empty by fujii2024 (then the three are equal)
//    "stage": 0, "worst_stage": 0         the stage shown, the fullest one
//    "worst_why": TEXT | null             why that one; null with one stage
//    "groups": [{"id": "weights"|"gradients"|"optimizer"|"activations"|"temporaries"|"workspaces",
//                "bytes", "share", "items": [ITEM]}],     of the stage shown: groups sum to its bytes, items to their group
//    "stages": [{"layers", "embedding": bool, "head": bool, "in_flight": micro-batches alive (a whole stage each, so 1.5 is possible),
//                "bytes", "share", "static_bytes" (between steps), "groups": {"weights": bytes, …}}],       one per stage; fujii2024: the first
//    "curve": null | {"micro_batches": shown (all, or enough to see the pattern and the fullest moment; then "cut": true), "cut",
//                "start": […], "end": […] in forward passes of the stage, "bytes": […], "after": […] (once it is done), "kind": ["F"|"B"|"W"], "micro_batch": […],
//                "chunk": […]}              the stage shown, per operation of its schedule; a backward pass drawn twice as long as a forward pass
//    "time": TIME (below)
//    "host": null | {"bytes_per_gpu", "bytes_per_node", "pcie_bytes_per_step" (per GPU)}                    when the optimizer is offloaded
//    "comparison": {"method" (the other one's id), BRIEF,
//                "rows": [{"id" (of a group), "bytes" (here), "other_bytes"}]}              groups in which they differ
//    "used":        [TEXT]                what was taken from the request
//    "assumed":     [{"text": TEXT, "field": key that changes it, or ""}]
//    "not_counted": [TEXT]
//    "warnings":    [problem]}            legal but unusual or slow (rule "tensor_parallel_across_nodes", …)
//   BRIEF "total_bytes", "share", "class", "probability", "step_seconds"
//   TIME {"step_seconds", "low_seconds", "high_seconds" (nine of ten measured runs of that kind lie between), "basis": TEXT (which runs),
//            "tokens_per_step", "tokens_per_s", "tokens_per_s_per_gpu", "rates": [{"id": "full"|"causal", "tflop_per_s_per_gpu",
//            "mfu"}] (one per convention of counting FLOP; mfu is of the peak), "peak_tflop_per_s" (of a GPU, dense), "peak_format" ("bf16",
//            "fp16", "FP8"), "items": [{"id", "kind", "seconds", "share", "formula", "numbers", "latex", "latex_numbers",
//            "where", "source"}] (the last six as in ITEM, except that in "where" "numbers" is null: a formula goes down to single multiplications
//            and messages, and the values to put in stand beside its symbols. What another item explains is given under the same letter there.
//            What is zero is left out; sum to step_seconds), "stage_seconds": [seconds of one micro-batch, forward and backward, per stage],
//            "run": null | {"steps", "days", "low_days", "high_days", "gpu_hours", "cost": number | null, "energy_kwh": number | null}}
//            "run" is there when the job has a token_budget; its kind is one of "compute", "tensor", "context", "pipeline", "data", "bubble",
//            "other"
//   ITEM {"id", "bytes", "share",
//         "formula": [TOKEN], "numbers": [TOKEN], "latex", "latex_numbers",
//         "where": [{"symbol": "P", "meaning" (an id), "part": null | id, "unit" (an id, or ""), "value", "formula": [TOKEN] | null,
//                    "numbers": [TOKEN] | null}],
//                                         every symbol of the formula once, first those that are themselves computed; in words
//                                         symbol.<meaning>, or, of one of several alike, symbol.<meaning>.of with part.<part>; unit.<unit>
//         "source": {"title", "url", "where": a section, an equation, or the id of a place}}
//   TOKEN a text ("·", "(", "/", …: print it), a number (print it in the reader's locale), or {"symbol": "h"} (explained in "where")
//   {"ok": false, "problems": [all of them], "job": the part of the job that could be read, or null}
std::string estimate(std::string_view request);

// alternatives(as estimate takes it; "stage" changes nothing) -> what else the reader could do. Each is told as it comes out once it is set:
// what the job leaves on "auto" is searched again.
//   {"ok": true, "job": {as in estimate},
//    "changes":   [{"set": {keys of the job: new values}, "label": TEXT, "touches": TEXT (what else it changes) | null,
//                   "saved_bytes", BRIEF}]    single changes that lower the fullest GPU's bytes: first those that cost no time, most saved first,
//                                             then by bytes saved per second lost
//    "knobs":     [{"field": "tensor_parallel", "value": 2 (as shown), "options": [{"value": 1, "legal": true, BRIEF, "change_bytes": +-,
//                   "problem": null} | {"value": 3, "legal": false, "problem": problem | null}]}],   for an illegal one, the first rule it breaks
//    "auto_plan": null | {"set": {keys that the reader set, each "auto"}, BRIEF}}    what letting all of them go would lead to; null when that
//                                             is the plan shown
//   {"ok": false, "problems": […], "job": as in estimate}
std::string alternatives(std::string_view request);

// timeline(as estimate takes it; "stage" changes nothing) -> the pipeline of one step: what every stage does when, and when it waits.
//   {"ok": true, "job": {as in estimate},
//    "basis": TEXT, what the picture counts, "note": TEXT, how it was cut, or why there is none | null
//    "timeline": null (more than 128 stages, or 20,000 operations too few to draw it) |
//       {"schedule": {"id"}, "chunks": per stage, "all_micro_batches": of the step,
//        "makespan_seconds": of all of them, from the first forward pass to the last operation; data-parallel traffic comes after
//        "bubble_share": of it that a stage waits, mean over the stages
//        "slowest_stage": the first of those with the most work, "equally_slow": how many have as much, to a thousandth
//        "micro_batches": drawn, "cut": fewer than all of them, "drawn_seconds": the end of the picture (makespan_seconds unless cut)
//        "stages": [{"busy_seconds", "idle_seconds" (together makespan_seconds), "idle_share": of the whole step,
//                    "start": […], "end": […] in seconds, "kind": ["F"|"B"|"W"], "micro_batch": […], "chunk": […]}]}}   per operation drawn
//   {"ok": false, "problems": […], "job": as in estimate}
std::string timeline(std::string_view request);

// search(job + {"gpu_counts": [8, 16, …]}) -> every legal (TP, CP, PP, micro-batch) for every GPU count, each with the best plan over all else
// that is on "auto"; where none fits, with the one that needs least. Of CP and micro-batches on
// "auto", powers of two and the best ones have entries. The entry of the plan that rank() puts first is that very plan.
// gpu_counts defaults to gpus/4 … gpus*8 in doublings (whole numbers only); at most 16 counts.
//   summary {"ok": true, "job": …, "gpu_counts": […], "card_bytes", "line_share", "candidates", "legal", "fits", "at_risk", "does_not_fit",
//                     (the last four count entries, "candidates" and "rejected" all combinations, as in rank)
//            "rejected": [{"rule": id, "count": n}] (most first; every candidate is counted once, under the first rule it breaks),
//            "auto": [{"gpus", "row"}] (the row that "auto" would choose for each count),
//            "sizes": [{"gpus", "entry" (the fastest that fits, or null; then the rest is null too), "efficiency" (its tokens/s per GPU over those
//                       of the smallest count that has one), "run" (as in TIME)}]}  or {"ok": false, "problems": […]}
//   columns one entry per legal plan, sorted by (TP, CP, PP, micro-batch, GPU count); plans that differ in the GPU count only share a "row"
// In JavaScript: search(text) -> {summary: text, columns: {row, gpus, tensor_parallel, context_parallel, pipeline_parallel, micro_batch,
// data_parallel, expert_parallel: Int32Array; total_bytes, share, step_seconds, tokens_per_s, tokens_per_s_per_gpu: Float64Array; class: Uint8Array (0 fits, 1 at risk, 2 does not fit)}}.
struct SearchAnswer {
    std::string summary;
    SearchColumns columns;
};
SearchAnswer search(std::string_view request);


// rank(job + {"only": {…}}) -> the fastest plans of all that the job leaves on "auto", in the order that "auto" goes by (above).
// "only" narrows the list: {"tensor_parallel", "pipeline_parallel", "context_parallel", "micro_batch", "expert_parallel",
// "expert_tensor_parallel", "virtual_stages", "schedule", "recompute", "zero", "sequence_parallel": the value wanted, as if the job set it;
// "memory_at_most_gib": on the fullest GPU}, each key as one likes.
//   {"ok": true, "gpus",
//    "candidates" (combinations of TP, EP, ETP, CP, PP, micro-batch, schedule, chunks, split of the layers, ZeRO, sequence parallelism),
//    "rejected": [{"rule", "count"}] (most first), "legal" (the rest of them),
//    and of the legal ones: "filtered" (left out by "only"), "slower" (a lower bound of their time, or it, says that they cannot be among the
//    listed; their memory was not looked at), "does_not_fit", "ranked" (fit, and were looked at),
//    "looked_at" (step times that were worked out),
//    "equally_good": so many of the first rows are as fast as the fastest, within what the estimate can tell; "tie_width": 0.015,
//    "choices": {each key of "only" but the memory: [every value that a legal plan has, whether "only" leaves it out or not]},
//    "excluding": [keys of "only": when nothing is ranked, those of which each alone, let go, would leave something],
//    "plans": {"tensor_parallel": […], "context_parallel", "pipeline_parallel", "data_parallel", "micro_batch", "expert_parallel",
//              "expert_tensor_parallel", "virtual_stages", "schedule", "layout", "recompute", "recompute_layers", "zero", "moments",
//              "sequence_parallel" (named as the job's keys), "total_bytes", "share", "class", "probability", "step_seconds", "tokens_per_s",
//              "tie": the number of the row's group of equally fast plans},   a list each: the first 200; {} when nothing is ranked
//    "front": [rows that no other row beats in both memory and time, fastest first],
//    "closest": null | {the same keys but "tie", one value each}}   when nothing is ranked: the plan that needs least
std::string rank(std::string_view request);

// versus(job + {"other": {fields of the plan, "auto" allowed}}) -> the job's plan against the same with these fields changed;
// what the job leaves on "auto" is chosen anew for it.
//   {"ok": true, "plan": SIDE, "other": SIDE | {"ok": false, "problems"},
//    "outcome": "breaks_rule" | "does_not_fit" (the other, while the plan does) | "slower" | "faster" | "as_fast" (the other),
//    and unless it breaks a rule: "seconds", "seconds_share" (of the plan's step), "bytes": what the other takes more (negative: less)
//    "time": [{"id", "kind", "seconds"}], "memory": [{"id" (of a group), "bytes"}]}    more, item by item; largest first
//   SIDE {"ok": true, "job": {the plan's fields}, "data_parallel", "card_bytes", BRIEF}
std::string versus(std::string_view request);

// limits(job + {"days": D}) -> the reverse questions. "days" is a number up to 36,500; 0 or left out = not asked. Each answer comes with the
// fastest plan that fits there; degrees that the job sets are kept, those on "auto" are chosen anew at every value. The job itself need
// not be legal.
//   {"ok": true, "job": …, "days": as asked,
//    "fewest_gpus":    null | {"gpus", "plan": PLAN, BRIEF}     the fewest on which a plan fits; null: none up to to_gpus
//    "fewest_in_time": null | {"gpus", "plan", BRIEF, "days", "low_days", "high_days", "gpu_hours", "cost": number | null, "safe_gpus":
//                              count | null}    the fewest whose central estimate is within the days, and the fewest whose upper one is;
//                                               null without a token_budget or days, or when no number of GPUs does it
//    "largest_micro_batch", "largest_batch", "largest_sequence":      on the job's GPUs; the batch in sequences, the sequence in tokens
//                      null | {"value", "plan", BRIEF, "limited_by": "memory" | "rules" | "range", "notes": [TEXT]}     what stands against the next
//                              one; "range": the field ends there
//    "models":   [{"id", "label", "parameters", "fits": bool, "plan": PLAN | null, and BRIEF unless the plan is null}]      the catalogue's on the
//                 job's GPUs, largest first; of one that does not fit, the plan that needs least; null: no legal plan
//    "searched": {"from_gpus", "to_gpus", "notes": [TEXT]}}               which numbers of GPUs were tried, and what was kept
//   PLAN {"data_parallel", and every key that may be "auto", with its value: "tensor_parallel", …, "layout", "recompute", …}
//   {"ok": false, "problems": […]}
std::string limits(std::string_view request);

// calibrate(job + {"runs": […]} or {"runs_text": "…"}) -> what the user's own measured steps say about the estimate of time.
//   "runs"       [{"step_seconds": 12.3, and every key of the plan in which the run differs from the job}], at most 500
//   "runs_text"  the same as CSV or TSV. The first line names the columns (keys of the plan or their short names in a link, and
//                step_seconds), separated by tabs, semicolons, commas or spaces; an empty cell is the job's; lines with # are skipped.
//                Between tabs, semicolons or spaces "12,3" is 12.3.
// A run must say its plan: degrees that it leaves out must be set in the job. Model, GPU, cluster and the calibration's own keys are the
// job's. A calibration that the job carries already is left out of "estimated_seconds".
//   {"ok": true,
//    "rows": [{"name": {"id", "args"} (row.run or row.line, with its number), "step_seconds" (measured), "estimated_seconds", "ratio" (measured / estimated),
//              "after_seconds", "after_ratio" (with what is proposed), "outlier": far from the others even then,
//              "plan": {"gpus", "sequence_length", "global_batch", "tensor_parallel", "context_parallel", "pipeline_parallel",
//                       "micro_batch", "expert_parallel"}}],
//    "usable": number of rows,
//    "kind": "none" (fewer than 3 different plans, or a median ratio beyond 0.2 to 5) | "factor" (the median ratio) | "site" (from 10 plans: constants of the cluster, where they
//            predict plans left out better than the factor does),
//    "why": [{"id", "args"}: a sentence each, with the mean error of plans predicted from the others],
//    "set": {keys of the job: new values}, "not_identifiable": [keys of constants on which these runs do not depend],
//    "before", "after": null (no rows) | {"mean_error", "worst_error"} of |ratio - 1|,
//    "warnings": [problem],   rule "does_not_fit": the estimate of memory says that this run cannot have fitted
//    "text": {"header": as given ("" of more than 200 columns), else the usual one, "line": the job's plan in those columns, its time
//             left open; "" without a legal one},
//    "remove": {keys of the job that take its calibration away; empty without one}}
//   {"ok": false, "problems": [all of them; field "runs[3].step_seconds", counted from 0], "text", "remove" (these two when the job was read)}
// Besides broken rules a row is refused whose time is not above 0, below what the arithmetic takes at the card's peak, above 50 times the
// estimate (rule "range"), or a fifth above that of another row of the same plan ("contradictory").
std::string calibrate(std::string_view request);

// read_links({"text": "…", "unit", "format", "units"}) -> a measurement of the links between nodes (or GPUs), as a tool printed it.
//   "text"    at most 32 MB: {"nodes": [names] (or "gpus"), "gbyte_per_s": [[…]], "latency_us": [[…]]} (row = sender, column = receiver; null =
//             not measured); Pipette's {"gpus": [names of nodes], "bandwidth": [[GB/s]]}; a matrix as CSV, TSV, columns of spaces or a list of lists, with or
//             without names above and on the left, lines with # skipped, "-" or nothing = not measured; logs of nccl-tests' sendrecv_perf, one
//             run per pair, one after the other; logs of OSU's osu_bw and osu_latency, each behind the command that started it or a line
//             "# pair: nodeA nodeB"; mpiGraph's output
//   "format"  "auto" (the default: recognised by content) | "json" | "pipette" | "matrix" | "nccl_tests" | "osu" | "mpigraph"
//   "unit"    "auto" (as the file or the tool's documentation says) | "gbyte_per_s" | "gbit_per_s" | "mbyte_per_s" | "mbit_per_s" | "byte_per_s" |
//             "gibyte_per_s" | "mibyte_per_s" (2^30 and 2^20 bytes); needed for a matrix whose comments, header and cells name none
//   "units"   "auto" (as the file says, else nodes) | "nodes" | "gpus": what the names are
//   {"ok": true, "format": {"id"}, "unit": as above, "unit_source": "file" | "tool" (its documentation says it) | "chosen",
//    "links": {"nodes" or "gpus", "gbyte_per_s": at most 6 digits; on the diagonal 0 = not said, "latency_us" when measured for all links},
//    "symmetric": both directions agree to 5 digits, "asymmetry": the largest |a - b| / max(a, b) of two directions,
//    "missing": [[from, to]] (not measured, filled from the opposite direction; the first 100), "missing_count": all of them,
//    "slow": [{"from", "to", "gbyte_per_s", "share_of_median"}] (below the median, slowest first, at most 10; of a pair the slower direction),
//    "median_gbyte_per_s", "lowest", "highest" (both GB/s), "notes": [{"id", "args"}: which numbers count, what was left out]}
//   {"ok": false, "problems": […]}  nothing is read then. Field "text", "text.gbyte_per_s[3][5]" (JSON) or "unit"; the first 20, then one more
//                                   with how many there are. Rules besides those above: "square", "pairs" (a log does not say its one
//                                   pair), "unit" (none, several, or another one than chosen).
std::string read_links(std::string_view request);

// place(job + {"links": {…}, …}) -> which node (or GPU) should stand where on links that were measured: the order in which a launcher should
// name them. Ranks fill units in Megatron's order (TP fastest, then CP, DP, PP): position k holds ranks k*g to k*g+g-1, g = gpus_per_node
// (1 where the links are between GPUs). At most 32 MB.
//   "links"       {"nodes": [names] or "gpus": [names], "gbyte_per_s": [[from a row to a column]], "latency_us": [[…]]} (may be left out);
//                 more units than positions: the others are spare
//   "objective"   "step_time" (the default): the step of the estimate, where every hand-over, ring and group goes at the rate measured (achieved,
//                 so no share of it is taken; the GPUs of a node share it where they send at once), the slowest pipeline and ring set
//                 the pace; "pipette": the communication cost J of arXiv 2405.18093
//   "pipette"     instead of a job: {"pipelines", "stages", "inter_dp", "inner_dp", "pp_msg_gbyte", "dp_msg_gbyte",
//                 "inside_gbyte_per_s" (where inner_dp > 1)}; position k = stage k mod stages of pipeline k / stages
//   "seed" 1, "moves" 6 million, "restarts" 4 (at most one per 512 moves); above 256 units 10 million and 1; with "start" also 0 moves
//   "start"       [unit per position]: a placement to begin with, as "placement" of an answer or a progress; with at most one candidate
//   "units"       [{"name", "speed" (1 = as the profile says), "memory_gib"}]: units that differ. A pipeline goes at the pace of its slowest
//                 unit; a unit goes where its memory holds the stages that stand there, or stays out, whatever that costs in time
//   "candidates"  [{fields of the plan}], at most 20: each is placed with a share of the moves, the fastest that fits is the answer
//   {"ok": true, "job": null ("pipette") | {as in estimate}, "objective": {"id", "label"}, "units": "nodes" | "gpus",
//    "default_seconds" (units in the order of the measurement), "best_seconds", "gain_share" (0.1: a tenth less),
//    "low_gain_share", "high_gain_share", "basis": what that band is, "nothing_to_gain": less than a hundredth, "finding": one or two sentences,
//    "placement": [unit per position], "spare": [units],
//    "positions": [{"position", "unit", "name", "stages": [first, last], "data_ranks": [first, last]}],
//    "moves", "moves_accepted", "restarts", "stopped": bool, "curve": [[moves, best seconds]] (at most 201),
//    "critical":   {"default": BINDS, "best": BINDS}   which links set the pace
//    "files":      [{"id": "slurm"|"openmpi_rankfile"|"hostfile"|"torchrun", "name", "text", "how": one line}],  [] where units are GPUs or a placed node
//                  has a name that no launcher can read: letters, digits, ".", "-" and "_" may stand there
//    "warnings":   [problem],    rule "does_not_fit": what stands at a unit needs more memory than it has; no order was found without
//    "suggestion": null | {"set": {keys of the job: new values}, "label", "seconds": of a placement with it}: layers split unevenly, where that
//                  saves a hundredth or more
//    "ranked":     [{"index" (in candidates), "default_seconds", "best_seconds", "fits"}]}    fastest first; [] without candidates
//   BINDS {"pipeline": null | {"pipeline", "seconds", "links": [LINK] (between its stages)}, "ring": null | {"stage", "seconds", "link": LINK}}
//   LINK  {"from", "to" (units), "positions": [from, to], "stage" (of the sender), "gbyte_per_s" (the slower direction)}
//   {"ok": false, "problems": […]}
// `go_on` is asked every 16,384 moves with {"moves", "best_seconds", "default_seconds", "index" (of the candidate), "placement": [unit per
// position] of the best, null unless it is better than when last asked}; false ends the search with the best so far. In
// JavaScript: place(text, go_on), go_on a function of that text, or null.
// The matrices of "links" may come beside the text, GB/s and µs row by row, NaN for null; "links" then has names only. A million numbers as
// text take a quarter of a second and 30 MB to read. In JavaScript: place(text, go_on, rates, latencies), Float64Arrays, the second may be
// null.
std::string place(std::string_view request, bool (*go_on)(void* context, const std::string& progress) = nullptr, void* context = nullptr,
                  LinkColumns links = {});

// clang-format on
// Runs `count` memory estimates over many plans without any text and returns the sum of their bytes: the rate that a search can reach,
// for the benchmarks that compare the module with the native build.
double benchmark_estimates(std::int32_t count);

}  // namespace fourfold::api
