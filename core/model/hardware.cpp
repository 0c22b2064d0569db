#include "model/hardware.h"

#include "base/bytes.h"

namespace fourfold {

constexpr double kTera = 1e12, kBitsPerByte = 8;

// The number at `key`; with `required`, its absence is a problem.
static double number_at(const Json& profile, const char* key, bool required, Problems& problems) {
    const auto entry = profile.find(key);
    if (entry != profile.end() && entry->is_number()) return *entry;
    if (required || entry != profile.end())
        problems.push_back(
            {key, entry == profile.end() ? "missing" : "type", nullptr, Text("problem.profile.number").with("key", key), {}, nullptr});
    return 0;
}

static std::string text(const Json& profile, const char* key, Problems& problems) {
    const auto entry = profile.find(key);
    if (entry != profile.end() && entry->is_string()) return *entry;
    problems.push_back({key, "missing", nullptr, Text("problem.no_text_value").with("key", key), {}, nullptr});
    return {};
}

static Architecture architecture(const Json& profile, Problems& problems) {
    constexpr std::string_view kNames[] = {"ampere", "hopper", "blackwell", "blackwell_ultra", "cdna3", "cdna4", "ada"};
    const std::string name = text(profile, "architecture", problems);
    for (std::size_t i = 0; i < std::size(kNames); ++i)
        if (name == kNames[i]) return static_cast<Architecture>(i);
    problems.push_back({"architecture", "range", name, Text("problem.profile.architecture").with("choices", Json(kNames)), {}, nullptr});
    return Architecture::hopper;
}

static Topology topology(std::string_view name) {
    return name == "mesh" ? Topology::mesh : name == "bridge" ? Topology::bridges : Topology::one_switch;
}

Gpu read_gpu(const Json& profile, Problems& problems) {
    Gpu gpu;
    gpu.architecture = architecture(profile, problems);
    gpu.id = gpu.base = text(profile, "id", problems);
    gpu.label = text(profile, "label", problems);
    gpu.memory_bytes = number_at(profile, "memory_gib", true, problems) * kGibi;
    gpu.bf16_flop_per_s = number_at(profile, "bf16_dense_tflop_per_s", true, problems) * kTera;
    gpu.fp16_flop_per_s = number_at(profile, "fp16_dense_tflop_per_s", true, problems) * kTera;
    gpu.fp8_flop_per_s = number_at(profile, "fp8_dense_tflop_per_s", false, problems) * kTera;
    gpu.hbm_byte_per_s = number_at(profile, "hbm_gbyte_per_s", true, problems) * kGbyte;
    gpu.pcie_byte_per_s = number_at(profile, "pcie_gbyte_per_s", false, problems) * kGbyte;
    gpu.c2c_byte_per_s = number_at(profile, "c2c_gbyte_per_s", false, problems) * kGbyte;
    gpu.link_byte_per_s = number_at(profile, "link_gbyte_per_s", true, problems) * kGbyte;
    gpu.over_pcie = profile.value("link", "") == "pcie";
    gpu.topology = topology(profile.value("topology", "switch"));
    gpu.streaming_multiprocessors = static_cast<std::int64_t>(number_at(profile, "streaming_multiprocessors", true, problems));
    gpu.gpus_per_node = static_cast<std::int64_t>(number_at(profile, "gpus_per_node", true, problems));
    gpu.board_watts = number_at(profile, "board_watts", false, problems);
    gpu.usd_per_hour = number_at(profile, "usd_per_gpu_hour", false, problems);
    gpu.profile = profile;
    return gpu;
}

Gpu own_gpu(const Gpu& base, std::string_view name, const OwnNumbers& numbers) {
    Gpu gpu = base;
    gpu.id.clear();
    gpu.label = name;
    const auto set = [](double& number, double given, double unit) {
        if (given != kAutoNumber) number = given * unit;
    };
    set(gpu.memory_bytes, numbers.memory, kGibi);
    set(gpu.bf16_flop_per_s, numbers.bf16, kTera);
    set(gpu.fp16_flop_per_s, numbers.bf16, kTera);
    set(gpu.fp8_flop_per_s, numbers.fp8, kTera);
    set(gpu.hbm_byte_per_s, numbers.hbm, kGbyte);
    set(gpu.link_byte_per_s, numbers.link, kGbyte);
    set(gpu.network_byte_per_s, numbers.network, kGbyte);
    set(gpu.pcie_byte_per_s, numbers.pcie, kGbyte);
    if (gpu.link_byte_per_s != base.link_byte_per_s && gpu.topology == Topology::bridges)
        gpu.topology = Topology::one_switch;                  // one number for all of a node
    if (numbers.pcie != kAutoNumber) gpu.c2c_byte_per_s = 0;  // another card's host is not on its board
    set(gpu.board_watts, numbers.watts, 1);
    set(gpu.usd_per_hour, numbers.price, 1);
    if (numbers.processors != kAuto) gpu.streaming_multiprocessors = numbers.processors;
    if (numbers.memory != kAutoNumber) gpu.profile["memory_gib"] = numbers.memory;
    gpu.own = Object().add("name", name).add("base", base.id);
    visit_fields(numbers, FieldWriter(gpu.own));
    return gpu;
}

Cluster read_cluster(const Json& profile, Problems& problems) {
    Cluster cluster;
    cluster.id = text(profile, "id", problems);
    cluster.label = text(profile, "label", problems);
    cluster.gpu = text(profile, "gpu", problems);
    cluster.gpus_per_node = static_cast<std::int64_t>(number_at(profile, "gpus_per_node", true, problems));
    cluster.nics_per_node = static_cast<std::int64_t>(number_at(profile, "nics_per_node", true, problems));
    cluster.nic_byte_per_s = number_at(profile, "nic_gbit_per_s", true, problems) * kGbyte / kBitsPerByte;
    cluster.topology = topology(text(profile, "topology", problems));
    if (const auto site = profile.find("site"); site != profile.end() && site->is_object())
        cluster.site = {number_at(*site, "network_share", true, problems), number_at(*site, "send_share", true, problems),
                        number_at(*site, "fixed_s", true, problems), number_at(*site, "stall_s", true, problems)};
    cluster.profile = profile;
    return cluster;
}

}  // namespace fourfold
