// Text files compiled in by embed.cmake.
#pragma once
#include <span>
#include <string_view>

namespace fourfold::embedded {
struct File {
    std::string_view name;  // without folder and ending: "llama-3.1-8b"
    std::string_view text;
};
extern const std::span<const File> gpus, clusters, models, columns;  // core/data/*/*.json, sorted by name
// Where their numbers were read, and of models how many parameters were published and what else they are called: an object by those names.
extern const std::string_view gpus_sources, clusters_sources, models_sources;
}  // namespace fourfold::embedded
