#include "ranking.h"

#include <doctest/doctest.h>

#include "answer_schema.h"
#include "api.h"
#include "catalog.h"
#include "search.h"
#include "support.h"

using namespace fourfold;

namespace {

constexpr const char* kEverything = "virtual_stages,schedule,recompute,zero,sequence_parallel,expert_parallel,stage_layers";

Json rank(Json request, std::int64_t part = 0, std::int64_t parts = 1) {
    request["part"] = part;
    request["parts"] = parts;
    return Json::parse(api::rank(request.dump()), nullptr, false);
}
Json merged(const Json& request, std::int64_t parts) {
    Json list = Json::array();
    for (std::int64_t part = 0; part < parts; ++part) list.push_back(rank(request, part, parts));
    return Json::parse(api::merge_rankings(list.dump()), nullptr, false);
}
std::size_t rows(const Json& answer) { return answer["plans"].empty() ? 0 : answer["plans"]["order"].size(); }

const Json kRequests[] = {
    {{"model", "llama-3.1-8b"}, {"gpus", 16}},
    {{"model", "llama-3.1-70b"},
     {"gpus", 64},
     {"global_batch", 256},
     {"explore", "virtual_stages,schedule,recompute,zero,sequence_parallel"}},
    {{"model", "mixtral-8x7b"}, {"gpus", 32}, {"global_batch", 64}, {"explore", "expert_parallel,recompute"}},
    {{"model", "llama-3.1-405b"}, {"gpus", 1024}, {"global_batch", 128}, {"explore", kEverything}, {"risk", 0.5}},
    {{"model", "llama-3.1-8b"}, {"gpus", 8}, {"method", "fujii2024"}},
    {{"model", "llama-3.1-405b"}, {"gpus", 8}},
};

}  // namespace

TEST_CASE("a ranking does not depend on how many parts it is cut into, nor on their order") {
    for (const Json& request : kRequests) {
        const Json whole = rank(request);
        CHECK(whole["ok"] == true);
        CHECK(tests::differs(whole, tests::shape("rank"), "rank").empty());
        for (const std::int64_t parts : {2, 8, 40}) CHECK(merged(request, parts) == whole);
        Json backwards = Json::array();
        for (std::int64_t part = 4; part >= 0; --part) backwards.push_back(rank(request, part, 5));
        CHECK(Json::parse(api::merge_rankings(backwards.dump())) == whole);
        const Json pair = {rank(request, 0, 3), rank(request, 2, 3)};  // one after the other, as they come in
        const Json two = {Json::parse(api::merge_rankings(pair.dump())), rank(request, 1, 3)};
        CHECK(Json::parse(api::merge_rankings(two.dump())) == whole);
    }
}

TEST_CASE("a ranking counts every candidate once") {
    for (const Json& request : kRequests) {
        const Json answer = rank(request);
        std::int64_t rejected = 0;
        for (const Json& rule : answer["rejected"]) rejected += rule["count"].get<std::int64_t>();
        CHECK(rejected + answer["legal"].get<std::int64_t>() == answer["candidates"]);
        CHECK(answer["ranked"].get<std::int64_t>() + answer["does_not_fit"].get<std::int64_t>() == answer["legal"]);
        CHECK(answer["filtered"] == 0);
        CHECK(answer["excluding"].empty());
        CHECK(rows(answer) <= static_cast<std::size_t>(answer["ranked"].get<std::int64_t>()));
        CHECK((rows(answer) > 0 || !answer["closest"].is_null()));
    }
}

TEST_CASE("ranked plans are legal, in order of time, within the risk, and what estimate() says of them") {
    for (const Json& request : kRequests) {
        const Json answer = rank(request);
        const Json& plans = answer["plans"];
        const double risk = request.value("risk", 0.05);
        double before = 0;
        for (std::size_t i = 0; i < rows(answer); ++i) {
            CHECK(plans["step_seconds"][i].get<double>() >= before);
            before = plans["step_seconds"][i];
            if (!plans["probability"][i].is_null()) CHECK(plans["probability"][i].get<double>() >= 1 - risk);
            if (i % 23 != 0) continue;
            Json job = request;
            for (const char* key : {"explore", "risk"}) job.erase(key);
            for (const auto& [key, column] : plans.items())
                if (key != "order" && key != "total_bytes" && key != "share" && key != "class" && key != "probability" &&
                    key != "step_seconds" && key != "tokens_per_s" && key != "data_parallel")
                    job[key] = column[i];
            const Json estimate = Json::parse(api::estimate(job.dump()), nullptr, false);
            CHECK_MESSAGE(estimate["ok"] == true, estimate.dump());
            for (const char* key : {"total_bytes", "share", "class", "probability", "step_seconds"})
                CHECK_MESSAGE(estimate[key] == plans[key][i], key << " of " << job.dump());
        }
    }
}

