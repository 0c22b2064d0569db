// Arguments, their defaults and what they exclude: Megatron-LM d98e8a64dd, megatron/training/arguments.py (line numbers below), and its
// tags v2.0 to core_v0.19.0 for older names.
#include "formats/megatron/read.h"

#include <algorithm>

#include "base/text.h"
#include "formats/keys.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "plan/plan.h"

namespace fourfold {

int megatron_likeness(const std::vector<Entry>& entries) {
    int count = count_like(entries, {"num_layers", "hidden_size", "num_attention_heads", "transformer_impl", "use_distributed_optimizer",
                                     "hf_checkpoint", "actor_num_gpus_per_node"});  // the last two are slime's
    for (const Entry& entry : entries)
        count += std::any_of(std::begin(kMegatronKeys), std::end(kMegatronKeys), [&](const KeyRow& one) { return entry.key == one.key; });
    return count;
}

static Text refusal(const char* id) { return Text("import_plan.refused", id); }

bool is_said(const Import& in, std::string_view field) {
    return std::any_of(in.entries.begin(), in.entries.end(), [&](const Entry& entry) {
        return entry.fate == Fate::used && std::find(entry.fields.begin(), entry.fields.end(), field) != entry.fields.end();
    });
}

// "flex" stands for DeepEP's and HybridEP's kernels (moe/token_dispatcher.py); every copy goes by itself in the others.
static void read_dispatch(Import& in, bool silent) {
    const auto type = in.text("moe_token_dispatcher_type", "expert_dispatch");
    const auto backend = in.text("moe_flex_dispatcher_backend", "expert_dispatch");  // of the flex one; recipes set both by it
    const bool flex = type == "flex" || (silent && !type && (backend == "deepep" || backend == "hybridep"));
    const bool kernels = in.on("moe_enable_deepep", "expert_dispatch") || flex;
    const bool deepspeed = in.has("deepspeed");  // whose experts have no other way than to send tokens (moe/sharded_moe.py)
    const bool gathers = type == "allgather" || (!type && !silent && !deepspeed);  // arguments.py
    if (kernels)
        in.job["expert_dispatch"] = "deepep";
    else if (gathers || deepspeed || (type && type->substr(0, 8) == "alltoall"))
        in.job["expert_dispatch"] = "all_to_all";
    else if (type)
        in.mark("moe_token_dispatcher_type", Fate::unknown);
    // It gathers each token once at each of the GPUs that share the experts, not each copy at its expert's.
    if (!kernels && gathers && in.job.value("expert_parallel", std::int64_t{1}) > 1)
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "moe_token_dispatcher_type: allgather"));
}

// An expert works on as many places as it may get tokens, where its input is padded (moe/moe_utils.py, get_capacity): so many times its
// even share. Tokens that are dropped leave it less, which is not counted.
static void read_capacity(Import& in) {
    if (!in.on("moe_pad_expert_input_to_capacity", "expert_imbalance")) return;
    constexpr double kMost = 64;  // of the field
    const auto factor = in.number("moe_expert_capacity_factor", "expert_imbalance");
    if (factor && *factor > 1) in.job["expert_imbalance"] = std::min(*factor, kMost);
}

// CUDA graphs of the whole step, or of parts of layers: whole layers where no part is said; without attention most launches remain.
static void read_graphs(Import& in) {
    const auto kind = in.text("cuda_graph_impl", "cuda_graphs");
    bool any = kind.has_value() && *kind != "none";
    for (const char* const older : {"enable_cuda_graph", "external_cuda_graph"}) any = in.on(older, "cuda_graphs") || any;
    std::string parts;
    for (const char* const key : {"cuda_graph_scope", "cuda_graph_modules"}) parts += in.text(key, "cuda_graphs").value_or("");
    if (in.hangs("cuda_graphs")) return;
    const auto has = [&](const char* part) { return parts.find(part) != std::string::npos; };
    const bool attention = parts.find_first_not_of("[] ") == std::string::npos || has("attn") || has("full");
    if (any && !attention) in.notes.push_back(Text("import_plan.note.not_counted").with("key", "cuda_graph_scope: " + parts.substr(0, 60)));
    in.job["cuda_graphs"] = !any || !attention ? "none" : kind == "full_iteration" || has("full_iteration") ? "step" : "layers";
}

