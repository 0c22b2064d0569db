// Reading and writing user input. A struct lists its fields once (see visit_fields in plan.h); the visitors here read that list from JSON,
// write it back, and describe it for the form on the page. Mistakes are collected, never thrown: all problems come back at once.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/words.h"

namespace fourfold {

// Builds a JSON object key by key. An initializer list of pairs would cost the module four times the code, which is downloaded; for the
// same reason the frequent types have functions of their own.
class Object {
 public:
    Object& add(const char* key, Json&& value);
    Object& add(const char* key, const Json& value);
    Object& add(const char* key, std::string_view value);
    Object& add(const char* key, const char* value) { return add(key, std::string_view(value)); }
    Object& add(const char* key, const std::string& value) { return add(key, std::string_view(value)); }
    Object& add(const char* key, double value);
    Object& add(const char* key, std::int64_t value);
    Object& add(const char* key, bool value);
    Object& add(const char* key, const Text& value) { return add(key, value.json()); }
    Object& add(const char* key, std::nullptr_t) { return add(key, Json()); }
    operator Json() { return std::move(json_); }  // NOLINT(google-explicit-constructor)

 private:
    Json json_ = Json::object();
};

// One thing that is wrong with a request; core/contract/api.md says what each member means.
struct Problem {
    std::string field;
    std::string rule;
    Json value;
    Text message;
    Text suggestion;
    Json nearest;
    Json candidates = nullptr;  // ids of a list that may have been meant, the likeliest first
};
using Problems = std::vector<Problem>;

Json to_json(const Problem& problem);
Json to_json(const Problems& problems);

// The path of a field inside of what lies at `path`: "units[2]" and "name" give "units[2].name". Either may be empty.
std::string under(std::string_view path, std::string_view field);

// Problems of which there may be a million: keeps the first 20 and counts the rest.
class FirstProblems {
 public:
    static constexpr std::size_t kMost = 20;
    explicit FirstProblems(std::string_view field) : field_(field) {}  // where the list lies in the request
    bool empty() const { return count_ == 0; }
    bool keeps_more() const { return list_.size() < kMost; }  // else the text of a problem need not be made
    void count() { ++count_; }
    // A problem at `key` inside of the field.
    void add(std::string_view key, const char* rule, Json value, Text message, Text suggestion, Json nearest = nullptr);
    // A problem that names its whole path.
    void keep(Problem problem);
    // Moves them to `problems`, with one more that says how many there were when some were left out.
    void move_to(Problems& problems);

