// The splitter of pasted rows.
#include "base/table.h"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace fourfold;

namespace {

std::string cells(std::string_view line, std::size_t most = 100) {
    std::vector<std::string_view> found;
    split_cells(line, separator_of(line), found, most);
    std::string all;
    for (const std::string_view cell : found) all.append("[").append(cell).append("]");
    return all;
}

}  // namespace

TEST_CASE("lines of a text, with their numbers") {
    std::string all;
    for (Lines lines("a\r\n\nb"); lines.next();) all += std::to_string(lines.number) + ":" + std::string(trimmed(lines.line)) + ";";
    CHECK(all == "1:a;2:;3:b;");
    CHECK_FALSE(Lines("").next());
    CHECK(without_mark("\xEF\xBB\xBFx") == "x");
    CHECK(without_mark("\xEF") == "\xEF");
}

TEST_CASE("cells of a line: what separates them, and what is left out around them") {
    CHECK(cells("a, b,,c") == "[a][b][][c]");
    CHECK(cells("a,b;c") == "[a,b][c]");
    CHECK(cells("a;b\tc") == "[a;b][c]");
    CHECK(cells("\t1\t2") == "[][1][2]");
    CHECK(cells("  a  b\r") == "[a][b]");
    CHECK(cells("a b\t") == "[a][b]");
    CHECK(cells("\"a b\", 'c' ,\"\",\"") == "[a b][c][][\"]");
    CHECK(cells("1,2,3", 2) == "[1][2]");
    CHECK(cells("1 2 3", 2) == "[1][2]");
    CHECK(cells("") == "");
    CHECK(with_point("12,5", ';') == "12.5");
    CHECK(with_point("12,5", ',') == "12,5");
    CHECK(with_point("1,024", ';') == "1,024");
}

TEST_CASE("numbers of a table are read as the library reads them") {
    for (const char* text : {"0", "0.1", "12.3456", "999999999999999", "1.00000000000001", "123456789012345.6", ".5", "5.", "1e3", "-2.5",
                             "00012.50", "0.000001"})
        CHECK_MESSAGE(number_of(text) == std::optional<double>(std::strtod(text, nullptr)), text);
    for (const char* text : {"", ".", "-", "1.2.3", "0x10", "inf", "nan", "1e", "12 ", "1_000", "--1"})
        CHECK_MESSAGE(!number_of(text), text);
}
