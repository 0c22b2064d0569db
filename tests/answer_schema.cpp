#include "answer_schema.h"

namespace fourfold::tests {

std::string differs(const Json& value, const Json& shape, const std::string& path) {
    const auto wrong = [&] {
        return path + ": not " + shape.dump() + " but " + value.dump(-1, ' ', false, Json::error_handler_t::replace);
    };
    if (shape.is_array()) {
        if (!value.is_array()) return wrong();
        for (std::size_t i = 0; i < value.size(); ++i)
            if (std::string found = differs(value[i], shape[0], path + "." + std::to_string(i)); !found.empty()) return found;
        return "";
    }
    if (shape.is_object()) {
        if (const auto inner = shape.find("null or"); inner != shape.end()) return value.is_null() ? "" : differs(value, *inner, path);
        if (!value.is_object()) return wrong();
        std::size_t known = 0;
        for (const auto& [name, expected] : shape.items()) {
            const bool optional = name.back() == '?';
            const auto found = value.find(optional ? name.substr(0, name.size() - 1) : name);
            if (found == value.end()) {
                if (!optional) return path + ": no " + name;
                continue;
            }
            ++known;
            if (std::string inside = differs(*found, expected, path + "." + found.key()); !inside.empty()) return inside;
        }
        return known == value.size() ? "" : path + ": keys beyond the documented ones: " + value.dump().substr(0, 300);
    }
    std::string kind = shape.get<std::string>();
    if (kind.back() == '?') {
        if (value.is_null()) return "";
        kind.pop_back();
    }
    const bool finite = value.is_number() && std::isfinite(value.get<double>());
    if (kind == "integer") return value.is_number_integer() ? "" : wrong();
    if (kind == "number") return finite ? "" : wrong();
    if (kind == "text") return value.is_string() ? "" : wrong();
    if (kind == "boolean") return value.is_boolean() ? "" : wrong();
    if (kind == "scalar") return value.is_null() || value.is_string() || value.is_boolean() || finite ? "" : wrong();
    if (kind == "any") return "";
    if (kind == "words") {  // {"id": "problem.no_text", "args": {…}}, the args left out where there are none
        const bool some =
            value.is_object() && value.contains("id") && value["id"].is_string() && !value["id"].get_ref<const std::string&>().empty();
        return some && (value.size() == 1 || (value.size() == 2 && value.contains("args") && value["args"].is_object())) ? "" : wrong();
    }
    if (kind == "token") {
        const bool symbol = value.is_object() && value.size() == 1 && value.contains("symbol") && value["symbol"].is_string();
        return finite || symbol || (value.is_string() && !value.get_ref<const std::string&>().empty()) ? "" : wrong();
    }
    return "no such shape: " + kind;
}

const Json& shape(const char* name) {
    static const Json shapes = [] {
        Json s = json(R"({
            "problem": {"field": "text", "rule": "text", "value": "scalar", "message": "words", "suggestion": "words?", "nearest": "scalar"},
            "source": {"title": "text", "url": "text"},
            "job": {"version": "integer", "model": "any", "gpu": "text", "cluster": "text", "method": "text", "gpus": "integer",
                    "gpus_per_node": "integer", "sequence_length": "integer", "global_batch": "integer", "tensor_parallel": "integer",
                    "context_parallel": "integer", "pipeline_parallel": "integer", "micro_batch": "integer", "virtual_stages": "integer",
                    "schedule": "text", "layout": "text", "virtual_stage_group": "any", "first_stage_layers": "integer", "last_stage_layers": "integer",
                    "count_embedding_as_layer": "boolean", "count_loss_as_layer": "boolean", "zero": "text", "shard_replicas": "integer",
                    "recompute": "text", "recompute_modules": "text", "recompute_layers": "integer", "precision": "text",
                    "gradients_in_fp32": "boolean", "moments": "text", "optimizer_offload": "number", "expert_parallel": "integer",
                    "expert_tensor_parallel": "integer", "expert_imbalance": "number", "framework": "text", "attention": "text",
                    "loss": "text", "sequence_parallel": "boolean", "site": "text", "time_factor": "number",
                    "site_network": "number", "site_pipeline": "number", "site_fixed": "number", "site_stall": "number", "tensor_overlap": "boolean",
                    "overlap_gradients": "boolean", "overlap_parameters": "boolean", "overlap_pipeline": "boolean",
                    "token_budget": "number", "price_per_gpu_hour": "number", "watts_per_gpu": "number", "leave_out": "text", "risk": "number", "fused_norms": "boolean", "hidden_dropout": "boolean",
                    "attention_dropout": "boolean"},
            "item": {"id": "text", "bytes": "number", "share": "number", "formula": ["token"],
                     "numbers": ["token"], "latex": "text", "latex_numbers": "text",
                     "where": [{"symbol": "text", "meaning": "text", "unit": "text", "value": "number",
                                "formula": {"null or": ["token"]}, "numbers": {"null or": ["token"]}}],
                     "source": {"title": "text", "url": "text", "where": "text"}},
            "model": {"ok": "boolean", "model": "any", "label": "text", "parameters": "integer", "used": ["text"], "ignored": ["text"],
                      "assumed": [{"key": "text", "value": "scalar", "why": "words"}]},
            "rank": {"ok": "boolean", "gpus": "integer", "candidates": "integer", "legal": "integer", "ranked": "integer", "does_not_fit": "integer",
                     "slower": "integer", "looked_at": "integer", "equally_good": "integer", "tie_width": "number",
                     "filtered": "integer", "choices": "any", "excluding": ["text"],
                     "rejected": [{"rule": "text", "count": "integer"}], "front": ["integer"], "closest": "any",
                     "plans": {"tensor_parallel?": ["integer"], "context_parallel?": ["integer"], "pipeline_parallel?": ["integer"],
                               "data_parallel?": ["integer"], "micro_batch?": ["integer"], "expert_parallel?": ["integer"],
                               "expert_tensor_parallel?": ["integer"], "virtual_stages?": ["integer"], "schedule?": ["text"], "layout?": ["text"],
                               "recompute?": ["text"], "recompute_layers?": ["integer"], "zero?": ["text"], "moments?": ["text"],
                               "sequence_parallel?": ["boolean"], "tie?": ["integer"], "total_bytes?": ["number"], "share?": ["number"],
                               "class?": ["text"], "probability?": ["number?"], "step_seconds?": ["number"], "tokens_per_s?": ["number"]}},
            "versus": {"ok": "boolean", "plan": "any", "other": "any", "outcome": "text", "seconds?": "number", "seconds_share?": "number",
                       "bytes?": "number", "time?": [{"id": "text", "kind": "text", "seconds": "number"}],
                       "memory?": [{"id": "text", "bytes": "number"}]},
            "search": {"ok": "boolean", "job": "any", "gpu_counts": ["integer"], "card_bytes": "number", "line_share": "number",
                       "candidates": "integer", "legal": "integer", "fits": "integer", "at_risk": "integer", "does_not_fit": "integer",
                       "rejected": [{"rule": "text", "count": "integer"}], "auto": [{"gpus": "integer", "row": "integer"}],
                       "sizes": [{"gpus": "integer", "entry": "integer?", "efficiency": "number?", "run": "any"}]},
            "catalog": {"version": "integer", "gpus": ["any"], "clusters": ["any"],
                        "fields": [{"key": "text", "link": "text", "type": "text", "unit": "text",
                                    "default": "scalar", "default_1?": "scalar", "min?": "number", "max?": "number", "auto?": "boolean",
                                    "choices?": [{"id": "text"}]}],
                        "rules": [{"id": "text"}]}})");
        const Json problem = s["problem"], source = s["source"];
        const Json method = {{"id", "text"}, {"source", source}, {"limits", Json::array({"text"})}};
        s["catalog"]["methods"] = Json::array({method});
        s["catalog"]["models"] = Json::array({{{"id", "text"},
                                               {"label", "text"},
                                               {"parameters", "integer"},
                                               {"max_position_embeddings", "integer"},
                                               {"sources", Json::array({"any"})}}});
        s["failure"] = {{"ok", "boolean"}, {"problems", Json::array({problem})}};
        s["estimate"] = json(R"({
            "ok": "boolean", "auto": ["text"], "equally_good": {"count": "integer", "width": "number"},
            "model": {"label": "text", "parameters": "integer", "config": "any"},
            "gpu": {"id": "text", "label": "text", "memory_gib": "number"},
            "data_parallel": "integer", "micro_batches": "integer", "padded_vocabulary": "integer",
            "total_bytes": "number", "reserved_bytes": "number", "whole_bytes": "number", "card_bytes": "number", "share": "number",
            "class": "text", "probability": "number?", "step_seconds": "number", "line_share": "number", "verdict": "words", "verdict_basis": "words", "stage": "integer",
            "worst_stage": "integer", "worst_why": "words?",
            "stages": [{"layers": "number", "embedding": "boolean", "head": "boolean", "in_flight": "number", "bytes": "number",
                        "share": "number", "static_bytes": "number",
                        "groups": {"weights?": "number", "gradients?": "number", "optimizer?": "number", "activations?": "number",
                                   "temporaries?": "number", "workspaces?": "number"}}],
            "curve": {"null or": {"micro_batches": "integer", "cut": "boolean", "start": ["number"], "end": ["number"],
                                  "bytes": ["number"], "after": ["number"], "kind": ["text"], "micro_batch": ["integer"], "chunk": ["integer"]}},
            "time": {"step_seconds": "number", "low_seconds": "number", "high_seconds": "number", "basis": "words",
                     "tokens_per_step": "number", "tokens_per_s": "number", "tokens_per_s_per_gpu": "number",
                     "rates": [{"id": "text", "tflop_per_s_per_gpu": "number", "mfu": "number"}],
                     "peak_tflop_per_s": "number", "peak_format": "text", "stage_seconds": ["number"],
                     "items": [{"id": "text", "kind": "text", "seconds": "number", "share": "number",
                                "formula": ["token"], "numbers": ["token"], "latex": "text", "latex_numbers": "text",
                                "where": [{"symbol": "text", "meaning": "text", "unit": "text", "value": "number",
                                           "formula": {"null or": ["token"]}, "numbers": {"null or": ["token"]}}],
                                "source": {"title": "text", "url": "text", "where": "text"}}],
                     "run": {"null or": {"steps": "number", "days": "number", "low_days": "number", "high_days": "number",
                                         "gpu_hours": "number", "cost": "number?", "energy_kwh": "number?"}}},
            "host": {"null or": {"bytes_per_gpu": "number", "bytes_per_node": "number", "pcie_bytes_per_step": "number"}},
            "comparison": {"method": "text", "total_bytes": "number", "share": "number", "class": "text",
                           "probability": "number?", "step_seconds": "number",
                           "rows": [{"id": "text", "bytes": "number", "other_bytes": "number"}]},
            "used": ["words"], "not_counted": ["words"], "assumed": [{"text": "words", "field": "text"}]})");
        s["alternatives"] = json(R"({
            "ok": "boolean",
            "changes": [{"set": "any", "label": "words", "touches": "words?", "saved_bytes": "number", "total_bytes": "number",
                         "share": "number", "class": "text", "probability": "number?", "step_seconds": "number"}],
            "auto_plan": {"null or": {"set": "any", "total_bytes": "number", "share": "number", "class": "text",
                                      "probability": "number?", "step_seconds": "number"}}})");
        s["alternatives"]["job"] = s["job"];
        s["timeline"] = json(R"({
            "ok": "boolean", "basis": "words", "note": "words?",
            "timeline": {"null or": {
                "schedule": {"id": "text"}, "chunks": "integer", "all_micro_batches": "integer",
                "makespan_seconds": "number", "bubble_share": "number", "slowest_stage": "integer", "equally_slow": "integer",
                "micro_batches": "integer", "cut": "boolean", "drawn_seconds": "number",
                "stages": [{"busy_seconds": "number", "idle_seconds": "number", "idle_share": "number", "start": ["number"],
                            "end": ["number"], "kind": ["text"], "micro_batch": ["integer"], "chunk": ["integer"]}]}}})");
        s["timeline"]["job"] = s["job"];
        s["place"] = json(R"({
            "ok": "boolean", "job": "any", "objective": {"id": "text"}, "units": "text", "default_seconds": "number",
            "best_seconds": "number", "gain_share": "number", "low_gain_share": "number", "high_gain_share": "number", "basis": "words",
            "nothing_to_gain": "boolean", "finding": "words", "placement": ["integer"], "spare": ["integer"],
            "positions": [{"position": "integer", "unit": "integer", "name": "text", "stages": ["integer"], "data_ranks": ["integer"]}],
            "moves": "integer", "moves_accepted": "integer", "restarts": "integer", "stopped": "boolean", "curve": [["number"]],
            "files": [{"id": "text", "name": "text", "text": "text", "how": "words"}],
            "suggestion": {"null or": {"set": "any", "label": "words", "seconds": "number"}},
            "ranked": [{"index": "integer", "default_seconds": "number", "best_seconds": "number", "fits": "boolean"}]})");
        const Json link =
            json(R"({"from": "integer", "to": "integer", "positions": ["integer"], "stage": "integer", "gbyte_per_s": "number?"})");
        const Json ring = {{"stage", "integer"}, {"seconds", "number"}, {"link", link}};
        const Json pipeline = {{"pipeline", "integer"}, {"seconds", "number"}, {"links", Json::array({link})}};
        const Json binds = {{"pipeline", {{"null or", pipeline}}}, {"ring", {{"null or", ring}}}};
        s["place"]["critical"] = {{"default", binds}, {"best", binds}};
        s["place"]["warnings"] = Json::array({problem});
        s["calibrate"] = json(R"({
            "ok": "boolean", "usable": "integer", "kind": "text", "why": ["words"], "set": "any", "remove": "any", "not_identifiable": ["text"],
            "rows": [{"name": "words", "step_seconds": "number", "estimated_seconds": "number", "ratio": "number", "after_seconds": "number",
                      "after_ratio": "number", "outlier": "boolean",
                      "plan": {"gpus": "integer", "sequence_length": "integer", "global_batch": "integer", "tensor_parallel": "integer",
                               "context_parallel": "integer", "pipeline_parallel": "integer", "micro_batch": "integer",
                               "expert_parallel": "integer"}}],
            "before": {"null or": {"mean_error": "number", "worst_error": "number"}},
            "after": {"null or": {"mean_error": "number", "worst_error": "number"}},
            "text": {"header": "text", "line": "text"}})");
        s["calibrate"]["warnings"] = Json::array({problem});
        s["read_links"] = json(R"({
            "ok": "boolean", "format": {"id": "text"}, "unit": "text", "unit_source": "text", "symmetric": "boolean",
            "asymmetry": "number", "missing": [["text"]], "missing_count": "integer", "notes": ["words"], "lowest": "number",
            "highest": "number", "median_gbyte_per_s": "number",
            "slow": [{"from": "text", "to": "text", "gbyte_per_s": "number", "share_of_median": "number"}],
            "links": {"nodes?": ["text"], "gpus?": ["text"], "gbyte_per_s": [["number"]], "latency_us?": [["number"]]}})");
        s["estimate"]["outside"] = Json::array({s["item"]});
        s["estimate"]["job"] = s["job"];
        s["estimate"]["warnings"] = Json::array({problem});
        s["estimate"]["groups"] =
            Json::array({{{"id", "text"}, {"bytes", "number"}, {"share", "number"}, {"items", Json::array({s["item"]})}}});
        const Json option = {{"value", "integer"},        {"legal", "boolean"},        {"total_bytes?", "number"},
                             {"share?", "number"},        {"class?", "text"},          {"change_bytes?", "number"},
                             {"probability?", "number?"}, {"step_seconds?", "number"}, {"problem", {{"null or", problem}}}};
        s["alternatives"]["knobs"] = Json::array({{{"field", "text"}, {"value", "integer"}, {"options", Json::array({option})}}});
        const Json there = json(R"({"plan": {"tensor_parallel": "integer", "context_parallel": "integer", "pipeline_parallel": "integer",
                                             "data_parallel": "integer", "expert_parallel": "integer", "expert_tensor_parallel": "integer",
                                             "micro_batch": "integer", "virtual_stages": "integer",
                                             "schedule": "text", "layout": "text", "zero": "text", "recompute": "text",
                                             "recompute_layers": "integer", "moments": "text", "sequence_parallel": "boolean"},
                                    "total_bytes": "number", "share": "number", "class": "text", "probability": "number?",
                                    "step_seconds": "number"})");
        Json fewest = there, in_time = there, largest = there;
        fewest.update(json(R"({"gpus": "integer"})"));
        in_time.update(json(R"({"gpus": "integer", "days": "number", "low_days": "number", "high_days": "number", "gpu_hours": "number",
                                "cost": "number?", "safe_gpus": "integer?"})"));
        largest.update(json(R"({"value": "integer", "limited_by": "text", "notes": ["words"]})"));
        s["limits"] = json(R"({
            "ok": "boolean", "job": "any", "days": "number", "searched": {"from_gpus": "integer", "to_gpus": "integer", "notes": ["words"]},
            "models": [{"id": "text", "label": "text", "parameters": "integer", "fits": "boolean", "plan": "any", "total_bytes?": "number",
                        "share?": "number", "class?": "text", "probability?": "number?", "step_seconds?": "number"}]})");
        s["limits"]["fewest_gpus"] = {{"null or", fewest}};
        s["limits"]["fewest_in_time"] = {{"null or", in_time}};
        for (const char* which : {"largest_micro_batch", "largest_batch", "largest_sequence"}) s["limits"][which] = {{"null or", largest}};
        s["limits"]["models"][0]["plan"] = {{"null or", there["plan"]}};
        return s;
    }();
    return *shapes.find(name);
}

std::string answer_defect(std::string_view text, const char* on_success) {
    const Json answer = json(text);
    if (!answer.is_object()) return "not a JSON object";
    const auto ok = answer.find("ok");
    if (ok == answer.end() || !ok->is_boolean()) return "no ok";
    if (*ok == true) return differs(answer, shape(on_success), "answer");
    Json expected = shape("failure");
    // The part of the job that could be read. versus leaves it out where it could not read the job, or the other plan.
    const std::string_view name = on_success;
    if (name == "estimate" || name == "timeline" || name == "alternatives") expected["job"] = "any";
    if (name == "versus") expected["job?"] = "any";
    if (std::string_view(on_success) == "calibrate") expected["text?"] = expected["remove?"] = "any";
    if (std::string found = differs(answer, expected, "failure"); !found.empty()) return found;
    if (answer["problems"].empty()) return "failure without a problem";
    for (const Json& problem : answer["problems"])
        if (problem["message"].is_null() || problem["rule"] == "") return "a problem says nothing: " + problem.dump();
    return "";
}

}  // namespace fourfold::tests
