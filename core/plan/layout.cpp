#include "plan/layout.h"

#include <algorithm>

namespace fourfold {

static constexpr Choice kSplits[] = {
    {"equal"},
    {"front"},
    {"weights"},
};
const std::span<const Choice> kSplitChoices = kSplits;

Layout::Layout(const std::vector<std::int32_t>& layers, int multi_token_layers) : multi_token(multi_token_layers) {
    before.reserve(layers.size() + 1);
    before.push_back(0);
    for (const std::int32_t count : layers) before.push_back(before.back() + count);
}

Layout front_layout(const Model& model, std::int64_t chunks) {
    std::vector<std::int32_t> list(static_cast<std::size_t>(chunks));
    for (std::int64_t i = 0; i < chunks; ++i)
        list[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(model.layers / chunks + (i < model.layers % chunks ? 1 : 0));
    return Layout(list, model.multi_token_layers);
}

// nanotron (models/llama.py, get_block_compute_costs; models/base.py, build_model): a chunk takes layers until those so far, its own
// included, weigh more than its part; the head, which is the last chunk's, counts, the embedding does not. The memory of 460 runs agrees
// (tests/evidence/ultrascale2024.jsonl): of 28 layers on two stages the first holds 16.
Layout weights_layout(const Model& model, std::int64_t chunks) {
    const std::int64_t h = model.hidden, attention = 2 * h * model.head_dim * (model.heads + model.kv_heads);
    const std::int64_t layer = attention + (model.gated ? 3 : 2) * h * model.ffn, whole = model.layers * layer + model.vocabulary * h;
    std::vector<std::int32_t> list;
    for (std::int64_t i = 1, before = 0; i <= chunks; ++i) {
        const std::int64_t part = whole / chunks * i + whole % chunks * i / chunks;
        const std::int64_t up_to = i == chunks ? model.layers : std::clamp<std::int64_t>(part / layer + 1, before, model.layers);
        list.push_back(static_cast<std::int32_t>(up_to - before));
        before = up_to;
    }
    return Layout(list, model.multi_token_layers);
}

// ---- reading
namespace {

constexpr std::size_t kLongest = 20'000;  // letters of a layout written out: more than any model has layers

// Writes out "(x)*n" and "x*n".
class Unroller {
 public:
    explicit Unroller(std::string_view text) {
        for (const char c : text)
            if (c != ',' && c != ' ' && c != '\t' && c != '\n') text_ += c;
    }
    // nullopt: `wrong` says why.
    std::optional<std::string> run() {
        std::string whole = sequence(0);
        if (wrong.empty() && at_ < text_.size()) wrong = "problem.layout.unopened";
        if (!wrong.empty()) return std::nullopt;
        return whole;
    }
    Text wrong;

 private:
    std::string sequence(int depth) {
        std::string all;
        while (wrong.empty() && at_ < text_.size() && text_[at_] != ')') {
            const char c = text_[at_++];
            std::string one(1, c);
            if (c == '(') {
                one = depth < 20 ? sequence(depth + 1) : "";
                if (at_ >= text_.size() || text_[at_] != ')') return fail("problem.layout.unclosed");
                ++at_;
            } else if (c != 'E' && c != 't' && c != 'm' && c != 'L' && c != '|') {
                return fail(Text("problem.layout.symbol").with("symbol", one));
            }
            append(all, one, repeats());
        }
        return all;
    }
    std::size_t repeats() {
        if (at_ >= text_.size() || text_[at_] != '*') return 1;
        std::size_t count = 0, digits = 0;
        for (++at_; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_, ++digits)
            count = std::min<std::size_t>(10 * count + static_cast<std::size_t>(text_[at_] - '0'), kLongest);
        if (digits == 0) fail("problem.layout.no_count");
        return count;
    }
    void append(std::string& all, const std::string& one, std::size_t times) {
        if (one.size() * times + all.size() > kLongest) {
            fail(Text("problem.layout.too_long").with("most", kLongest));
            return;
        }
        for (std::size_t i = 0; i < times; ++i) all += one;
    }
    std::string fail(Text why) {
        if (wrong.empty()) wrong = std::move(why);
        return {};
    }
    std::string text_;
    std::size_t at_ = 0;
};

Problem bad_layout(std::string_view text, Text message) {
    return {"layout", "layout", shown(Json(text)), std::move(message), "suggestion.layout_notation", "auto"};
}

// What stands at the wrong place, or nothing.
Text misplaced(const std::string& letters) {
    if (letters.empty() || letters.front() != 'E') return "problem.layout.no_embedding";
    if (letters.back() != 'L') return "problem.layout.no_loss";
    if (std::count(letters.begin(), letters.end(), 'E') > 1) return "problem.layout.two_embeddings";
    const std::size_t loss = letters.find('L');
    if (loss + 1 != letters.size()) return "problem.layout.early_loss";
    // Megatron-LM, transformer/pipeline_parallel_layer_layout.py: on one chunk, behind all layers, not on the first stage
    const std::size_t further = letters.find('m'), behind = letters.find_first_not_of('m', further);
    if (further == std::string::npos) return {};
    if (letters.find_first_of("tm", behind) != std::string::npos) return "problem.layout.early_multi_token";
    const bool on_first = letters.find('|') > further && letters.find('|') != std::string::npos;
    if (on_first) return "problem.layout.early_multi_token";
    return {};
}

}  // namespace

std::optional<Layout> read_layout(std::string_view text, Problems& problems) {
    Unroller unroll(text);
    const auto letters = unroll.run();
    Text wrong = letters ? misplaced(*letters) : unroll.wrong;
    if (!wrong.empty()) {
        problems.push_back(bad_layout(text, std::move(wrong)));
        return std::nullopt;
    }
    std::vector<std::int32_t> layers(1);
    for (const char c : *letters) {
        if (c == 't') ++layers.back();
        if (c == '|') layers.push_back(0);
    }
    Layout layout(layers, static_cast<int>(std::count(letters->begin(), letters->end(), 'm')));
    const std::size_t further = std::min(letters->find('m'), letters->size());
    layout.multi_token_at =
        static_cast<std::int32_t>(std::count(letters->begin() + static_cast<std::ptrdiff_t>(further), letters->end(), '|'));
    return layout;
}

// ---- writing
static void add_letters(std::string& text, char letter, std::int64_t count) {
    if (count > 3)
        text += std::string(1, letter) + "*" + std::to_string(count);
    else
        text.append(static_cast<std::size_t>(count), letter);
}

std::string layout_text(const Layout& layout) {
    const std::size_t last = layout.chunks() - 1;
    const auto further = static_cast<std::size_t>(std::max(0, layout.multi_token_at));
    std::string text = "E";
    for (std::size_t i = 0; i < last;) {
        const bool holds_further = layout.multi_token > 0 && i + further == last;
        std::string chunk;
        add_letters(chunk, 't', layout.at(i));
        if (holds_further) add_letters(chunk, 'm', layout.multi_token);
        std::size_t same = i + 1;  // how far chunks follow that hold as many layers
        while (i > 0 && !holds_further && same < last && layout.at(same) == layout.at(i) && (further == 0 || same + further != last))
            ++same;
        if (same - i > 1)
            text += "(" + chunk + "|)*" + std::to_string(same - i);
        else
            text += chunk + "|";
        i = same;
    }
    add_letters(text, 't', layout.at(last));
    if (further == 0) add_letters(text, 'm', layout.multi_token);
    return text + "L";
}

std::optional<Problem> layout_problem(const Layout& layout, const Model& model) {
    const std::int64_t layers = layout.layers();
    const bool layers_right = layers == model.layers, further_right = layout.multi_token == model.multi_token_layers;
    if (layers_right && further_right) return std::nullopt;
    const auto chunks = std::min<std::int64_t>(static_cast<std::int64_t>(layout.chunks()), model.layers);
    Text message = layers_right ? Text("problem.layout.multi_token") : Text("problem.layout.layers");
    message.with("given", layers_right ? layout.multi_token : layers).with("model", layers_right ? model.multi_token_layers : model.layers);
    return Problem{"layout", "layout", nullptr, std::move(message), "suggestion.each_layer_once", layout_text(front_layout(model, chunks))};
}

}  // namespace fourfold
