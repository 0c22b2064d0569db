// Recipes written in Python: names with literal values, as they are assigned and given to calls. Comparisons and sums of known values are
// computed; anything else that is computed is open.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "formats/settings.h"

namespace fourfold {

// The key of an entry that stands for a call of a function of the text; its value is the function's name.
inline constexpr std::string_view kCall = "\x01()";  // no text has the first letter

struct PythonScope {
    std::string name;  // of the function at the margin; "" outside of all
    std::int64_t line = 0;
    std::vector<Entry>
        entries{};        // "recipe.trainer.num_nodes", "tensor_parallelism" (a default or an argument), "hf_path" (of a dictionary)
    bool preset = false;  // "NAME = WorkloadBaseConfig(...)" or "NAME = replace(BASE, ...)" at the margin
    std::string base{};   // of replace
};

bool is_python(std::string_view text);
// Torchtitan's configurations are made of one object for each section: their keys then begin with it, "training.seq_len".
bool has_sections(std::string_view text);
std::vector<PythonScope> read_python(std::string_view text, const NamesSet& set);

}  // namespace fourfold