static void read_recompute(Import& in) {
    const bool old_full = in.on("checkpoint_activations", "recompute");
    auto granularity = in.text("recompute_granularity", "recompute");  // None says that nothing is
    if (!granularity) granularity = in.text("activations_checkpoint_granularity", "recompute");
    auto method = in.text("recompute_method", "recompute");
    if (!method) method = in.text("activations_checkpoint_method", "recompute");
    const auto layers =
        in.whole({"recompute_num_layers", "activations_checkpoint_num_layers", "checkpoint_num_layers"}, "recompute_layers");
    if (method == "null" || method == "None") method.reset();  // as Hydra writes it
    auto modules = in.text("recompute_modules", "recompute_modules");
    const bool experts = in.on("moe_layer_recompute", "recompute");                           // of older releases
    if (in.on("recompute_activations", "recompute") && !old_full) granularity = "selective";  // 607: whatever is said beside it
    const bool selective = granularity == "selective" || experts;
    in.job["recompute"] = "none";
    if (granularity == "full" || old_full || (!granularity && method && !selective)) {
        in.job["recompute"] = method == "block" ? "block" : "full";
        if (layers && *layers > 0) in.job["recompute_layers"] = *layers;
        if (method == "block" && layers == 0) in.job["recompute"] = "none";
    } else if (selective) {
        in.job["recompute"] = "selective";
        if (method) in.refused.push_back(refusal("selective_method"));  // 1425
        std::string known;
        std::string word;
        for (const char c : modules.value_or(granularity || !experts ? "core_attn" : "") + (experts ? " moe " : " ")) {
            const bool part = c != ' ' && c != ',' && c != '[' && c != ']' && c != '"' && c != '\'';
            if (part) {
                word += c;
            } else if (!word.empty()) {
                const bool ours =
                    std::any_of(kModuleChoices.begin(), kModuleChoices.end(), [&](const Choice& one) { return one.id == word; });
                if (ours)
                    known += (known.empty() ? "" : ",") + word;
                else
                    in.notes.push_back(Text("import_plan.note.module").with("module", word));
                word.clear();
            }
        }
        in.job["recompute_modules"] = known;
    } else if (granularity && granularity != "null" && lower_case(*granularity) != "none") {
        for (const char* key : {"recompute_granularity", "activations_checkpoint_granularity"}) in.mark(key, Fate::unknown);
    }
}

static void read_zero(Import& in, const MegatronDefaults& defaults) {
    const bool shares = in.on("use_distributed_optimizer", "zero") || (is_muon(in, true) && in.text("optimizer", "zero"));
    in.job["zero"] = shares ? "optimizer" : "none";
    const bool fsdp = in.on("use_megatron_fsdp", "zero") || in.on("use_custom_fsdp", "zero");
    const bool torch_fsdp = in.on("use_torch_fsdp2", "zero");
    const auto strategy = in.text("data_parallel_sharding_strategy", "zero");
    if (!fsdp && !torch_fsdp) return;
    const std::string what = strategy.value_or(defaults.sharding);
    in.job["zero"] = what == "no_shard" ? "none" : what == "optim" ? "optimizer" : what == "optim_grads" ? "gradients" : "weights";
    if (torch_fsdp && in.job.value("pipeline_parallel", std::int64_t{1}) > 1) in.refused.push_back(refusal("fsdp2_pipeline"));
}

