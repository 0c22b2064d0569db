// $( … ) and ` … `: what a command inside of another one would print.
#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "formats/entries.h"
#include "formats/shell/parts.h"

namespace fourfold {

// "cat $PBS_NODEFILE | uniq | wc -l", "scontrol show hostnames $SLURM_JOB_NODELIST | wc -l": as many nodes as the job asks for. A file of
// PBS has a line for each process, unless what it asks for says none (mpiprocs). "nvidia-smi -L | wc -l": Slurm shows those that it gives.
std::string ShellValues::counted_nodes(std::string_view inside) {
    constexpr std::pair<std::string_view, const char*> kLists[] = {{"PBS_NODEFILE", "PBS_NUM_NODES"},
                                                                   {"SLURM_JOB_NODELIST", "SLURM_NNODES"},
                                                                   {"SLURM_NODELIST", "SLURM_NNODES"},
                                                                   {"nvidia-smi", "SLURM_GPUS_ON_NODE"},
                                                                   {"SGE_JOB_HOSTLIST", "NHOSTS"}};
    const auto has = [&](std::string_view part) { return inside.find(part) != std::string_view::npos; };
    if (!has("wc -l")) return "";
    for (const auto& [list, name] : kLists) {
        const auto known = variables_.find(name);
        if (!has(list) || known == variables_.end() || known->second.words.size() != 1) continue;
        const bool once = has("uniq") || has("sort -u") || variables_.find(kNodesOnce) == variables_.end();
        if (once) return known->second.words[0].text;
    }
    return "";
}

// $(if [ "$OFFLOAD" = true ]; then echo …; fi): what is run; nothing where that is not known.
std::optional<ShellNodes> ShellValues::way_taken(const ShellNodes& nodes) {
    if (nodes.size() > 1 && is_question(nodes[0])) return answered_way(nodes);
    if (nodes.size() != 1 || nodes[0].kind != ShellNode::condition) return nodes;
    for (const ShellClause& clause : nodes[0].clauses) {
        const Truth truth = clause.condition.empty()       ? Truth::yes
                            : clause.condition.size() == 1 ? test(clause.condition[0])
                                                           : Truth::unknown;
        if (truth == Truth::unknown) return std::nullopt;
        if (truth == Truth::yes) return way_taken(clause.body);
    }
    return ShellNodes();
}

bool ShellValues::is_question(const ShellNode& node) {
    return node.kind == ShellNode::test ||
           (node.kind == ShellNode::simple && !node.words.empty() && (node.words[0].text == "[" || node.words[0].text == "test"));
}

// $([ "$MOE" = 1 ] && echo --num-experts 8 || echo …): the one command that is run; all of them where there are several.
std::optional<ShellNodes> ShellValues::answered_way(const ShellNodes& nodes) {
    Truth truth = Truth::yes;
    ShellNodes run;
    for (const ShellNode& node : nodes) {
        if (node.link == ShellNode::and_then ? truth == Truth::no : node.link == ShellNode::or_else && truth == Truth::yes) continue;
        const bool asks = is_question(node);
        if (!asks && (node.link == ShellNode::first || node.link == ShellNode::piped || !run.empty())) return nodes;
        truth = asks ? test(node) : Truth::yes;
        if (truth == Truth::unknown) return std::nullopt;
        if (!asks) run.push_back(node);
    }
    for (ShellNode& node : run) node.link = ShellNode::first;
    return run;
}

// [[ … ]], and [ … ] or test as a command.
Truth ShellValues::test(const ShellNode& node) {
    if (node.kind == ShellNode::test) return test(node.words[0].text);
    ShellWords all;
    for (const RawWord& raw : node.words)
        for (ShellWord& word : words(raw)) all.push_back(std::move(word));
    const bool tests = node.kind == ShellNode::simple && !all.empty() && (all[0].text == "[" || all[0].text == "test");
    return tests ? test(quoted_words(all, all[0].text == "[")) : Truth::unknown;
}

// "seq 1 4", "seq 0 2 8": the numbers, in one line; nothing where they are not whole, or too many.
static std::string counted(const ShellWords& words) {
    constexpr std::int64_t kMostNumbers = 200, kLargest = 1'000'000'000;
    std::vector<std::int64_t> said;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string& text = words[i].text;
        const bool whole = !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789", text[0] == '-') == std::string::npos;
        if (!whole || text == "-") return "";
        said.push_back(std::stoll(text));
    }
    if (said.empty() || said.size() > 3) return "";
    const std::int64_t first = said.size() > 1 ? said[0] : 1, step = said.size() > 2 ? said[1] : 1, last = said.back();
    if (step == 0 || (last - first) / step >= kMostNumbers || std::max(std::abs(first), std::abs(last)) > kLargest) return "";
    std::string all;
    for (std::int64_t i = first; step > 0 ? i <= last : i >= last; i += step) all += (all.empty() ? "" : " ") + std::to_string(i);
    return all;
}

