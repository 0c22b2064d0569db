#include "formats/find_models.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "formats/named_model.h"

namespace fourfold {

namespace {

using Models = std::vector<const CatalogModel*>;

Models all_models() {
    Models all;
    for (const CatalogModels* models : {&catalog_models(), &named_models()})
        for (const CatalogModel& one : models->list) all.push_back(&one);
    return all;
}

Json names_of(const CatalogModel& model) {
    const auto names = other_names().find(model.model.id);
    return names == other_names().end() ? Json::array() : *names;
}

// How the words stand in what the model is called, or in one of its other names.
Meant meant_by(const std::string& words, const CatalogModel& model) {
    Meant best = meant(words, Named{model.model.id, joined({model.model.label, " ", model.repository})});
    const Json names = names_of(model);
    for (const Json& name : names) best = std::max(best, meant(words, Named{name.get_ref<const std::string&>(), ""}));
    return best;
}

// Whose names have all words. Those come first in which every word begins one.
Models with_words(const Models& all, const std::string& words) {
    Models found;
    for (const Meant wanted : {Meant::begins, Meant::has})
        for (const CatalogModel* one : all)
            if (meant_by(words, *one) == wanted) found.push_back(one);
    return found;
}

Models spelled_alike(const Models& all, const std::string& words) {
    std::vector<std::string_view> ids;
    for (const CatalogModel* one : all) ids.push_back(one->model.id);
    const std::string_view near = closest(lower_case(words), ids);
    const auto found = std::find(ids.begin(), ids.end(), near);
    return found == ids.end() ? Models() : Models{all[static_cast<std::size_t>(found - ids.begin())]};
}

Json describe(const CatalogModel& model) {
    return Object()
        .add("id", model.model.id)
        .add("label", model.model.label)
        .add("repository", model.repository)
        .add("parameters", parameter_count(model.model))
        .add("names", names_of(model))
        .add("model", as_requested(model));
}

}  // namespace

Json found_models(const Json& request, Problems& problems) {
    constexpr std::size_t kLongestWords = 200;  // bytes; no model has a longer name
    FieldReader reader(request, problems);
    const std::string* const given = reader.text("words");
    reader.reject_unknown();
    if (!problems.empty()) return nullptr;
    const std::string words = given == nullptr ? "" : given->substr(0, kLongestWords);
    const Models all = all_models();
    Models found = with_words(all, words);
    const char* match = found.empty() ? "none" : "words";
    if (const CatalogModel* const named = named_model(words)) {
        std::erase(found, named);
        found.insert(found.begin(), named);
        match = "name";
    } else if (found.empty()) {
        found = spelled_alike(all, words);
        if (!found.empty()) match = "near";
    }
    Json models = Json::array();
    for (const CatalogModel* one : found) models.push_back(describe(*one));
    return Object().add("ok", true).add("match", match).add("models", std::move(models));
}

}  // namespace fourfold
