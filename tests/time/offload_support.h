// What the tests of offloaded optimizers share.
#pragma once
#include <doctest/doctest.h>

#include "api.h"
#include "support.h"

namespace fourfold::tests::offload {

inline Json answer_to(const Json& request) {
    const Json answer = json(api::estimate(request.dump()));
    REQUIRE_MESSAGE(answer["ok"] == true, answer.dump());
    return answer;
}
inline Json changed(Json request, const Json& more) {
    request.update(more);
    return request;
}
// Seconds of a step, and of them what the host's update takes.
inline double step_seconds_of(const Json& answer) { return answer["time"]["step_seconds"].get<double>(); }
inline double host_seconds_of(const Json& answer) {
    for (const Json& item : answer["time"]["items"])
        if (item["id"] == "host_optimizer") return item["seconds"].get<double>();
    return 0;
}

}  // namespace fourfold::tests::offload