void ShellValues::print(const ShellWords& words) {
    const std::string &name = words[2].text, &format = words[3].text;
    std::string text;
    std::size_t next = 4;
    bool known = true;
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] == '%' && i + 1 < format.size() && (format[i + 1] == 's' || format[i + 1] == 'd')) {
            text += next < words.size() ? words[next].text : "";
            ++next, ++i;
        } else {
            known = known && format[i] != '%' && format[i] != '\\';
            text += format[i];
        }
    }
    known = known && next >= words.size();  // it begins anew where words are left
    set(name, {{{known ? text : open_mark(name), words[2].line}}});
}

// $(IFS=,; echo "${LIST[*]}"): the words of the list, between which stands the first sign of IFS; nothing for other commands.
std::string ShellValues::list_joined(const ShellNodes& nodes) {
    const auto is_simple = [](const ShellNode& node, std::size_t words) {
        return node.kind == ShellNode::simple && node.link == ShellNode::first && node.words.size() == words;
    };
    if (nodes.size() != 2 || !is_simple(nodes[0], 1) || !is_simple(nodes[1], 2) || nodes[1].words[0].text != "echo") return "";
    const std::string &own = nodes[0].words[0].text, &list = nodes[1].words[1].text;
    if (!own.starts_with("IFS=") || !list.starts_with("\"${") || !list.ends_with("[*]}\"")) return "";
    const std::string between = text(std::string_view(own).substr(4)).substr(0, 1);
    std::string all;
    for (const ShellWord& word : value_of(std::string_view(list).substr(3, list.size() - 8)).words)
        all += (all.empty() ? "" : between) + word.text;
    return all;
}

// "echo 0,1,2 | tr ',' '\n' | wc -l", "awk -F, '{print NF}' <<< 0,1,2": how many parts commas make; nothing for other commands.
std::string ShellValues::counted_parts(const ShellNodes& nodes, const std::string& said) {
    const auto has = [&](std::size_t i, std::initializer_list<std::string_view> words) {
        if (i >= nodes.size() || nodes[i].words.size() < words.size()) return false;
        return std::equal(words.begin(), words.end(), nodes[i].words.begin(),
                          [&](std::string_view word, const RawWord& raw) { return text(raw.text) == word; });
    };
    const auto counts_fields = [&](std::size_t i) {
        return has(i, {"awk", "-F,", "{print NF}"}) || has(i, {"awk", "-F", ",", "{print NF}"});
    };
    std::string list = said;
    const bool fields = nodes.size() == 2 && counts_fields(1), lines = nodes.size() == 3 && has(1, {"tr", ","}) && has(2, {"wc"});
    if (nodes.size() == 1 && counts_fields(0) && nodes[0].words.size() > 2 && nodes[0].words[nodes[0].words.size() - 2].text == "<<<")
        list = text(nodes[0].words.back().text);
    else if (!fields && !lines)
        return "";
    return list.empty() || is_open(list) ? "" : std::to_string(1 + std::count(list.begin(), list.end(), ','));
}

