#include "formats/python/python.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "base/text.h"
#include "formats/python/calls.h"
#include "formats/python/conditions.h"
#include "formats/python/tokens.h"
#include "formats/shell/shell.h"

namespace fourfold {

namespace {

constexpr std::size_t kMostEntries = 20'000, kLongestList = 200;
using Token = PythonToken;
class Reader {
 public:
    Reader(std::vector<Token> tokens, const NamesSet& set, bool sections) : tokens_(std::move(tokens)), set_(set), sections_(sections) {
        scopes_.push_back({});
    }

    std::vector<PythonScope> all() {
        collect_calls();
        bool fresh = true;
        for (at_ = 0; at_ < tokens_.size() && entries_ < kMostEntries;) {
            if (tokens_[at_].kind == Token::line_end) {
                fresh = true;
                ++at_;
                continue;
            }
            if (fresh) begin_line();
            fresh = false;
            step();
        }
        return std::move(scopes_);
    }

 private:
    struct Bracket {
        char kind;
        bool parameters;
        std::string section;
    };

    bool sign(std::size_t at, std::string_view text) const { return has_sign_at(tokens_, at, text); }
    bool name(std::size_t at) const { return at < tokens_.size() && tokens_[at].kind == Token::name; }
    bool ends_line(std::size_t at) const { return at >= tokens_.size() || tokens_[at].kind == Token::line_end; }

    // What calls in this text give to a function's arguments: "trainer(num_nodes=4)".
    void collect_calls() {
        std::vector<std::string> called;
        for (std::size_t i = 0, told = 0; i < tokens_.size(); ++i) {
            if (name(i) && tokens_[i].value == "def" && tokens_[i].column == 0 && name(i + 1)) functions_.insert(tokens_[i + 1].value);
            if (i >= told && adds_argument(i)) told = note_argument(i);  // main() may stand at the end
            if (sign(i, "("))
                called.push_back(i > 0 && name(i - 1) && !(i > 1 && tokens_[i - 2].value == "def") ? tokens_[i - 1].value : "");
            if (sign(i, ")") && !called.empty()) called.pop_back();
            if (called.empty() || called.back().empty() || !name(i) || !sign(i + 1, "=") || !(sign(i - 1, "(") || sign(i - 1, ",")))
                continue;
            std::size_t end = i + 2;
            if (const auto value = literal(end); value && ends_value(end)) calls_[called.back()][tokens_[i].value].insert(dumped(*value));
        }
        add_positions(tokens_, functions_, calls_);
    }

    // A function at the margin is a scope; a condition holds for what is further to the right.
    void begin_line() {
        const Token& first = tokens_[at_];
        branches_.leave(first.column);
        if (first.kind != Token::name) return;
        const std::size_t def = first.value == "async" ? at_ + 1 : at_;
        if (name(def) && tokens_[def].value == "def" && name(def + 1)) {
            if (first.column == 0) scopes_.push_back({tokens_[def + 1].value, first.line, {}});
            function_ = tokens_[def + 1].value;
            at_ = def + 2;
            for (const auto& [parameter, value] : given_to(calls_, function_)) {
                variables_[{function_, parameter}] = value;
                if (value.is_string() && names_model(parameter)) add(parameter, value, first.line, "");
            }
            parameters_next_ = true;
        } else if (first.column == 0 && scopes_.back().name != "" && !(first.value == "return")) {
            if (scopes_.back().name != "") scopes_.push_back({});
            function_.clear();
        }
        if (first.column == 0) begin_preset();
        if (first.value == "from") note_import();
        for (std::size_t i = at_ + 1; first.value == "for" && (sign(i, ",") || (name(i) && tokens_[i].value != "in")); ++i)
            variables_.erase({function_, tokens_[i].value});
        const bool asks = first.value == "if" || first.value == "elif";
        if (asks || (first.value == "else" && sign(at_ + 1, ":")))
            branches_.enter(first.value, first.column, asks ? condition() : "", asks ? truth(at_ + 1, ":") : std::nullopt);
        if (first.value == "except") branches_.enter("if", first.column, "", false);  // what is tried works
    }

