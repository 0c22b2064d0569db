#include "formats/printed/answer.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"

namespace fourfold {

namespace {

Problem wrong(const char* field, const char* rule, const char* message) { return {field, rule, nullptr, message, {}, nullptr}; }

// ---- what was counted
bool is_number(const Json& value, double most = 1e18) {
    return value.is_number() && value.get<double>() >= 0 && value.get<double>() <= most;
}
bool is_whole(const Json& value, std::int64_t least) {
    return value.is_number_integer() && value.get<double>() <= 1e12 && value.get<double>() >= static_cast<double>(least);
}

bool read_parts(const Json& given, std::vector<Counted::Part>& parts) {
    constexpr std::size_t kMostParts = 100, kLongestId = 100;
    if (!given.is_array() || given.size() > kMostParts) return false;
    for (const Json& one : given) {
        if (!one.is_object() || one.size() != 2 || !one.contains("id") || !one.contains("bytes")) return false;
        const auto* id = one["id"].get_ptr<const Json::string_t*>();
        if (id == nullptr || id->empty() || id->size() > kLongestId || !is_number(one["bytes"])) return false;
        parts.push_back({*id, one["bytes"].get<double>()});
    }
    return true;
}

// A text of the core: its id, and numbers, names, truths or texts in it.
bool is_text(const Json& given, int depth = 0) {
    constexpr int kDeepest = 3;
    if (!given.is_object() || !given.contains("id") || !given["id"].is_string() || given["id"].get_ref<const std::string&>().empty())
        return false;
    if (given.size() == 1) return true;
    if (given.size() != 2 || !given.contains("args") || !given["args"].is_object()) return false;
    const Json& args = given["args"];
    return std::all_of(args.begin(), args.end(),
                       [depth](const Json& arg) { return arg.is_primitive() || (depth < kDeepest && is_text(arg, depth + 1)); });
}

bool read_change(const Json& given, Counted& counted) {
    if (given.is_null()) return true;
    if (!given.is_object() || given.size() != 2 || !given.contains("label") || !given.contains("saved_bytes")) return false;
    if (!is_text(given["label"]) || !given["saved_bytes"].is_number()) return false;
    counted.change = given["label"];
    counted.saved_bytes = given["saved_bytes"].get<double>();
    return true;
}

}  // namespace

std::optional<Counted> read_counted(const Json& given, Problems& problems) {
    Counted counted;
    struct Number {
        const char* key;
        double* value;
    };
    const Number numbers[] = {
        {"card_bytes", &counted.card_bytes},     {"total_bytes", &counted.total_bytes},   {"reserved_bytes", &counted.reserved_bytes},
        {"whole_bytes", &counted.whole_bytes},   {"step_seconds", &counted.step_seconds}, {"low_seconds", &counted.low_seconds},
        {"high_seconds", &counted.high_seconds},
    };
    struct Whole {
        const char* key;
        std::int64_t* value;
        std::int64_t least;
    };
    const Whole wholes[] = {{"gpus", &counted.gpus, 1},
                            {"sequence_length", &counted.sequence_length, 1},
                            {"global_batch", &counted.global_batch, 1},
                            {"stage", &counted.stage, 0}};
    bool fine = given.is_object() && given.size() == std::size(numbers) + std::size(wholes) + 2;
    for (const Number& one : numbers) {
        fine = fine && given.contains(one.key) && is_number(given[one.key]);
        if (fine) *one.value = given[one.key].get<double>();
    }
    for (const Whole& one : wholes) {
        fine = fine && given.contains(one.key) && is_whole(given[one.key], one.least);
        if (fine) *one.value = given[one.key].get<std::int64_t>();
    }
    fine = fine && given.contains("items") && read_parts(given["items"], counted.items);
    fine = fine && given.contains("change") && read_change(given["change"], counted);
    if (fine) return counted;
    problems.push_back(wrong("counted", "type", "problem.read_run_counted"));
    return std::nullopt;
}

namespace {

// ---- the answer
Json describe(const PrintedNumber& number) {
    const QuantityText& quantity = text(number.quantity);
    return Object()
        .add("quantity", quantity.id)
        .add("value", number.value)
        .add("unit", quantity.unit)
        .add("written", number.written)
        .add("line", number.line)
        .add("rank", number.rank < 0 ? Json() : Json(number.rank))
        .add("printer", id_of(number.printer));
}

Json describe(const Series& series) {
    const QuantityText& quantity = text(series.quantity);
    return Object()
        .add("quantity", quantity.id)
        .add("unit", quantity.unit)
        .add("printer", id_of(series.printer))
        .add("median", significant(series.median, 12))
        .add("lowest", significant(series.lowest, 12))
        .add("highest", significant(series.highest, 12))
        .add("count", series.count)
        .add("left_out", series.left_out)
        .add("first_line", series.first_line)
        .add("last_line", series.last_line);
}

// As calibrate() takes it in runs_text. The batch of the steps counts more than that of the arguments: it may grow.
std::string table_of(const PrintedRun& run, const Json& measured) {
    if (measured.empty()) return "";
    std::string head, row;
    const auto add = [&](const std::string& key, const Json& value) {
        const auto* text = value.get_ptr<const Json::string_t*>();
        const char* const comma = head.empty() ? "" : ",";
        head += comma + key;
        row += comma + (text != nullptr ? *text : value.is_null() ? "" : number_text(value.get<double>(), 12));
    };
    Json rest = measured;
    for (const auto& [key, value] : planned_run(run)) {
        const bool again = rest.contains(key);
        add(key, again ? rest[key] : value);
        if (again) rest.erase(key);
    }
    for (auto entry = rest.begin(); entry != rest.end(); ++entry) add(entry.key(), *entry);
    return head + "\n" + row + "\n";
}

// Two sizes of cards in one text.
void note_cards(const PrintedRun& run, std::vector<Text>& notes) {
    constexpr double kSame = 0.01;
    const PrintedNumber* least = nullptr;
    const PrintedNumber* most = run.highest(Quantity::capacity);
    for (const PrintedNumber& one : run.numbers)
        if (one.quantity == Quantity::capacity && (least == nullptr || one.value < least->value)) least = &one;
    if (most != nullptr && least->value < (1 - kSame) * most->value)
        notes.push_back(Text("read_run.note.capacities")
                            .with("least", least->value)
                            .with("least_line", least->line)
                            .with("most", most->value)
                            .with("most_line", most->line));
    if (run.cards.size() > 1) notes.push_back(Text("read_run.note.cards").with("names", Json(run.cards)));
}

std::vector<Text> notes_of(const PrintedRun& run, const Steps& steps, const Json& measured) {
    std::vector<Text> notes = steps.notes;
    note_cards(run, notes);
    if (const PrintedNumber* const states = run.highest(Quantity::theoretical); states != nullptr && states->printer == Printer::deepspeed)
        notes.emplace_back("read_run.note.states");
    if (run.death_count > 1) notes.push_back(Text("read_run.note.deaths").with("count", run.death_count));
    if (!steps.series.empty() && measured.empty()) notes.emplace_back("read_run.note.samples");
    return notes;
}

Json to_list(const std::vector<Text>& texts) {
    Json list = Json::array();
    for (const Text& one : texts) list.push_back(one.json());
    return list;
}

}  // namespace

Json printed_answer(const Json& request, Problems& problems) {
    FieldReader reader(request, problems);
    const Json* given = reader.any("text");
    const Json* plan = reader.any("counted");
    reader.reject_unknown();
    const auto* printed = given == nullptr ? nullptr : given->get_ptr<const Json::string_t*>();
    if (printed == nullptr) problems.push_back(wrong("text", "type", "problem.import_text"));
    std::optional<Counted> counted;
    if (plan != nullptr && !plan->is_null()) counted = read_counted(*plan, problems);
    if (!problems.empty()) return nullptr;
    const PrintedRun run = read_printed(*printed);
    const char* const end = run.death_count > 0 ? "memory" : end_of(*printed);
    if (run.printers == 0 && end != nullptr) {
        const std::string_view id = end;
        problems.push_back({"text", "ended", nullptr, Text("problem.read_run", id), Text("suggestion.read_run", id), nullptr});
        return nullptr;
    }
    if (run.printers == 0) {
        problems.push_back({"text", "format", nullptr, "problem.read_run_format", "suggestion.read_run_format", nullptr});
        return nullptr;
    }
    const Counted* against = counted ? &*counted : nullptr;
    const Steps steps = steps_of(run);
    const Json measured = measured_run(run, steps, against);
    const PrintedCards shown = cards_of(run);
    RunVerdict verdict = verdict_of(run, steps, against);
    if (end != nullptr && run.death_count == 0)
        verdict.texts.insert(verdict.texts.begin(),
                             {Text("problem.read_run", std::string_view(end)), Text("suggestion.read_run", std::string_view(end))});
    Json printers = Json::array(), numbers = Json::array(), series = Json::array(), cards = run.cards;
    for (std::size_t i = 0; i < static_cast<std::size_t>(Printer::count); ++i)
        if ((run.printers >> i & 1U) != 0) printers.push_back(id_of(static_cast<Printer>(i)));
    for (const PrintedNumber& one : run.numbers) numbers.push_back(describe(one));
    for (const Series& one : steps.series) series.push_back(describe(one));
    return Object()
        .add("ok", true)
        .add("printers", std::move(printers))
        .add("lines", run.lines)
        .add("ran_out", static_cast<std::int64_t>(run.death_count))
        .add("ended", end == nullptr ? Json() : Json(end))
        .add("numbers", std::move(numbers))
        .add("series", std::move(series))
        .add("cards", std::move(cards))
        .add("gpu", shown.gpu == nullptr ? Json() : Json(shown.gpu->id))
        .add("gpus", shown.count == 0 ? Json() : Json(shown.count))
        .add("runs_text", table_of(run, measured))
        .add("cause", verdict.cause == nullptr ? Json() : Json(verdict.cause))
        .add("verdict", to_list(verdict.texts))
        .add("notes", to_list(notes_of(run, steps, measured)));
}

}  // namespace fourfold
