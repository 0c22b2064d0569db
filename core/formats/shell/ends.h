// Whether a script ends for certain before it starts something.
#pragma once
#include <set>
#include <string>

#include "formats/shell/parts.h"

namespace fourfold {

// An "exit" counts where no question around it may have another answer when more is set than the text sets itself.
class ShellEnds {
 public:
    int doubts = 0;         // such questions around what runs now
    std::int64_t line = 0;  // of the "exit" that is met on every way; 0: none

    // Names that other lines of the text give a value from outside: "--config) CONFIG=$2", "read NAME"; all, where it takes in other files.
    void scan(std::string_view text);
    bool doubtful(const ShellNode& node) const;
    bool doubtful(const ShellNodes& nodes) const;
    void meet(std::int64_t exit_line, bool on_every_way) {
        if (line == 0 && doubts == 0 && on_every_way) line = exit_line > 0 ? exit_line : 1;
    }
    // NAME=value: whether the text alone says it. `length`: of the name.
    void assigned(const RawWord& raw, std::size_t length, bool on_every_way);

 private:
    std::set<std::string> said_here_, from_outside_;
    bool takes_files_ = false;
};

// The same for the time that it lives, with one question more.
class ShellDoubt {
 public:
    ShellDoubt(ShellEnds& ends, bool doubtful) : ends_(ends), before_(ends.doubts) { ends_.doubts += doubtful ? 1 : 0; }
    ~ShellDoubt() { ends_.doubts = before_; }
    ShellDoubt(const ShellDoubt&) = delete;
    ShellDoubt& operator=(const ShellDoubt&) = delete;

 private:
    ShellEnds& ends_;
    int before_;
};

}  // namespace fourfold
