// The settings of a configuration, whatever its format, and what was made of each.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace fourfold {

enum class Fate { unknown, used, no_number, contradicted, open };

struct Entry {
    std::string key;                  // as the reader looks for it: "tensor_model_parallel_size"
    std::string shown;                // as it is written: "--tensor-model-parallel-size"; "" = made from another one, and not listed
    Json value;                       // a text, a number, true or false, a list, or null
    std::int64_t line = 0;            // 0 = not known
    std::vector<std::string> open{};  // names that its value hangs on, which the text does not say
    Fate fate = Fate::unknown;
    std::vector<std::string> fields{};  // of the job that it sets
    Json written = nullptr;             // its value as it is written, where `value` was made from it
};

// A job as a configuration describes it, while it is read.
class Import {
 public:
    std::vector<Entry> entries;
    Json job = Json::object();                     // what a request takes
    Json config = Json::object();                  // its model, as a config.json
    std::vector<Text> refused;                     // what the format's own program would refuse
    std::vector<Text> notes;                       // what cannot be counted, or was taken from elsewhere
    std::vector<std::string> asked;                // what must be known and is not there
    std::vector<std::string> touched;              // names that some entry hangs on
    std::vector<Entry> misread;                    // what is to be a number and is none
    bool partial = false;                          // what is not said stands elsewhere: no default holds
    std::map<std::string, std::string> answers{};  // what was asked for before
    // Keys that a reader looked for, there or not.
    mutable std::set<std::string, std::less<>> sought{};

    // Readers of the last entry of that key; `field` is what it sets. They mark it as used, or as open.
    bool has(std::string_view key) const { return last(key) != nullptr && !last(key)->value.is_null(); }
    std::optional<std::int64_t> whole(std::string_view key, std::string_view field);
    std::optional<double> number(std::string_view key, std::string_view field);
    std::optional<std::string> text(std::string_view key, std::string_view field);
    // Whether it is there and not switched off.
    bool on(std::string_view key, std::string_view field);
    // The same for the first of several names.
    std::optional<std::int64_t> whole(std::initializer_list<std::string_view> keys, std::string_view field);

    // Whether a field of the job hangs on an open name.
    bool hangs(std::string_view field) const;
    // Sets a field of the job where there is a value.
    template <class Value>
    void set(const char* field, const std::optional<Value>& value) {
        if (value) job[field] = *value;
    }
    void mark(std::string_view key, Fate fate);
    void mark_all(std::span<const std::string_view> patterns, Fate fate);  // those of unknown fate whose key matches
    void mark_all(std::initializer_list<std::string_view> patterns, Fate fate) {
        mark_all(std::span(patterns.begin(), patterns.size()), fate);
    }

    // The field of the job, or what was answered; else it is asked for, unless it hangs on an open name that is.
    bool ask(const char* field);
    // Another entry with the same origin.
    void derive(const Entry& from, std::string_view key, Json value);
    // The same under another key and value.
    void become(Entry& entry, std::string_view key, Json value);
    // What hangs on an open name is absent.
    void drop_open();
    // What no entry says is absent.
    void keep_said(std::initializer_list<std::string_view> besides);
    // GPUs that hold a copy of the model together, as far as it is said; 0 where that is no number of GPUs.
    std::int64_t model_parallel() const;
    // Copies of the model; 0 where GPUs or degrees are open, or do not divide.
    std::int64_t copies() const;
    const Entry* last(std::string_view key) const;
    // Earlier entries of a key with another value lose against its last one.
    void settle();

 private:
    Entry* take(std::string_view key, std::string_view field);
};

// A number, or a text that is one: "1_000", "1e5".
std::optional<double> number_in(const Json& value);

// As JSON; bytes that are no text (a value was cut inside of a letter) are replaced.
std::string dumped(const Json& value);

// Whether a pattern matches: "*" for anything, "?" and "[a-z]" for one sign.
bool matches(std::string_view pattern, std::string_view text);

// The answer for one job: what it says, entry by entry.
Json to_json(const Import& import);

}  // namespace fourfold
