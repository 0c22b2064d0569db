// rank(): the list, its filters, and what it says of the rest of the space.
#include "search/ranking.h"
#include "search/order.h"

#include <doctest/doctest.h>

#include <span>

#include "api.h"
#include "base/tie.h"
#include "contract.h"
#include "job/job.h"
#include "model/catalog.h"
#include "search/order.h"
#include "support.h"

using namespace fourfold;

namespace {

Json rank(const Json& request) { return Json::parse(api::rank(request.dump()), nullptr, false); }
std::size_t rows(const Json& answer) { return answer["plans"].empty() ? 0 : answer["plans"]["step_seconds"].size(); }
std::int64_t count(const Json& answer, const char* key) { return answer[key].get<std::int64_t>(); }

const Json kRequests[] = {
    {{"model", "llama-3.1-8b"}, {"gpus", 16}},
    {{"model", "llama-3.1-70b"}, {"gpus", 64}, {"global_batch", 256}, {"leave_out", ""}},
    {{"model", "mixtral-8x7b"}, {"gpus", 32}, {"global_batch", 64}},
    {{"model", "llama-3.1-405b"}, {"gpus", 1024}, {"global_batch", 128}, {"risk", 0.5}},
    {{"model", "llama-3.1-8b"}, {"gpus", 8}, {"method", "fujii2024"}},
    {{"model", "llama-2-7b"}, {"gpus", 16}, {"global_batch", 64}, {"framework", "pytorch"}, {"leave_out", ""}, {"sequence_length", 4096}},
    {{"model", "llama-3.1-405b"}, {"gpus", 8}},
    {{"model", "smollm3-3b"}, {"gpu", "rtx-5090-32gb"}, {"gpus", 20}, {"framework", "pytorch"}},
    {{"model", "llama-3.1-8b"},
     {"gpus", 16},
     {"global_batch", 64},
     {"framework", "transformers"},
     {"leave_out", ""},
     {"sequence_length", 2048}},
};

}  // namespace

TEST_CASE("order by hand: plans alike in all that counts stand in the order of their fields, then of their layers") {
    const auto plan = [](std::int64_t tensor, std::int64_t pipeline, std::vector<std::int32_t> layers) {
        Estimated one;
        one.seconds = 1, one.plan.context_parallel = 1;
        one.plan.tensor_parallel = tensor, one.plan.pipeline_parallel = pipeline;
        one.plan.layout = std::make_shared<const Layout>(layers);
        return one;
    };
    const Estimated narrow = plan(1, 4, {1, 1, 1, 2}), early = plan(2, 2, {2, 3}), late = plan(2, 2, {3, 2});
    for (const std::vector<Estimated>& found : {std::vector{late, early, narrow}, {narrow, late, early}, {early, narrow, late}}) {
        const std::vector<Ranked> list = in_order(found);
        REQUIRE(list.size() == 3);
        CHECK(list[0].estimate.plan.tensor_parallel == 1);
        CHECK(layout_text(*list[1].estimate.plan.layout) == layout_text(*early.plan.layout));
        CHECK(layout_text(*list[2].estimate.plan.layout) == layout_text(*late.plan.layout));
        CHECK(list[2].tie == 0);
    }
}

TEST_CASE("a ranking says what became of every candidate") {
    for (const Json& request : kRequests) {
        const Json answer = rank(request);
        CHECK(answer["ok"] == true);
        CHECK(tests::answer_defect(answer, "rank") == "");
        std::int64_t rejected = 0;
        for (const Json& rule : answer["rejected"]) rejected += rule["count"].get<std::int64_t>();
        CHECK(rejected + count(answer, "legal") == answer["candidates"]);
        CHECK(count(answer, "ranked") + count(answer, "does_not_fit") + count(answer, "slower") == answer["legal"]);
        CHECK((count(answer, "slower") >= 0 && answer["filtered"] == 0 && answer["excluding"].empty()));
        CHECK(rows(answer) <= static_cast<std::size_t>(count(answer, "ranked")));
        CHECK((rows(answer) > 0) == answer["closest"].is_null());
        CHECK(answer["tie_width"] == kTieWidth);
    }
}

