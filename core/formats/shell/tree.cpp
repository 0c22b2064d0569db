#include <algorithm>

#include "formats/shell/parts.h"

namespace fourfold {

namespace {

constexpr int kDeepest = 60;

class Parser {
 public:
    Parser(const std::vector<ShellToken>& tokens, bool& complete) : tokens_(tokens), complete_(complete) {}

    ShellNodes all() {
        ShellNodes nodes;
        while (at_ < tokens_.size()) {
            const std::size_t before = at_;
            list(nodes);
            if (at_ == before) ++at_;  // a "fi" without an "if"
        }
        return nodes;
    }

 private:
    bool is(ShellToken::Kind kind, std::string_view text) const {
        return at_ < tokens_.size() && tokens_[at_].kind == kind && tokens_[at_].raw.text == text && !tokens_[at_].raw.is_list;
    }
    bool word(std::string_view text) const { return is(ShellToken::word, text); }
    bool sign(std::string_view text) const { return is(ShellToken::sign, text); }
    bool end_of_line() const { return at_ < tokens_.size() && tokens_[at_].kind == ShellToken::end_of_line; }
    std::int64_t line() const { return at_ < tokens_.size() ? tokens_[at_].raw.line : 0; }
    bool skip_word(std::string_view text) { return word(text) && (++at_, true); }
    bool skip_sign(std::string_view text) { return sign(text) && (++at_, true); }
    void skip_ends() {
        while (end_of_line() || sign(";") || sign("&")) ++at_;
    }
    static bool closes(const ShellToken& token) {
        constexpr std::string_view kClosing[] = {"then", "elif", "else", "fi", "do", "done", "esac", "}"};
        return (token.kind == ShellToken::word &&
                std::find(std::begin(kClosing), std::end(kClosing), token.raw.text) != std::end(kClosing)) ||
               (token.kind == ShellToken::sign && (token.raw.text.starts_with(";;") || token.raw.text == ";&" || token.raw.text == ")"));
    }

    // Until one of the words that close something.
    void list(ShellNodes& nodes) {
        ShellNode::Link link = ShellNode::first;
        while (at_ < tokens_.size()) {
            if (end_of_line() || sign(";") || sign("&")) {
                if (link == ShellNode::first || !end_of_line()) link = ShellNode::first;
                ++at_;
            } else if (sign("&&") || sign("||") || sign("|") || sign("|&")) {
                link = sign("&&") ? ShellNode::and_then : sign("||") ? ShellNode::or_else : ShellNode::piped;
                ++at_;
            } else if (closes(tokens_[at_])) {
                return;
            } else {
                ShellNode node = command();
                node.link = std::exchange(link, ShellNode::first);
                nodes.push_back(std::move(node));
            }
        }
    }
    ShellNodes list() {
        ShellNodes nodes;
        if (++depth_ > kDeepest) {
            complete_ = false;
            at_ = tokens_.size();
        }
        list(nodes);
        --depth_;
        return nodes;
    }

    ShellNode command() {
        ShellNode node;
        node.line = line();
        const ShellToken& token = tokens_[at_];
        if (token.kind == ShellToken::test || token.kind == ShellToken::sum) {
            node.kind = token.kind == ShellToken::test ? ShellNode::test : ShellNode::sum;
            node.words.push_back(token.raw);
            ++at_;
        } else if (skip_word("if")) {
            condition(node);
        } else if (word("while") || word("until")) {
            node.until = word("until");
            ++at_;
            loop(node);
        } else if (skip_word("for")) {
            each(node);
        } else if (skip_word("case")) {
            choice(node);
        } else if (sign("(") || word("{")) {
            if (sign("(")) node.name = "(";
            ++at_;
            group(node);
        } else if (word("function") || defines_function()) {
            function(node);
        } else {
            simple(node);
        }
        return node;
    }

    void condition(ShellNode& node) {
        node.kind = ShellNode::condition;
        do {
            ShellClause clause;
            clause.condition = list();
            skip_word("then");
            clause.body = list();
            node.clauses.push_back(std::move(clause));
        } while (skip_word("elif"));
        if (skip_word("else")) node.clauses.push_back({{}, {}, list()});
        skip_word("fi");
    }

