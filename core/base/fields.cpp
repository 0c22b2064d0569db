#include "base/fields.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace fourfold {

Object& Object::add(const char* key, Json&& value) {
    json_[key] = std::move(value);
    return *this;
}
Object& Object::add(const char* key, const Json& value) { return add(key, Json(value)); }
Object& Object::add(const char* key, std::string_view value) { return add(key, Json(value)); }
Object& Object::add(const char* key, double value) { return add(key, Json(value)); }
Object& Object::add(const char* key, std::int64_t value) { return add(key, Json(value)); }
Object& Object::add(const char* key, bool value) { return add(key, Json(value)); }

Json to_json(const Problem& problem) {
    Object object;
    object.add("field", problem.field)
        .add("rule", problem.rule)
        .add("value", problem.value)
        .add("message", problem.message)
        .add("suggestion", problem.suggestion)
        .add("nearest", problem.nearest);
    if (!problem.candidates.is_null()) object.add("candidates", problem.candidates);
    return object;
}

Json to_json(const Problems& problems) {
    Json list = Json::array();
    for (const Problem& problem : problems) list.push_back(to_json(problem));
    return list;
}

// At most `bytes` of a UTF-8 text, cut between characters.
static std::string shortened(const std::string& text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
    return text.substr(0, bytes) + "…";
}

std::string under(std::string_view path, std::string_view field) {
    const bool joins = path.empty() || field.empty() || field.front() == '[';
    return std::string(path) + (joins ? "" : ".") + std::string(field);
}

void FirstProblems::add(std::string_view key, const char* rule, Json value, Text message, Text suggestion, Json nearest) {
    if (!keeps_more()) return count();
    keep({under(field_, key), rule, std::move(value), std::move(message), std::move(suggestion), std::move(nearest)});
}

void FirstProblems::keep(Problem problem) {
    if (keeps_more()) list_.push_back(std::move(problem));
    ++count_;
}

void FirstProblems::move_to(Problems& problems) {
    const auto listed = static_cast<std::int64_t>(list_.size()), all = static_cast<std::int64_t>(count_);
    for (Problem& problem : list_) problems.push_back(std::move(problem));
    if (all > listed)
        problems.push_back({field_, "range", all, Text("problem.more").with("count", all).with("listed", listed), {}, nullptr});
    list_.clear();
    count_ = 0;
}

Json shown(const Json& value) {
    if (const auto* text = value.get_ptr<const Json::string_t*>()) return shortened(*text, 80);
    if (const auto* flag = value.get_ptr<const Json::boolean_t*>()) return *flag;
    if (const auto* whole = value.get_ptr<const Json::number_unsigned_t*>()) return *whole;
    if (const auto* negative = value.get_ptr<const Json::number_integer_t*>()) return *negative;
    if (const auto* real = value.get_ptr<const Json::number_float_t*>()) return *real;
    return nullptr;
}

std::string grouped(std::int64_t value) {
    std::string digits = std::to_string(value);
    const std::size_t first = value < 0 ? 1 : 0;
    for (std::size_t end = digits.size(); end > first + 3; end -= 3) digits.insert(end - 3, ",");
    return digits;
}

// nlohmann's own builder of values, which also remembers where the text stopped being JSON.
struct Builder : nlohmann::detail::json_sax_dom_parser<Json> {
    explicit Builder(Json& value) : json_sax_dom_parser(value, false) {}
    bool parse_error(std::size_t at, const std::string& token, const Json::exception& error) {
        constexpr int kNumberOverflow = 406;
        position = at;
        if (error.id == kNumberOverflow) too_large = token;
        return false;
    }
    std::size_t position = 0;
    std::string too_large;  // the number that no double holds
};

// `said` with "line" and "column" of the character at `offset`.
static Text at_place(Text said, std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t newline = before.rfind('\n');
    const std::size_t column = newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
    return said.with("line", line).with("column", column);
}

