// search(), from the outside: its columns and summary agree with each other, with estimated(), and with the contract.
#include <doctest/doctest.h>

#include <tuple>

#include "api.h"
#include "contract.h"
#include "random_cases.h"

using namespace fourfold;
using tests::answer_defect;
using tests::json;

namespace {

Json estimated(const Json& request) { return json(api::estimate(request.dump())); }

struct Search {
    Json summary;
    api::SearchColumns columns;
};
Search search(const char* request) {
    api::SearchAnswer answer = api::search(request);
    CHECK(answer_defect(answer.summary, "search") == "");
    return {json(answer.summary), std::move(answer.columns)};
}

// "auto" names entries that are what estimated() chooses.
void check_auto(const char* request, const Search& found) {
    const auto& c = found.columns;
    for (const Json& chosen : found.summary["auto"]) {
        Json plan = json(request);
        plan.erase("gpu_counts");
        plan["gpus"] = chosen["gpus"];
        const Json job = estimated(plan)["job"];
        bool there = false;
        for (std::size_t i = 0; i < c.row.size(); ++i)
            there = there || (c.row[i] == chosen["row"] && c.gpus[i] == chosen["gpus"] && c.tensor_parallel[i] == job["tensor_parallel"] &&
                              c.context_parallel[i] == job["context_parallel"] && c.pipeline_parallel[i] == job["pipeline_parallel"] &&
                              c.micro_batch[i] == job["micro_batch"]);
        CHECK(there);
    }
}

}  // namespace

TEST_CASE("search: every entry is what estimated() says of it, sorted as documented, and every candidate is counted once") {
    for (const char* request : {"{}", R"({"model": "qwen2.5-7b", "gpus": 28, "gpu_counts": [56, 7, 14, 28, 28], "global_batch": 56})",
                                R"({"gpus": 64, "pipeline_parallel": 4, "virtual_stages": 2, "gpu_counts": [64, 128]})",
                                R"({"gpu": "h100-sxm-94gb", "attention": "plain", "sequence_length": 2048})"}) {
        const Search found = search(request);
        CAPTURE(std::string(request));
        const auto& c = found.columns;
        const std::size_t n = c.row.size();
        for (const std::size_t size :
             {c.gpus.size(), c.tensor_parallel.size(), c.context_parallel.size(), c.pipeline_parallel.size(), c.micro_batch.size(),
              c.data_parallel.size(), c.total_bytes.size(), c.share.size(), c.fit_class.size()})
            CHECK(size == n);
        CHECK(found.summary["legal"] == n);
        CHECK(n > 0);
        std::uint64_t rejected = 0, previous = UINT64_MAX;
        for (const Json& rule : found.summary["rejected"]) {
            rejected += rule["count"].get<std::uint64_t>();
            CHECK(rule["count"].get<std::uint64_t>() <= previous);
            previous = rule["count"];
        }
        CHECK(rejected + n <= found.summary["candidates"]);  // of an entry's many plans one stands for all
        std::int64_t classes[3] = {0, 0, 0};
        for (std::size_t i = 0; i < n; ++i) {
            ++classes[c.fit_class[i] < 3 ? c.fit_class[i] : 0];
            if (i == 0) continue;
            const auto key = [&](std::size_t k) {
                return std::tuple(c.tensor_parallel[k], c.context_parallel[k], c.pipeline_parallel[k], c.micro_batch[k]);
            };
            CHECK(std::tuple(key(i - 1), c.gpus[i - 1]) < std::tuple(key(i), c.gpus[i]));
            CHECK(c.row[i] == c.row[i - 1] + (key(i) == key(i - 1) ? 0 : 1));
        }
        CHECK(found.summary["fits"] == classes[0]);
        CHECK(found.summary["at_risk"] == classes[1]);
        CHECK(found.summary["does_not_fit"] == classes[2]);
        tests::Random random(10);
        for (int sample = 0; sample < 12 && n > 0; ++sample) {
            const auto i = static_cast<std::size_t>(random.from(0, static_cast<std::int64_t>(n) - 1));
            bool chosen = false;  // the ranking's first, even where its split alone has one as good
            for (const Json& one : found.summary["auto"]) chosen = chosen || (one["row"] == c.row[i] && one["gpus"] == c.gpus[i]);
            if (chosen) continue;
            Json plan = json(request);
            plan.erase("gpu_counts");
            plan.update(Json{{"gpus", c.gpus[i]},
                             {"tensor_parallel", c.tensor_parallel[i]},
                             {"context_parallel", c.context_parallel[i]},
                             {"pipeline_parallel", c.pipeline_parallel[i]},
                             {"micro_batch", c.micro_batch[i]}});
            const Json answer = estimated(plan);
            CHECK(answer["total_bytes"] == c.total_bytes[i]);
            CHECK(answer["whole_bytes"] == c.whole_bytes[i]);
            CHECK(answer["share"] == c.share[i]);
            CHECK(answer["data_parallel"] == c.data_parallel[i]);
            CHECK(answer["class"] == std::vector<const char*>{"fits", "at_risk", "does_not_fit"}[c.fit_class[i]]);
        }
        check_auto(request, found);
    }
}