    // "from nemo.collections.llm.recipes.llama3_8b import finetune_recipe as base": what the name then stands for.
    void note_import() {
        constexpr std::string_view kRecipes = ".recipes.";
        const std::string path = name(at_ + 1) ? tokens_[at_ + 1].value : "";
        if (path.find(kRecipes) == std::string::npos || !name(at_ + 2) || tokens_[at_ + 2].value != "import") return;
        for (std::size_t i = at_ + 3; i < tokens_.size() && i < at_ + 40; ++i) {
            const bool listed = name(i) || sign(i, ",") || sign(i, "(") || (tokens_[i].kind == Token::line_end && sign(at_ + 3, "("));
            if (!listed) break;
            if (!name(i) || !is_recipe(tokens_[i].value)) continue;
            const bool renamed = name(i + 1) && tokens_[i + 1].value == "as" && name(i + 2);
            imported_[tokens_[renamed ? i + 2 : i].value] = {last_part(path), tokens_[i].value};
        }
    }

    bool adds_argument(std::size_t at) const { return name(at) && sign(at + 1, "(") && last_part(tokens_[at].value) == "add_argument"; }

    std::size_t note_argument(std::size_t at) {
        const PythonArgument one = python_argument(tokens_, at + 1);
        if (one.key.empty()) return one.end;
        auto usual = one.variable.empty() ? std::nullopt : known(one.variable);
        if (one.usual != kNotSaid) usual = Json::parse(one.usual, nullptr, false);
        if (usual) variables_[{"", "args." + one.key}] = *usual;
        if (usual && usual->is_string() && names_model(one.key)) add("args." + one.key, *usual, tokens_[at].line, "");
        if (one.none) variables_[{"", kUnlessSaid + ("args." + one.key)}] = true;
        return one.end;
    }

    // Megatron-Bridge's presets of a workload (scripts/performance): each is a job, with what its base says before.
    void begin_preset() {
        if (!name(at_) || !sign(at_ + 1, "=") || !name(at_ + 2) || !sign(at_ + 3, "(")) return;
        const std::string called = last_part(tokens_[at_ + 2].value);
        const bool changes = called == "replace" && name(at_ + 4) && sign(at_ + 5, ",");
        if (!changes && called != "WorkloadBaseConfig") return;
        scopes_.push_back({tokens_[at_].value, tokens_[at_].line, {}, true, changes ? tokens_[at_ + 4].value : ""});
    }

    // Of what stands from there to the sign or the end of the line.
    std::optional<bool> truth(std::size_t at, std::string_view end) const {
        const auto found = python_truth(tokens_, at, [this](const std::string& one) { return known(one); });
        return sign(at, end) || (end.empty() && ends_value(at)) ? found : std::nullopt;
    }

    std::string condition() const {
        std::string all;
        for (std::size_t i = at_ + 1; !ends_line(i) && !sign(i, ":") && all.size() < kLongestList; ++i)
            all += (all.empty() ? "" : " ") + tokens_[i].value;
        return all.starts_with("__name__") ? "" : all;
    }

    void step() {
        const Token& token = tokens_[at_];
        if (adds_argument(at_)) return void(at_ = note_argument(at_));
        if (token.kind == Token::sign && (token.value == "(" || token.value == "[" || token.value == "{")) {
            brackets_.push_back({token.value[0], std::exchange(parameters_next_, false), std::exchange(section_next_, "")});
        } else if (token.kind == Token::sign && (token.value == ")" || token.value == "]" || token.value == "}")) {
            if (!brackets_.empty()) brackets_.pop_back();
        } else if (token.kind == Token::text && sign(at_ + 1, ":") && !brackets_.empty() && brackets_.back().kind == '{') {
            return value_of(token.value, at_ + 2);
        } else if (token.kind == Token::name && (sign(at_ + 1, "=") || (sign(at_ + 1, ":") && annotation_end(at_ + 2) > 0))) {
            const std::size_t begin = sign(at_ + 1, "=") ? at_ + 2 : annotation_end(at_ + 2);
            return value_of(token.value, begin);
        } else if (token.kind == Token::name) {
            note_name(token);
        }
        ++at_;
    }