static void read_precision(Import& in, const MegatronDefaults& defaults) {
    const bool bf16 = in.on("bf16", "precision"), fp16 = in.on("fp16", "precision");
    const auto format = in.text("fp8_format", "precision"), old_format = in.text("fp8", "precision"),
               fp4 = in.text("fp4_format", "precision");
    const bool fp8 = (format && *format != "None" && *format != "null") ||
                     (old_format && (*old_format == "e4m3" || *old_format == "hybrid")) || in.on("fp8_e4m3", "precision") ||
                     in.on("fp8_hybrid", "precision");
    const bool weights = in.on("fp8_param_gather", "precision") || in.on("fp8_param", "precision");
    in.job["precision"] = fp8 ? (weights ? "fp8_weights" : "fp8") : fp16 ? "fp16" : "bf16";
    if (fp4 && *fp4 != "None") in.notes.emplace_back("import_plan.note.fp4");
    if (fp4 && fp8) in.refused.push_back(refusal("fp8_and_fp4"));  // 1100
    if (!bf16 && !fp16 && defaults.needs_precision && !in.hangs("precision")) in.notes.emplace_back("import_plan.note.fp32");
    const bool reduces_in_bf16 = in.on("grad_reduce_in_bf16", "gradients_in_fp32");
    const bool accumulates = in.on("accumulate_allreduce_grads_in_fp32", "gradients_in_fp32");
    if (const auto main = in.text("main_params_dtype", "")) in.mark("main_params_dtype", *main == "fp32" ? Fate::no_number : Fate::unknown);
    const auto main_grads = in.text("main_grads_dtype", "gradients_in_fp32");
    in.job["gradients_in_fp32"] = main_grads == "bf16" ? false : accumulates || (!fp16 && !reduces_in_bf16);
}

// Without the precision-aware optimizer the types have no effect, and nothing may lie in host memory (1884).
static void read_optimizer(Import& in, const MegatronDefaults& defaults) {
    const bool aware = in.on("use_precision_aware_optimizer", "moments");
    const bool muon = is_muon(in, false), ours = muon || (defaults.silent && in.has("optimizer") && in.last("optimizer")->value == "sgd");
    const auto name = in.text("optimizer", ours ? "optimizer" : "");
    if (ours && name)
        in.job["optimizer"] = muon ? "muon" : *name;
    else if (name && *name != "adam" && *name != "adamw" && *name != "null" && !defaults.silent)
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "optimizer: " + name->substr(0, 40)));
    if (muon && defaults.own_checks) in.notes.emplace_back("import_plan.note.muon");
    if (offloads_layers(in)) in.notes.push_back(Text("import_plan.note.not_counted").with("key", "cpu_offloading"));
    if (const char* key = "fine_grained_activation_offloading"; in.has(key)) {  // off says nothing
        if (in.on(key, "")) in.notes.push_back(Text("import_plan.note.not_counted").with("key", key));
        in.mark(key, Fate::no_number);
    }
    const auto first = in.text("exp_avg_dtype", "moments"), second = in.text("exp_avg_sq_dtype", "moments");
    const auto bytes = [](const std::optional<std::string>& type) { return !type || *type == "fp32" ? 4 : *type == "fp8" ? 1 : 2; };
    in.job["moments"] = "fp32";
    if (aware && bytes(first) == 1 && bytes(second) == 1) in.job["moments"] = "8-bit";
    if (aware && bytes(first) == 2 && bytes(second) == 2) in.job["moments"] = "16-bit";
    if (aware && bytes(first) != bytes(second)) in.notes.emplace_back("import_plan.note.two_moments");
    const auto part = in.number("optimizer_offload_fraction", "optimizer_offload");
    const bool overlaps = in.on("overlap_cpu_optimizer_d2h_h2d", "optimizer_offload_overlap");
    if (in.on("swap_optimizer", "optimizer_offload")) in.job["optimizer_offload"] = 1.0;  // MindSpeed
    if (!in.on("optimizer_cpu_offload", "optimizer_offload")) return;
    if (overlaps) in.job["optimizer_offload_overlap"] = "overlapped";
    in.job["optimizer_offload"] = part.value_or(defaults.offload_fraction);
    if (!aware && !defaults.silent) in.refused.push_back(refusal("offload"));
    // Megatron-Bridge runs without it (docs/training/cpu-offloading.md).
    const bool said = defaults.silent && in.has("use_precision_aware_optimizer");
    if (said && !in.on("use_precision_aware_optimizer", "offload_master_weights")) in.job["offload_master_weights"] = "off";
}