    void body_of_loop(ShellNode& node, ShellClause clause) {
        node.kind = ShellNode::loop;
        skip_ends();
        skip_word("do");
        clause.body = list();
        skip_word("done");
        node.clauses.push_back(std::move(clause));
    }

    void loop(ShellNode& node) {
        ShellClause clause;
        clause.condition = list();
        body_of_loop(node, std::move(clause));
    }

    // "for ((i = 0; i < 8; i++))" has a name and no words.
    void each(ShellNode& node) {
        ShellClause clause;
        if (at_ < tokens_.size() && tokens_[at_].kind == ShellToken::sum) {
            const std::string& text = tokens_[at_++].raw.text;
            for (std::size_t from = 0; from <= text.size() && clause.patterns.size() < 3;) {
                const std::size_t end = std::min(text.find(';', from), text.size());
                clause.patterns.push_back({text.substr(from, end - from), node.line});
                from = end + 1;
            }
            const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
            node.name = text.substr(begin, name_end(text, begin) - begin);
            if (node.name.empty()) node.name = "((" + text.substr(0, 20) + "))";
        }
        while (at_ < tokens_.size() && !end_of_line() && !sign(";") && !word("do")) {
            if (tokens_[at_].kind == ShellToken::word && node.name.empty())
                node.name = tokens_[at_].raw.text;
            else if (tokens_[at_].kind == ShellToken::word && !word("in"))
                node.words.push_back(tokens_[at_].raw);
            ++at_;
        }
        body_of_loop(node, std::move(clause));
    }

    void choice(ShellNode& node) {
        node.kind = ShellNode::choice;
        if (at_ < tokens_.size() && tokens_[at_].kind == ShellToken::word) node.words.push_back(tokens_[at_++].raw);
        skip_ends();
        skip_word("in");
        for (skip_ends(); at_ < tokens_.size() && !word("esac"); skip_ends()) {
            ShellClause clause;
            skip_sign("(");
            while (at_ < tokens_.size() && !sign(")") && !end_of_line()) {
                if (tokens_[at_].kind == ShellToken::word) clause.patterns.push_back(tokens_[at_].raw);
                ++at_;
            }
            skip_sign(")");
            const std::size_t before = at_;
            clause.body = list();
            clause.end = sign(";&") ? ShellClause::falls : sign(";;&") ? ShellClause::tests : ShellClause::stops;
            node.clauses.push_back(std::move(clause));
            if (!skip_sign(";;") && !skip_sign(";&") && !skip_sign(";;&") && at_ == before && !word("esac")) ++at_;
        }
        skip_word("esac");
    }

    void group(ShellNode& node) {
        node.kind = ShellNode::group;
        node.clauses.push_back({{}, {}, list()});
        if (!skip_word("}")) skip_sign(")");
    }

    bool defines_function() const {
        const auto sign_at = [&](std::size_t at, std::string_view text) {
            return at < tokens_.size() && tokens_[at].kind == ShellToken::sign && tokens_[at].raw.text == text;
        };
        return tokens_[at_].kind == ShellToken::word && sign_at(at_ + 1, "(") && sign_at(at_ + 2, ")");
    }

    void function(ShellNode& node) {
        node.kind = ShellNode::function;
        skip_word("function");
        if (at_ < tokens_.size()) node.name = tokens_[at_++].raw.text;
        if (skip_sign("(")) skip_sign(")");
        while (end_of_line()) ++at_;
        if (word("{") || sign("(")) {
            ++at_;
            ShellNode body;
            group(body);
            node.clauses = std::move(body.clauses);
        }
    }

    void simple(ShellNode& node) {
        const std::size_t before = at_;
        while (at_ < tokens_.size() && tokens_[at_].kind == ShellToken::word) node.words.push_back(tokens_[at_++].raw);
        if (at_ == before) ++at_;  // a sign where none is expected
    }

    const std::vector<ShellToken>& tokens_;
    bool& complete_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

ShellNodes nodes_of(const std::vector<ShellToken>& tokens, bool& complete) { return Parser(tokens, complete).all(); }

}  // namespace fourfold
