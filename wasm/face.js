// JavaScript's side of face.h. The glue takes it in, and what is here is known to the functions that C++ has in JavaScript (EM_JS).
// The oldest supported Emscripten (3.1.6) reads no newer signs than those of ES2019.
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const textAt = (start, size) => decoder.decode(HEAPU8.subarray(start, start + size));

let given = {}; // what the core gave since it was last asked

function ask(name, request) {
    const bytes = encoder.encode(request);
    const start = _face_request(bytes.length); // memory may grow: HEAPU8 is another one afterwards
    HEAPU8.set(bytes, start);
    given = {};
    Module[`_face_${name}`]();
    return given;
}

function answersText(...names) {
    for (const name of names) Module[name] = (request) => ask(name, request).text;
}
