// Describes a candidate to users.
#pragma once

#include <cstdint>
#include <string>

#include "search/plan.hpp"

namespace mokume::node {

std::string candidate_text(const search::Plan& plan, uint32_t candidate);  // returns "C = 10, gamma = 0.01"

}  // namespace mokume::node