    // "x: Optional[int] = 4": behind the "="; 0: no such annotation.
    std::size_t annotation_end(std::size_t at) const {
        if (!brackets_.empty() && brackets_.back().kind != '(') return 0;
        int depth = 0;
        for (const std::size_t most = std::min(at + 40, tokens_.size()); at < most; ++at) {
            if (tokens_[at].kind == Token::line_end) return 0;
            if (sign(at, "[") || sign(at, "(")) ++depth;
            if (sign(at, "]")) --depth;
            if (sign(at, ")") && --depth < 0) return 0;
            if (depth == 0 && sign(at, ",")) return 0;
            if (depth == 0 && sign(at, "=")) return at + 1;
        }
        return 0;
    }

    // The model that a recipe's name or a configuration's says: "llm.llama3_8b.pretrain_recipe", "llm.Llama31Config405B".
    void note_name(const Token& token) {
        const std::string& full = token.value;
        const std::size_t cut = full.rfind('.');
        const std::string last = last_part(full);
        note_recipe(token, last);
        if (cut != std::string::npos && is_recipe(last)) {
            const std::size_t before = full.rfind('.', cut - 1);
            add("recipe_model",
                full.substr(before == std::string::npos ? 0 : before + 1, cut - (before == std::string::npos ? 0 : before + 1)), token.line,
                full);
        }
        for (const std::string_view word : {"Config", "ModelProvider"})  // of NeMo 2, of Megatron-Bridge
            if (const std::size_t at = last.find(word), end = at + word.size();
                at != std::string::npos && at > 0 && end < last.size() && std::isdigit(static_cast<unsigned char>(last[end])) != 0)
                add("recipe_model", last.substr(0, at) + last.substr(end), token.line, full);
        if (last == "from_hf_pretrained" && sign(at_ + 1, "(")) {
            std::size_t end = at_ + 2;
            auto path = literal(end);
            if (!path && name(end)) path = known(tokens_[end].value);
            if (path && path->is_string()) add("hf_path", *path, token.line, full);
        }
        if (last == "default_peft_config" && sign(at_ + 1, "(")) {  // "lora": LoRA() with its own sizes
            std::size_t end = at_ + 2;
            if (const auto scheme = literal(end); scheme && scheme->is_string()) add("peft", *scheme, token.line, full + "LoRA");
        }
        if ((last == "LoRA" || last == "QLoRA" || last == "DoRA" || last == "CanonicalLoRA") && sign(at_ + 1, "("))
            add("peft", last == "DoRA" ? "dora" : last == "QLoRA" ? "qlora" : "lora", token.line, full);
    }

    // A recipe that is called and stands elsewhere. NeMo's for fine-tuning and Bridge's "..._peft_config" train by LoRA by default.
    void note_recipe(const Token& token, const std::string& called) {
        if (!sign(at_ + 1, "(")) return;
        if (functions_.contains(token.value)) return add(std::string(kCall), token.value, token.line, "");
        const auto recipe = imported_.find(token.value);
        const std::string& last = recipe == imported_.end() ? called : recipe->second.second;
        if (recipe != imported_.end()) add("recipe_model", recipe->second.first, token.line, "");
        if (last == "GPTConfig") add("whole_model", true, token.line, "");
        if (last == "finetune_recipe" || (last.find("_peft_") != std::string::npos && last.ends_with("_config")))
            add("tunes_part", true, token.line, "");
        if (is_recipe(last)) add("recipe_call", last, token.line, "");
        const bool whole = last.ends_with("_config") || last.find("_config_") != std::string::npos;  // deepseek_v3_pretrain_config_32nodes
        for (const std::string_view way : {"_pretrain_", "_sft_", "_peft_", "_finetune_"})  // llama3_70b_pretrain_64gpu_h100_bf16_config
            if (const std::size_t cut = last.find(way); cut != std::string::npos && whole) {
                add("recipe_call", last, token.line, "");
                add("recipe_model", last.substr(0, cut), token.line, token.value);
            }
    }

    bool ends_value(std::size_t at) const {
        return ends_line(at) || sign(at, ",") || sign(at, ")") || sign(at, "}") || sign(at, "]") || sign(at, ";");
    }