std::optional<Json> parse(std::string_view text, std::size_t max_bytes, Problems& problems) {
    if (text.size() > max_bytes) {
        problems.push_back({"", "too_large", nullptr, Text("problem.too_large").with("size", text.size()).with("most", max_bytes),
                            "suggestion.right_file", nullptr});
        return std::nullopt;
    }
    Json value;
    Builder builder(value);
    const bool is_json = Json::sax_parse(text.begin(), text.end(), &builder);
    const std::size_t zero = text.find('\0');  // the parser would take it for the end
    if (is_json && zero == std::string_view::npos) return value;
    if (is_json) builder.position = zero + 1;
    const std::size_t read = std::min(builder.position, text.size());
    if (const std::string& number = builder.too_large; !number.empty()) {
        problems.push_back(
            {"", "range", shown(number),
             at_place(Text("problem.number_overflows").with("number", shortened(number, 40)), text, read - std::min(number.size(), read)),
             "suggestion.smaller_number", nullptr});
        return std::nullopt;
    }
    // the position counts what was read, the end of the text included
    const std::size_t stopped = std::min(builder.position > 0 ? builder.position - 1 : 0, text.size());
    problems.push_back({"", "syntax", nullptr, text.empty() ? Text("problem.no_text") : at_place("problem.no_json", text, stopped),
                        "suggestion.whole_file", nullptr});
    return std::nullopt;
}

static Text label(const Field& field) { return {"field", field.key}; }

static double to_double(const Json& number) {
    if (const auto* real = number.get_ptr<const Json::number_float_t*>()) return *real;
    if (const auto* whole = number.get_ptr<const Json::number_unsigned_t*>()) return static_cast<double>(*whole);
    const auto* negative = number.get_ptr<const Json::number_integer_t*>();
    return negative == nullptr ? 0 : static_cast<double>(*negative);
}

// A number within bounds, whole where that is asked for. As a double first: 2^63, 1e300 and -1e300 must compare, not wrap.
static std::optional<double> read_within(const Json& value, std::string_view field, const Text& name, const Json& min, const Json& max,
                                         bool whole, Problems& problems) {
    const auto fail = [&](const char* rule, const char* what, Text suggestion, Json nearest) {
        Text message(what);
        message.with("name", name).with("value", shown(value)).with("min", min).with("max", max);
        problems.push_back({std::string(field), rule, shown(value), std::move(message), std::move(suggestion), std::move(nearest)});
        return std::nullopt;
    };
    if (!value.is_number()) {
        const auto* text = value.get_ptr<const Json::string_t*>();
        if (text == nullptr) return fail("type", whole ? "problem.whole_no_number" : "problem.no_number", "suggestion.number", nullptr);
        if (text->empty()) return fail("type", whole ? "problem.whole_empty" : "problem.empty", "suggestion.digits", nullptr);
        return fail("type", whole ? "problem.whole_is_text" : "problem.is_text", "suggestion.digits", nullptr);
    }
    const double number = to_double(value);
    if (number < to_double(min)) return fail("range", whole ? "problem.whole_too_small" : "problem.too_small", {}, min);
    if (number > to_double(max)) return fail("range", whole ? "problem.whole_too_large" : "problem.number_too_large", {}, max);
    if (whole && number != std::floor(number))
        return fail("range", "problem.not_whole", {}, static_cast<std::int64_t>(std::llround(number)));
    return number;
}

std::optional<std::int64_t> read_integer(const Json& value, std::string_view field, const Text& name, Range range, Problems& problems) {
    const auto number = read_within(value, field, name, range.min, range.max, true, problems);
    if (!number) return std::nullopt;
    return static_cast<std::int64_t>(*number);
}

std::string set_text(std::uint32_t bits, std::span<const Choice> choices) {
    std::string text;
    for (std::size_t i = 0; i < choices.size(); ++i)
        if ((bits >> i & 1U) != 0) text += (text.empty() ? "" : ",") + std::string(choices[i].id);
    return text;
}

std::optional<bool> read_boolean(const Json& value, std::string_view field, const Text& name, Problems& problems) {
    if (const auto* flag = value.get_ptr<const Json::boolean_t*>()) return *flag;
    problems.push_back({std::string(field), "type", shown(value), Text("problem.no_boolean").with("name", name), {}, nullptr});
    return std::nullopt;
}

const Json* FieldReader::any(std::string_view key) {
    known_.push_back(key);
    const auto found = object_.find(std::string(key));
    return found == object_.end() ? nullptr : &*found;
}

const std::string* FieldReader::text(std::string_view key) {
    const Json* value = any(key);
    if (value == nullptr) return nullptr;
    const auto* text = value->get_ptr<const Json::string_t*>();
    if (text == nullptr)
        problems_.push_back({std::string(key), "type", shown(*value), Text("problem.no_text_value").with("key", key), {}, nullptr});
    return text;
}

