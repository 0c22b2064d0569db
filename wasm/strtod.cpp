// The C library's strtod works in 128-bit numbers, which WebAssembly has to compute in software: three quarters of the time in which a
// matrix of a million links is read, and 7 KB to download. Numbers of up to 15 digits need none of it, others are read by JavaScript.
// (The linker sends strtod here: --wrap.)
#include <emscripten.h>

#include <cstdlib>
#include <cstring>

#include "base/decimal.h"

// The number at the start of a text, written as JSON writes it or nearly so (".5", "+1", "inf"), and behind how many characters it ends.
// clang-format off
EM_JS(double, number_at_start, (const char* text, int* length), {
    const found = /^ *[-+]?(?:0x[0-9a-f]+|[0-9]+[.]?[0-9]*(?:e[-+]?[0-9]+)?|[.][0-9]+(?:e[-+]?[0-9]+)?|inf(?:inity)?|nan)/i.exec(UTF8ToString(text));
    HEAP32[length >> 2] = found ? found[0].length : 0;
    return found ? Number(found[0].replace(/inf.*/i, "Infinity")) : 0;
});
// clang-format on

extern "C" {

double __wrap_strtod(const char* text, char** end);

double __wrap_strtod(const char* text, char** end) {
    double value = 0;
    const char* behind = fourfold::read_decimal(text, value);
    if (behind == nullptr) {
        int length = 0;
        value = number_at_start(text, &length);
        behind = text + length;
    }
    if (end != nullptr) *end = const_cast<char*>(behind);
    return value;
}
}
