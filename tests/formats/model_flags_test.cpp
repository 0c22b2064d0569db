// Flags of Megatron-LM that single models have: windows, sinks, latents of experts, letters of layers.
#include <algorithm>

#include "formats/formats.h"
#include "job/job.h"
#include "model/catalog.h"
#include "random_cases.h"
#include "settings.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {
bool lists_text(const Export& made, std::string_view id) {
    return std::any_of(made.left_out.begin(), made.left_out.end(), [&](const Text& text) { return text.id() == id; });
}
}  // namespace

TEST_CASE("Megatron-LM: windows, sinks, latents of experts and letters of layers are written for releases that know them") {
    const auto written = [](std::string_view id, int release = -1) {
        Job job;
        for (const CatalogModels* all : {&catalog_models(), &named_models()})
            for (const CatalogModel& one : all->list)
                if (one.model.id == id) job.model = one.model;
        REQUIRE(job.model.layers > 0);
        tests::Random random(7);
        job.gpu = of_catalog(catalog().gpus[0]);
        job.plan = tests::random_legal_plan(random, job.model);
        job.exported.release = release;
        return megatron_script(job);
    };
    const auto has = [](const Export& made, std::string_view words) { return made.text.find(words) != std::string::npos; };
    const Export sinks = written("gpt-oss-20b");
    CHECK(has(sinks, "--window-size 127,0"));
    CHECK(has(sinks, "--window-attn-skip-freq 2"));
    CHECK(has(sinks, "--softmax-type learnable"));
    CHECK(!has(written("gpt-oss-20b", 0), "--window-size"));
    CHECK(lists_text(written("gpt-oss-20b", 0), "export.left_out.newer_model"));
    const Export hybrid = written("nemotron-h-56b");
    CHECK(has(hybrid, "pretrain_mamba.py"));
    CHECK(has(hybrid, "--hybrid-override-pattern 'M"));
    CHECK(has(hybrid, "--mamba-state-dim "));
    CHECK(!lists_text(hybrid, "export.left_out.mixers"));
}

TEST_CASE("Megatron-LM: a window is read as it is written") {
    const std::string start =
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 6 --hidden-size 512 --num-attention-heads 8 --seq-length 512 "
        "--max-position-embeddings 512 --vocab-size 1000 --micro-batch-size 1 --bf16 --position-embedding-type rope --normalization "
        "RMSNorm ";
    const auto model = [&](const std::string& more) { return first_of_script(start + more + "\n")["job"]["model"]; };
    const Json every = model("--window-size 128,0 --window-attn-skip-freq 3");
    CHECK(every["sliding_window"] == 129);
    CHECK(every["layer_types"].dump() ==
          R"(["sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","full_attention"])");
    CHECK(model("--window-size '(127,0)' --window-attn-skip-freq '([1]*5+[0])'")["layer_types"][5] == "full_attention");
    CHECK(model("--window-size 127,0")["sliding_window"] == 128);
    CHECK(model("")["sliding_window"].is_null());
    CHECK(ids(first_of_script(start + "--softmax-type learnable\n")["notes"]).find("not_counted") != std::string::npos);
}