// "echo 4:64 | cut -d: -f2", "echo 4 64 | awk '{print $2}'": the field; nothing for other commands.
std::string ShellValues::cut_out(const ShellNodes& nodes, const std::string& said) {
    if (nodes.size() != 2 || nodes[1].link != ShellNode::piped || nodes[1].words.empty()) return "";
    const bool awk = nodes[1].words[0].text == "awk";
    if (!awk && nodes[1].words[0].text != "cut") return "";
    std::string options = awk ? "-d " : "";
    for (std::size_t i = 1; i < nodes[1].words.size(); ++i) options += text(nodes[1].words[i].text);
    if (awk && options.starts_with("-d {print $") && options.ends_with('}'))
        options = joined({"-d -f", options.substr(11, options.size() - 12)});
    const std::size_t by = options.find("-d"), at = options.find("-f");
    if (options.size() != 6 || by == options.npos || at == options.npos || is_open(said) || options[at + 2] < '1' || options[at + 2] > '9')
        return "";
    std::string_view rest = said;
    for (char field = options[at + 2]; field > '1'; --field) {
        const std::size_t end = rest.find(options[by + 2]);
        if (end == rest.npos) return "";
        rest.remove_prefix(end + 1);
    }
    return std::string(rest.substr(0, rest.find(options[by + 2])));
}

// python3 -c "print(8 * 16)", "print(int(512 / 8))": the sum; nothing for what else it prints.
static std::string sum_printed(std::string_view code) {
    constexpr std::string_view kPrint = "print(";
    const std::size_t at = code.rfind(kPrint);
    if (at == std::string_view::npos || !code.ends_with(')')) return "";
    std::string sum(code.substr(at + kPrint.size(), code.size() - at - kPrint.size() - 1));
    const bool whole = sum.starts_with("int(");
    if (whole) sum.erase(0, 3);
    for (std::size_t i = sum.find('/'); i != std::string::npos; i = sum.find('/', i + 1)) {
        if (sum.compare(i, 2, "//") != 0 && !whole) return "";
        if (sum.compare(i, 2, "//") == 0) sum.erase(i, 1);
    }
    return sum.find_first_not_of("0123456789+-*/() ") == std::string::npos ? sum : "";
}

// What a command inside of another one would print, for those that only calculate.
std::string ShellValues::substitution(std::string_view inside) {
    if (std::string nodes = counted_nodes(inside); !nodes.empty()) return nodes;
    bool complete = true;
    const ShellTokens tokens = tokens_of(inside);
    const ShellNodes nodes = nodes_of(tokens.list, complete);
    if (nodes.empty() && complete) return "";  // a comment among arguments: `# sizes`
    const auto unknown = [&] { return open_mark(joined({"$(", inside.substr(0, 40), ")"})); };
    if (!complete) return unknown();
    if (std::string list = list_joined(nodes); !list.empty()) return list;
    const auto way = way_taken(nodes);
    if (way && way->empty()) return "";
    if (!way || way->front().kind != ShellNode::simple) return unknown();
    ShellWords words;
    for (const RawWord& raw : way->front().words)
        for (ShellWord& word : this->words(raw)) words.push_back(std::move(word));
    if (words.empty()) return unknown();
    std::string rest;
    std::size_t from = 1;
    while (from < words.size() && words[from].text.size() > 1 && words[from].text[0] == '-' &&
           words[from].text.find_first_not_of("neE", 1) == std::string::npos)
        ++from;  // echo -n
    for (std::size_t i = from; i < words.size(); ++i) rest += (i == from ? "" : " ") + words[i].text;
    const bool to_bc =
        way->size() == 2 && (*way)[1].link == ShellNode::piped && !(*way)[1].words.empty() && (*way)[1].words[0].text == "bc";
    if (words[0].text == "expr" && way->size() == 1) {
        std::erase(rest, '\\');
        return sum(rest);
    }
    if (words[0].text == "seq" && way->size() == 1)
        if (std::string numbers = counted(words); !numbers.empty()) return numbers;
    if (words[0].text == "cat" && words.size() == 2 && way->size() == 1)
        if (auto text = document(words[1].text, tokens.documents)) return std::move(*text);
    if (words[0].text.starts_with("python") && words.size() == 3 && words[1].text == "-c" && way->size() == 1)
        if (std::string sums = sum_printed(words[2].text); !sums.empty()) return sum(sums);
    if (std::string parts = counted_parts(*way, rest); !parts.empty()) return parts;
    if (std::string field = cut_out(*way, rest); !field.empty() && words[0].text == "echo") return field;
    if (way->size() == 1 && printed_by)
        if (auto text = printed_by(words)) return std::move(*text);
    if (words[0].text != "echo") return unknown();
    if (to_bc) return sum(rest);
    return way->size() == 1 ? rest : unknown();
}

}  // namespace fourfold
