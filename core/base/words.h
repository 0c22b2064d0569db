// What the core says. It writes no prose: a Text names a sentence and what stands in it, and core/data/words/ holds the sentences, a file
// per language. Numbers are in SI units; who shows the sentence formats them for the reader.
//   Text("heads_divide").with("heads", 32).with("tensor_parallel", 3)
//   -> {"id": "heads_divide", "args": {"heads": 32, "tensor_parallel": 3}}
#pragma once
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

namespace fourfold {

using Json =
    nlohmann::json;  // keys sorted, so that a hostile object cannot make look-ups slow; one type for in and out, since each costs 30 KB

class Text {
 public:
    Text() = default;                                    // nothing is said: null
    Text(const char* id) : id_(id) {}                    // NOLINT(google-explicit-constructor): a sentence is its id
    Text(std::string id) : id_(std::move(id)) {}         // NOLINT(google-explicit-constructor)
    Text(std::string_view family, std::string_view id);  // the words of a row: ("item", "weights") is "item.weights"

    // What stands in the sentence: a number, a name that is no prose, another text, or a list of these.
    Text& with(const char* name, Json value);
    Text& with(const char* name, double value) { return with(name, Json(value)); }
    Text& with(const char* name, std::string_view value) { return with(name, Json(value)); }
    Text& with(const char* name, const std::string& value) { return with(name, Json(value)); }
    Text& with(const char* name, const char* value) { return with(name, Json(value)); }
    Text& with(const char* name, const Text& value) { return with(name, value.json()); }
    template <class Whole>
    Text& with(const char* name, Whole value) requires std::is_integral_v<Whole> {
        return with(name, Json(static_cast<std::int64_t>(value)));
    }

    bool empty() const { return id_.empty(); }
    const std::string& id() const { return id_; }
    const Json& args() const { return args_; }
    Json json() const;  // null when empty
    friend bool operator==(const Text&, const Text&) = default;

 private:
    std::string id_;
    Json args_ = Json::object();
};

}  // namespace fourfold
