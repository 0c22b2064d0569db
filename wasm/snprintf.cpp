// The C library's snprintf prints numbers of 128 bits too, 3 KB to download. All that the module prints with it are characters that JSON
// escapes and that no text may hold: "\\u%04x", "<U+%.4X>", "%.2hhX" (nlohmann_json). (The linker sends snprintf here: --wrap.)
#include <cstdarg>
#include <cstddef>
#include <cstring>

extern "C" {

int __wrap_snprintf(char* to, std::size_t size, const char* format, ...);

int __wrap_snprintf(char* to, std::size_t size, const char* format, ...) {
    std::va_list values;
    va_start(values, format);
    std::size_t length = 0;
    const auto add = [&](char one) {
        if (length + 1 < size) to[length] = one;
        ++length;
    };
    for (; *format != 0; ++format) {
        if (*format != '%') {
            add(*format);
            continue;
        }
        int digits = 1;
        while (std::strchr(".h0123456789", *++format) != nullptr)
            if (*format >= '1' && *format <= '9') digits = *format - '0';
        const unsigned value = va_arg(values, unsigned);
        const char* letters = *format == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
        for (int place = 8; place > 0; --place)
            if (place <= digits || value >> (4 * (place - 1)) != 0) add(letters[value >> (4 * (place - 1)) & 15U]);
    }
    va_end(values);
    if (size > 0) to[length < size ? length : size - 1] = 0;
    return static_cast<int>(length);
}
}
