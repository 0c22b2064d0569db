#include "json_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

namespace fourfold {

// Length of the UTF-8 sequence that begins at `at`, 0 if it is none (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
static std::size_t sequence_length(const std::string& text, std::size_t at) {
    const auto byte = [&](std::size_t i) -> unsigned { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const unsigned first = byte(at), second = byte(at + 1);
    const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    if (first >= 0xC2 && first <= 0xDF) return continues(at + 1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const bool allowed = (first != 0xE0 || second >= 0xA0) && (first != 0xED || second <= 0x9F);
        return allowed && continues(at + 1) && continues(at + 2) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool allowed = (first != 0xF0 || second >= 0x90) && (first != 0xF4 || second <= 0x8F);
        return allowed && continues(at + 1) && continues(at + 2) && continues(at + 3) ? 4 : 0;
    }
    return 0;
}

namespace {

// A text that grows: the library's own append is built for size in the module, and a call for every character there.
class Writer {
 public:
    void put(char c) {
        if (size_ == text_.size()) grow();
        text_[size_++] = c;
    }
    void put(std::string_view text) {
        for (const char c : text) put(c);
    }
    void write(const Json& value);
    std::string finished() {
        text_.resize(size_);
        return std::move(text_);
    }

 private:
    [[gnu::noinline]] void grow() { text_.resize(std::max<std::size_t>(256, 2 * text_.size())); }
    void put_quoted(const std::string& text);
    void put_escaped(char c);
    std::string text_;
    std::size_t size_ = 0;
};

void Writer::put_escaped(char c) {
    constexpr std::string_view kShort = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
    const std::size_t known = kShort.find(c);
    put('\\');
    if (known != std::string_view::npos) return put(kLetters[known]);
    constexpr const char* kHex = "0123456789abcdef";
    put("u00");
    put(kHex[static_cast<unsigned char>(c) >> 4U]);
    put(kHex[static_cast<unsigned char>(c) & 15U]);
}

void Writer::put_quoted(const std::string& text) {
    put('"');
    for (std::size_t at = 0; at < text.size();) {
        const auto c = static_cast<unsigned char>(text[at]);
        if (c >= 0x80) {
            std::size_t length = sequence_length(text, at);
            if (length == 0) put("\xEF\xBF\xBD"), ++at;
            for (; length > 0; --length) put(text[at++]);
        } else if (c < 0x20 || c == '"' || c == '\\')
            put_escaped(text[at++]);
        else
            put(text[at++]);
    }
    put('"');
}

void Writer::write(const Json& value) {
    std::array<char, 64> digits;
    const auto put_digits = [&](const char* end) { put(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()))); };
    char* const last = digits.data() + digits.size();
    switch (value.type()) {
        case Json::value_t::object: {
            char sign = '{';
            for (const auto& [key, member] : value.get_ref<const Json::object_t&>()) {
                put(sign);
                sign = ',';
                put_quoted(key);
                put(':');
                write(member);
            }
            return put(sign == '{' ? "{}" : "}");
        }
        case Json::value_t::array: {
            char sign = '[';
            for (const Json& element : value.get_ref<const Json::array_t&>()) {
                put(sign);
                sign = ',';
                write(element);
            }
            return put(sign == '[' ? "[]" : "]");
        }
        case Json::value_t::string:
            return put_quoted(value.get_ref<const std::string&>());
        case Json::value_t::boolean:
            return put(value.get<bool>() ? "true" : "false");
        case Json::value_t::number_integer:
            return put_digits(std::to_chars(digits.data(), last, value.get<std::int64_t>()).ptr);
        case Json::value_t::number_unsigned:
            return put_digits(std::to_chars(digits.data(), last, value.get<std::uint64_t>()).ptr);
        case Json::value_t::number_float:
            if (std::isfinite(value.get<double>())) return put_digits(nlohmann::detail::to_chars(digits.data(), last, value.get<double>()));
            break;
        default:
            break;
    }
    put("null");
}

}  // namespace

std::string json_text(const Json& value) {
    Writer writer;
    writer.write(value);
    return writer.finished();
}

}  // namespace fourfold
