// From a checked config to the plan.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.hpp"

namespace mokume::config {

// Candidates and hash: SHA-256 of canonical_json, the data's hash and the plan format. `rows`: of the training data;
// NumPy's draws depend on it. Throws Error(MK_INVALID_ARGUMENT) if there are no candidates or too many (over 10
// million, or over 2^32 - 1 fits).
search::Plan make_plan(const Config& config, const std::string& data_sha256, int64_t rows = 0);

}  // namespace mokume::config
