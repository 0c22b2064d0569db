// The keys of a config that say the sizes of mixers other than attention and Qwen's linear attention, and which layers have them.
#pragma once
#include "model/config_reader.h"
#include "model/model_families.h"

namespace fourfold {

// Of families whose keys these are.
inline constexpr std::uint32_t kOwnMixers = state_space | delta_attention | convolution;

// Fills model.linear, of a family with one of these traits; where layer_types is given, that says the layers, but of Kimi's.
void read_mixer(ConfigReader& read, const Family& family, const Json& config, Model& model);

// Sets the layers and what each of them consists of, of a family with the trait single_parts.
void read_parts(ConfigReader& read, Model& model);

// The keys that give the same again, of such a family. No value is a list: a link holds them all.
void write_mixer(const Model& model, Object& config);

}  // namespace fourfold
