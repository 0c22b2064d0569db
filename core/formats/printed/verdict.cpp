// What a run printed against what was counted for its plan.
#include <algorithm>
#include <cmath>

#include "base/sorted.h"
#include "formats/printed/answer.h"

namespace fourfold {

namespace {

// Chosen. Cards are sold in steps of a fifth and more; a driver keeps up to two percent of one.
constexpr double kOtherCard = 0.1;  // of the card
constexpr double kOthers = 0.05;    // of the card: other programs, and no driver
constexpr double kPieces = 0.02;    // of the card, reserved and free: in pieces
constexpr double kSameSize = 0.02;  // of an item
constexpr double kMuchMore = 1.3;   // of what is counted: more than an estimate is off
constexpr std::size_t kPartsNamed = 3;

bool is_other(double capacity, const Counted& counted) { return std::abs(capacity - counted.card_bytes) > kOtherCard * counted.card_bytes; }
Text other_card(double capacity, const Counted& counted) {
    return Text("read_run.verdict.other_card").with("printed", capacity).with("card", counted.card_bytes);
}

class Judge {
 public:
    Judge(const OutOfMemory& death, const Counted* counted) : death_(death), counted_(counted) {}

    RunVerdict judged() {
        say_where();
        if (counted_ == nullptr) {
            verdict_.cause = own_cause();
            return std::move(verdict_);
        }
        capacity_ = death_.capacity > 0 ? death_.capacity : counted_->card_bytes;
        if (is_other(capacity_, *counted_)) {
            cause("other_card", other_card(capacity_, *counted_));
            return std::move(verdict_);
        }
        say(Text("read_run.verdict.counted").with("counted", counted_->total_bytes).with("whole", counted_->whole_bytes));
        say_why();
        say_parts();
        return std::move(verdict_);
    }

 private:
    void say(Text text) { verdict_.texts.push_back(std::move(text)); }
    void cause(const char* cause, Text text) {
        verdict_.cause = cause;
        say(std::move(text));
    }

    void say_where() {
        if (death_.tried < 0 || death_.allocated < 0) {
            say("read_run.verdict.no_numbers");
            return;
        }
        Text text(death_.rank < 0 ? "read_run.verdict.died" : "read_run.verdict.died_rank");
        if (death_.rank >= 0) text.with("rank", death_.rank);
        say(text.with("allocated", death_.allocated).with("tried", death_.tried));
    }

    // Memory of the card that other programs hold; below 0: not said.
    double others() const {
        if (death_.capacity < 0 || death_.free < 0) return -1;
        if (death_.process >= 0) return death_.capacity - death_.free - death_.process;
        if (death_.reserved < 0) return -1;
        const double beside = counted_ != nullptr ? counted_->whole_bytes - counted_->reserved_bytes : 0;
        return counted_ == nullptr ? -1 : death_.capacity - death_.free - death_.reserved - beside;
    }
    bool held_by_others() const { return death_.capacity > 0 && others() > kOthers * death_.capacity; }
    // What is reserved and free would have held what was asked for.
    bool in_pieces() const {
        return death_.capacity > 0 && death_.tried >= 0 && death_.unallocated >= death_.tried &&
               death_.unallocated > kPieces * death_.capacity;
    }
    const char* own_cause() {
        if (held_by_others()) {
            cause("others", Text("read_run.verdict.others").with("bytes", others()));
        } else if (in_pieces()) {
            cause("fragmented", Text("read_run.verdict.fragmented").with("bytes", death_.unallocated));
        }
        return verdict_.cause;
    }

    void say_why() {
        const double over = counted_->whole_bytes - capacity_;
        if (over > 0) {
            cause("too_large", Text("read_run.verdict.too_large").with("capacity", capacity_).with("over", over));
            if (held_by_others()) say(Text("read_run.verdict.others").with("bytes", others()));
            return;
        }
        const double held = death_.allocated;
        const bool is_another = held > kMuchMore * counted_->total_bytes;
        if (own_cause() != nullptr) {
            if (is_another) say(more_than_counted("another_run", held + std::max(0.0, death_.tried)));
            return;
        }
        if (death_.allocated < 0 || death_.tried < 0) return cause("unknown", Text("read_run.verdict.fits"));
        const double needed = death_.allocated + death_.tried;
        if (needed > counted_->total_bytes)
            cause("counted_less", more_than_counted(is_another ? "another_run" : "counted_less", needed));
        else
            cause("unknown", Text("read_run.verdict.earlier").with("needed", needed));
    }

    // needed: at least
    Text more_than_counted(std::string_view verdict, double needed) const {
        return Text("read_run.verdict", verdict).with("needed", needed).with("share", needed / std::max(1.0, counted_->total_bytes) - 1);
    }

