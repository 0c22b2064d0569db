// The job that a request of estimate describes.
#pragma once
#include <doctest/doctest.h>

#include "contract.h"
#include "job/job.h"

namespace fourfold::tests {

inline Job job_of(const Json& request) {
    Problems problems;
    auto job = read_parsed_job(request, Request::estimate, problems);
    CHECK_MESSAGE(job.has_value(), brief(problems));
    return job ? *job : Job{};
}

}  // namespace fourfold::tests