static void read_kernels(Import& in, const MegatronDefaults& defaults) {
    const auto backend = in.text("attention_backend", "attention");
    bool flash = in.on("use_flash_attn", "attention");
    for (const char* version : {"use_flash_attn_v1", "use_flash_attn_v2"}) flash = in.on(version, "attention") || flash;
    if (backend == "flash" || (!backend && flash)) in.job["attention"] = "flash";
    if (backend == "fused") in.job["attention"] = "cudnn";
    if (backend == "unfused" || backend == "local") in.job["attention"] = "plain";
    const bool fused = in.on("cross_entropy_loss_fusion", "loss");
    const auto kind = in.text("cross_entropy_fusion_impl", "loss");
    if (fused)
        in.job["loss"] = kind == "te" ? "te_fused" : "native_fused";
    else if (defaults.silent && in.has("cross_entropy_loss_fusion"))
        in.job["loss"] = "plain";
    if (in.text("transformer_impl", "transformer_engine") == "local") {
        in.job["transformer_engine"] = "off";
        if (!in.job.contains("attention")) in.job["attention"] = "plain";  // get_gpt_layer_local_spec: DotProductAttention
    }
    if (in.on("moe_grouped_gemm", "grouped_gemm"))
        in.job["grouped_gemm"] = "on";
    else if (defaults.silent ? in.has("moe_grouped_gemm") : in.has("num_experts"))
        in.job["grouped_gemm"] = "off";
    const auto off = [&](const char* no, const char* yes, const char* field) {
        if (in.on(no, field) || (in.has(yes) && !in.on(yes, field))) in.job[field] = "off";
    };
    off("no_gradient_accumulation_fusion", "gradient_accumulation_fusion", "gradient_fusion");
    off("no_bias_swiglu_fusion", "bias_swiglu_fusion", "activation_fusion");
    if (in.has("bias_activation_fusion") && !in.on("bias_activation_fusion", "activation_fusion")) in.job["activation_fusion"] = "off";
    off("no_masked_softmax_fusion", "masked_softmax_fusion", "softmax_fusion");
    if (const auto way = in.text("cp_comm_type", "context_parallel_kind")) {
        if (*way == "a2a") in.job["context_parallel_kind"] = "all_to_all";
        if (*way != "a2a" && *way != "p2p")
            in.notes.push_back(Text("import_plan.note.not_counted").with("key", "cp_comm_type: " + way->substr(0, 40)));
    }
    if (in.on("defer_embedding_wgrad_compute", "deferred_embedding_gradient")) in.job["deferred_embedding_gradient"] = "on";
    for (const auto& [key, field] : {std::pair{"hidden_dropout", "hidden_dropout"}, std::pair{"attention_dropout", "attention_dropout"}})
        in.job[field] = in.number(key, field).value_or(defaults.dropout) > 0;
    if (in.on("no_overlap_p2p_communication", "overlap_pipeline"))
        in.job["overlap_pipeline"] = false;
    else
        in.job["overlap_pipeline"] = in.job.value("virtual_stages", std::int64_t{1}) > 1;
}

// What takes memory or frees some, and is not counted.
static void note_uncounted(Import& in) {
    // The last two: encoders beside the model (examples/multimodal).
    for (const char* key : {"fp32_residual_connection", "distribute_saved_activations", "vision_model_type", "sound_model_type"})
        if (in.on(key, "")) in.notes.push_back(Text("import_plan.note.not_counted").with("key", key));
    if (in.on("freeze_LM", "")) refuse_mode(in, "freeze-LM");
}

