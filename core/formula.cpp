#include "formula.h"

#include <cmath>
#include <cstdlib>
#include <vector>

namespace fourfold {

// An immutable expression tree.
struct Traced::Node {
    enum class Kind { literal, symbol, named, add, subtract, multiply, divide, square };
    Kind kind;
    double value;
    Symbol symbol{};                         // symbol, named
    Node *left = nullptr, *right = nullptr;  // named and square use left alone
    int uses = 1;

    static Node* used(Node* node) {
        if (node != nullptr) ++node->uses;
        return node;
    }
    static void release(Node* node) {
        if (node == nullptr || --node->uses > 0) return;
        release(node->left);
        release(node->right);
        delete node;
    }
    static Traced of(Kind kind, double value, const Traced& a, const Traced& b) {
        return Traced(new Node{kind, value, {}, used(a.node_), used(b.node_)});
    }
};

using Node = Traced::Node;
using Kind = Node::Kind;

[[gnu::noinline]] Traced::Traced(const Traced& other) : node_(Node::used(other.node_)) {}
[[gnu::noinline]] Traced::~Traced() { Node::release(node_); }

Traced::Traced(double literal) : node_(new Node{Kind::literal, literal}) {}
Traced Traced::symbol(const Symbol& symbol, double value) { return Traced(new Node{Kind::symbol, value, symbol}); }
Traced Traced::named(const Symbol& symbol, const Traced& definition) {
    return Traced(new Node{Kind::named, definition.value(), symbol, Node::used(definition.node_)});
}

double Traced::value() const { return node_->value; }

Traced operator+(const Traced& a, const Traced& b) { return Node::of(Kind::add, a.value() + b.value(), a, b); }
Traced operator-(const Traced& a, const Traced& b) { return Node::of(Kind::subtract, a.value() - b.value(), a, b); }
Traced operator*(const Traced& a, const Traced& b) { return Node::of(Kind::multiply, a.value() * b.value(), a, b); }
Traced operator/(const Traced& a, const Traced& b) { return Node::of(Kind::divide, a.value() / b.value(), a, b); }
Traced squared(const Traced& a) { return Node::of(Kind::square, a.value() * a.value(), a, {}); }

static int precedence(Kind kind) {
    switch (kind) {
        case Kind::add:
        case Kind::subtract:
            return 1;
        case Kind::multiply:
        case Kind::divide:
            return 2;
        case Kind::square:
            return 3;
        default:
            return 4;
    }
}

// Printing order is evaluation order: a right operand keeps its parentheses wherever leaving them out would group differently.
static bool needs_parentheses(const Node& parent, const Node& child, bool is_right) {
    const int outer = precedence(parent.kind), inner = precedence(child.kind);
    if (inner < outer) return true;
    return is_right && inner == outer && !(parent.kind == Kind::add && child.kind == Kind::add);
}

namespace {

struct TokenPrinter {
    bool with_numbers;
    Json tokens = Json::array();

    void child(const Node& parent, const Node& node, bool is_right) {
        const bool parentheses = needs_parentheses(parent, node, is_right);
        if (parentheses) tokens.push_back("(");
        print(node);
        if (parentheses) tokens.push_back(")");
    }
    void binary(const Node& node, const char* sign) {
        child(node, *node.left, false);
        tokens.push_back(sign);
        child(node, *node.right, true);
    }
    void print(const Node& node) {
        switch (node.kind) {
            case Kind::literal:
                tokens.push_back(node.value);
                break;
            case Kind::symbol:
            case Kind::named:
                if (with_numbers)
                    tokens.push_back(node.value);
                else
                    tokens.push_back(Object().add("symbol", node.symbol.letter));
                break;
            case Kind::add:
                binary(node, " + ");
                break;
            case Kind::subtract:
                binary(node, " − ");
                break;
            case Kind::multiply:
                binary(node, "·");
                break;
            case Kind::divide:
                binary(node, "/");
                break;
            case Kind::square:
                child(node, *node.left, false);
                tokens.push_back("²");
                break;
        }
    }
};

struct LatexPrinter {
    bool with_numbers;
    std::string text;

