// A configuration that came as a list of settings, each with the path of its key: YAML, TOML or JSON, flattened by whoever parsed it.
#pragma once
#include <map>
#include <string>

#include "formats/entries.h"

namespace fourfold {

using NamesSet = std::map<std::string, std::string>;

// [{"key": "model.num_layers", "value": 32, "line": 4}, ...]; a text such as "${PP:16}" or "${multiply:4, ${.hidden_size}}" is replaced by
// its value, with `set` for names of the environment, or stays open.
std::vector<Entry> read_settings(const Json& list, const NamesSet& set, Problems& problems);

// The same for entries that are there already.
void fill_in(std::vector<Entry>& entries, const NamesSet& set);

}  // namespace fourfold