static void read_batch(Import& in, const MegatronDefaults& defaults) {
    // Before v2.0, which refuses this name for it.
    const char* const micro_key = in.has("micro_batch_size") ? "micro_batch_size" : "batch_size";
    if (!in.job.contains("micro_batch")) in.set("micro_batch", in.whole(micro_key, "micro_batch"));
    if (const auto ramp = in.text("rampup_batch_size", "")) in.notes.push_back(Text("import_plan.note.ramp").with("ramp", *ramp));
    if (const auto ramp = in.text("step_batch_size_schedule", "")) in.notes.push_back(Text("import_plan.note.ramp").with("ramp", *ramp));
    const std::int64_t gpus = in.hangs("gpus") ? 0 : in.job.value("gpus", std::int64_t{0});
    const std::int64_t parallel = in.model_parallel(), copies = in.copies();
    if (gpus > 0 && parallel > 0 && gpus % parallel != 0)
        in.refused.push_back(Text(refusal("world")).with("gpus", gpus).with("product", parallel));  // 424-448
    const std::int64_t micro = in.job.value("micro_batch", std::int64_t{0});
    if (!in.job.contains("global_batch") && !in.has("global_batch_size")) {  // 702
        if (!defaults.silent && !in.has("train_batch_size")) in.whole(micro_key, "global_batch");
        if (const auto steps = accumulated(in); micro > 0 && copies > 0 && steps > 0) in.job["global_batch"] = micro * copies * steps;
    }
    const std::int64_t batch = in.job.value("global_batch", std::int64_t{0});
    const bool split =
        !defaults.silent || (is_said(in, "tensor_parallel") && is_said(in, "pipeline_parallel") && is_said(in, "context_parallel"));
    if (split && batch > 0 && micro > 0 && copies > 0 && batch % (micro * copies) != 0)
        in.refused.push_back(Text(refusal("batch")).with("batch", batch).with("micro", micro).with("copies", copies));
    else if (!defaults.silent && copies == 0 && batch > 0 && micro > 0 && batch % micro != 0)  // however many copies there are
        in.refused.push_back(Text(refusal("batch")).with("batch", batch).with("micro", micro).with("copies", std::int64_t{1}));
}

// Experts: arguments.py (expert parallelism check) and moe_layer.py.
static void check_experts(Import& in) {
    const auto degree = [&](const char* field) { return in.job.value(field, std::int64_t{1}); };
    const std::int64_t experts = in.whole({"num_experts", "num_moe_experts"}, "").value_or(0);
    const std::int64_t parallel = in.whole("expert_model_parallel_size", "").value_or(1);
    if (in.hangs("expert_parallel") || in.hangs("model") || parallel < 1) return;
    if (experts <= 1) {
        if (parallel > 1 && in.has("num_layers") && !in.has("num_experts") && !in.has("num_moe_experts"))
            in.refused.push_back(refusal("no_experts"));
        return;
    }
    if (experts % parallel != 0) in.refused.push_back(Text(refusal("experts")).with("experts", experts).with("parallel", parallel));
    if (parallel > 1 && in.job["precision"] == "fp16") in.refused.push_back(refusal("expert_fp16"));
    const bool tensor_known = !in.hangs("tensor_parallel") && !in.hangs("sequence_parallel");
    if (tensor_known && degree("tensor_parallel") > 1 && !in.job.value("sequence_parallel", false))
        in.refused.push_back(refusal("expert_sequence"));
    const std::int64_t gpus = in.job.value("gpus", std::int64_t{0});
    const std::int64_t product = degree("expert_tensor_parallel") * parallel * degree("pipeline_parallel");
    const bool known = !in.hangs("expert_tensor_parallel") && !in.hangs("pipeline_parallel") && tensor_known;
    if (known && gpus > 0 && product > 0 && product <= 1'048'576 && gpus % product != 0)
        in.refused.push_back(Text(refusal("expert_world")).with("gpus", gpus).with("product", product));
}

