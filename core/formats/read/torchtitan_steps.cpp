// How a step of torchtitan goes: its batch, and the pipeline's schedule.
#include <algorithm>

#include "base/text.h"
#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/torchtitan.h"
#include "plan/layout.h"

namespace fourfold {

void read_torchtitan_batch(Import& in) {
    const std::int64_t copies = in.copies();
    const auto local = in.whole({"training.local_batch_size", "training.batch_size"}, "micro_batch");
    const auto part =
        in.whole({"parallelism.pipeline_parallel_microbatch_size", "experimental.pipeline_parallel_microbatch_size"}, "micro_batch");
    const auto global = in.whole("training.global_batch_size", "global_batch");
    const auto parts_before = in.whole("experimental.pipeline_parallel_microbatches", "micro_batch");  // as many as stages, else
    const std::int64_t depth = in.job.value("pipeline_parallel", std::int64_t{1});
    const std::int64_t steps = in.whole("training.gradient_accumulation_steps", "global_batch").value_or(1);  // flame's
    const bool stages = depth > 1, older = in.has("training.batch_size") && !part;
    if (local && *local > 0 && *local <= 65'536) {
        const std::int64_t parts = std::max<std::int64_t>(parts_before.value_or(depth), 1);
        if (!stages || (older && *local % parts == 0))
            in.job["micro_batch"] = stages ? *local / parts : *local;
        else if (!older)
            in.job["micro_batch"] = part.value_or(1);
        in.whole({"training.local_batch_size", "training.batch_size"}, "global_batch");
        if (copies > 0 && steps > 0 && steps <= 65'536 && !is_torchtitan_elsewhere(in) && (!global || *global <= 0))
            in.job["global_batch"] = *local * copies * steps;
    }
    if (global && *global > 0) in.job["global_batch"] = *global;
    const auto tokens = in.whole("training.num_tokens_per_microbatch_per_dp_rank", "micro_batch"),
               step = in.whole("training.num_tokens_per_train_step", "global_batch");
    const std::int64_t length = in.job.value("sequence_length", std::int64_t{0});
    if (tokens && length > 0 && *tokens % length == 0 && *tokens > 0) in.job["micro_batch"] = *tokens / length;
    if (step && length > 0 && *step > 0 && *step % length == 0) in.job["global_batch"] = *step / length;
    const auto parts = in.whole("parallelism.num_pp_microbatches", "global_batch");
    if (tokens && step && *step <= 0 && in.job.contains("micro_batch") && copies > 0)
        in.job["global_batch"] =
            in.job["micro_batch"].get<std::int64_t>() * copies * (stages && parts && *parts > 0 && *parts < 65'536 ? *parts : 1);
}

// Which modules each part of the model holds: its layers, in their order, are a layout (distributed/pipeline_parallel.py,
// pipeline_module_split).
static constexpr const char* kParts = "parallelism.module_fqns_per_model_part.*";
static void read_parts(Import& in, std::int64_t stages) {
    std::vector<std::int32_t> layers;
    std::int32_t next = 0;
    bool in_order = true;
    for (std::size_t i = 0; i < in.entries.size(); ++i) {
        if (!matches(kParts, in.entries[i].key)) continue;
        const std::string names = in.text(in.entries[i].key, "layout").value_or("") + " ";
        const std::int32_t before = next;
        for (std::size_t at = names.find("layers."); at != std::string::npos; at = names.find("layers.", at + 1))
            in_order = names.compare(at + 7, names.find(' ', at) - at - 7, std::to_string(next++)) == 0 && in_order;
        layers.push_back(next - before);
    }
    const auto parts = static_cast<std::int64_t>(layers.size());
    if (!in_order || next == 0 || parts % stages != 0) {
        for (Entry& entry : in.entries)
            if (matches(kParts, entry.key)) entry.fate = Fate::unknown;
        return;
    }
    const bool even = std::all_of(layers.begin(), layers.end(), [&](std::int32_t held) { return held == layers.front(); });
    in.job["layout"] = even ? "equal" : layout_text(Layout(layers));
    in.job["virtual_stages"] = parts / stages;
}

static constexpr const char* kEach = "parallelism.pipeline_parallel_layers_per_stage";
void read_torchtitan_schedule(Import& in) {
    auto schedule = in.text("parallelism.pipeline_parallel_schedule", "schedule");
    if (!schedule) schedule = in.text("experimental.pipeline_parallel_schedule", "schedule");
    const auto points = in.text("experimental.pipeline_parallel_split_points", "virtual_stages");
    const auto each = in.whole(kEach, "virtual_stages");
    const std::int64_t stages = in.job.value("pipeline_parallel", std::int64_t{1});
    constexpr const char* kKeys[] = {"parallelism.pipeline_parallel_schedule", "experimental.pipeline_parallel_schedule"};
    if (stages <= 1) return in.mark(kKeys[0], Fate::no_number), in.mark(kEach, Fate::no_number);
    std::string name = lower_case(schedule.value_or("1f1b"));
    std::erase(name, '_');
    const bool mirrored = name == "zbvzerobubble" || name == "dualpipev", single = name == "1f1b" || name == "gpipe";
    if (name == "gpipe" || mirrored) in.job["schedule"] = name == "zbvzerobubble" ? "zb-v" : name;
    if (single || mirrored || name == "interleaved1f1b" || name == "flexibleinterleaved1f1b")
        in.job["virtual_stages"] = single ? 1 : 2;  // where no number of layers is said
    else
        in.mark(kKeys[0], Fate::unknown), in.mark(kKeys[1], Fate::unknown);
    if (points && !points->empty()) {
        const bool listed = points->find(',') != std::string::npos;
        const std::int64_t cuts = 1 + std::count(points->begin(), points->end(), listed ? ',' : ' ');
        if ((cuts + 1) % stages == 0)
            in.job["virtual_stages"] = (cuts + 1) / stages;
        else
            in.mark("experimental.pipeline_parallel_split_points", Fate::unknown);
    }
    if (count_like(in.entries, {kParts}) > 0) return read_parts(in, stages);
    if (!each || *each < 1) return;
    // The first and the last stage hold one layer less each, unless it is said otherwise.
    const CatalogModel* model = known_model(in);
    const auto less = [&](const char* key) { return std::clamp<std::int64_t>(in.whole(key, "layout").value_or(1), 0, 100); };
    const std::int64_t first = less("parallelism.pipeline_parallel_first_stage_less_layers"),
                       last = less("parallelism.pipeline_parallel_last_stage_less_layers");
    const std::int64_t sum = model == nullptr ? 0 : model->model.layers + first + last, all = (sum + *each - 1) / *each;
    if (sum > 0 && first <= 1 && last <= 1 && sum % (*each * stages) == 0 &&
        in.has("parallelism.pipeline_parallel_first_stage_less_layers")) {
        in.job["layout"] = "equal";
        in.job["count_embedding_as_layer"] = first == 1, in.job["count_loss_as_layer"] = last == 1;
    }
    if (all > 0 && all % stages == 0 && all / stages <= 128)
        in.job["virtual_stages"] = all / stages;
    else if (!single) {
        in.job.erase("virtual_stages");
        in.mark(kEach, Fate::unknown);
    }
}

}  // namespace fourfold
