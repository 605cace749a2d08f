// Makes the plan from a checked config.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.hpp"

namespace mokume::config {

// Makes the candidates and the hash, which is the SHA-256 of canonical_json, the hash of the data and the plan format.
// `rows` is the number of training rows, on which NumPy's draws depend. Throws Error(MK_INVALID_ARGUMENT) if there are
// no candidates, or too many (over 10 million, or over 2^32 - 1 fits).
search::Plan make_plan(const Config& config, const std::string& data_sha256, int64_t rows = 0);

}  // namespace mokume::config
