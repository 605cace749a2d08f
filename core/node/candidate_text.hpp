// Describes a candidate to users.
#pragma once

#include <cstdint>
#include <string>

#include "search/plan.hpp"

namespace mokume::node {

// Returns "C = 10, gamma = 0.01", or "" if the plan searches no parameter.
std::string candidate_text(const search::Plan& plan, uint32_t candidate);

}  // namespace mokume::node
