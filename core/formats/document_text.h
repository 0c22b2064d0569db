// Settings, each with the path of its key, as the text of a file.
#pragma once
#include <span>
#include <string>
#include <utility>

#include "base/fields.h"

namespace fourfold {

using Setting = std::pair<std::string, Json>;

// Sections by everything before the last dot. Settings of a section need not stand side by side.
std::string toml_text(std::span<const Setting> settings);
// Blocks inside of blocks, a part of the path each.
std::string yaml_text(std::span<const Setting> settings);
std::string json_text(std::span<const Setting> settings);

// As a word of the shell: "model.recompute_modules='[core_attn,mlp]'"; what is off as Python writes it ("None"), or YAML ("null").
std::string override_text(const Setting& setting, bool python);

}  // namespace fourfold
