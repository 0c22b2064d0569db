// How a function of api.h is asked from JavaScript (face.js): its request is written into the module's memory, and what it answers is read
// from there. All that is exported begins with face_.
#pragma once
#include <emscripten.h>

#include <cstddef>
#include <string>

namespace fourfold::face {

// The text of the request that was written last; it is given away.
std::string request();

void answer(const std::string& text);

}  // namespace fourfold::face

// One line per function: text in, text out.
#define FOURFOLD_FACE(name)                             \
    extern "C" EMSCRIPTEN_KEEPALIVE void face_##name(); \
    void face_##name() { fourfold::face::answer(fourfold::api::name(fourfold::face::request())); }