TEST_CASE("ranked plans are legal, within the risk, grouped by time, and what estimate() says of them" * doctest::test_suite("quality")) {
    for (const Json& request : kRequests) {
        const Json answer = rank(request);
        const Json& plans = answer["plans"];
        const double risk = request.value("risk", 0.05);
        for (std::size_t i = 0; i < rows(answer); ++i) {
            if (i > 0) CHECK(plans["tie"][i] >= plans["tie"][i - 1]);
            if (!plans["probability"][i].is_null()) CHECK(plans["probability"][i].get<double>() >= 1 - risk);
            if (i % 23 != 0) continue;
            Json job = request;
            for (const char* key : {"leave_out", "risk"}) job.erase(key);
            for (const auto& [key, column] : plans.items())
                if (key != "total_bytes" && key != "whole_bytes" && key != "share" && key != "class" && key != "probability" &&
                    key != "step_seconds" && key != "tokens_per_s" && key != "data_parallel" && key != "tie")
                    job[key] = column[i];
            const Json estimate = Json::parse(api::estimate(job.dump()), nullptr, false);
            CHECK_MESSAGE(estimate["ok"] == true, estimate.dump().substr(0, 600));
            for (const char* key : {"total_bytes", "whole_bytes", "share", "class", "probability", "step_seconds"})
                CHECK_MESSAGE(estimate[key] == plans[key][i], key << " of " << job.dump());
        }
    }
}

TEST_CASE("the front of a ranking: fastest first, every further one needs less, and no row beats it in both" *
          doctest::test_suite("quality")) {
    for (const Json& request : kRequests) {
        const Json answer = rank(request);
        const Json& plans = answer["plans"];
        double least = INFINITY;
        for (const Json& index : answer["front"]) {
            const auto i = index.get<std::size_t>();
            CHECK(plans["whole_bytes"][i].get<double>() < least);
            least = plans["whole_bytes"][i];
            for (std::size_t k = 0; k < rows(answer); ++k)
                CHECK_FALSE((plans["step_seconds"][k] < plans["step_seconds"][i] && plans["whole_bytes"][k] <= plans["whole_bytes"][i]));
        }
        CHECK(answer["front"].empty() == (rows(answer) == 0));
    }
}

TEST_CASE("trying more never makes the best slower beyond a tie, and accepting more risk neither" * doctest::test_suite("quality")) {
    for (const Json& request : kRequests) {
        Json narrow = request;
        narrow["leave_out"] = "interleaving,zero_bubble,recompute,sharding,uneven_layers,small_states";
        narrow["risk"] = 0.05;
        const Json few = rank(narrow);
        Json wide = request;
        wide["leave_out"] = "";
        wide["risk"] = 0.5;
        const Json many = rank(wide);
        CHECK(many["candidates"] >= few["candidates"]);
        if (rows(few) > 0)
            CHECK(many["plans"]["step_seconds"][0].get<double>() <= few["plans"]["step_seconds"][0].get<double>() * (1 + kTieWidth));
    }
}

TEST_CASE("the order in which a request names its fields changes nothing") {
    const std::string answer = api::rank(R"({"model": "llama-3.1-8b", "gpus": 16, "leave_out": "recompute,interleaving"})");
    CHECK(api::rank(R"({"leave_out": "interleaving,recompute", "gpus": 16, "model": "llama-3.1-8b"})") == answer);
    const std::string columns = api::search(R"({"gpus": 16, "gpu_counts": [8, 16, 32]})").summary;
    CHECK(api::search(R"({"gpu_counts": [32, 16, 8, 16], "gpus": 16})").summary == columns);
}

TEST_CASE("the map has the next lower number of GPUs that divides, where the job's own divides badly") {
    const auto counts = [](const char* request) { return tests::json(api::search(request).summary)["gpu_counts"].dump(); };
    CHECK(counts(R"({"model": "llama-3.2-1b", "gpus": 264})") == "[66,132,256,264,528,1056,2112]");
    CHECK(counts(R"({"model": "llama-3.2-1b", "gpus": 400, "global_batch": 1536})") == "[100,200,384,400,800,1600,3200]");
    CHECK(counts(R"({"model": "llama-3.2-1b", "gpus": 384, "global_batch": 1536})") == "[96,192,384,768,1536,3072]");
    CHECK(counts(R"({"model": "llama-3.2-1b", "gpus": 7})") == "[4,7,14,28,56]");
    CHECK(counts(R"({"model": "llama-3.2-1b", "gpus": 1})") == "[1,2,4,8]");
}

TEST_CASE("recomputing a block: as few layers as fit") {
    const Json request = {{"model", "llama-3.1-70b"}, {"gpus", 32}};
    const Json answer = rank(request);
    int checked = 0;
    for (std::size_t i = 0; i < rows(answer); ++i) {
        const std::int64_t layers = answer["plans"]["recompute_layers"][i];
        if (answer["plans"]["recompute"][i] != "block" || layers < 2) continue;
        Json job = {{"model", "llama-3.1-70b"}, {"gpus", 32}, {"recompute", "block"}, {"recompute_layers", layers - 1}};
        for (const char* key :
             {"tensor_parallel", "context_parallel", "pipeline_parallel", "micro_batch", "virtual_stages", "layout", "sequence_parallel"})
            job[key] = answer["plans"][key][i];
        CHECK(Json::parse(api::estimate(job.dump()))["class"] != "fits");
        ++checked;
    }
    CHECK(checked > 3);
}