    // `at` goes behind it.
    std::optional<Json> literal(std::size_t& at) const {
        if (at >= tokens_.size()) return std::nullopt;
        const Token& token = tokens_[at];
        if (token.kind == Token::text) return tokens_[at++].value;
        if (token.kind == Token::number) return python_number(tokens_[at++].value);
        if (sign(at, "-") && at + 1 < tokens_.size() && tokens_[at + 1].kind == Token::number) {
            at += 2;
            return python_number("-" + tokens_[at - 1].value);
        }
        if (token.kind == Token::name && (token.value == "True" || token.value == "False" || token.value == "None")) {
            ++at;
            return token.value == "None" ? Json() : Json(token.value == "True");
        }
        if (token.kind == Token::name && (token.value.starts_with("torch.") || token.value.starts_with("AttnBackend.")))
            return tokens_[at++].value;
        if (!sign(at, "[") && !sign(at, "(")) return std::nullopt;
        return list(at);
    }

    std::optional<Json> list(std::size_t& at) const {
        const bool square = sign(at, "[");
        Json all = Json::array();
        bool commas = false;
        for (++at; at < tokens_.size() && !sign(at, square ? "]" : ")");) {
            if (sign(at, "[") || sign(at, "(")) return std::nullopt;  // lists of lists are none of ours
            const auto one = literal(at);
            if (!one || all.size() > 500) return std::nullopt;
            all.push_back(*one);
            if (sign(at, ",")) ++at, commas = true;
        }
        ++at;
        if (!square && !commas && all.size() == 1) return all[0];  // (4)
        return all;
    }

    // A literal, a name that has one, a call without arguments by its name; anything else is open.
    void value_of(const std::string& key, std::size_t at) {
        const std::int64_t line = tokens_[at_].line;
        const bool parameter = !brackets_.empty() && brackets_.back().parameters, outside = brackets_.empty();
        std::size_t end = at;
        auto value = literal(end);
        std::string shown;
        if (value && !ends_value(end)) value.reset();
        if (!value) end = at;
        if (value && parameter) value = given_by_calls(calls_, function_, set_, key, *value);
        if (!value && name(at) && ends_value(at + 1)) {
            value = known(tokens_[at].value);
            shown = tokens_[at].value;
            end = at + 1;
        }
        if (!value && name(at) && sign(at + 1, "(") && sign(at + 2, ")") && ends_value(at + 3)) {  // bf16_mixed()
            value = tokens_[at].value;
            end = at + 3;
            at_ = at;
            note_name(tokens_[at]);
        }
        if (!value && starts_elsewhere(key, at)) value = tokens_[end = at].value;
        if (!value && key == "converters" && sign(at, "[")) value = called_in_list(tokens_, end);
        if (!value) value = named_kind(at, end);
        if (!value) {
            end = at;
            value = python_computed(tokens_, end, [this](const std::string& one) { return known(one); });
            if (value && !ends_value(end)) value.reset();
        }
        if ((outside || parameter) && !(value && value->is_array())) keep({outside && function_.empty() ? "" : function_, key}, value);
        if (key == "peft_scheme" && value)
            keep({function_, "recipe.peft"}, *value == "none" ? Json() : *value);  // NeMo 2: "if recipe.peft"
        at_ = value ? end : at;
        if (!value) value = open_mark(shown.empty() ? written_value(tokens_, at) : shown);
        if (!sections_) return add(key, *value, line, key);
        const std::string full = in_section(key, parameter, *value);
        if (at_ == at && name(at) && sign(at + 1, "(")) section_next_ = outside ? full : key;
        if (!full.empty() && !(at_ == at && last_part(tokens_[at].value).ends_with("Config"))) add(full, *value, line, full);
    }

    // "config.training.seq_len = 8192", or seq_len in what "training" is given. Variables are no settings, save the one that another
    // module's configuration is the start of: its name says the model.
    std::string in_section(const std::string& key, bool parameter, const Json& value) const {
        std::string path;
        for (const Bracket& bracket : brackets_)
            if (!bracket.section.empty()) path += bracket.section + ".";
        if (!brackets_.empty()) return parameter ? "" : path + key;
        if (const std::size_t cut = key.find('.'); cut != std::string::npos) return key.substr(cut + 1);
        const auto* text = value.get_ptr<const Json::string_t*>();
        return (key == "config" || key == "cfg") && text != nullptr && !functions_.contains(*text) && open_names(*text).empty() ? "config"
                                                                                                                                : "";
    }