TEST_CASE("search: the GPU counts when none are given") {
    CHECK(search("{}").summary["gpu_counts"] == json("[2, 4, 8, 16, 32, 64]"));
    CHECK(search(R"({"gpus": 6})").summary["gpu_counts"] == json("[3, 4, 6, 12, 24, 48]"));
    CHECK(search(R"({"gpus": 7})").summary["gpu_counts"] == json("[4, 7, 14, 28, 56]"));
    CHECK(search(R"({"gpus": 1})").summary["gpu_counts"] == json("[1, 2, 4, 8]"));
    CHECK(search(R"({"gpus": 1048576})").summary["gpu_counts"] == json("[262144, 524288, 1048576]"));
    CHECK(search(R"({"gpu_counts": [16, 8, 16]})").summary["gpu_counts"] == json("[8, 16]"));
}

TEST_CASE("search: why more GPUs are not faster, and the batch that would help") {
    const auto why = [](int gpus, int batch, const char* counts) {
        const Json request = {{"gpus", gpus}, {"global_batch", batch}, {"gpu_counts", json(counts)}};
        return search(request.dump().c_str()).summary["not_faster"];
    };
    // 100 is 4 x 25: no number of copies that divides 128 has the 25, so that the layers must
    CHECK(why(100, 128, "[64, 100]") == json(R"({"id": "searched.not_faster",
        "args": {"gpus": 100, "fewer": 64, "batch": 128, "factor": 25, "next": 125}})"));
    CHECK(why(100, 125, "[64, 100]") == nullptr);  // what it names helps
    CHECK(why(96, 128, "[64, 96]") == nullptr);    // faster than 64 all the same
    CHECK(why(64, 128, "[64, 100]") == nullptr);   // more of them say nothing of these
    CHECK(why(7, 2, "[4, 7]")["args"]["next"] == 7);
}

TEST_CASE("search: the number of GPUs to try next: at least twice as many, on which a plan fits and a step is faster") {
    const auto next = [](Json request, const char* counts) {
        request["gpu_counts"] = json(counts);
        return search(request.dump().c_str()).summary["faster"];
    };
    CHECK(next({}, "[4, 8, 16, 32, 64]") == 16);
    CHECK(next({}, "[8, 12, 32, 64]") == 32);
    CHECK(next({}, "[4, 8]") == nullptr);
    // Of 70B no plan fits on 8, and on 16; from 32 on it does.
    const Json large = {{"model", "llama-3.1-70b"}};
    CHECK(next(large, "[8, 16, 32, 64]") == 64);
    CHECK(next(large, "[8, 16]") == nullptr);
    // More copies than sequences have nothing to do.
    CHECK(next({{"model", "tinyllama-1.1b"}, {"gpus", 64}, {"sequence_length", 128}, {"global_batch", 64}}, "[64, 128]") == nullptr);
}

TEST_CASE("the catalogue tells with which frameworks no search tries ZeRO-2 and 3, and what a single one has") {
    const Json catalog = json(api::catalog());
    std::string untried, single;
    for (const Json& field : catalog["fields"])
        for (const Json& choice : field.value("choices", Json::array())) {
            if (choice.value("untried", "") == "sharding") untried += choice["id"].get<std::string>() + " ";
            if (choice.contains("framework"))
                single += choice["id"].get<std::string>() + " " + choice["framework"].get<std::string>() + " ";
        }
    CHECK(untried == "megatron-2024 nanotron hai-llm ");
    CHECK(single == "megatron_fsdp megatron-2025 shard_copies pytorch ");
}
