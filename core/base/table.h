// Rows of text as people paste them: lines, words, cells, numbers. The one splitter, for measured links and measured runs.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold {

// Without the mark of byte order that spreadsheets begin their files with.
std::string_view without_mark(std::string_view text);
// Without blanks, tabs and carriage returns on both sides.
std::string_view trimmed(std::string_view text);

// The lines of a text: while (lines.next()) use lines.line.
class Lines {
 public:
    explicit Lines(std::string_view text) : rest_(text) {}
    bool next();
    std::string_view line;
    std::size_t number = 0;  // of the line, from 1

 private:
    std::string_view rest_;
};

// What lies between blanks and tabs, at most so many, into `words`, which keeps its memory.
void split_words(std::string_view line, std::vector<std::string_view>& words, std::size_t most);

// What separates the cells of a line: a tab, else a semicolon, else a comma, else blanks.
char separator_of(std::string_view line);
// The cells of a line, trimmed and without quotation marks, at most so many, into `cells`, which keeps its memory.
inline constexpr std::size_t kAllCells = SIZE_MAX;
void split_cells(std::string_view line, char separator, std::vector<std::string_view>& cells, std::size_t most = kAllCells);

// "12,5" as "12.5" where commas do not separate cells; "1,024" may mean either and stays.
std::string with_point(std::string_view number, char separator);
// A number that fills the text, with at most 63 characters; hexadecimal, inf and nan are none.
std::optional<double> number_of(std::string_view text);

}  // namespace fourfold
