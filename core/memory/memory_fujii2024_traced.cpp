// The formulas of memory_fujii2024.cpp over Traced. Apart, because the module is downloaded: what runs once per answer is compiled for
// size, what a search runs by the million for speed.
#define FOURFOLD_TRACED
#include "memory/memory_fujii2024.cpp"  // NOLINT(bugprone-suspicious-include): the same text, on purpose
