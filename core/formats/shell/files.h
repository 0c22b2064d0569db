// Scripts inside of a script: what it writes to files, hands to a shell or to a scheduler.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "formats/shell/parts.h"

namespace fourfold {

struct ShellText {
    std::string text;
    std::int64_t line = 0;
};

// What a command runs that is a script itself: "srun … bash -c '…'", "sbatch <<EOF", "bash job.sh".
struct ShellInside {
    ShellText script;
    ShellWords launcher;                       // what stands before the shell
    ShellWords given = {};                     // to the script: "bash run.sh 8 4"
    std::optional<ShellCommand> options = {};  // of sbatch and the like, as a directive
};

// Whether a word is a script of its own: "cd /code && python train.py --bf16".
bool holds_command(std::string_view text);

// Whether a launcher of training stands in it, or a job for a scheduler with its script.
bool launches_training(std::string_view text);

// Programs that start no other one: "echo", "mkdir".
bool starts_nothing(std::string_view program);

class ShellFiles {
 public:
    // "cat > FILE <<EOF", "tee -a FILE <<EOF", "echo '…' > FILE": the file is kept. False: the command writes none.
    void edit(const ShellWords& words);
    bool write(const ShellWords& words, const std::vector<std::string>& documents, ShellValues& values);
    // `piped`: it takes what the command before it prints.
    std::optional<ShellInside> inside(const ShellWords& words, bool piped, const std::vector<std::string>& documents, ShellValues& values);
    ShellWords texts() const;
    std::vector<std::string> names() const;  // of each of them

 private:
    const ShellText* file(const std::string& name) const;
    std::map<std::string, ShellText> files_;
    std::set<std::string> unseen_;  // what another program wrote: "sed … a.yaml > b.yaml"
    ShellText printed_;             // of "cat <<EOF | sbatch"
};

}  // namespace fourfold
