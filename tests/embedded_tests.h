// Test data compiled into the test binary, so that it is the same natively and as wasm under node.
#pragma once
#include "base/embedded.h"

namespace fourfold::embedded {
extern const std::span<const File> golden, measured, links;  // tests/golden/*.json, tests/measured/*.json, tests/links/*
extern const std::span<const File> contract;                 // core/contract/*.json
}  // namespace fourfold::embedded
