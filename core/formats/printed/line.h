// The lines of a log, and the numbers in them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/table.h"

namespace fourfold {

// The lines of a log, without colours and without a rank in front, as long as they are of use. A progress bar writes over its line: each
// state of it is one.
class PrintedLines {
 public:
    explicit PrintedLines(std::string_view log) : lines_(log) {}
    bool next();
    std::string_view text;
    std::int64_t number = 0;  // of the line, from 1
    std::int64_t rank = -1;   // that a launcher wrote in front of it, "3: " or "[rank3]:"; -1: none

 private:
    Lines lines_;
    std::string_view rest_;
    std::string clean_;
};

// A number as it was printed.
struct Printed {
    double value = 0;
    std::string_view written;  // with its unit, where it has one
};
using MaybePrinted = std::optional<Printed>;

bool has(std::string_view text, std::string_view words);

// The number behind a key, "key: 12", "key=12", "'key': 12": the first place where one stands there. "1,024" is a thousand; a "K" or "M"
// behind it multiplies with `thousand`, where that is not 0.
MaybePrinted number_after(std::string_view text, std::string_view key, double thousand = 0);
// Bytes, "12.3 GiB" or "512 MB": of both kinds of units 1,024 make the next one, as PyTorch counts.
MaybePrinted size_after(std::string_view text, std::string_view key);
MaybePrinted size_before(std::string_view text, std::string_view words);
MaybePrinted size_of(std::string_view text);  // that the text begins with

}  // namespace fourfold
