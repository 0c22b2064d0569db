// Dictionaries and the arguments of calls in a text in Python, as settings.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/python/python.h"
#include "formats/python/tokens.h"

namespace fourfold {

using PythonTokens = std::vector<PythonToken>;

// "a.b.Name(" at that place, whatever stands before the last dot.
bool calls_at(const PythonTokens& tokens, std::size_t at, std::string_view name);
// An object of a program's settings in Python, and where its arguments stand among them: "tp.".
struct PythonObject {
    std::string_view name, path;
};
// Which of them is made at that place; nullptr: none.
const PythonObject* object_at(const PythonTokens& tokens, std::size_t at, std::span<const PythonObject> objects);
// Behind the bracket that closes the one at `at`.
std::size_t behind_bracket(const PythonTokens& tokens, std::size_t at);
// The name that the call at `at` is given to: "model, tokenizer = Fast.from_pretrained(...)" is "model". "" where there is none.
std::string given_name(const PythonTokens& tokens, std::size_t at);
// None, or a name that the text gives nothing but None.
bool none_at(const PythonTokens& tokens, std::size_t at);

class PythonArguments {
 public:
    // `all`: what read_python() says of the same text. It knows branches, answers, and what functions are given.
    PythonArguments(const PythonTokens& tokens, const std::vector<Entry>& all, const NamesSet& set, bool sections);

    // The settings of the dictionary that opens at `at`, which goes behind it.
    void dictionary(std::size_t& at, const std::string& prefix, std::vector<Entry>& into, int depth = 0) const;
    // "per_device_train_batch_size=4, bf16=True" of the call whose bracket opens at `at`. "**more" stands for a dictionary of the text.
    void arguments(std::size_t at, std::vector<Entry>& into, const std::string& prefix = "", int depth = 0) const;
    // A literal, or a name that has a single value.
    std::optional<Json> value_at(std::size_t at) const;

 private:
    void skip(std::size_t& at) const;
    void put(const std::string& prefix, const std::string& name, std::size_t& at, std::vector<Entry>& into, int depth) const;
    void spread(std::size_t& at, const std::string& prefix, std::vector<Entry>& into, int depth) const;
    void changes(std::size_t from, std::size_t call, const std::string& prefix, std::vector<Entry>& into) const;
    std::string condition_of(std::size_t at) const;
    bool nested(const std::string& prefix, std::size_t& at, std::vector<Entry>& into, int depth) const;
    std::optional<Json> by_gpu(std::size_t at) const;
    std::optional<Json> list_at(std::size_t at) const;

    const PythonTokens& tokens_;
    const NamesSet& set_;
    void read_classes();

    std::map<std::string, std::optional<Json>> values_;                // nothing: it has several, or one that is not told
    std::multimap<std::pair<std::int64_t, std::string>, Entry> said_;  // by line and name
    std::map<std::string, std::map<std::string, Json>> fields_;        // of a class, with their defaults
    std::map<std::string, std::string> objects_;                       // made of such a class, with nothing said; "" where something is
    mutable std::size_t steps_ = 0;
    bool sections_;
};

}  // namespace fourfold
