// The keys of a config that say which earlier tokens a layer attends to.
#pragma once
#include "model/config_reader.h"
#include "model/model_families.h"

namespace fourfold {

// Fills model.window and model.linear; what no formula covers becomes a problem or an assumption.
void read_layer_kinds(ConfigReader& read, const Recognised& recognised, const Json& config, Model& model, ImportReport& report);

// The keys that give the same kinds of layers again.
void write_layer_kinds(const Model& model, const Family* family, Object& config);

}  // namespace fourfold