TEST_CASE("the front of a ranking: fastest first, every further one needs less, and no plan beats it in both") {
    for (const Json& request : kRequests) {
        const Json answer = rank(request);
        const Json& plans = answer["plans"];
        double least = INFINITY;
        for (const Json& index : answer["front"]) {
            const auto i = index.get<std::size_t>();
            CHECK(plans["total_bytes"][i].get<double>() < least);
            least = plans["total_bytes"][i];
            for (std::size_t k = 0; k < rows(answer); ++k)
                CHECK_FALSE((plans["step_seconds"][k] < plans["step_seconds"][i] && plans["total_bytes"][k] <= plans["total_bytes"][i]));
        }
    }
}

TEST_CASE("without anything else to vary, the first of the ranking is what auto chooses") {
    for (const char* model : {"llama-3.1-8b", "llama-3.1-70b", "mistral-7b"})
        for (const std::int64_t gpus : {8, 32, 128}) {
            const Json job = {{"model", model}, {"gpus", gpus}, {"explore", ""}};
            const Json answer = rank(job), estimate = Json::parse(api::estimate(job.dump()));
            if (rows(answer) == 0) continue;
            CHECK(answer["plans"]["step_seconds"][0] == estimate["step_seconds"]);
        }
}

TEST_CASE("trying more never makes the best slower, and accepting more risk neither") {
    for (const Json& request : kRequests) {
        Json narrow = request;
        narrow["explore"] = "";
        const Json few = rank(narrow);
        Json wide = request;
        wide["explore"] = kEverything;
        wide["risk"] = 0.5;
        const Json many = rank(wide);
        CHECK(many["candidates"] >= few["candidates"]);
        if (rows(few) > 0) CHECK(many["plans"]["step_seconds"][0] <= few["plans"]["step_seconds"][0]);
    }
}

TEST_CASE("the order in which a request names its fields and what it explores changes nothing") {
    const std::string answer = api::rank(R"({"model": "llama-3.1-8b", "gpus": 16, "explore": "recompute,virtual_stages,schedule"})");
    CHECK(api::rank(R"({"explore": "schedule,virtual_stages,recompute", "gpus": 16, "model": "llama-3.1-8b"})") == answer);
    const std::string columns = api::search(R"({"gpus": 16, "gpu_counts": [8, 16, 32]})").summary;
    CHECK(api::search(R"({"gpu_counts": [32, 16, 8, 16], "gpus": 16})").summary == columns);
}

TEST_CASE("recomputing a block: as few layers as fit") {
    const Json request = {{"model", "llama-3.1-70b"}, {"gpus", 32}, {"explore", "recompute"}};
    const Json answer = rank(request);
    int checked = 0;
    for (std::size_t i = 0; i < rows(answer); ++i) {
        const std::int64_t layers = answer["plans"]["recompute_layers"][i];
        if (answer["plans"]["recompute"][i] != "block" || layers < 2) continue;
        Json job = {{"model", "llama-3.1-70b"}, {"gpus", 32}, {"recompute", "block"}, {"recompute_layers", layers - 1}};
        for (const char* key : {"tensor_parallel", "context_parallel", "pipeline_parallel", "micro_batch"})
            job[key] = answer["plans"][key][i];
        CHECK(Json::parse(api::estimate(job.dump()))["class"] != "fits");
        ++checked;
    }
    CHECK(checked > 3);
}

TEST_CASE("Llama 3 405B on 16,384 GPUs: with embedding and loss as layers, 126 of them fill 16 stages") {
    const Json answer = rank({{"model", "llama-3.1-405b"}, {"gpus", 16'384}, {"global_batch", 2'048}});
    CHECK(answer["plans"]["pipeline_parallel"][0] == 16);
    CHECK(answer["plans"]["tensor_parallel"][0] == 8);  // as its authors trained it (arXiv 2407.21783, table 4)
    CHECK(answer["plans"]["count_loss_as_layer"][0] == true);
    CHECK(rank({{"model", "llama-3.1-405b"}, {"gpus", 16'384}, {"global_batch", 2'048}, {"explore", ""}})["ranked"] == 0);
}