Field::Field(const char* all, const Reading* how) : reading(how) {
    std::string_view names = all;
    for (std::string_view* one : {&key, &link, &unit}) {
        const std::size_t end = std::min(names.find('|'), names.size());
        if (names.substr(0, end) != "-") *one = names.substr(0, end);
        names.remove_prefix(std::min(end + 1, names.size()));
    }
}

constexpr std::int64_t kUsualExample = 8;

void FieldReader::integer(const Field& field, std::int64_t& value, Range range, bool allow_auto) {
    const Json* given = any(field.key);
    if (given == nullptr) return;
    if (allow_auto && *given == "auto") {
        value = kAuto;
        return;
    }
    const std::size_t before = problems_.size();
    const auto usual = static_cast<double>(std::clamp<std::int64_t>(value == kAuto ? kUsualExample : value, range.min, range.max));
    if (const auto number = read_integer(*given, field.key, label(field), range, problems_)) value = *number;
    show_example(field, before, usual);
}

void FieldReader::number(const Field& field, double& value, Bounds bounds, bool allow_auto) {
    const Json* given = any(field.key);
    if (given == nullptr) return;
    if (allow_auto && *given == "auto") {
        value = kAutoNumber;
        return;
    }
    const Json min = bounds.min, max = bounds.max;
    const std::size_t before = problems_.size();
    const double usual = value;
    if (const auto number = read_within(*given, field.key, label(field), min, max, false, problems_)) value = *number;
    show_example(field, before, usual);
}

void FieldReader::show_example(const Field& field, std::size_t problems_before, double usual) {
    if (problems_.size() == problems_before) return;
    const auto* text = problems_.back().value.get_ptr<const Json::string_t*>();
    if (text == nullptr || (!text->empty() && text->find_first_not_of("0123456789.") == std::string::npos)) return;  // quoted digits
    const double example = field.reading != nullptr && field.reading->example > 0 ? field.reading->example : usual;
    problems_.back().suggestion = Text("suggestion.such_as").with("example", example);
}

static Problem unknown_choice(const Field& field, const Json& given, std::span<const Choice> choices) {
    std::vector<std::string_view> ids;
    for (const Choice& choice : choices) ids.push_back(choice.id);
    const auto* id = given.get_ptr<const Json::string_t*>();
    const std::string_view near = id == nullptr ? "" : closest(lower_case(*id), ids);
    return {std::string(field.key), id == nullptr ? "type" : "range",
            shown(given),           Text("problem.unknown_choice").with("name", label(field)).with("choices", Json(ids)),
            did_you_mean(near),     near.empty() ? Json() : Json(near)};
}

void FieldReader::set(const Field& field, std::uint32_t& value, std::span<const Choice> choices) {
    const std::string* given = text(field.key);
    if (given == nullptr) return;
    const auto bit_of = [&](std::string_view id) {
        const auto known = std::find_if(choices.begin(), choices.end(), [&](const Choice& one) { return one.id == id; });
        return known == choices.end() ? 0U : 1U << static_cast<unsigned>(known - choices.begin());
    };
    value = 0;
    std::uint32_t meant = 0;  // by the parts that are wrong
    std::vector<Problem> wrong;
    std::size_t count = 0;
    for (std::size_t from = 0; from < given->size();) {
        const std::size_t to = std::min(given->find(',', from), given->size());
        const std::string_view id = std::string_view(*given).substr(from, to - from);
        from = to + 1;
        const std::uint32_t bit = bit_of(id);
        value |= bit;
        if (bit != 0 || ++count > FirstProblems::kMost) continue;
        wrong.push_back(unknown_choice(field, Json(id), choices));
        if (const auto* near = wrong.back().nearest.get_ptr<const Json::string_t*>()) meant |= bit_of(*near);
    }
    // The nearest to all of it: every part that is known, and what the others most likely meant.
    FirstProblems unknown(field.key);
    for (Problem& problem : wrong) {
        if ((value | meant) != 0) problem.nearest = set_text(value | meant, choices);
        unknown.keep(std::move(problem));
    }
    for (std::size_t more = wrong.size(); more < count; ++more) unknown.count();
    unknown.move_to(problems_);
}

