#include "face.h"

#include <utility>

namespace {
std::string written;
}

// clang-format off
EM_JS(void, give_text, (const char* text, std::size_t size), { given.text = textAt(text, size); });
// clang-format on

// A place for a request of that many bytes.
extern "C" EMSCRIPTEN_KEEPALIVE char* face_request(std::size_t size);
char* face_request(std::size_t size) {
    written.resize(size);
    return written.data();
}

namespace fourfold::face {

std::string request() { return std::exchange(written, {}); }

void answer(const std::string& text) { give_text(text.data(), text.size()); }

}  // namespace fourfold::face