// ---- "only": filters
TEST_CASE("a filter leaves plans out and opens no others: what passes is what stood in the whole list") {
    Json request = {{"model", "llama-3.1-8b"}, {"gpus", 8}, {"global_batch", 64}, {"explore", "schedule,recompute,zero,sequence_parallel"}};
    request["tensor_parallel"] = 2;  // few enough to be listed one and all
    request["context_parallel"] = 1;
    request["micro_batch"] = 1;
    const Json all = rank(request);
    CHECK((rows(all) == all["ranked"] && rows(all) > 50));
    int checked = 0;
    for (const auto& [key, values] : all["choices"].items())
        for (const Json& value : values) {
            Json asked = request;
            asked["only"][key] = value;
            const Json some = rank(asked);
            CHECK(tests::differs(some, tests::shape("rank"), "rank").empty());
            CHECK(some["choices"] == all["choices"]);
            CHECK((some["candidates"] == all["candidates"] && some["legal"] == all["legal"]));
            CHECK(some["filtered"].get<std::int64_t>() + some["ranked"].get<std::int64_t>() + some["does_not_fit"].get<std::int64_t>() ==
                  some["legal"]);
            std::size_t at = 0;
            for (std::size_t i = 0; i < rows(all); ++i) {
                if (all["plans"][key][i] != value) continue;
                for (const auto& [name, column] : all["plans"].items()) CHECK(some["plans"][name][at] == column[i]);
                ++at;
            }
            CHECK(at == rows(some));
            checked += at > 0;
        }
    CHECK(checked >= 12);
}

TEST_CASE("filters look at the whole space, not at the fastest of it: the values of a field share out all that is ranked") {
    for (const std::size_t which : {0, 1, 2, 4, 5}) {  // the other one varies so much that it takes seconds
        const Json& request = kRequests[which];
        const Json all = rank(request);
        for (const auto& [key, values] : all["choices"].items()) {
            if (key == "sequence_parallel") continue;  // without tensor parallelism a plan passes either way
            std::int64_t ranked = 0, left_out = 0;
            for (const Json& value : values) {
                Json asked = request;
                asked["only"][key] = value;
                const Json some = rank(asked);
                ranked += some["ranked"].get<std::int64_t>();
                left_out += some["filtered"].get<std::int64_t>();
                if (rows(some) > 0) CHECK(some["plans"][key] == Json::array_t(rows(some), value));
            }
            CHECK(ranked == all["ranked"]);
            CHECK(left_out == (static_cast<std::int64_t>(values.size()) - 1) * all["legal"].get<std::int64_t>());
        }
    }
}

TEST_CASE("sequence parallelism has no effect without tensor parallelism: such plans pass either way") {
    Json request = {{"model", "llama-3.1-8b"}, {"gpus", 8}, {"explore", "sequence_parallel"}, {"tensor_parallel", 1}};
    const Json all = rank(request);
    CHECK((rows(all) > 0 && all["choices"]["sequence_parallel"].empty()));
    request["only"] = {{"sequence_parallel", false}};
    CHECK(rank(request)["plans"] == all["plans"]);
    request["tensor_parallel"] = "auto";
    const Json off = rank(request);
    CHECK(off["choices"]["sequence_parallel"] == Json({false, true}));
    for (std::size_t i = 0; i < rows(off); ++i)
        CHECK((off["plans"]["tensor_parallel"][i] == 1 || off["plans"]["sequence_parallel"][i] == false));
}

TEST_CASE("a limit of memory: nothing above it, the fastest below it, and more layers recomputed to stay there") {
    constexpr double kGibi = 1024.0 * 1024 * 1024;
    for (const Json& request : kRequests) {
        const Json all = rank(request);
        for (const double gib : {20.0, 60.0}) {
            Json asked = request;
            asked["only"]["memory_at_most_gib"] = gib;
            const Json some = rank(asked);
            CHECK(some["ranked"] <= all["ranked"]);
            double fastest = INFINITY;  // of the whole list, among what is small enough
            for (std::size_t i = 0; i < rows(all); ++i)
                if (all["plans"]["total_bytes"][i].get<double>() <= gib * kGibi)
                    fastest = std::min(fastest, all["plans"]["step_seconds"][i].get<double>());
            for (const Json& bytes : some["plans"].value("total_bytes", Json::array())) CHECK(bytes.get<double>() <= gib * kGibi);
            if (fastest < INFINITY) CHECK(some["plans"]["step_seconds"][0].get<double>() <= fastest);
            if (rows(some) == 0 && rows(all) > 0) {
                CHECK(some["excluding"] == Json({"memory_at_most_gib"}));
                CHECK(some["closest"]["total_bytes"].get<double>() > gib * kGibi);
            }
        }
    }
    Json block = {{"model", "llama-3.1-8b"}, {"gpus", 8}, {"explore", "recompute"}, {"only", {{"recompute", "block"}}}};
    for (const char* degree : {"pipeline_parallel", "context_parallel", "micro_batch"}) block["only"][degree] = 1;
    block["only"]["tensor_parallel"] = 2;
    const Json few = rank(block);
    block["only"]["memory_at_most_gib"] = few["plans"]["total_bytes"][0].get<double>() / kGibi - 5;
    const Json more = rank(block);
    CHECK((rows(few) == 1 && rows(more) == 1));
    CHECK(more["plans"]["recompute_layers"][0] > few["plans"]["recompute_layers"][0]);
    CHECK(more["plans"]["order"] == few["plans"]["order"]);
}

