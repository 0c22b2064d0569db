// The columns of a table of runs, under the names that people give them (data/columns/runs.json).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace fourfold {

// Lower case, without blanks, hyphens, underscores and brackets: "Tensor-Model Parallel_Size" and "tensor_model_parallel_size" are one
// name.
std::string bare_name(std::string_view name);

// What the names of columns may be, and which keys were named before.
class ColumnNames {
 public:
    static const ColumnNames& known();
    // "": no key has this name.
    std::string_view key_of(std::string_view name) const;
    // As it is usually written; "" when none is near.
    std::string_view closest_to(std::string_view name) const;

 private:
    ColumnNames();
    void add(std::string_view written, std::string_view key);
    std::vector<std::string> written_, bare_, keys_;
};

// The columns of a text of runs, and what lies between them.
struct RunColumns {
    std::vector<std::string> keys;   // of a row, "" where the name is not known
    std::vector<std::string> names;  // as the text has them
    char separator = ',';
    std::string header() const;            // the names in one line
    bool has(std::string_view key) const;  // of `keys`
    // As the text calls the key; the key itself where no column has it.
    std::string_view name_of(std::string_view key) const;
};
RunColumns usual_columns();

// The first line of a table, which names them. More than 200 are not given back.
RunColumns read_header(std::string_view line, std::size_t number, Problems& problems);

}  // namespace fourfold
