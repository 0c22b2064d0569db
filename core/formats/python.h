// Recipes written in Python: names with literal values, as they are assigned and given to calls. Nothing is evaluated: what is computed is
// open.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "formats/settings.h"

namespace fourfold {

struct PythonScope {
    std::string name;  // of the function at the margin; "" outside of all
    std::int64_t line = 0;
    std::vector<Entry> entries;  // "recipe.trainer.num_nodes", "tensor_parallelism" (a default or an argument), "hf_path" (of a dictionary)
};

bool is_python(std::string_view text);
std::vector<PythonScope> read_python(std::string_view text, const NamesSet& set);

}  // namespace fourfold
