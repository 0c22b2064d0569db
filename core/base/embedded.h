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
extern const std::span<const File> named_models;                     // of readers alone, who find them by a name
// Objects by those names: where the numbers were read; how many parameters were published of a model, and what else it is called.
extern const std::string_view gpus_sources, clusters_sources, models_sources, models_known;
}  // namespace fourfold::embedded
