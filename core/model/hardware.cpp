#include "model/hardware.h"

namespace fourfold {

constexpr double kGiga = 1e9, kTera = 1e12, kGibi = 1024.0 * 1024.0 * 1024.0, kBitsPerByte = 8;

// The number at `key`; with `required`, its absence is a problem.
static double number(const Json& profile, const char* key, bool required, Problems& problems) {
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
    gpu.memory_bytes = number(profile, "memory_gib", true, problems) * kGibi;
    gpu.bf16_flop_per_s = number(profile, "bf16_dense_tflop_per_s", true, problems) * kTera;
    gpu.fp16_flop_per_s = number(profile, "fp16_dense_tflop_per_s", true, problems) * kTera;
    gpu.fp8_flop_per_s = number(profile, "fp8_dense_tflop_per_s", false, problems) * kTera;
    gpu.hbm_byte_per_s = number(profile, "hbm_gbyte_per_s", true, problems) * kGiga;
    gpu.pcie_byte_per_s = number(profile, "pcie_gbyte_per_s", false, problems) * kGiga;
    gpu.c2c_byte_per_s = number(profile, "c2c_gbyte_per_s", false, problems) * kGiga;
    gpu.link_byte_per_s = number(profile, "link_gbyte_per_s", true, problems) * kGiga;
    gpu.topology = topology(profile.value("topology", "switch"));
    gpu.streaming_multiprocessors = static_cast<std::int64_t>(number(profile, "streaming_multiprocessors", true, problems));
    gpu.gpus_per_node = static_cast<std::int64_t>(number(profile, "gpus_per_node", true, problems));
    gpu.board_watts = number(profile, "board_watts", false, problems);
    gpu.usd_per_hour = number(profile, "usd_per_gpu_hour", false, problems);
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
    set(gpu.hbm_byte_per_s, numbers.hbm, kGiga);
    set(gpu.link_byte_per_s, numbers.link, kGiga);
    set(gpu.network_byte_per_s, numbers.network, kGiga);
    set(gpu.pcie_byte_per_s, numbers.pcie, kGiga);
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
    cluster.gpus_per_node = static_cast<std::int64_t>(number(profile, "gpus_per_node", true, problems));
    cluster.nics_per_node = static_cast<std::int64_t>(number(profile, "nics_per_node", true, problems));
    cluster.nic_byte_per_s = number(profile, "nic_gbit_per_s", true, problems) * kGiga / kBitsPerByte;
    cluster.topology = topology(text(profile, "topology", problems));
    if (const auto site = profile.find("site"); site != profile.end() && site->is_object())
        cluster.site = {number(*site, "network_share", true, problems), number(*site, "send_share", true, problems),
                        number(*site, "fixed_s", true, problems), number(*site, "stall_s", true, problems)};
    cluster.profile = profile;
    return cluster;
}

}  // namespace fourfold
