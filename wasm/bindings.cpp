// The module's face to JavaScript: one line per function of api.h. bindings.js has their names there.
#include <cstdint>
#include <utility>
#include <vector>

#include "api.h"
#include "face.h"

namespace {

namespace api = fourfold::api;

std::vector<double> beside[2];  // the matrices that come beside the text of "place": rates, latencies

// clang-format off
// A column as a typed array of its own: a view into the module's memory would die when that memory grows.
EM_JS(void, give_column, (const char* name, int kind, const void* values, std::size_t size), {
    const all = [HEAPU8, HEAP32, HEAPF64][kind];
    const start = values / all.BYTES_PER_ELEMENT;
    given[UTF8ToString(name)] = all.slice(start, start + size);
});
EM_JS(int, goes_on, (const char* text, std::size_t size), { return !goesOn || goesOn(textAt(text, size)) });
// clang-format on

void give(const char* name, const std::vector<std::uint8_t>& values) { give_column(name, 0, values.data(), values.size()); }
void give(const char* name, const std::vector<std::int32_t>& values) { give_column(name, 1, values.data(), values.size()); }
void give(const char* name, const std::vector<double>& values) { give_column(name, 2, values.data(), values.size()); }

}  // namespace

FOURFOLD_FACE(import_config)
FOURFOLD_FACE(estimate)
FOURFOLD_FACE(alternatives)
FOURFOLD_FACE(timeline)
FOURFOLD_FACE(limits)
FOURFOLD_FACE(phases)
FOURFOLD_FACE(pools)
FOURFOLD_FACE(calibrate)
FOURFOLD_FACE(rank)
FOURFOLD_FACE(versus)

extern "C" {

EMSCRIPTEN_KEEPALIVE void face_catalog(bool sources);
EMSCRIPTEN_KEEPALIVE double face_benchmark_estimates(int count);
EMSCRIPTEN_KEEPALIVE void face_search();
EMSCRIPTEN_KEEPALIVE double* face_numbers(int which, std::size_t size);
EMSCRIPTEN_KEEPALIVE void face_place();

void face_catalog(bool sources) { fourfold::face::answer(api::catalog(sources)); }
double face_benchmark_estimates(int count) { return api::benchmark_estimates(count); }

void face_search() {
    const api::SearchAnswer answer = api::search(fourfold::face::request());
    const api::SearchColumns& c = answer.columns;
    give("row", c.row);
    give("gpus", c.gpus);
    give("tensor_parallel", c.tensor_parallel);
    give("context_parallel", c.context_parallel);
    give("pipeline_parallel", c.pipeline_parallel);
    give("micro_batch", c.micro_batch);
    give("data_parallel", c.data_parallel);
    give("expert_parallel", c.expert_parallel);
    give("total_bytes", c.total_bytes);
    give("whole_bytes", c.whole_bytes);
    give("share", c.share);
    give("step_seconds", c.step_seconds);
    give("tokens_per_s", c.tokens_per_s);
    give("tokens_per_s_per_gpu", c.tokens_per_s_per_gpu);
    give("class", c.fit_class);
    fourfold::face::answer(answer.summary);
}

// A place for that many numbers: 0: rates, 1: latencies.
double* face_numbers(int which, std::size_t size) {
    beside[which].resize(size);
    return beside[which].data();
}

void face_place() {
    const auto ask = [](void*, const std::string& progress) { return goes_on(progress.data(), progress.size()) != 0; };
    fourfold::face::answer(
        api::place(fourfold::face::request(), ask, nullptr, {std::exchange(beside[0], {}), std::exchange(beside[1], {})}));
}
}