TEST_CASE("what is left out of the space stands in no plan" * doctest::test_suite("quality")) {
    const auto has = [](const Json& answer, const char* key, const Json& value) {
        for (std::size_t i = 0; i < rows(answer); ++i)
            if (answer["plans"][key][i] == value) return true;
        return false;
    };
    const Json job = {{"model", "llama-3.1-70b"}, {"gpus", 32}};
    CHECK((has(rank(job), "recompute", "block") && !has(rank(job), "moments", "16-bit")));
    Json without = job;
    without["leave_out"] = "recompute";
    CHECK(
        (has(rank(without), "recompute", "none") && !has(rank(without), "recompute", "block") && !has(rank(without), "recompute", "full")));
    CHECK(has(rank(without), "moments", "16-bit"));
    const Json torch = {{"model", "llama-3.1-8b"}, {"gpus", 16}, {"framework", "pytorch"}, {"global_batch", 64}};
    CHECK((!has(rank(torch), "schedule", "zb-h1") && has(rank(torch), "zero", "weights")));
    CHECK((has(rank(torch), "recompute", "operations") && !has(rank(job), "recompute", "operations")));  // torchtitan's
    Json adapters = torch;
    adapters["trained"] = "lora", adapters["gpu"] = "rtx-4090-24gb";
    CHECK(!has(rank(adapters), "recompute", "operations"));
    Json trainer = torch;  // it recomputes all layers or none, and splits no model
    trainer["framework"] = "transformers", trainer["gpu"] = "a100-sxm-80gb";
    const Json ranked = rank(trainer);
    CHECK((has(ranked, "recompute", "full") && !has(ranked, "recompute", "block") && has(ranked, "pipeline_parallel", 1)));
    for (const Json& one : ranked["plans"]["recompute"]) CHECK(one != "block");
    for (const Json& one : ranked["plans"]["pipeline_parallel"]) CHECK(one == 1);
    Json bubble = torch;
    bubble["leave_out"] = "sharding";
    CHECK((has(rank(bubble), "schedule", "zb-v") && !has(rank(bubble), "zero", "weights")));
    bubble["framework"] = "megatron-2025";  // which has no such schedule
    CHECK_FALSE(has(rank(bubble), "schedule", "zb-v"));
}

// ---- "only": filters
TEST_CASE("a filter is the value set: the list is that of the job with it" * doctest::test_suite("quality")) {
    constexpr std::size_t kAsked[] = {0, 2, 4, 5};
    for (const std::size_t which : std::span(kAsked).first(4)) {
        const Json& request = kRequests[which];
        const Json all = rank(request);
        int checked = 0;
        for (const auto& [key, values] : all["choices"].items())
            for (const Json& value : values) {
                Json asked = request, set = request;
                asked["only"][key] = value;
                set[key] = value;
                const Json some = rank(asked), direct = rank(set);
                CHECK(tests::answer_defect(some, "rank") == "");
                CHECK((some["choices"] == all["choices"] && some["legal"] == all["legal"]));
                CHECK(some["plans"] == direct["plans"]);
                CHECK(count(some, "filtered") == count(all, "legal") - count(direct, "legal"));
                CHECK(count(some, "filtered") + count(some, "ranked") + count(some, "does_not_fit") + count(some, "slower") ==
                      count(some, "legal"));
                for (std::size_t i = 0; i < rows(some); ++i) CHECK(some["plans"][key][i] == value);
                ++checked;
            }
        CHECK(checked >= 12);
    }
}

TEST_CASE("a filter against what the job sets leaves nothing") {
    const Json answer = rank({{"gpus", 8}, {"tensor_parallel", 2}, {"only", {{"tensor_parallel", 4}}}});
    CHECK((rows(answer) == 0 && answer["filtered"] == answer["legal"]));
    CHECK(answer["excluding"] == Json({"tensor_parallel"}));
}