 private:
    std::string field_;
    Problems list_;
    std::size_t count_ = 0;
};

// What was given, short enough to show: numbers, booleans, texts up to 80 characters; null for anything else.
Json shown(const Json& value);

// Keeps a short list in order while it grows; a tenth of the code of a sort per type.
template <class List, class Less>
void insert_sorted(List& list, typename List::value_type value, Less less) {
    list.insert(std::upper_bound(list.begin(), list.end(), value, less), std::move(value));
}

// "1234567" -> "1,234,567", for messages.
std::string grouped(std::int64_t value);

// The candidate that a mistyped word most likely meant: the one within an edit distance of a third of its length, else the first that
// starts with it, else "".
std::string_view closest(std::string_view word, std::span<const std::string_view> candidates);

// Of a list of things, those that `word` may mean: all of its words are found in their id or names, in any order, whatever the case; else
// the closest id. At most six, as texts.
struct Named {
    std::string_view id;
    std::string names;
};
Json meant(std::string_view word, std::span<const Named> list);
// Whether all words are found in that thing's id or names, and each of them begins a word there.
enum class Meant { no, has, begins };
Meant meant(std::string_view words, const Named& one);

// What to suggest for a mistyped word; nothing when `near` is "".
Text did_you_mean(std::string_view near);

// Parses `text`; on failure returns nullopt and adds a problem that names line and column ("syntax", or "range" for a
// number that no double holds), or "too_large" above `max_bytes`.
std::optional<Json> parse(std::string_view text, std::size_t max_bytes, Problems& problems);

// Reading one value. `field` is its path, `name` what people call it; each way to be wrong has its own message.
struct Range {
    std::int64_t min;
    std::int64_t max;
};
std::optional<std::int64_t> read_integer(const Json& value, std::string_view field, const Text& name, Range range, Problems& problems);
struct Bounds {  // of a number that need not be whole
    double min;
    double max;
};
std::optional<bool> read_boolean(const Json& value, std::string_view field, const Text& name, Problems& problems);

// How people write a field's number.
struct Reading {
    std::int64_t thousand = 1'000;  // what "8k" multiplies with
    std::string_view also{};        // another unit that it may be given in, and the field whose value one of them is multiplied with
    std::string_view times{};       // or divided by, for as many as this field counts
    std::string_view per{};
    double example = 0;  // 0 = the default
};

// What the page needs to draw and explain one input.
struct Field {
    // "key|link|unit" as below; "-" for what it has none of, and nothing behind the last one. (One text: lists of fields are long, and a
    // page downloads them.)
    Field(const char* names, const Reading* reading = nullptr);  // NOLINT(google-explicit-constructor)
    std::string_view key;                                        // in JSON
    std::string_view link;                                       // in a link, short
    std::string_view unit;                                       // id of its words; "" for plain counts
    const Reading* reading;                                      // nullptr = as any number
};
struct Choice {
    std::string_view id;
};

// The ids of the bits set, joined by commas.
std::string set_text(std::uint32_t bits, std::span<const Choice> choices);

// "auto" inside the core: a whole number that the core is to choose. 0 is never a legal value of such a field.
constexpr std::int64_t kAuto = 0;
// The same of a number that need not be whole; its bounds never hold it.
constexpr double kAutoNumber = -1;

// The three visitors. A struct's visit_fields(struct, visitor) calls, per field, one of
//   integer(field, value, range, allow_auto)   number(field, value, bounds, allow_auto)   boolean(field, value)
//   choice(field, value as index, choices)     set(field, value as bits, choices): a text of ids, "core_attn,mlp"
//   notation(field, struct, choices): a text that set_notation(struct, text, problems) reads and notation_of(struct) writes
// A boolean, a choice, a set or a number whose values are not "auto" in any case has a bit of its own in a mask where it may be "auto":
// boolean(field, value, mask, bit), choice(field, value, choices, mask, bit), set(...), number(field, value, bounds, mask, bit). While the
// bit is set the value is the core's to choose.
class FieldReader {
 public:
    FieldReader(const Json& object, Problems& problems) : object_(object), problems_(problems) {}
    void integer(const Field& field, std::int64_t& value, Range range, bool allow_auto = false);
    void integer(const Field& field, std::int64_t& value, Range range, std::uint32_t& open, std::uint32_t bit) {
        if (!is_auto(field, open, bit)) integer(field, value, range);
    }
    void number(const Field& field, double& value, Bounds bounds, bool allow_auto = false);
    void number(const Field& field, double& value, Bounds bounds, std::uint32_t& open, std::uint32_t bit) {
        if (!is_auto(field, open, bit)) number(field, value, bounds);
    }
    void boolean(const Field& field, bool& value);
    void boolean(const Field& field, bool& value, std::uint32_t& open, std::uint32_t bit) {
        if (!is_auto(field, open, bit)) boolean(field, value);
    }
    void set(const Field& field, std::uint32_t& value, std::span<const Choice> choices);
    void set(const Field& field, std::uint32_t& value, std::span<const Choice> choices, std::uint32_t& open, std::uint32_t bit) {
        if (!is_auto(field, open, bit)) set(field, value, choices);
    }
    template <class Enum>
    void choice(const Field& field, Enum& value, std::span<const Choice> choices) {
        int index = static_cast<int>(value);
        choice_index(field, index, choices);
        value = static_cast<Enum>(index);
    }
    template <class Enum>
    void choice(const Field& field, Enum& value, std::span<const Choice> choices, std::uint32_t& open, std::uint32_t bit) {
        if (!is_auto(field, open, bit)) choice(field, value, choices);
    }
    template <class Owner>
    void notation(const Field& field, Owner& owner, std::span<const Choice>) {
        if (const std::string* given = text(field.key)) set_notation(owner, *given, problems_);
    }
    // A text field that is no part of a struct's list (ids of models and GPUs); nullptr when absent or not a text.
    const std::string* text(std::string_view key);
    // A value that the caller reads itself; nullptr when absent.
    const Json* any(std::string_view key);
    // Call last: every key that nobody asked for is a problem.
    void reject_unknown();
    void reject_unknown(FirstProblems& unknown);

