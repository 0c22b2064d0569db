// In what a run may be measured: every unit by hand, under the names that people use, and what contradicts itself.
#include "calibration/measures.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "base/embedded.h"
#include "calibration/columns.h"
#include "calibration/jobs.h"
#include "model/catalog.h"
#include "time/step_time.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

// A step of the job has 512 sequences of 8,192 tokens: 4,194,304 tokens, 65,536 for each of the 64 GPUs.
constexpr const char* kPlan = R"("tensor_parallel": 2, "pipeline_parallel": 1, "micro_batch": 1)";

Json answer_to(const std::string& run, const std::string& more = "{}") {
    Json request = with_runs(Json::array({json("{" + std::string(kPlan) + ", " + run + "}")}));
    request.update(json(more));
    return calibrated(request);
}
double seconds_of(const std::string& run, const std::string& more = "{}") {
    const Json answer = answer_to(run, more);
    REQUIRE_MESSAGE(answer["ok"] == true, answer.dump());
    return answer["rows"][0]["step_seconds"].get<double>();
}
Json table(const std::string& text, const std::string& more = "{}") {
    Json request = kJob;
    request["runs_text"] = text;
    request.update(json(more));
    return calibrated(request);
}

}  // namespace

TEST_CASE("a step of 8 s, in every unit of time and rate") {
    for (const char* run :
         {R"("step_seconds": 8)", R"("step_milliseconds": 8000)", R"("tokens_per_second": 524288)", R"("tokens_per_second_per_gpu": 8192)"})
        CHECK(seconds_of(run) == doctest::Approx(8).epsilon(1e-12));
    // the run's own batch, sequence and GPUs: 256 sequences of 4,096 tokens, 1,048,576; on 32 GPUs 32,768 for each
    const std::string own = R"(, "global_batch": 256, "sequence_length": 4096, "gpus": 32)";
    CHECK(seconds_of(R"("tokens_per_second": 262144)" + own) == doctest::Approx(4).epsilon(1e-12));
    CHECK(seconds_of(R"("tokens_per_second_per_gpu": 8192)" + own) == doctest::Approx(4).epsilon(1e-12));
    CHECK(answer_to(R"("tokens_per_second": 524288)")["rows"][0]["measure"] == "tokens_per_second");
}

TEST_CASE("rates in FLOP/s under each convention, by hand: Llama 3.1 8B") {
    // per token: 32 layers of 4,096·6,144 + 4,096² + 3·4,096·14,336 and logits of 4,096·128,256: 7,504,658,432 multiplications with
    // weights; 32·2·8,192·4,096 = 2,147,483,648 in attention; times 6 and the 8,192 tokens that a GPU takes per second
    const double causal = 6 * (7'504'658'432.0 + 1'073'741'824) * 8'192, full = 6 * (7'504'658'432.0 + 2'147'483'648) * 8'192;
    CHECK(causal == 421'645'529'382'912);
    CHECK(full == 474'422'087'516'160);
    const double parameters = 6 * 8'030'261'248.0 * 8'192;
    CHECK(parameters == 394'703'400'861'696);
    // every layer once more, forward: 2·(6,979,321,856 + 2,147,483,648); or attention alone
    const double again = 2 * 9'126'805'504.0 * 8'192, scores = 2 * 2'147'483'648.0 * 8'192;
    const auto at = [](double flop, const char* convention, const char* more) {
        const std::string said = R"({"flop_convention": ")" + std::string(convention) + R"("})";
        return seconds_of(R"("tflops_per_gpu": )" + Json(flop / 1e12).dump() + more, said);
    };
    CHECK(at(causal, "causal", "") == doctest::Approx(8).epsilon(1e-12));
    CHECK(at(full, "full", "") == doctest::Approx(8).epsilon(1e-12));
    CHECK(at(parameters, "parameters", "") == doctest::Approx(8).epsilon(1e-12));
    CHECK(at(full, "hardware", "") == doctest::Approx(8).epsilon(1e-12));
    CHECK(at(full + again, "hardware", R"(, "recompute": "full")") == doctest::Approx(8).epsilon(1e-12));
    CHECK(at(full + scores, "hardware", R"(, "recompute": "selective")") == doctest::Approx(8).epsilon(1e-12));
    // one layer of each of two chunks: a sixteenth of the 32
    CHECK(at(full + again / 16, "hardware", R"(, "recompute": "block", "pipeline_parallel": 2)") == doctest::Approx(8).epsilon(1e-12));
    // MFU: of 989.4 TFLOP/s in 16 bits; a share, percent, and percent as people write it
    const double share = causal / 989.4e12;
    for (const double mfu : {share, 100 * share})
        CHECK(seconds_of(R"("flop_convention": "causal", "mfu": )" + Json(mfu).dump()) == doctest::Approx(8).epsilon(1e-12));
    const Json percent = table("tp\tpp\tmbs\tMFU (%)\n2\t1\t1\t42,5 %\n2\t1\t1\t42.5%", R"({"flop_convention": "causal"})");
    for (const Json& row : percent["rows"])
        CHECK(row["step_seconds"].get<double>() == doctest::Approx(8 * causal / (0.425 * 989.4e12)).epsilon(1e-12));
    // that of the run counts more than that of all
    CHECK(seconds_of(R"("flop_convention": "full", "tflops_per_gpu": 474.42208751616)", R"({"flop_convention": "causal"})") ==
          doctest::Approx(8).epsilon(1e-12));
}