    // _perf_precision("fp8_mx"), get_mixed_precision_config("bf16_mixed"), model_registry("8B"), get_precision_config("fp8", kind)
    std::optional<std::string> named_kind(std::size_t at, std::size_t& end) const {
        if (!name(at) || !sign(at + 1, "(") || at + 3 >= tokens_.size()) return std::nullopt;
        const auto first = name(at + 2) ? known(tokens_[at + 2].value) : std::optional(Json(tokens_[at + 2].value));
        if (!first || !first->is_string() || is_open(first->get<std::string>()) || sign(at + 2, ")")) return std::nullopt;
        const std::string called = last_part(tokens_[at].value);
        const bool kinds = called == "_perf_precision" || called == "get_precision_config" || called == "get_mixed_precision_config" ||
                           called == "model_registry";
        std::string kind = first->get<std::string>();
        end = at + 4;
        if (sign(at + 3, ",") && (name(end) || tokens_[end].kind == Token::text)) {
            const auto second = name(end) ? known(tokens_[end].value) : std::optional(Json(tokens_[end].value));
            if (!second || !second->is_string() || is_open(second->get<std::string>())) return std::nullopt;
            kind += "_" + second->get<std::string>();
            end += 2;
        }
        return kinds && sign(end - 1, ")") && ends_value(end) ? std::optional(kind) : std::nullopt;
    }

    std::optional<Json> known(const std::string& variable) const {
        for (const std::string& where : {function_, std::string()})
            if (const auto found = variables_.find({where, variable}); found != variables_.end()) return found->second;
        const auto answer = set_.find(variable);
        return answer == set_.end() ? std::nullopt : std::optional<Json>(answer->second);
    }

    // config = llama3_8b(seq_len=4096): a function that is not here says the rest of what is trained.
    bool starts_elsewhere(const std::string& key, std::size_t at) const {
        if (!sections_ || !brackets_.empty() || (key != "config" && key != "cfg") || !name(at) || !sign(at + 1, "(")) return false;
        const std::string& called = tokens_[at].value;
        if (functions_.contains(called) || last_part(called).ends_with("Config")) return false;
        int depth = 0;
        for (std::size_t i = at + 1; i < tokens_.size(); ++i) {
            if (sign(i, "(")) ++depth;
            if (sign(i, ")") && --depth == 0) return ends_value(i + 1);
        }
        return false;
    }

    // What a variable is behind this place: open where it hangs on a branch.
    void keep(const std::pair<std::string, std::string>& variable, const std::optional<Json>& value) {
        const auto undecided = branches_.undecided(set_);
        if (!undecided) return;
        if (undecided->empty() && !value) return void(variables_.erase(variable));
        variables_[variable] = undecided->empty() ? *value : Json(open_mark(undecided->back()));
    }

    void add(const std::string& key, Json value, std::int64_t line, const std::string& shown) {
        Entry entry{key, shown, std::move(value), line};
        if (const auto* text = entry.value.get_ptr<const Json::string_t*>()) entry.open = open_names(*text);
        const auto undecided = branches_.undecided(set_);
        if (!undecided) return;
        entry.open.insert(entry.open.end(), undecided->begin(), undecided->end());
        ++entries_;
        scopes_.back().entries.push_back(std::move(entry));
    }

    std::vector<Token> tokens_;
    const NamesSet& set_;
    std::vector<PythonScope> scopes_;
    std::vector<Bracket> brackets_;
    PythonBranches branches_;
    std::map<std::pair<std::string, std::string>, Json> variables_;
    PythonCalls calls_;
    std::set<std::string> functions_;                                      // at the margin
    std::map<std::string, std::pair<std::string, std::string>> imported_;  // recipes: of which model, and which of its recipes
    std::string function_, section_next_;
    bool sections_, parameters_next_ = false;
    std::size_t at_ = 0, entries_ = 0;
};

}  // namespace

std::vector<PythonScope> read_python(std::string_view text, const NamesSet& set) {
    return Reader(with_known_cards(with_whole_sums(with_usual_environment(python_tokens(text), set))), set, has_sections(text)).all();
}

}  // namespace fourfold
