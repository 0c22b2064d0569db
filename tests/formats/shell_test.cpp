// What a shell script would start: each idiom once, the words worked by hand; and texts that are no scripts.
#include "formats/shell/shell.h"

#include <doctest/doctest.h>

#include <string>

#include "random_cases.h"

using namespace fourfold;

namespace {

// The words of the last command, joined; open names as ${NAME}.
std::string started(std::string_view script, const std::map<std::string, std::string>& set = {}) {
    const ShellScript read = read_shell(script, set);
    if (read.commands.empty()) return "";
    std::string all;
    for (const ShellWord& word : read.commands.back().words) all += (all.empty() ? "" : "|") + without_marks(word.text);
    return all;
}

}  // namespace

TEST_CASE("a shell script: words, quotes, lines") {
    CHECK(started("run --a 1 'b c' \"d e\" f\\ g") == "run|--a|1|b c|d e|f g");
    CHECK(started("run --a \\\n  1 \\  \n --b 2 # --c 3\n") == "run|--a|1|--b|2");
    CHECK(started("run --a 1 \\\n  # --b 2 \\\n  --c 3") == "run|--a|1|--c|3");  // a comment among the lines
    CHECK(started("run --a 1 > log 2>&1 | tee x") == "run|--a|1");
    CHECK(started("#!/bin/bash\r\nA=1\r\nrun --a $A\r\n") == "run|--a|1");
    CHECK(started("srun -N 2 bash -c 'run --a 1'") == "srun|-N|2|run|--a|1");
    CHECK(started("C=\"run --a 1\"\neval $C") == "run|--a|1");
}

TEST_CASE("a shell script: names and their defaults") {
    CHECK(started("A=8\nrun $A ${A} \"${A}x\" '$A'") == "run|8|8|8x|$A");
    CHECK(started("run ${A:-8} ${B:-\"1\"} ${C-2} ${D:=3} $D ${1:-x}") == "run|8|1|2|3|3|x");
    CHECK(started("A=a/b/c.sh\nrun ${A##*/} ${A%.sh} ${A%%/*} ${A/b/x} ${#A}") == "run|c.sh|a/b/c|a|a/x/c.sh|8");
    CHECK(started("O=\"--a 1\"\nO+=\" --b 2\"\nrun $O") == "run|--a|1|--b|2");
    CHECK(started("X=(--a 1  # one\n \"b c\"\n)\nX+=(d)\nrun \"${X[@]}\" ${X[1]} ${#X[@]}") == "run|--a|1|b c|d|1|4");
    CHECK(started("run $A --b ${C}") == "run|${A}|--b|${C}");
    CHECK(started("A=1 B=2 run --c") == "run|--c");
    CHECK(started("run $A", {{"A", "7"}}) == "run|7");
    CHECK(started("A=1\nrun $A", {{"A", "7"}}) == "run|7");  // what is set from outside stays
}

TEST_CASE("a shell script: arithmetic") {
    CHECK(started("A=4\nB=$((A*8))\nrun $B $(( ${A} / 2 + 1 )) $(($B%3)) $((-(A-6)))") == "run|32|3|2|2");
    CHECK(started("run $(echo \"4*8\" | bc) `expr 6 / 2` $(echo 5)") == "run|32|3|5");
    CHECK(started("run $((A*2))") == "run|${A}");
    CHECK(started("run $((1/0))") == "run|${$((1/0))}");
    CHECK(started("run $((9223372036854775807+1))") == "run|${$((9223372036854775807+1))}");
}