 private:
    // Whether the field stays, or is now, the core's to choose; a field that is absent keeps its bit.
    bool is_auto(const Field& field, std::uint32_t& open, std::uint32_t bit);
    void choice_index(const Field& field, int& index, std::span<const Choice> choices);
    // What was just read was a text: it is said how such a number looks.
    void show_example(const Field& field, std::size_t problems_before, double usual);
    const Json& object_;
    Problems& problems_;
    std::vector<std::string_view> known_;
};

class FieldWriter {
 public:
    explicit FieldWriter(Json& object) : object_(object) {}
    void integer(const Field& field, std::int64_t value, Range, bool allow_auto = false) {
        if (allow_auto && value == kAuto)
            object_[std::string(field.key)] = "auto";
        else
            object_[std::string(field.key)] = value;
    }
    void integer(const Field& field, std::int64_t value, Range, std::uint32_t open, std::uint32_t bit) {
        object_[std::string(field.key)] = (open & bit) != 0 ? Json("auto") : Json(value);
    }
    void number(const Field& field, double value, Bounds, bool allow_auto = false) {
        object_[std::string(field.key)] = allow_auto && value == kAutoNumber ? Json("auto") : Json(value);
    }
    void number(const Field& field, double value, Bounds, std::uint32_t open, std::uint32_t bit) {
        object_[std::string(field.key)] = (open & bit) != 0 ? Json("auto") : Json(value);
    }
    void boolean(const Field& field, bool value) { object_[std::string(field.key)] = value; }
    void boolean(const Field& field, bool value, std::uint32_t open, std::uint32_t bit) {
        object_[std::string(field.key)] = (open & bit) != 0 ? Json("auto") : Json(value);
    }
    void set(const Field& field, std::uint32_t value, std::span<const Choice> choices) {
        object_[std::string(field.key)] = set_text(value, choices);
    }
    void set(const Field& field, std::uint32_t value, std::span<const Choice> choices, std::uint32_t open, std::uint32_t bit) {
        object_[std::string(field.key)] = (open & bit) != 0 ? "auto" : set_text(value, choices);
    }
    template <class Enum>
    void choice(const Field& field, Enum value, std::span<const Choice> choices) {
        object_[std::string(field.key)] = choices[static_cast<std::size_t>(value)].id;
    }
    template <class Enum>
    void choice(const Field& field, Enum value, std::span<const Choice> choices, std::uint32_t open, std::uint32_t bit) {
        if ((open & bit) != 0)
            object_[std::string(field.key)] = "auto";
        else
            choice(field, value, choices);
    }
    template <class Owner>
    void notation(const Field& field, const Owner& owner, std::span<const Choice>) {
        object_[std::string(field.key)] = notation_of(owner);
    }

 private:
    Json& object_;
};

class FieldDescriber {
 public:
    void integer(const Field& field, std::int64_t initial, Range range, bool allow_auto = false);
    void integer(const Field& field, std::int64_t initial, Range range, std::uint32_t open, std::uint32_t bit) {
        integer(field, initial, range);
        allow_auto(open, bit);
    }
    void number(const Field& field, double initial, Bounds bounds, bool allow_auto = false);
    void number(const Field& field, double initial, Bounds bounds, std::uint32_t open, std::uint32_t bit) {
        number(field, initial, bounds);
        allow_auto(open, bit);
    }
    void boolean(const Field& field, bool initial);
    void boolean(const Field& field, bool initial, std::uint32_t open, std::uint32_t bit) {
        boolean(field, initial);
        allow_auto(open, bit);
    }
    void set(const Field& field, std::uint32_t initial, std::span<const Choice> choices);
    void set(const Field& field, std::uint32_t initial, std::span<const Choice> choices, std::uint32_t open, std::uint32_t bit) {
        set(field, initial, choices);
        allow_auto(open, bit);
    }
    template <class Enum>
    void choice(const Field& field, Enum initial, std::span<const Choice> choices) {
        choice_index(field, static_cast<int>(initial), choices);
    }
    template <class Enum>
    void choice(const Field& field, Enum initial, std::span<const Choice> choices, std::uint32_t open, std::uint32_t bit) {
        choice(field, initial, choices);
        allow_auto(open, bit);
    }
    template <class Owner>
    void notation(const Field& field, const Owner& owner, std::span<const Choice> choices) {
        text(field, notation_of(owner), choices);
    }
    Json fields = Json::array();

 private:
    Json& begin(const Field& field, std::string_view type);
    void text(const Field& field, const std::string& initial, std::span<const Choice> choices);
    void allow_auto(std::uint32_t open, std::uint32_t bit);
    static void list(Json& entry, std::span<const Choice> choices);
    void choice_index(const Field& field, int initial, std::span<const Choice> choices);
};

}  // namespace fourfold