// What Megatron-LM's own program refuses besides, and others that take its arguments do not.
static void check_own(Import& in) {
    check_experts(in);
    check_megatron_config(in);
    const std::int64_t tensor = in.job.value("tensor_parallel", std::int64_t{1});
    const auto heads = in.whole("num_attention_heads", "");
    if (heads && *heads > 0 && tensor > 0 && !in.hangs("tensor_parallel") && *heads % tensor != 0)
        in.refused.push_back(Text(refusal("heads")).with("heads", *heads).with("parallel", tensor));
    const auto groups = in.on("group_query_attention", "") ? in.whole("num_query_groups", "") : std::nullopt;
    if (groups && *groups > tensor && tensor > 0 && !in.hangs("tensor_parallel") && *groups % tensor != 0)
        in.refused.push_back(Text(refusal("groups")).with("groups", *groups).with("parallel", tensor));
    const std::int64_t context = in.job.value("context_parallel", std::int64_t{1}),
                       tokens = in.job.value("sequence_length", std::int64_t{0});
    if (context > 1 && context <= 65'536 && !in.hangs("context_parallel") && !in.hangs("sequence_length") && tokens % (2 * context) != 0)
        in.refused.push_back(Text(refusal("sequence")).with("sequence", tokens).with("parts", 2 * context));
    const char* const newer = in.has("micro_batch_size")    ? "--micro-batch-size"
                              : in.has("global_batch_size") ? "--global-batch-size"
                                                            : nullptr;
    if (newer != nullptr && in.has("batch_size"))
        in.refused.push_back(Text(refusal("both")).with("one", "--batch-size").with("other", newer));
    if (in.on("bf16", "") && in.on("fp16", "")) in.refused.push_back(Text(refusal("both")).with("one", "--bf16").with("other", "--fp16"));
    const auto positions = in.whole("max_position_embeddings", "");
    const std::int64_t length = in.job.value("sequence_length", std::int64_t{0});
    if (positions && !in.hangs("sequence_length") && *positions < length)
        in.refused.push_back(Text(refusal("positions")).with("positions", *positions).with("sequence", length));
    const bool overlaps = in.job.value("tensor_overlap", false) && !in.hangs("tensor_overlap");
    if (overlaps && !in.hangs("sequence_parallel") && !in.job.value("sequence_parallel", false))
        in.refused.push_back(refusal("tensor_overlap"));
    const bool gathers = in.on("overlap_param_gather", "") && in.job["zero"] != "none";
    if (gathers && !in.hangs("overlap_gradients") && !in.job.value("overlap_gradients", false))
        in.refused.push_back(refusal("gather_gradients"));
}

static void check_rest(Import& in, const MegatronDefaults& defaults) {
    if (defaults.own_checks) check_own(in);
    if (in.on("overlap_param_gather", "overlap_parameters") && in.job["zero"] == "none" && !in.hangs("zero") && !defaults.silent)
        in.refused.push_back(refusal("gather"));  // 1024
    const std::int64_t stages = in.job.value("pipeline_parallel", std::int64_t{1});
    const std::int64_t layers = in.whole("num_layers", "").value_or(0);
    const std::int64_t extra =
        static_cast<int>(in.job.value("count_embedding_as_layer", false)) + static_cast<int>(in.job.value("count_loss_as_layer", false));
    const bool ends = in.job.contains("first_stage_layers") || in.job.contains("last_stage_layers") || in.job.contains("layout");
    if (!ends && !in.has("noop_layers") && !defaults.silent && layers > 0 && stages > 0 && (layers + extra) % stages != 0)
        in.refused.push_back(Text(refusal("layers")).with("layers", layers + extra).with("stages", stages));
}

// Where nothing is said, Megatron-Core takes groups of as many micro-batches as there are stages, and stops where these do not hold all.
static void read_group(Import& in) {
    if (in.job.contains("virtual_stage_group") || in.hangs("virtual_stage_group")) return;
    const auto of = [&](const char* field) { return in.hangs(field) ? 0 : in.job.value(field, std::int64_t{0}); };
    const std::int64_t stages = of("pipeline_parallel"), at_once = of("micro_batch"), gpus = of("gpus");
    const std::int64_t split = stages * of("tensor_parallel") * of("context_parallel");
    if (of("virtual_stages") < 2 || stages < 2 || at_once < 1 || split < 1 || split > gpus || gpus % split != 0) return;
    const std::int64_t micro_batches = of("global_batch") / at_once / (gpus / split);
    if (micro_batches > 0 && micro_batches % stages != 0) in.job["virtual_stage_group"] = stages;
}

void read_megatron(Import& in, const MegatronDefaults& defaults) {
    translate_forks(in);
    // Where both are said, the other one counts what an encoder makes of an image (examples/multimodal/train.py).
    in.set("sequence_length", in.whole("decoder_seq_length", "sequence_length"));
    if (in.has("decoder_seq_length")) in.mark("seq_length", Fate::no_number);
    for (const auto& [key, field] : kMegatronKeys) {
        if (in.job.contains(field)) continue;
        const auto value = in.whole(key, field);
        if (value && *value < 1 && std::string_view(field) != "virtual_stage_group")
            in.mark(key, Fate::unknown);  // "-1" stands for what another program fills in
        else
            in.set(field, value);
    }
    for (const auto& [key, field] : kMegatronSwitches) {
        const bool on = in.on(key, field);
        const Entry* entry = in.last(key);
        if (entry == nullptr || entry->open.empty()) in.job[field] = on;
    }
    for (const char* field : {"tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel"}) {
        if (!in.job.contains(field) && !in.hangs(field)) in.job[field] = 1;
    }
    if (!in.job.contains("model") && defaults.sizes) read_megatron_model(in);
    const auto expert_tensor = in.whole("expert_tensor_parallel_size", "expert_tensor_parallel");
    // Where the sizes stand elsewhere, so may the experts.
    const bool elsewhere = defaults.silent || ((!in.has("num_layers") || !defaults.experts) && in.has("expert_model_parallel_size"));
    const bool dense = in.whole({"num_experts", "num_moe_experts"}, "").value_or(0) <= 1;
    if (dense && !elsewhere)
        in.job["expert_parallel"] = in.job["expert_tensor_parallel"] = 1;
    else if (expert_tensor)
        in.job["expert_tensor_parallel"] = *expert_tensor;
    else if (in.job.contains("tensor_parallel"))
        in.job["expert_tensor_parallel"] = in.job["tensor_parallel"];  // 587
    if (!dense || elsewhere) {
        read_dispatch(in, elsewhere);
        read_capacity(in);
    }
    read_graphs(in);
    read_stages(in, defaults);
    read_recompute(in);
    read_zero(in, defaults);
    read_precision(in, defaults);
    read_optimizer(in, defaults);
    read_kernels(in, defaults);
    note_uncounted(in);
    read_batch(in, defaults);
    read_group(in);
    check_rest(in, defaults);
    read_split(in, defaults);
    mark_without_number(in);
    // Of no effect there (1434, 1024).
    const bool one = in.job.value("tensor_parallel", std::int64_t{0}) == 1;
    if (one && (!defaults.silent || is_said(in, "tensor_parallel"))) in.job.erase("sequence_parallel");
    // Nothing is gathered there; and where gradients wait for the end of the passes, weights could not be either (1024).
    if (in.job["zero"] == "none" && !in.hangs("zero") && (!defaults.silent || in.has("use_distributed_optimizer"))) {
        in.job.erase("overlap_parameters");
        if (in.job.value("overlap_gradients", true) == false && !in.hangs("overlap_gradients")) in.job["overlap_parameters"] = false;
    }
    in.drop_open();
    if (defaults.silent) {
        in.keep_said({"gpus", "gpus_per_node", "model", "framework", "layout", "schedule"});
        in.notes.emplace_back("import_plan.note.recipe");
    }
    for (const char* field : {"sequence_length", "micro_batch", "gpus"}) in.ask(field);
    in.settle();
}

}  // namespace fourfold