TEST_CASE("a shell script: a known condition is followed, an open one leaves open what differs") {
    const char* script = "S=${S:-70b}\nif [ $S = 7b ]; then L=32; elif [[ $S == 70* ]]; then L=80; else L=1; fi\nrun --layers $L";
    CHECK(started(script) == "run|--layers|80");
    CHECK(started(script, {{"S", "7b"}}) == "run|--layers|32");
    CHECK(started("case $S in a|b) L=1;; c) L=2;; esac\nrun $L", {{"S", "c"}}) == "run|2");
    CHECK(started("L=1\ncase $S in a) L=1;; c) L=2;; esac\nrun $L") == "run|${S}");
    CHECK(started("O=\"--a 1\"\nif [ $F = 1 ]; then O=\"$O --f x\"; fi\nrun $O") == "run|--a|1|--f${F}|x");
    CHECK(started("if [ -z \"$A\" ]; then A=3; fi\nrun $A") == "run|3");  // nobody set it: as ${A:-3}
    CHECK(started("[ 2 -gt 1 ] && B=1 || B=2\nrun $B") == "run|1");
    CHECK(started("f() { run --x $1; }\nf 5") == "run|--x|5");
    CHECK(started("for i in 1; do run $i; done") == "run|1");
    CHECK(started("for i in 1 2; do run $i; done") == "run|${i}");
    CHECK(started("while [[ $# -gt 0 ]]; do A=1; shift; done\nrun $A") == "run|${A}");
    CHECK(started("f() { local n=$1; shift 2; run $n $# $1 $@; }\nf a b c d") == "run|a|2|c|c|d");
    CHECK(started("f() { shift; run $@; shift 3; run $@; }\nf a b c").ends_with("run|b|c"));
    const ShellScript read = read_shell("if [ \"$S\" = a ]; then L=1; elif [ \"$S\" = b ]; then L=2; fi\nrun $L");
    CHECK(read.choices.at("S") == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a shell script: two ways of which one is not known, word by word") {
    const std::string choose = "if [ $F = 1 ]; then ";
    // What both have stays closed, also behind what one of them has alone.
    CHECK(started("C=\"torchrun p.py --a 1 --b 2\"\n" + choose + "C=\"nsys profile -o x $C\"; fi\n$C") == "torchrun|p.py|--a|1|--b|2");
    CHECK(started(choose + "O=\"--x 1 --a 1 --b 2\"; else O=\"--a 1 --b 2\"; fi\nrun $O") == "run|--x${F}|1|--a|1|--b|2");
    CHECK(started(choose + "O=\"--a 1 --x 1 --b 2\"; else O=\"--a 1 --y --b 2\"; fi\nrun $O") == "run|--a|1|--x${F}|1|--y${F}|--b|2");
    // A program that differs leaves what starts it.
    CHECK(started(choose + "C=\"srun -N 4 python a.py --a 1\"; else C=\"srun -N 4 python b.py --a 1\"; fi\n$C") ==
          "srun|-N|4|python|--a|1");
    CHECK(started(choose + "C=\"srun --n=4 python a.py --a 1\"; else C=\"srun --n=4 python b.py --a 1\"; fi\n$C") ==
          "srun|--n=4|python|--a|1");
    // A flag is the same with the same values alone.
    CHECK(started(choose + "O=\"--a 1 2 --b 2\"; else O=\"--a 1 --b 2\"; fi\nrun $O") == "run|--a${F}|1|2|--a${F}|1|--b|2");
    CHECK(started(choose + "O=\"--a 1\"; else O=\"--a 2\"; fi\nrun $O") == "run|--a${F}|1|--a${F}|2");
    // The one that stands last counts: it is open where one way alone says it again.
    CHECK(started("O=\"--a 1\"\n" + choose + "O=\"$O --a 2\"; fi\nrun $O") == "run|--a|1|--a${F}|2");
    CHECK(started(choose + "L=(--a 1 --b \"x y\"); else L=(--b \"x y\"); fi\nrun \"${L[@]}\"") == "run|--a${F}|1|--b|x y");
}

TEST_CASE("a shell script: two long lists of which one is not known are soon put together") {
    std::string one, other;
    for (int i = 0; i < 3'000; ++i) {
        one += " --a" + std::to_string(i % 7) + " 1";
        other += " --a" + std::to_string(i % 11) + " 1";
    }
    const std::string text = "if [ $F = 1 ]; then O=\"" + one + "\"; else O=\"" + other + "\"; fi\nrun $O";
    CHECK(read_shell(text).complete);
}

TEST_CASE("a shell script: what it hands to a shell or a scheduler, or writes to a file, is a script too") {
    CHECK(started("A=1\nsbatch <<EOF\nrun --a $A --b \\$B\nEOF\n") == "run|--a|1|--b|${B}");
    CHECK(started("A=1\nsbatch <<'EOF'\nA=2\nrun --a $A\nEOF\n") == "run|--a|2");
    CHECK(started("cat <<EOF | sbatch\nrun --a 1\nEOF\n") == "run|--a|1");
    CHECK(started("cat <<EOF\nrun --a 1\nEOF\nsbatch job.sh\n") == "sbatch|job.sh");  // a text for people
    CHECK(started("srun -N 2 bash <<EOF\nrun --a 1\nEOF\n") == "srun|-N|2|run|--a|1");
    CHECK(started("sbatch --nodes=2 --wrap=\"run --a 1\"\n") == "run|--a|1");
    const std::string job = "cat > out/job.sh <<EOF\nX=1\nEOF\ncat >> out/job.sh <<'EOF'\nrun --a $X\nEOF\n";
    for (const char* start : {"sbatch out/job.sh", "bash ./out/job.sh 3", "./out/job.sh", "sbatch -J x out/job.sh"})
        CHECK_MESSAGE(started(job + start) == "run|--a|1", start);
    CHECK(started(job) == "");  // nothing starts it
    CHECK(started("tee job.sh <<EOF\nrun --a 1\nEOF\nqsub job.sh") == "run|--a|1");
    CHECK(started("F=job.sh\ncat <<EOF > $F\nA=3\nEOF\nsource $F\nrun --a $A") == "run|--a|3");
    CHECK(started(job + "cat > out/job.sh <<EOF\nrun --b\nEOF\nsh out/job.sh") == "run|--b");  // written anew
    CHECK(started("cat > x.json <<EOF\n{\"a\": 1}\nEOF\nrun --file x.json") == "run|--file|x.json");
    CHECK(started("cat > f <<EOF\nbash f\nbash f\nrun --a\nEOF\nbash f").starts_with("run"));  // without end
    CHECK(started("  cat > f <<EOF\n  A=4\n  EOF\n  source f\n  run --a $A") == "run|--a|4");  // all of it indented
    const ShellScript read = read_shell("sbatch -N 2 <<EOF\n#SBATCH -N 4 --gpus-per-node 8\nrun \\$SLURM_NNODES\nEOF\n");
    CHECK(read.directives.empty());  // they are the inner job's
    REQUIRE(read.commands.back().asked.size() == 6);
    CHECK(read.commands.back().asked[1].text == "2");  // what the command says counts before the file
    CHECK(read.commands.back().asked[3].text == "4");
    CHECK(read.commands.back().words[1].text == "2");
    CHECK(read.commands.back().line == 3);
}

TEST_CASE("a shell script: a way that ends it changes nothing behind") {
    CHECK(started("case $S in a) L=1;; b) L=1;; *) echo no; exit 1;; esac\nrun $L") == "run|1");
    CHECK(started("L=2\nif [ $S = a ]; then L=1; exit 0; fi\nrun $L") == "run|2");
    CHECK(started("no() { echo \"$1\"; exit 1; }\nL=2\n[ $S = a ] || { L=3; no x; }\nrun $L") == "run|2");
    CHECK(started("L=2\nif [ $S = a ]; then if [ $T = b ]; then exit 1; fi; L=1; fi\nrun $L") == "run|${S}");
    CHECK(started("L=2\nif [ $S = a ]; then L=1; bash -c 'exit 1'; fi\nrun $L") == "run|${S}");  // another shell ends
}

TEST_CASE("a shell script: schedulers and documents") {
    const ShellScript read = read_shell("#SBATCH --nodes=4\n#SBATCH -J x\ncat <<EOF > a.json\n{\"a\": 1}\nEOF\nrun $SLURM_NNODES\n");
    CHECK(read.directives.size() == 2);
    CHECK(read.documents == std::vector<std::string>{"{\"a\": 1}\n"});
    CHECK(read.commands.back().words[1].text == "4");
}

TEST_CASE("a shell script: a loop that starts nothing is followed for as often as it is run") {
    const auto word = [](const std::string& text) { return read_shell(text + "\npython a.py $X").commands.back().words[2].text; };
    const std::string list = "N=4\nfor ((i = 0; i < N; i++)); do\n  if (( i < 1 )); then list+=(0); else list+=(1); fi\ndone\n";
    CHECK(word(list + "X=$(IFS=','; echo \"${list[*]}\")") == "0,1,1,1");
    CHECK(word(list + "printf -v X \"[%s]\" \"$(IFS=', '; echo \"${list[*]}\")\"") == "[0,1,1,1]");
    CHECK(word("for one in a b c; do X+=$one; done") == "abc");
    CHECK(is_open(word("for ((i = 0; i < $M; i++)); do X=$i; done")));
    CHECK(is_open(word("for ((i = 0; i < 600; i++)); do X=$i; done")));
    CHECK(is_open(word("for one in a b $M; do X=$one; done")));
    CHECK(is_open(word("printf -v X '%05d' 3")));
    CHECK(is_open(word("for one in a b; do X=$one; python b.py; done")));
}

TEST_CASE("a shell script: whatever stands there, it ends soon, and what grows without end is said") {
    CHECK(read_shell("A=xx\nfor i in 1; do A=$A$A; done").complete);
    std::string doubling = "A=xxxxxxxx\n";
    for (int i = 0; i < 40; ++i) doubling += "A=$A$A\n";
    CHECK_FALSE(read_shell(doubling).complete);
    CHECK(read_shell("f() { f; f; }\nf").commands.empty());
    for (const char* piece : {"$(", "${", "(", "if ", "\"$(", "X=(", "[[ ", "((", "case x in ", "f() {", "`", "$((", "<<A\n"}) {
        std::string text;
        while (text.size() < (tests::kSlowBuild ? 5'000 : 100'000)) text += piece;
        read_shell(text);
    }
    std::string branches;
    for (int i = 0; i < (tests::kSlowBuild ? 500 : 3'000); ++i)
        branches += "if [ $X" + std::to_string(i) + " = 1 ]; then A" + std::to_string(i) + "=1; fi\n";
    read_shell(branches);
    constexpr std::string_view kPieces[] = {"$",    "{",  "}",  "(",    ")",    "A",     "=",       "\"",  "'",  "`",    "\\",
                                            "\n",   " ",  "if", "then", "fi",   "[",     "]",       "[[",  "]]", "case", "in",
                                            "esac", ";;", "&&", "||",   "|",    "<<",    "E",       "#",   "1",  "*",    "-z",
                                            ":-",   "@",  "+=", "for",  "do",   "done",  ";",       "$((", "))", "$A",   "--a",
                                            "f()",  "!",  "%",  "/",    "cat ", "bash ", "sbatch ", ">",   "f",  "exit"};
    tests::Random random(1);
    for (int i = 0; i < (tests::kSlowBuild ? 1'000 : 20'000); ++i) {
        std::string text;
        for (std::int64_t k = random.from(1, 40); k > 0; --k) text += kPieces[random.from(0, std::size(kPieces) - 1)];
        read_shell(text);
    }
}