TEST_CASE("a limit of memory: nothing above it, the fastest below it, and more layers recomputed to stay there" *
          doctest::test_suite("quality")) {
    constexpr double kGibi = 1024.0 * 1024 * 1024;
    for (const Json& request : kRequests) {
        const Json all = rank(request);
        for (const double gib : {20.0, 60.0}) {
            Json asked = request;
            asked["only"]["memory_at_most_gib"] = gib;
            const Json some = rank(asked);
            double fastest = INFINITY;  // of the whole list, among what is small enough
            for (std::size_t i = 0; i < rows(all); ++i)
                if (all["plans"]["whole_bytes"][i].get<double>() <= gib * kGibi)
                    fastest = std::min(fastest, all["plans"]["step_seconds"][i].get<double>());
            for (std::size_t i = 0; i < rows(some); ++i) CHECK(some["plans"]["whole_bytes"][i].get<double>() <= gib * kGibi);
            if (fastest < INFINITY) CHECK(some["plans"]["step_seconds"][0].get<double>() <= fastest * (1 + kTieWidth));
            if (rows(some) == 0 && rows(all) > 0) CHECK(some["excluding"] == Json({"memory_at_most_gib"}));
        }
    }
    Json block = {
        {"model", "llama-3.1-8b"}, {"gpus", 8}, {"only", {{"recompute", "block"}, {"virtual_stages", 1}, {"sequence_parallel", true}}}};
    for (const char* degree : {"pipeline_parallel", "context_parallel", "micro_batch"}) block["only"][degree] = 1;
    block["only"]["tensor_parallel"] = 2;
    const Json few = rank(block);
    CHECK(rows(few) == 1);
    if (rows(few) != 1) return;
    block["only"]["memory_at_most_gib"] = few["plans"]["whole_bytes"][0].get<double>() / kGibi - 5;
    const Json more = rank(block);
    CHECK(rows(more) == 1);
    if (rows(more) == 1) CHECK(more["plans"]["recompute_layers"][0] > few["plans"]["recompute_layers"][0]);
}

TEST_CASE("an empty list says which filter alone is to blame") {
    const Json job = {{"model", "llama-3.1-70b"}, {"gpus", 64}};
    const auto excluding = [&](const Json& only) {
        Json request = job;
        request["only"] = only;
        const Json answer = rank(request);
        CHECK((answer["excluding"].empty() || rows(answer) == 0));
        return answer["excluding"];
    };
    CHECK(excluding({{"recompute", "full"}}) == Json::array());                                            // not empty
    CHECK(excluding({{"tensor_parallel", 3}}) == Json({"tensor_parallel"}));                               // no such plan
    CHECK(excluding({{"recompute", "full"}, {"memory_at_most_gib", 1}}) == Json({"memory_at_most_gib"}));  // the first is not to blame
    CHECK(excluding({{"tensor_parallel", 3}, {"memory_at_most_gib", 1}}) == Json::array());                // neither alone
    CHECK(excluding({{"tensor_parallel", "auto"}, {"micro_batch", "auto"}}) == Json::array());             // nothing wanted
}

TEST_CASE("a ranking says what is wrong with its own fields") {
    const auto first = [](const Json& request) {
        const Json answer = Json::parse(api::rank(request.dump()));
        CHECK(answer["ok"] == false);
        return answer["problems"][0]["field"].get<std::string>();
    };
    CHECK(first({{"leave_out", "weather"}}) == "leave_out");
    CHECK(first({{"leave_out", 3}}) == "leave_out");
    CHECK(first({{"explore", "recompute"}}) == "explore");
    CHECK(first({{"risk", 0}}) == "risk");
    CHECK(first({{"risk", "high"}}) == "risk");
    CHECK(first({{"parts", 4}}) == "parts");
    CHECK(first({{"other", Json::object()}}) == "other");
    CHECK(first({{"only", 3}}) == "only");
    CHECK(first({{"only", {{"recompute", "all"}}}}) == "only.recompute");
    CHECK(first({{"only", {{"tensor_parallel", "many"}}}}) == "only.tensor_parallel");
    CHECK(first({{"only", {{"memory_at_most_gib", 0}}}}) == "only.memory_at_most_gib");
    CHECK(first({{"only", {{"gpus", 8}}}}) == "only.gpus");
    CHECK(first({{"only", {{"zeros", "none"}}}}) == "only.zeros");
    CHECK(first({{"schedule", "fastest"}}) == "schedule");
    CHECK(first({{"sequence_parallel", "maybe"}}) == "sequence_parallel");
    CHECK(first({{"virtual_stages", 0}}) == "virtual_stages");
    CHECK(first({{"layout", 3}}) == "layout");
}

TEST_CASE("requests of version 1 mean what they meant: only the degrees were chosen") {
    const Json old = Json::parse(api::estimate(R"({"version": 1, "model": "llama-3.1-70b", "gpus": 64})"));
    CHECK(old["job"]["version"] == 2);
    CHECK((old["job"]["virtual_stages"] == 1 && old["job"]["recompute"] == "none" && old["job"]["layout"] == "equal"));
    CHECK(old["job"]["schedule"] == "1f1b");
    const Json now = Json::parse(api::estimate(R"({"model": "llama-3.1-70b", "gpus": 64})"));
    CHECK(now["step_seconds"] <= old["step_seconds"]);
    CHECK(Json::parse(api::estimate(R"({"version": 3})"))["problems"][0]["rule"] == "version");
}
