// The words of a text in Python.
#pragma once
#include <cctype>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/settings.h"

namespace fourfold {

struct PythonToken {
    enum Kind { name, number, text, sign, line_end } kind;  // "a.b.c" is one name; a line ends outside of brackets alone
    std::string value;
    std::int64_t line = 0;
    std::size_t column = 0;
};

std::vector<PythonToken> python_tokens(std::string_view text);
// "batch *= 2" as "batch = batch * 2"; a list or a text that grows stays as it is.
std::vector<PythonToken> with_whole_sums(std::vector<PythonToken> tokens);
// os.environ.get("BATCH", "4"), os.getenv("BATCH", 4) and os.environ.get("BATCH") or 4 as what is answered for the name, else as their
// default; int("4") as 4.
std::vector<PythonToken> with_usual_environment(const std::vector<PythonToken>& tokens, const NamesSet& set);

inline bool is_token(const std::vector<PythonToken>& tokens, std::size_t at, PythonToken::Kind kind, std::string_view value) {
    return at < tokens.size() && tokens[at].kind == kind && tokens[at].value == value;
}
inline bool has_sign_at(const std::vector<PythonToken>& tokens, std::size_t at, std::string_view text) {
    return is_token(tokens, at, PythonToken::sign, text);
}

// [Float8LinearConverter.Config(recipe_name="rowwise")]: the names that are called in the list at `at`, which goes behind it.
std::optional<Json> called_in_list(const std::vector<PythonToken>& tokens, std::size_t& at);
// A value as it is written, with what stands in its brackets.
std::string written_value(const std::vector<PythonToken>& tokens, std::size_t at);

Json python_number(std::string text);  // 1_000; a text where it is none

inline std::string last_part(const std::string& full) {
    const std::size_t cut = full.rfind('.');
    return cut == std::string::npos ? full : full.substr(cut + 1);
}
inline bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
inline bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace fourfold