TEST_CASE("an empty list says which filter alone is to blame, whatever the parts") {
    const Json job = {{"model", "llama-3.1-70b"}, {"gpus", 64}, {"explore", "virtual_stages,recompute"}};
    const auto excluding = [&](const Json& only) {
        Json request = job;
        request["only"] = only;
        const Json answer = rank(request);
        for (const std::int64_t parts : {2, 8}) CHECK(merged(request, parts) == answer);
        CHECK((answer["excluding"].empty() || answer["ranked"] == 0));
        return answer["excluding"];
    };
    CHECK(excluding({{"recompute", "full"}}) == Json::array());                                            // not empty
    CHECK(excluding({{"tensor_parallel", 64}}) == Json({"tensor_parallel"}));                              // no such plan
    CHECK(excluding({{"tensor_parallel", 1}, {"pipeline_parallel", 1}}).size() == 2);                      // the one or the other
    CHECK(excluding({{"recompute", "full"}, {"memory_at_most_gib", 1}}) == Json({"memory_at_most_gib"}));  // the first is not to blame
    CHECK(excluding({{"tensor_parallel", 64}, {"memory_at_most_gib", 1}}) == Json::array());               // neither alone
    CHECK(excluding({{"tensor_parallel", "auto"}, {"micro_batch", "auto"}}) == Json::array());             // nothing wanted
}

TEST_CASE("a ranking says what is wrong with its own fields") {
    const auto first = [](const Json& request) {
        const Json answer = Json::parse(api::rank(request.dump()));
        CHECK(answer["ok"] == false);
        return answer["problems"][0]["field"].get<std::string>();
    };
    CHECK(first({{"explore", "weather"}}) == "explore");
    CHECK(first({{"explore", 3}}) == "explore");
    CHECK(first({{"risk", 0}}) == "risk");
    CHECK(first({{"risk", "high"}}) == "risk");
    CHECK(first({{"parts", 0}}) == "parts");
    CHECK(first({{"parts", 4}, {"part", 4}}) == "part");
    CHECK(first({{"other", Json::object()}}) == "other");
    CHECK(first({{"only", 3}}) == "only");
    CHECK(first({{"only", {{"recompute", "all"}}}}) == "only.recompute");
    CHECK(first({{"only", {{"tensor_parallel", "many"}}}}) == "only.tensor_parallel");
    CHECK(first({{"only", {{"memory_at_most_gib", 0}}}}) == "only.memory_at_most_gib");
    CHECK(first({{"only", {{"gpus", 8}}}}) == "only.gpus");
    CHECK(first({{"only", {{"zeros", "none"}}}}) == "only.zeros");
}

TEST_CASE("only parts of a ranking can be put together") {
    const Json good = rank({{"gpus", 8}});
    Json uneven = good, texts = good, huge = good, odd = good, elsewhere = rank({{"gpus", 16}}), fewer = good, counted = good,
         unheard = good;
    uneven["plans"]["order"].push_back(1);
    texts["plans"]["step_seconds"][0] = "fast";
    huge["legal"] = 9'000'000'000'000'000'000;
    odd["closest"] = 7;
    Json endless = good, unsaid = good;
    endless["choices"]["zero"] = Json::array_t(2'001, Json("none"));
    unsaid["excluding"] = "zero";
    fewer["plans"].erase("zero");  // else the merged columns are not equally long
    const Json most = {{"rule", "heads_divide"}, {"count", 900'000'000'000'000}};
    counted["rejected"] = {most, most};                                         // else the sum of many overflows
    unheard["rejected"] = Json::parse(R"([{"rule": "no such", "count": 1}])");  // else half a million of them take minutes
    for (const Json& parts :
         {Json(), Json::array(), Json::array({1}), Json::array({Json::object()}), Json::array({uneven}), Json::array({good, texts}),
          Json::array({huge}), Json::array({odd}), Json::array({good, elsewhere}), Json::array({good, fewer}), Json::array({counted}),
          Json::array({unheard}), Json::array({endless}), Json::array({unsaid})}) {
        const Json answer = Json::parse(api::merge_rankings(parts.dump()), nullptr, false);
        CHECK_MESSAGE(answer["ok"] == false, parts.dump().substr(0, 200));
        CHECK(answer["problems"].size() == 1);
    }
    CHECK(Json::parse(api::merge_rankings("[{"))["problems"][0]["rule"] == "syntax");
}
