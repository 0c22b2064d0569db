// The keys of a config that say which earlier tokens a layer attends to.
#pragma once
#include "model/config_reader.h"
#include "model/model_families.h"

namespace fourfold {

// A kind for each layer; transformers calls the list of Bamba and Granite 4.0 by the second name, too.
inline constexpr std::string_view kTypes[] = {"layer_types", "layers_block_type"};

// A size of the mixers of linear layers: its key, class default and range.
struct LinearKey {
    std::string_view key;
    std::int64_t LinearAttention::*value;
    std::int64_t usual;
    Range range;
};

// Fills model.window and model.linear; what no formula covers becomes a problem or an assumption.
void read_layer_kinds(ConfigReader& read, const Recognised& recognised, const Json& config, Model& model, ImportReport& report);

// The keys that give the same kinds of layers again.
void write_layer_kinds(const Model& model, const Family* family, Object& config);

}  // namespace fourfold
