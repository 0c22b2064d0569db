// Random numbers that are the same on every machine: integer arithmetic alone, no distribution of the standard library.
#pragma once
#include <cstdint>

namespace fourfold {

// SplitMix64 (G. Steele, D. Lea, C. Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
class Random {
 public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }
    // 0 … count-1. Not exactly uniform: off by less than count/2^32 (D. Lemire, arXiv 1805.10941, without its rejection).
    std::uint32_t below(std::uint32_t count) { return static_cast<std::uint32_t>(((next() >> 32) * count) >> 32); }

 private:
    std::uint64_t state_;
};

}  // namespace fourfold
