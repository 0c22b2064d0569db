// The answer to place(): which unit should stand where (core/contract/api.md).
#pragma once
#include <optional>
#include <string>

#include "links/links.h"

namespace fourfold {

inline constexpr std::size_t kMaxPlaceBytes = 32'000'000;  // a matrix of 1,024 nodes is 8 MB of text

// Asked every few ten thousand moves with {"moves", "best_seconds", "default_seconds"}; false stops the search. May be null.
using GoOnText = bool (*)(void* context, const std::string& progress);

// Takes the request apart, so that a large matrix is not kept twice. nullopt and problems when anything in it is wrong.
std::optional<Json> placement_answer(Json request, api::LinkColumns columns, GoOnText go_on, void* context, Problems& problems);

}  // namespace fourfold
