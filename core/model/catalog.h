// The profiles compiled in: GPUs, clusters, models. Read once; a profile that does not read is left out and reported (a test forbids it).
#pragma once
#include <string_view>
#include <vector>

#include "model/hardware.h"
#include "model/model.h"

namespace fourfold {

struct CatalogModel {
    Model model;
    std::string repository;  // on Hugging Face, "meta-llama/Llama-3.1-8B"; "" where it has none
};

// Models alone, for who needs no cards.
struct CatalogModels {
    std::vector<CatalogModel> list;  // by family, then size
    Problems problems;
};
const CatalogModels& catalog_models();
// Models that are named more rarely: readers of configurations find them, requests and pages give their config.
const CatalogModels& named_models();
// What else a model of either list is called: a list for each id that has some.
const Json& other_names();

struct Catalog {
    std::vector<Gpu> gpus;  // in the order people look for them: by generation, then memory
    std::vector<Cluster> clusters;
    std::vector<CatalogModel> models;
    Problems problems;

    const Gpu* gpu(std::string_view id) const;
    const Cluster* cluster(std::string_view id) const;
    const CatalogModel* model(std::string_view id) const;
};

// Built on first use, never changed after.
const Catalog& catalog();

// Adds to profiles where their numbers were read. In the module this comes with the second file (wasm/split.mjs).
void add_sources(Json& gpus, Json& clusters, Json& models);

}  // namespace fourfold
