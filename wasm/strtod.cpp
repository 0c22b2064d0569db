// The C library's strtod works in 128-bit numbers, which WebAssembly has to compute in software: three quarters of the time in which a
// matrix of a million links is read. Numbers of up to 15 digits need none of it. (The linker sends strtod here: --wrap.)
#include <cstdlib>

#include "base/decimal.h"

extern "C" {

double __real_strtod(const char* text, char** end);
double __wrap_strtod(const char* text, char** end);

double __wrap_strtod(const char* text, char** end) {
    double value = 0;
    const char* behind = fourfold::read_decimal(text, value);
    if (behind == nullptr) return __real_strtod(text, end);
    if (end != nullptr) *end = const_cast<char*>(behind);
    return value;
}
}
