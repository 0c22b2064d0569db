// A placement to begin with, and what place() tells while it runs: what the page needs to keep the best of a search that it stops.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "api.h"
#include "base/fields.h"

using namespace fourfold;

namespace {

// Six nodes in two islands that the order of the measurement mixes.
Json request() {
    Json rows = Json::array(), names = Json::array();
    for (int i = 0; i < 6; ++i) {
        names.push_back("n" + std::to_string(i));
        Json row = Json::array();
        for (int j = 0; j < 6; ++j) row.push_back(i == j ? 0 : i % 2 == j % 2 ? 40 : 4);
        rows.push_back(row);
    }
    return {{"links", {{"nodes", names}, {"gbyte_per_s", rows}}},
            {"pipette", {{"pipelines", 2}, {"stages", 3}, {"inter_dp", 2}, {"inner_dp", 1}, {"pp_msg_gbyte", 1}, {"dp_msg_gbyte", 0.1}}},
            {"moves", 40'000}};
}

Json ask(const Json& request) { return Json::parse(api::place(request.dump()), nullptr, false); }

struct Told {
    std::vector<Json> progress;
};
bool listen(void* context, const std::string& text) {
    auto& told = *static_cast<Told*>(context);
    told.progress.push_back(Json::parse(text, nullptr, false));
    return false;  // the first word ends it
}

}  // namespace

TEST_CASE("place: without moves the answer is the placement to begin with") {
    const Json found = ask(request());
    REQUIRE(found["ok"] == true);
    CHECK(found["best_seconds"].get<double>() < found["default_seconds"].get<double>());
    Json again = request();
    again["moves"] = 0, again["start"] = found["placement"];
    const Json answer = ask(again);
    REQUIRE(answer["ok"] == true);
    CHECK(answer["best_seconds"] == found["best_seconds"]);
    CHECK(answer["placement"] == found["placement"]);
}

TEST_CASE("place: a search that is stopped has told its best placement, which costs what it said") {
    Told told;
    const Json answer = Json::parse(api::place(request().dump(), &listen, &told), nullptr, false);
    REQUIRE(answer["ok"] == true);
    CHECK(answer["stopped"] == true);
    REQUIRE(told.progress.size() == 1);
    const Json& progress = told.progress.front();
    REQUIRE(progress["placement"].is_array());
    CHECK(progress["index"] == 0);
    CHECK(progress["placement"].size() == 6);
    Json again = request();
    again["moves"] = 0, again["start"] = progress["placement"];
    CHECK(ask(again)["best_seconds"].get<double>() <= progress["best_seconds"].get<double>());
}

TEST_CASE("place: what is no placement to begin with is refused") {
    for (const char* start : {"[]", "[0,1,2,3,4]", "[0,1,2,3,4,4]", "[0,1,2,3,4,6]", "[0,1,2,3,4,-1]", "[0,1,2,3,4,5.5]", "7", "null"}) {
        Json wrong = request();
        wrong["start"] = Json::parse(start, nullptr, false);
        const Json answer = ask(wrong);
        CAPTURE(start);
        REQUIRE(answer["ok"] == false);
        CHECK(answer["problems"][0]["field"] == "start");
    }
}

TEST_CASE("place: restarts are as many as the moves allow, so that none goes by without a question") {
    Json many = request();
    many["restarts"] = 10'000;
    for (const auto& [moves, restarts] : {std::pair{40'000, 78}, {1'024, 2}, {1'023, 1}, {1, 1}}) {
        many["moves"] = moves;
        CHECK(ask(many)["restarts"] == restarts);
    }
}
