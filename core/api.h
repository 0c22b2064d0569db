// The contract between the core and everything outside it: JSON text in, JSON text out. core/contract/api.md describes every key of every
// request and answer; it is generated from core/contract/*.json, which programs can read (JSON Schema).
//
// Every function takes UTF-8 text, never throws, never returns invalid JSON, keeps no state, and answers the same for the same input.
// Nothing that a user can type is an error of the program: a mistake comes back as {"ok": false, "version", "problems": […]}. Units: keys
// that end in _bytes are bytes, "share" is a fraction of the card; a card of 80 GB has 80 times 2^30 bytes, as the cited paper counts it.
//
// A job, the common part of a request, is a flat object: "model", "gpu", "cluster", "method", and the fields that catalog() lists. Every
// key may be left out. What is on "auto" is searched, and the answer is the first plan of rank(), whoever asks.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/columns.h"

namespace fourfold::api {

// Everything that must be known before the first question: GPUs, clusters, models, methods, fields, rules.
// Without `sources` the lists of where numbers were read are empty.
std::string catalog(bool sources = true);

// The text of a Hugging Face config.json as a model that "model" of a job accepts.
std::string import_config(std::string_view text);

// Memory and time of a plan: of one pipeline stage item by item, of all stages in sums.
std::string estimate(std::string_view request);

// What else the reader could do: neighbouring values, single changes, everything on "auto".
std::string alternatives(std::string_view request);

// The pipeline of one step: what every stage does when, and when it waits.
std::string timeline(std::string_view request);

// A plan as the configuration of a training framework, and what that cannot say.
std::string export_plan(std::string_view request);

// A launch script as the jobs that it describes, argument by argument.
std::string import_plan(std::string_view request);

// Models by words of their names: those of the catalogue, and those that only readers of configurations know.
std::string find_models(std::string_view request);

// What a run printed: its times, its memory, how it died; and what that says about its plan.
std::string read_run(std::string_view request);

// Every legal split for each number of GPUs, as a summary and columns.
struct SearchAnswer {
    std::string summary;
    SearchColumns columns;
};
SearchAnswer search(std::string_view request);

// The fastest plans of all that the job leaves on "auto", in the order in which "auto" chooses.
std::string rank(std::string_view request);

// The job's plan against the same plan with some fields changed.
std::string versus(std::string_view request);

// The reverse questions: the fewest GPUs, the largest batch, micro-batch and sequence, the models that fit.
std::string limits(std::string_view request);

// A run in phases: each is searched; days, cost and energy with the changes between them and what usually breaks.
std::string phases(std::string_view request);

// GPUs of different kinds in one run: the fastest way on all of them, and on each kind alone.
std::string pools(std::string_view request);

// What measured steps of one's own say about the estimate of time.
std::string calibrate(std::string_view request);

// A measurement of the links between nodes (or GPUs), as a tool printed it.
std::string read_links(std::string_view request);

// Which node (or GPU) should stand where on links that were measured. `go_on` is asked every 16,384 moves; false ends the search with the
// best so far. The matrices of "links" may come beside the text; "links" then has names only.
std::string place(std::string_view request, bool (*go_on)(void* context, const std::string& progress) = nullptr, void* context = nullptr,
                  LinkColumns links = {});

// Runs `count` memory estimates over many plans without any text and returns the sum of their bytes: the rate that a search can reach,
// for the benchmarks that compare the module with the native build.
double benchmark_estimates(std::int32_t count);

}  // namespace fourfold::api