    void say_parts() {
        const std::vector<Counted::Part> items = sorted(counted_->items, [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
        Json parts = Json::array();
        for (const Counted::Part& part : items) {
            if (parts.size() == kPartsNamed || part.bytes <= 0) break;
            parts.push_back(Text("read_run.part").with("item", Text("item", part.id)).with("bytes", part.bytes).json());
        }
        if (!parts.empty()) say(Text("read_run.verdict.parts").with("stage", counted_->stage + 1).with("parts", std::move(parts)));
        say_what_was_tried(items);
        const bool is_whole_help = verdict_.cause == std::string_view("fragmented");  // the plan need not change
        if (!counted_->change.is_null() && !is_whole_help)
            say(Text("read_run.verdict.change").with("change", counted_->change).with("saved", counted_->saved_bytes));
    }

    // Only where one item alone has that size.
    void say_what_was_tried(const std::vector<Counted::Part>& items) {
        const Counted::Part* found = nullptr;
        for (const Counted::Part& part : items) {
            if (death_.tried <= 0 || std::abs(part.bytes - death_.tried) > kSameSize * part.bytes) continue;
            if (found != nullptr) return;
            found = &part;
        }
        if (found != nullptr)
            say(Text("read_run.verdict.tried_is")
                    .with("tried", death_.tried)
                    .with("item", Text("item", found->id))
                    .with("bytes", found->bytes));
    }

    const OutOfMemory& death_;
    const Counted* counted_;
    double capacity_ = 0;
    RunVerdict verdict_;
};

// Of a run that went on: what it held and how long it took beside the estimate.
void compare_memory(const PrintedRun& run, const Counted& counted, std::vector<Text>& texts) {
    const PrintedNumber* allocated = run.highest(Quantity::max_allocated);
    const PrintedNumber* reserved = run.highest(Quantity::max_reserved);
    const PrintedNumber* measured = allocated != nullptr ? allocated : reserved;
    if (measured == nullptr || measured->value <= 0) return;
    const double estimate = allocated != nullptr ? counted.total_bytes : counted.reserved_bytes;
    Text text(allocated != nullptr ? "read_run.verdict.allocated" : "read_run.verdict.reserved");
    texts.push_back(text.with("measured", measured->value)
                        .with("counted", estimate)
                        .with("share", std::abs(measured->value - estimate) / measured->value));
}

// Of nvidia-smi alone: what is in use on the fullest card, and what is counted for it.
void tell_used(const PrintedRun& run, const Counted* counted, std::vector<Text>& texts) {
    const PrintedNumber* used = run.highest(Quantity::used);
    const PrintedNumber* capacity = run.highest(Quantity::capacity);
    if (used == nullptr || capacity == nullptr || run.highest(Quantity::max_allocated) != nullptr ||
        run.highest(Quantity::max_reserved) != nullptr)
        return;
    texts.push_back(Text("read_run.verdict.used").with("used", used->value).with("capacity", capacity->value));
    if (counted == nullptr || used->value <= 0) return;
    if (is_other(capacity->value, *counted))
        texts.push_back(other_card(capacity->value, *counted));
    else
        texts.push_back(Text("read_run.verdict.used_counted")
                            .with("counted", counted->whole_bytes)
                            .with("share", std::abs(used->value - counted->whole_bytes) / used->value));
}

void compare_time(const Steps& steps, const Counted& counted, std::vector<Text>& texts) {
    if (steps.global_batch > 0 && steps.global_batch != static_cast<double>(counted.global_batch)) {
        texts.push_back(Text("read_run.verdict.other_batch").with("printed", steps.global_batch).with("batch", counted.global_batch));
        return;
    }
    const double seconds = steps.seconds(&counted);
    if (seconds <= 0 || !std::isfinite(seconds)) return;
    texts.push_back(Text("read_run.verdict.time")
                        .with("measured", seconds)
                        .with("count", steps.series.front().count)
                        .with("estimated", counted.step_seconds)
                        .with("low", counted.low_seconds)
                        .with("high", counted.high_seconds));
    if (seconds < counted.low_seconds || seconds > counted.high_seconds)
        texts.push_back(Text("read_run.verdict.outside").with("faster", Json(seconds < counted.low_seconds)));
}

}  // namespace

const OutOfMemory* fullest_death(const PrintedRun& run) {
    const auto most = std::max_element(run.deaths.begin(), run.deaths.end(),
                                       [](const OutOfMemory& a, const OutOfMemory& b) { return a.allocated < b.allocated; });
    return most == run.deaths.end() ? nullptr : &*most;
}

RunVerdict verdict_of(const PrintedRun& run, const Steps& steps, const Counted* counted) {
    RunVerdict verdict;
    const OutOfMemory* death = fullest_death(run);
    if (death != nullptr)
        verdict = Judge(*death, counted).judged();
    else
        tell_used(run, counted, verdict.texts);
    if (counted == nullptr) return verdict;
    if (death == nullptr) compare_memory(run, *counted, verdict.texts);
    compare_time(steps, *counted, verdict.texts);
    return verdict;
}

}  // namespace fourfold
