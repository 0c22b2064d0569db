// Models by what people type where a model is asked for.
#include <doctest/doctest.h>

#include <algorithm>

#include "api.h"
#include "base/embedded.h"
#include "contract.h"
#include "model/catalog.h"
#include "support.h"

using namespace fourfold;
using tests::json;

namespace {

Json found(const Json& request) {
    CHECK(tests::request_defect(request, "find_models") == "");
    Json answer = json(api::find_models(request.dump()));
    CHECK(tests::answer_defect(answer, "find_models") == "");
    REQUIRE(answer["ok"] == true);
    return answer;
}

// "name: gemma-2b gemma-2-2b"
std::string by(std::string_view words) {
    const Json answer = found({{"words", words}});
    std::string all = answer["match"].get<std::string>() + ":";
    for (const Json& one : answer["models"]) all += " " + one["id"].get<std::string>();
    return all;
}

}  // namespace

TEST_CASE("words of a name in any order, a repository, a mirror or another name find a model") {
    CHECK(by("gemma 2b") == "name: gemma-2b gemma-2-2b");
    CHECK(by("2B Gemma") == "words: gemma-2b gemma-2-2b");
    CHECK(by("google/gemma-2-2b") == "name: gemma-2-2b gemma-2b");
    CHECK(by("unsloth/gemma-2-2b-it-bnb-4bit") == "name: gemma-2-2b");
    CHECK(by("mistral nemo") == "name: mistral-nemo-12b");
    CHECK(by("qwen3 0.6b") == "name: qwen3-0.6b");
    CHECK(by("pythia 1.4b") == "name: pythia-1.4b");
    CHECK(by("codegemma") == "words: gemma-2b gemma-7b");
    CHECK(by("meta-llama/Llama-3.1-8B-Instruct").starts_with("name: llama-3.1-8b"));
    CHECK(by("gpt2").starts_with("name: gpt2-124m"));
}

// The rows of web/src/answer/model-search.test.ts: the page searches what it has by itself.
TEST_CASE("what the page's own list finds is found here") {
    const auto listed = [](std::string_view words) {
        std::vector<std::string> ids;
        const Json answer = found({{"words", words}});
        for (const Json& one : answer["models"])
            if (one["model"].is_string()) ids.push_back(one["id"]);
        std::sort(ids.begin(), ids.end());
        std::string all;
        for (const std::string& id : ids) all += (all.empty() ? "" : " ") + id;
        return all;
    };
    CHECK(listed("llama 3.1 70b") == "llama-3.1-70b");
    CHECK(listed("70b 3.1 llama") == "llama-3.1-70b");
    CHECK(listed("meta-llama/Llama-3.1-70B") == "llama-3.1-70b");
    CHECK(listed("qwen 235") == "qwen3-235b-a22b");
    CHECK(listed("235 QWEN") == "qwen3-235b-a22b");
    CHECK(listed("mistralai") == "mistral-7b mistral-large-2 mixtral-8x7b");
    CHECK(listed("mixtral 7b") == "mixtral-8x7b");
    CHECK(listed("llama2 7b") == "llama-2-7b");
    CHECK(listed("gptoss") == "gpt-oss-120b gpt-oss-20b");
    CHECK(by("k2").starts_with("words: kimi-k2 "));  // "k2" begins no word of "deepseek2"
    CHECK(listed("llama banana").empty());
}

TEST_CASE("a size is a size, not the end of another one") {
    const std::string of_7b = by("gemma 7b");
    CHECK(of_7b.find("gemma-7b") != std::string::npos);
    CHECK(of_7b.find("27b") == std::string::npos);
}

TEST_CASE("a number is not the beginning of a longer one, unless it is still typed") {
    CHECK(by("olmo 3 32") == "words: olmo-3-32b");
    CHECK(by("olmo 3").starts_with("words: olmo-3-"));
    CHECK(by("olmo 3").ends_with(" olmo-2-32b"));
    CHECK(by("llama 3 70").find("llama-3-70b") != std::string::npos);
    CHECK(by("llama3 70").find("llama-3-70b") != std::string::npos);
    CHECK(by("qwen 2.5").find("qwen2.5-72b") != std::string::npos);
    for (const char* const id : {"qwen3-4b", "qwen3-8b", "qwen3-14b", "qwen3-235b-a22b"}) CHECK(by("qwen 3").find(id) != std::string::npos);
    CHECK(by("qwen 3 32").starts_with("words: qwen3-32b"));
    CHECK(by("qwen3 235") == "words: qwen3-235b-a22b");
    CHECK(by("llama 3.1 8").starts_with("words: llama-3.1-8b"));
    CHECK(by("llama 3.1 40").find("llama-3.1-405b") != std::string::npos);
}

TEST_CASE("what none is called: the one spelled alike, or none") {
    CHECK(by("gemma-2bb") == "near: gemma-2b");
    CHECK(by("pythia-1.4c") == "near: pythia-1.4b");
    CHECK(by("oracle of delphi") == "none:");
    CHECK(by(std::string(100'000, 'g')) == "none:");
}

TEST_CASE("law: every model is found by its id, first; without words all are") {
    const Json all = found(Json::object());
    CHECK(all["models"].size() == embedded::models.size() + embedded::named_models.size());
    CHECK(all["match"] == "words");
    for (const Json& one : all["models"]) CHECK(found({{"words", one["id"]}})["models"][0] == one);
}

TEST_CASE("law: what is found is a model that a job takes, with as many weights") {
    const Json all = found(Json::object());
    for (const Json& one : all["models"]) {
        CAPTURE(one["id"]);
        if (one["model"].is_string()) {
            CHECK(one["model"] == one["id"]);
            continue;
        }
        const Json imported = json(api::import_config(one["model"].dump()));
        CHECK(imported["parameters"] == one["parameters"]);
        Json as_pasted = imported["model"], config = one["model"];
        const Json name = one["repository"] == "" ? one["id"] : one["repository"];
        CHECK(config["_name_or_path"] == name);  // its name and its source; what is pasted keeps the name alone
        config.erase("_name_or_path");
        as_pasted.erase("_name_or_path");
        CHECK(as_pasted == config);
    }
}

TEST_CASE("a request that is none is refused") {
    CHECK(json(api::find_models(R"({"words": 7})"))["ok"] == false);
    CHECK(json(api::find_models(R"({"word": "gemma"})"))["ok"] == false);
    CHECK(json(api::find_models("["))["ok"] == false);
}
