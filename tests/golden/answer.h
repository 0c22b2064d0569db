// What the core answers to one golden case: {"function", "request"} -> {"response", "columns" (search alone, else null)}. The functions
// "fields", "gpu_fields" and "config_formats" are those lists of catalog().
#pragma once
#include <string>

#include "api.h"
#include "base/fields.h"

namespace fourfold {

inline Json golden_answer(const Json& golden) {
    const std::string function = golden.value("function", "");
    const Json& given = golden["request"];
    const auto* text = given.get_ptr<const Json::string_t*>();  // a text is passed on as it is: it may be broken on purpose
    const std::string request = text != nullptr ? *text : given.dump();
    Json columns;
    std::string response;
    if (function == "import_config") response = api::import_config(request);
    if (function == "estimate") response = api::estimate(request);
    if (function == "alternatives") response = api::alternatives(request);
    if (function == "rank") response = api::rank(request);
    if (function == "versus") response = api::versus(request);
    if (function == "timeline") response = api::timeline(request);
    if (function == "import_plan") response = api::import_plan(request);
    if (function == "find_models") response = api::find_models(request);
    if (function == "read_run") response = api::read_run(request);
    if (function == "export_plan") response = api::export_plan(request);
    if (function == "phases") response = api::phases(request);
    if (function == "pools") response = api::pools(request);
    if (function == "limits") response = api::limits(request);
    if (function == "place") response = api::place(request);
    if (function == "read_links") response = api::read_links(request);
    if (function == "calibrate") response = api::calibrate(request);
    if (function == "search") {
        api::SearchAnswer answer = api::search(request);
        const api::SearchColumns& c = answer.columns;
        response = answer.summary;
        columns = {{"row", c.row},
                   {"gpus", c.gpus},
                   {"tensor_parallel", c.tensor_parallel},
                   {"context_parallel", c.context_parallel},
                   {"pipeline_parallel", c.pipeline_parallel},
                   {"micro_batch", c.micro_batch},
                   {"data_parallel", c.data_parallel},
                   {"expert_parallel", c.expert_parallel},
                   {"total_bytes", c.total_bytes},
                   {"whole_bytes", c.whole_bytes},
                   {"share", c.share},
                   {"step_seconds", c.step_seconds},
                   {"tokens_per_s", c.tokens_per_s},
                   {"tokens_per_s_per_gpu", c.tokens_per_s_per_gpu},
                   {"class", c.fit_class}};
    }
    if (function == "fields" || function == "gpu_fields" || function == "config_formats")
        response = Json::parse(api::catalog(), nullptr, false)[function].dump();
    return {{"response", Json::parse(response, nullptr, false)}, {"columns", columns}};
}

}  // namespace fourfold
