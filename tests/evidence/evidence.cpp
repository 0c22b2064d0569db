#include "evidence/evidence.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "api.h"
#include "job/job.h"

namespace fourfold::tests {

namespace {

double number(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

// The row's own keys win over the source's.
Json whole_request(const Json& head, const Json& row) {
    Json request = head.value("request", Json::object());
    const std::string model = row.value("model", "");
    const Json& models = head["models"];
    request["model"] = models.contains(model) ? models[model] : Json(model);
    for (const auto& [key, value] : row["request"].items()) request[key] = value;
    request["version"] = 2;
    return request;
}

}  // namespace

std::vector<EvidenceSource> read_evidence(const std::string& folder, std::vector<std::string>& defects) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<EvidenceSource> sources;
    for (const auto& path : files) {
        EvidenceSource source{path.stem().string(), {}, {}};
        std::ifstream file(path);
        int count = 0;
        for (std::string line; std::getline(file, line);) {
            Json json = Json::parse(line, nullptr, false);
            ++count;
            if (!json.is_object() || (count > 1 && !json["request"].is_object())) {
                defects.push_back(source.name + ":" + std::to_string(count) + ": no row");
                continue;
            }
            if (count == 1) {
                source.head = std::move(json);
                continue;
            }
            EvidenceRow row;
            row.id = json.value("id", "");
            row.outcome = json.value("outcome", "");
            row.job = json.value("job", 0);
            row.request = whole_request(source.head, json);
            row.step_seconds = number(json, "step_seconds");
            row.row = std::move(json);
            source.rows.push_back(std::move(row));
        }
        sources.push_back(std::move(source));
    }
    return sources;
}

std::optional<Answered> answer_to(const Json& request, std::string& problem) {
    const Json answer = Json::parse(api::estimate(request.dump()), nullptr, false);
    if (!answer.is_object() || answer["ok"] != true) {
        problem = answer.is_object() ? answer["problems"].dump() : "no JSON";
        return std::nullopt;
    }
    Answered a;
    const Json& time = answer["time"];
    a.seconds = number(time, "step_seconds"), a.low = number(time, "low_seconds"), a.high = number(time, "high_seconds");
    a.basis = time["basis"].value("id", "");
    if (const auto arguments = time["basis"].find("args"); arguments != time["basis"].end()) a.basis_runs = arguments->value("runs", 0);
    a.verdict = answer.value("class", "");
    if (answer["probability"].is_number()) a.probability = answer["probability"];
    a.share = number(answer, "share"), a.whole_bytes = number(answer, "whole_bytes");
    for (const Json& stage : answer["stages"]) {
        a.peak_bytes.push_back(number(stage, "bytes"));
        a.static_bytes.push_back(number(stage, "static_bytes"));
    }
    a.model = answer["model"].value("label", ""), a.parameters = number(answer["model"], "parameters");
    a.framework = answer["job"].value("framework", ""), a.precision = answer["job"].value("precision", "");
    Problems problems;
    if (const auto job = read_parsed_job(answer["job"], Request::estimate, problems))
        a.plan = job->plan, a.experts = job->model.experts.count > 0;
    return a;
}

}  // namespace fourfold::tests
