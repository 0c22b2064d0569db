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

std::vector<double> numbers(const val& array) {
    return array.isNull() || array.isUndefined() ? std::vector<double>() : emscripten::convertJSArrayToNumberVector<double>(array);
}

namespace face {

// Text in, text out.
template <std::string (*Answer)(std::string_view)>
std::string text(const std::string& request) {
    return Answer(request);
}
std::string catalog() { return api::catalog(); }
std::string catalog_with(bool sources) { return api::catalog(sources); }
double benchmark_estimates(int count) { return api::benchmark_estimates(count); }

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

// `go_on` is a function of the progress's text that says whether to go on, or null.
std::string place_columns(const std::string& request, val go_on, val rates, val latencies) {
    const auto ask = [](void* context, const std::string& progress) { return (*static_cast<val*>(context))(progress).as<bool>(); };
    const bool asks = !go_on.isNull() && !go_on.isUndefined();
    return api::place(request, asks ? +ask : nullptr, &go_on, {numbers(rates), numbers(latencies)});
}
std::string place(const std::string& request, val go_on) { return place_columns(request, std::move(go_on), val::null(), val::null()); }

}  // namespace face
}  // namespace

EMSCRIPTEN_BINDINGS(fourfold) {
    emscripten::function("catalog", &face::catalog);
    emscripten::function("catalog", &face::catalog_with);
    emscripten::function("import_config", &face::text<api::import_config>);
    emscripten::function("estimate", &face::text<api::estimate>);
    emscripten::function("alternatives", &face::text<api::alternatives>);
    emscripten::function("timeline", &face::text<api::timeline>);
    emscripten::function("limits", &face::text<api::limits>);
    emscripten::function("phases", &face::text<api::phases>);
    emscripten::function("pools", &face::text<api::pools>);
    emscripten::function("calibrate", &face::text<api::calibrate>);
    emscripten::function("place", &face::place);
    emscripten::function("place", &face::place_columns);
    emscripten::function("search", &face::search);
    emscripten::function("rank", &face::text<api::rank>);
    emscripten::function("versus", &face::text<api::versus>);
    emscripten::function("benchmark_estimates", &face::benchmark_estimates);
}