TEST_CASE("what is computed again: experts and the unfolding of latent attention") {
    const Model& m = catalog().model("deepseek-v3")->model;
    Plan p;
    p.sequence_length = 4'096, p.global_batch = 1;
    p.recompute = Recompute::selective;
    const auto again = [&](std::uint32_t modules) {
        p.recompute_modules = modules;
        return recomputed_flop(m, p) / (2.0 * 4'096);
    };
    CHECK(again(core_attn) == 61 * 4'096.0 * 128 * (128 + 64 + 128));
    CHECK(again(mla_up_proj) == 61 * 128.0 * (1'536 * 192 + 512 * 256));
    CHECK(again(mlp) == 3 * 3 * 7'168.0 * 18'432);
    CHECK(again(shared_experts) == 58 * 3 * 7'168.0 * 2'048);
    CHECK(again(moe) == 58 * 3 * 7'168.0 * 9 * 2'048);
    CHECK(again(moe | shared_experts) == again(moe));
    CHECK(again(layernorm | moe_act) == 0);
    // published: 37 billion of 671 meet a token
    CHECK(active_parameters(m) == parameter_count(m) - 58LL * 248 * 3 * 7'168 * 2'048);
    CHECK(static_cast<double>(active_parameters(m)) == doctest::Approx(37.55e9).epsilon(0.01));
}

TEST_CASE("a rate in FLOP/s without its convention: one problem, which names the choices") {
    for (const char* column : {"TFLOP/s/GPU", "mfu"}) {
        const Json answer = table("tp,pp,mb," + std::string(column) + "\n2,1,1,400\n4,1,1,400");
        REQUIRE(answer["ok"] == false);
        REQUIRE(answer["problems"].size() == 1);
        const Json& problem = answer["problems"][0];
        CHECK(problem["field"] == "flop_convention");
        CHECK(problem["rule"] == "missing");
        CHECK(problem["message"]["id"] == "problem.run.no_convention");
        CHECK(problem["message"]["args"]["choices"].size() == 4);
        CHECK(answer["text"]["conventions"] == json(R"(["causal", "full", "parameters", "hardware"])"));
    }
    CHECK(table("tp,pp,mb,tgs\n2,1,1,8192")["text"]["conventions"].empty());
    const Json wrong = table("tp,pp,mb,tflops\n2,1,1,400", R"({"flop_convention": "model"})");
    CHECK(brief(wrong["problems"]).find("flop_convention range \"model\"") == 0);
    CHECK(brief(answer_to(R"("step_seconds": 8, "flop_convention": 6)")["problems"]).find("runs[0].flop_convention type 6") == 0);
}

TEST_CASE("names of columns: every one of the table means one key, whatever its case, blanks, hyphens and underscores") {
    std::set<std::string> bare;
    const Json known = json(std::string(embedded::columns.front().text));
    for (const auto& [key, names] : known.items()) {
        CHECK(ColumnNames::known().key_of(key) == key);
        for (const Json& name : names) {
            CAPTURE(name.dump());
            CHECK(bare.insert(bare_name(name.get<std::string>())).second);  // twice nowhere
            CHECK(ColumnNames::known().key_of(name.get<std::string>()) == key);
        }
    }
    const auto key = [](const char* name) { return std::string(ColumnNames::known().key_of(name)); };
    CHECK(key("--tensor-model-parallel-size") == "tensor_parallel");
    CHECK(key("Tensor Model Parallel_Size") == "tensor_parallel");
    CHECK(key("TP") == "tensor_parallel");
    CHECK(key("GBS") == "global_batch");
    CHECK(key("seq-length") == "sequence_length");
    CHECK(key("World Size") == "gpus");
    CHECK(key("s/it") == "step_seconds");
    CHECK(key("elapsed time per iteration (ms)") == "step_milliseconds");
    CHECK(key("throughput per GPU (TFLOP/s/GPU)") == "tflops_per_gpu");
    CHECK(key("Tokens/s/GPU") == "tokens_per_second_per_gpu");
    CHECK(key("tok/s") == "tokens_per_second");
    CHECK(key("Peak Memory [GiB]") == "allocated_gib");
    CHECK(key("max reserved (MB)") == "reserved_mib");
    CHECK(key("") == "");
    CHECK(key("colour") == "");
    CHECK(ColumnNames::known().closest_to("tensor_modell_parallel_size") == "tensor_model_parallel_size");
    CHECK(ColumnNames::known().closest_to("token/sek") == "tokens/sec");
    const Json answer = table("tp,pp,mb,itteration time,colour of the rack\n");
    CHECK(brief(answer["problems"]).find("runs_text unknown \"itteration time\" -> ") == 0);
    CHECK(said(answer["problems"][0]["suggestion"]) == R"(suggestion.did_you_mean {"near":"iteration time"})");
    CHECK(answer["problems"][1]["suggestion"]["id"] == "suggestion.leave_out");
}

TEST_CASE("a foreign table: Megatron's names, another batch and sequence") {
    const Json answer = table(
        "tensor-model-parallel-size;PP;DP;MBS;GBS;Seq-Length;elapsed time per iteration (ms);max allocated (MB)\n"
        "2;2;16;1;256;4096;4000,5;40960");
    REQUIRE_MESSAGE(answer["ok"] == true, answer.dump());
    const Json& row = answer["rows"][0];
    CHECK(row["step_seconds"] == 4.0005);
    CHECK(row["plan"]["gpus"] == 64);
    CHECK(row["plan"]["global_batch"] == 256);
    CHECK(row["plan"]["sequence_length"] == 4'096);
    CHECK(row["memory"]["bytes"] == 40.0 * kGibi);
    CHECK(row["memory"]["reserved"] == false);
}

TEST_CASE("a value may carry its unit, as people write it, and the unit counts") {
    const auto row = [](const std::string& column, const std::string& value) {
        const std::string text = "tp,pp,mbs," + column + "\n2,1,1," + value;
        const Json answer = table(text, R"({"flop_convention": "causal"})");
        REQUIRE_MESSAGE(answer["ok"] == true, answer.dump());
        return answer["rows"][0];
    };
    const auto seconds = [&](const char* column, const char* value) {
        return doctest::Approx(row(column, value)["step_seconds"].get<double>()).epsilon(1e-12);
    };
    for (const char* value : {"9.2 s", "9.2s", "9.2 sec", "9200 ms", "9200ms"}) {
        CAPTURE(value);
        for (const char* column : {"step time", "step_seconds", "step time ms"}) CHECK(9.2 == seconds(column, value));
    }
    for (const char* column : {"step time", "step time ms"}) CHECK(90.0 == seconds(column, "1.5 min"));
    // 512 sequences of 8,192 tokens; 64 GPUs
    for (const char* value : {"524.288k tokens/s", "524.288 ktok/s", "524288 tok/s", "524.288K", "0.524288M tokens/s"})
        CHECK(8.0 == seconds("tokens/s", value));
    for (const char* value : {"8192 tokens/s/GPU", "8.192k tokens/s", "8192 tok/s/gpu"}) CHECK(8.0 == seconds("tgs", value));
    const double causal = 421'645'529'382'912;  // FLOP of a GPU in a second, for a step of 8 s
    for (const char* value : {"410 TFLOP/s", "410 TFLOPS", "410 TFLOP/s/GPU", "0.41 PFLOP/s", "410"})
        CHECK(8 * causal / 410e12 == seconds("TFLOP/s", value));
    CHECK(8 * causal / (0.41 * 989.4e12) == seconds("mfu", "41 %"));
    for (const char* value : {"50 GB", "50 GiB", "50GB", "51200 MB", "51200 MiB", "50"})
        for (const char* column : {"memory", "allocated_gib", "reserved"}) CHECK(row(column, value)["memory"]["bytes"] == 50 * kGibi);
    CHECK(row("peak mem mb", "50 GB")["memory"]["bytes"] == 50 * kGibi);
    // with a comma before the decimals
    const Json comma = table("tp\tpp\tmbs\tstep time\tmemory\n2\t1\t1\t9,25 s\t50,5 GB");
    REQUIRE_MESSAGE(comma["ok"] == true, comma.dump());
    CHECK(comma["rows"][0]["step_seconds"] == 9.25);
    CHECK(comma["rows"][0]["memory"]["bytes"] == 50.5 * kGibi);
    // what is no number, or has a unit of something else, is named with the names that the text has
    const std::pair<const char*, const char*> wrong[] = {
        {"step time", "50 GB"}, {"memory", "9.2 s"},       {"tok/s", "8192 tokens/s/GPU"}, {"mfu", "410 TFLOP/s"},
        {"TFLOP/s", "41 %"},    {"memory", "61 %"},        {"step time", "9.2 furlongs"},  {"step time", "about 9 s"},
        {"step time", "s"},     {"step time", "9 k foot"}, {"peak memory", "1,024"},       {"memory", "5 min"},
    };
    for (const auto& one : wrong) {
        const std::string column = one.first, value = one.second;
        CAPTURE(value);
        const Json answer = table("tp\tpp\tmbs\t" + column + "\n2\t1\t1\t" + value, R"({"flop_convention": "causal"})");
        REQUIRE(answer["problems"].size() == 1);
        CHECK(said(answer["problems"][0]["message"]["args"]["message"]) ==
              "problem.run.no_number {\"key\":\"" + column + "\",\"value\":\"" + value + "\"}");
    }
}

TEST_CASE("problems name the columns as the text does") {
    const auto message = [](const char* text) { return said(table(text)["problems"][0]["message"]["args"]["message"]); };
    CHECK(message("tp,pp,mbs,peak memory\n2,1,1,0") == R"(problem.run.too_small {"key":"peak memory","value":0.0})");
    CHECK(message("tp,pp,mbs,peak memory\n2,1,1,") == R"(problem.run.no_measure {"key":"peak memory"})");
    CHECK(message("tp,pp,mbs,s/it,tok/s\n2,1,1,8,500000") ==
          R"(problem.run.two_times {"first":8.0,"key":"s/it","other":"tok/s","second":8.388608})");
    CHECK(said(table("tp,mem,pp,peak memory\n2,1,1,1")["problems"][0]["message"]) ==
          R"(problem.runs.column_twice {"first":"mem","line":1,"second":"peak memory"})");
}

TEST_CASE("bad input of every column is named") {
    for (const Measure& measure : kMeasures) {
        const std::string key = measure.key, field = "runs[0]." + key;
        CAPTURE(key);
        const auto with = [&](const char* value) {
            return brief(answer_to("\"" + key + "\": " + value, R"({"flop_convention": "causal"})")["problems"]);
        };
        CHECK(with("0").find(field + " range 0") == 0);
        CHECK(with("-3").find(field + " range -3") == 0);
        CHECK(with("null").find(field + " type null") == 0);
        CHECK(with("\"much\"").find(field + " type \"much\"") == 0);
        CHECK(with("true").find(field + " type true") == 0);
        CHECK(with("1e308").find(field + " range ") == 0);
        CHECK(with("1e-308").find(field + " range ") == 0);
    }
    CHECK(brief(answer_to(R"("step_seconds": 8, "data_parallel": 0)")["problems"]).find("runs[0].data_parallel range 0") == 0);
    CHECK(brief(answer_to(R"("step_seconds": 8, "data_parallel": "auto")")["problems"]).find("runs[0].data_parallel type \"auto\"") == 0);
    CHECK(brief(answer_to(R"("gpus": 64)")["problems"]) == "runs[0].step_seconds missing null -> null");
    CHECK(brief(table("tp,pp,mb,tok/s\n2,1,1,")["problems"]) == "runs[0].tokens_per_second missing null -> null");
    CHECK(said(table("tp,pp,mb\n2,1,1")["problems"][0]["message"]) == R"(problem.runs.no_measure {"key":"step_seconds","line":1})");
    CHECK(brief(table("iteration 10/ 500000 | consumed samples: 5120 |\n1")["problems"]) == "runs_text missing null -> null");
}

TEST_CASE("two measurements of one run: within 2 % the first is used, beyond both are named") {
    CHECK(seconds_of(R"("step_seconds": 8, "tokens_per_second": 520000)") == 8);         // 8.066 s
    const Json answer = answer_to(R"("step_seconds": 8, "tokens_per_second": 500000)");  // 8.389 s
    REQUIRE(answer["ok"] == false);
    CHECK(brief(answer["problems"]).find("runs[0].tokens_per_second contradictory 8.388608 -> null") == 0);
    CHECK(said(answer["problems"][0]["message"]["args"]["message"]) ==
          R"(problem.run.two_times {"first":8.0,"key":"step_seconds","other":"tokens_per_second","second":8.388608})");
    const Json memory = answer_to(R"("allocated_gib": 40, "allocated_mib": 20000)");
    CHECK(brief(memory["problems"]).find("runs[0].allocated_mib contradictory") == 0);
    CHECK(answer_to(R"("allocated_gib": 40, "allocated_mib": 40900)")["ok"] == true);
    const Json less = answer_to(R"("allocated_gib": 40, "reserved_gib": 39)");
    CHECK(brief(less["problems"]).find("runs[0].reserved_gib contradictory") == 0);
    const Json both = answer_to(R"("allocated_gib": 40, "reserved_gib": 44)");
    CHECK(both["rows"][0]["memory"]["reserved"] == false);
    CHECK(both["rows"][0]["memory"]["bytes"] == 40 * kGibi);
}

TEST_CASE("what a run leaves out follows the plan above, and where that is open the search's choice for the run") {
    Json request = json(R"({"model": "llama-3.1-8b", "gpu": "h100-sxm-80gb", "gpus": 64, "global_batch": 512})");
    request["runs"] = json(R"([{"tensor_parallel": 2, "step_seconds": 9}, {"step_seconds": 9, "micro_batch": 2, "zero": "optimizer"}])");
    const Json answer = calibrated(request);
    REQUIRE_MESSAGE(answer["ok"] == true, answer.dump());
    for (std::size_t i = 0; i < 2; ++i) {
        Json run = request["runs"][i], job = request;
        run.erase("step_seconds"), job.erase("runs"), job.update(run);
        const Json shown = json(api::estimate(job.dump()));
        const Json& row = answer["rows"][i];
        CHECK(row["estimated_seconds"] == shown["time"]["step_seconds"]);
        for (const auto& [key, value] : row["filled"].items()) CHECK(shown["job"][key] == value);
        CHECK(row["filled"].size() == shown["auto"].size() - 2);  // expert and expert tensor parallel: there are no experts
        for (const auto& [key, value] : run.items()) CHECK(!row["filled"].contains(key));
    }
    // a plan above that is set is not filled in, and counts
    request.update(
        json(R"({"tensor_parallel": 4, "pipeline_parallel": 2, "context_parallel": 1, "micro_batch": 1, "runs": [{"step_seconds": 9}]})"));
    const Json set = calibrated(request);
    CHECK(set["rows"][0]["plan"]["pipeline_parallel"] == 2);
    CHECK(!set["rows"][0]["filled"].contains("pipeline_parallel"));
    CHECK(set["rows"][0]["filled"].contains("schedule"));
    // no plan has it
    request["runs"] = json(R"([{"tensor_parallel": 3, "step_seconds": 9}])");
    CHECK(brief(calibrated(request)["problems"]).find("runs[0].") == 0);
}

TEST_CASE("data parallel: it gives the GPUs or the last open degree, else it must agree") {
    Json request = json(R"({"model": "llama-3.1-8b", "gpu": "h100-sxm-80gb", "gpus": 64, "global_batch": 512})");
    const auto plan_of = [&](const char* run) {
        request["runs"] = Json::array({json(run)});
        const Json answer = calibrated(request);
        return answer["ok"] == true ? answer["rows"][0]["plan"] : answer["problems"];
    };
    const Json eight = plan_of(R"({"data_parallel": 4, "tensor_parallel": 2, "pipeline_parallel": 1, "step_seconds": 60})");
    CHECK(eight["gpus"] == 8);
    CHECK(eight["context_parallel"] == 1);
    CHECK(plan_of(R"({"gpus": 64, "data_parallel": 16, "tensor_parallel": 2, "step_seconds": 9})")["pipeline_parallel"] == 2);
    CHECK(plan_of(R"({"gpus": 64, "data_parallel": 16, "pipeline_parallel": 2, "step_seconds": 9})")["tensor_parallel"] == 2);
    CHECK(plan_of(R"({"nodes": 16, "tensor_parallel": 2, "pipeline_parallel": 1, "step_seconds": 9})")["gpus"] == 128);
    CHECK(plan_of(R"({"nodes": 4, "gpus_per_node": 4, "tensor_parallel": 2, "pipeline_parallel": 1, "step_seconds": 45})")["gpus"] == 16);
    CHECK(plan_of(R"({"nodes": 4, "gpus": 64, "tensor_parallel": 2, "pipeline_parallel": 1, "step_seconds": 9})")["gpus"] == 64);
    const Json wrong = plan_of(R"({"gpus": 64, "data_parallel": 4, "tensor_parallel": 2, "pipeline_parallel": 2, "step_seconds": 9})");
    CHECK(brief(wrong) == "runs[0].data_parallel contradictory 4 -> null");
    CHECK(said(wrong[0]["message"]["args"]["message"]) == R"(problem.run.data_parallel {"copies":16,"given":4,"gpus":64})");
}
