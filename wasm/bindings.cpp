// The module's face to JavaScript: one line per function of api.h.
#include <emscripten/bind.h>

#include "api.h"

namespace {

using emscripten::val;
namespace api = fourfold::api;

// A column as a JavaScript typed array of its own: a view into the module's memory would die when that memory grows.
template <class T>
val column(const std::vector<T>& values) {
    return val(emscripten::typed_memory_view(values.size(), values.data())).template call<val>("slice");
}

val search(const std::string& request) {
    const api::SearchAnswer answer = api::search(request);
    const api::SearchColumns& c = answer.columns;
    val columns = val::object(), result = val::object();
    columns.set("row", column(c.row));
    columns.set("gpus", column(c.gpus));
    columns.set("tensor_parallel", column(c.tensor_parallel));
    columns.set("context_parallel", column(c.context_parallel));
    columns.set("pipeline_parallel", column(c.pipeline_parallel));
    columns.set("micro_batch", column(c.micro_batch));
    columns.set("data_parallel", column(c.data_parallel));
    columns.set("expert_parallel", column(c.expert_parallel));
    columns.set("total_bytes", column(c.total_bytes));
    columns.set("whole_bytes", column(c.whole_bytes));
    columns.set("share", column(c.share));
    columns.set("step_seconds", column(c.step_seconds));
    columns.set("tokens_per_s", column(c.tokens_per_s));
    columns.set("tokens_per_s_per_gpu", column(c.tokens_per_s_per_gpu));
    columns.set("class", column(c.fit_class));
    result.set("summary", answer.summary);
    result.set("columns", columns);
    return result;
}

std::vector<double> numbers(const val& array) {
    return array.isNull() || array.isUndefined() ? std::vector<double>() : emscripten::convertJSArrayToNumberVector<double>(array);
}

// `go_on` is a function of the progress's text that says whether to go on, or null.
std::string place_columns(const std::string& request, val go_on, val rates, val latencies) {
    const auto ask = [](void* context, const std::string& progress) { return (*static_cast<val*>(context))(progress).as<bool>(); };
    const bool asks = !go_on.isNull() && !go_on.isUndefined();
    return api::place(request, asks ? +ask : nullptr, &go_on, {numbers(rates), numbers(latencies)});
}
std::string place(const std::string& request, val go_on) { return place_columns(request, std::move(go_on), val::null(), val::null()); }

}  // namespace

EMSCRIPTEN_BINDINGS(fourfold) {
    emscripten::function("catalog", &api::catalog);
    emscripten::function("import_config", emscripten::optional_override([](const std::string& text) { return api::import_config(text); }));
    emscripten::function("estimate", emscripten::optional_override([](const std::string& request) { return api::estimate(request); }));
    emscripten::function("alternatives",
                         emscripten::optional_override([](const std::string& request) { return api::alternatives(request); }));
    emscripten::function("timeline", emscripten::optional_override([](const std::string& request) { return api::timeline(request); }));
    emscripten::function("limits", emscripten::optional_override([](const std::string& request) { return api::limits(request); }));
    emscripten::function("phases", emscripten::optional_override([](const std::string& request) { return api::phases(request); }));
    emscripten::function("calibrate", emscripten::optional_override([](const std::string& request) { return api::calibrate(request); }));
    emscripten::function("read_links", emscripten::optional_override([](const std::string& request) { return api::read_links(request); }));
    emscripten::function("place", &place);
    emscripten::function("place", &place_columns);
    emscripten::function("search", &search);
    emscripten::function("rank", emscripten::optional_override([](const std::string& request) { return api::rank(request); }));
    emscripten::function("versus", emscripten::optional_override([](const std::string& request) { return api::versus(request); }));
    emscripten::function("benchmark_estimates", &api::benchmark_estimates);
}
