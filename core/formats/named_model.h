// A model of the catalogue by the name that a configuration gives it.
#pragma once
#include <string_view>

#include "formats/entries.h"
#include "model/catalog.h"

namespace fourfold {

// "meta-llama/Meta-Llama-3-8B-Instruct", "llama31_405b", "llama3.1_70B.yaml", "llama3_8b_pretrain_config"; nullptr where none has that
// name.
const CatalogModel* named_model(std::string_view name);

// "google/flan-t5-xl", "pretrain_bert.py": a model with an encoder, or an encoder alone, which no formula here counts.
bool names_an_encoder(std::string_view name);
void refuse_encoder(Import& import, std::string_view name);

// As a request says it: its id, or the config of one that the catalogue lacks.
Json as_requested(const CatalogModel& model);
// The model that a job has by now, in the catalogue or beside it; nullptr where it has none, or one of its own.
const CatalogModel* model_of(const Import& import);
// The same, or where it has none the one that was asked for and answered.
const CatalogModel* known_model(const Import& import);
// Sets the job's model from the entry of that key; false where it names none.
bool take_named_model(Import& import, std::string_view key);

// Whether sizes stand beside a model's name, in Megatron Core's names; and that model with them: its id where nothing changes, a
// config.json of its own, or nothing where the model has no such size.
bool says_sizes(const Import& import);
std::optional<Json> with_sizes(Import& import, const Model& model);
// Sizes in Megatron's names beside a named model change it: the job's model becomes one of its own. What cannot be changed so is noted, and
// the model asked for.
void resize_named_model(Import& import);

// Sizes that do not go together stop the program: the first such thing is said.
void refuse_sizes(Import& import, const Problems& problems);
// The job's model by a config.json.
void take_sizes(Import& import, const Json& config);

// The model is asked for, where nothing said it; an answer is an id of the catalogue.
void ask_model(Import& import);

}  // namespace fourfold