    void number(double value) {
        const bool plain = value == std::floor(value) && std::abs(value) < 1e15;
        const std::string digits = plain ? std::to_string(static_cast<std::int64_t>(value)) : Json(value).dump();
        const std::size_t exponent = digits.find('e');  // "2e+20"
        text += digits.substr(0, exponent);
        if (exponent != std::string::npos) text += " \\cdot 10^{" + std::to_string(std::atoi(digits.c_str() + exponent + 1)) + "}";
    }
    void letter(const std::string& name) {
        const std::size_t underscore = name.find('_');
        text += underscore == std::string::npos ? name : name.substr(0, underscore) + "_{" + name.substr(underscore + 1) + "}";
    }
    void child(const Node& parent, const Node& node, bool is_right) {
        const bool parentheses = node.kind != Kind::divide && needs_parentheses(parent, node, is_right);  // a fraction groups itself
        if (parentheses) text += "\\left(";
        print(node);
        if (parentheses) text += "\\right)";
    }
    void binary(const Node& node, const char* sign) {
        child(node, *node.left, false);
        text += sign;
        child(node, *node.right, true);
    }
    void print(const Node& node) {
        switch (node.kind) {
            case Kind::literal:
                number(node.value);
                break;
            case Kind::symbol:
            case Kind::named:
                if (with_numbers)
                    number(node.value);
                else
                    letter(node.symbol.letter);
                break;
            case Kind::add:
                binary(node, " + ");
                break;
            case Kind::subtract:
                binary(node, " - ");
                break;
            case Kind::multiply:
                binary(node, " \\cdot ");
                break;
            case Kind::divide:
                text += "\\frac{";
                print(*node.left);
                text += "}{";
                print(*node.right);
                text += "}";
                break;
            case Kind::square:
                if (precedence(node.left->kind) < 4) {
                    text += "\\left(";
                    print(*node.left);
                    text += "\\right)";
                } else
                    print(*node.left);
                text += "^2";
                break;
        }
    }
};

Json tokens_of(const Node& node, bool with_numbers) {
    TokenPrinter printer{with_numbers};
    printer.print(node);
    return std::move(printer.tokens);
}

std::string latex_of(const Node& node, bool with_numbers) {
    LatexPrinter printer{with_numbers, {}};
    printer.print(node);
    return std::move(printer.text);
}

}  // namespace

Json Traced::symbols() const { return tokens_of(*node_, false); }
Json Traced::numbers() const { return tokens_of(*node_, true); }
std::string Traced::latex() const { return latex_of(*node_, false); }
std::string Traced::latex_numbers() const { return latex_of(*node_, true); }

// Depth first, each letter once, in order of appearance.
static void collect(const Node& node, std::vector<const Node*>& computed, std::vector<const Node*>& given) {
    if (node.kind == Kind::symbol || node.kind == Kind::named) {
        auto& list = node.kind == Kind::named ? computed : given;
        for (const Node* known : list)
            if (std::string_view(known->symbol.letter) == node.symbol.letter) return;
        list.push_back(&node);
    }
    if (node.left) collect(*node.left, computed, given);
    if (node.right) collect(*node.right, computed, given);
}

Json Traced::where() const {
    std::vector<const Node*> computed, given;
    collect(*node_, computed, given);
    Json list = Json::array();
    const auto add = [&](const Node& node) {
        const bool is_computed = node.kind == Kind::named;
        list.push_back(Object()
                           .add("symbol", node.symbol.letter)
                           .add("meaning", node.symbol.meaning)
                           .add("unit", node.symbol.unit)
                           .add("value", node.value)
                           .add("formula", is_computed ? tokens_of(*node.left, false) : Json())
                           .add("numbers", is_computed ? tokens_of(*node.left, true) : Json()));
    };
    for (const Node* node : computed) add(*node);
    for (const Node* node : given) add(*node);
    return list;
}

}  // namespace fourfold
