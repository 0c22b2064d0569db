#include "formats/formats.h"

namespace fourfold {

Json export_answer(const Job& job) {
    Export made;
    switch (job.format) {
        case ConfigFormat::megatron_lm:
            made = megatron_script(job);
            break;
    }
    Json left_out = Json::array();
    for (const Text& text : made.left_out) left_out.push_back(text.json());
    return Object()
        .add("ok", true)
        .add("format", kConfigFormatChoices[static_cast<std::size_t>(job.format)].id)
        .add("text", made.text)
        .add("yours", Json(made.yours))
        .add("needs", made.needs)
        .add("left_out", std::move(left_out));
}

}  // namespace fourfold