void FieldReader::boolean(const Field& field, bool& value) {
    const Json* given = any(field.key);
    if (given == nullptr) return;
    if (const auto flag = read_boolean(*given, field.key, label(field), problems_)) value = *flag;
}

bool FieldReader::is_auto(const Field& field, std::uint32_t& open, std::uint32_t bit) {
    const Json* given = any(field.key);
    if (given == nullptr) return (open & bit) != 0;
    open = *given == "auto" ? open | bit : open & ~bit;
    return (open & bit) != 0;
}

void FieldReader::choice_index(const Field& field, int& index, std::span<const Choice> choices) {
    const Json* given = any(field.key);
    if (given == nullptr) return;
    const auto* id = given->get_ptr<const Json::string_t*>();
    for (std::size_t i = 0; id != nullptr && i < choices.size(); ++i) {
        if (choices[i].id != *id) continue;
        index = static_cast<int>(i);
        return;
    }
    problems_.push_back(unknown_choice(field, *given, choices));
}

void FieldReader::reject_unknown() {
    FirstProblems unknown("");
    reject_unknown(unknown);
    unknown.move_to(problems_);
}

void FieldReader::reject_unknown(FirstProblems& unknown) {
    for (const auto& [key, value] : object_.items()) {
        if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
        if (!unknown.keeps_more()) {
            unknown.count();
            continue;
        }
        const std::string_view near = closest(key, known_);
        unknown.add(shortened(key, 80), "unknown", shown(value), Text("problem.unknown_field").with("key", shortened(key, 80)),
                    near.empty() ? Text("suggestion.leave_out") : did_you_mean(near), near.empty() ? Json() : Json(near));
    }
}

Json& FieldDescriber::begin(const Field& field, std::string_view type) {
    fields.push_back(Object().add("key", field.key).add("link", field.link).add("type", type).add("unit", field.unit));
    if (field.reading == nullptr) return fields.back();
    const Reading& reading = *field.reading;
    if (reading.thousand != Reading().thousand) fields.back()["thousand"] = reading.thousand;
    if (!reading.also.empty()) {
        Object also;
        also.add("unit", reading.also);
        fields.back()["also"] = reading.per.empty() ? also.add("times", reading.times) : also.add("per", reading.per);
    }
    return fields.back();
}

void FieldDescriber::integer(const Field& field, std::int64_t initial, Range range, bool allow_auto) {
    Json& entry = begin(field, "integer");
    entry["default"] = allow_auto && initial == kAuto ? Json("auto") : Json(initial);
    entry["min"] = range.min;
    entry["max"] = range.max;
    entry["auto"] = allow_auto;
}

void FieldDescriber::number(const Field& field, double initial, Bounds bounds, bool allow_auto) {
    Json& entry = begin(field, "number");
    entry["default"] = allow_auto && initial == kAutoNumber ? Json("auto") : Json(initial);
    if (allow_auto) entry["auto"] = true;
    entry["min"] = bounds.min;
    entry["max"] = bounds.max;
}

void FieldDescriber::boolean(const Field& field, bool initial) { begin(field, "boolean")["default"] = initial; }

void FieldDescriber::text(const Field& field, const std::string& initial, std::span<const Choice> choices) {
    Json& entry = begin(field, "text");
    entry["default"] = initial;
    entry["auto"] = true;
    list(entry, choices);
}

void FieldDescriber::allow_auto(std::uint32_t open, std::uint32_t bit) {
    Json& entry = fields.back();
    entry["auto"] = true;
    if ((open & bit) != 0) entry["default"] = "auto";
}

void FieldDescriber::list(Json& entry, std::span<const Choice> choices) {
    entry["choices"] = Json::array();
    for (const Choice& choice : choices) entry["choices"].push_back(Object().add("id", choice.id));
}

void FieldDescriber::choice_index(const Field& field, int initial, std::span<const Choice> choices) {
    Json& entry = begin(field, "choice");
    entry["default"] = choices[static_cast<std::size_t>(initial)].id;
    list(entry, choices);
}

void FieldDescriber::set(const Field& field, std::uint32_t initial, std::span<const Choice> choices) {
    Json& entry = begin(field, "set");
    entry["default"] = set_text(initial, choices);
    list(entry, choices);
}

}  // namespace fourfold
