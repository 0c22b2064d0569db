// Asks the installed library whether a run fits, and prints its answer.
#include <fourfold/fourfold.h>

#include <cstdio>

int main() {
    const std::string answer = fourfold::api::estimate(R"({"model": "llama-3.1-8b", "gpu": "h100-sxm-80gb", "gpus": 8})");
    std::puts(answer.c_str());
    return answer.find("\"ok\":true") == std::string::npos ? 1 : 0;
}
