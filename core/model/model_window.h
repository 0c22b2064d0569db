// The keys of a config that say which earlier tokens a layer attends to.
#pragma once
#include "model/config_reader.h"
#include "model/model_families.h"

namespace fourfold {

// Fills model.window; what no formula covers becomes a problem or an assumption.
void read_window(ConfigReader& read, const Recognised& recognised, const Json& config, Model& model, ImportReport& report);

// The keys that give the same window again.
void write_window(const Model& model, const Family* family, Object& config);

}  // namespace fourfold
