// The text of a candidate for users.
#pragma once

#include <cstdint>
#include <string>

#include "search/plan.hpp"

namespace mokume::node {

std::string candidate_text(const search::Plan& plan, uint32_t candidate);  // "C = 10, gamma = 0.01"

}  // namespace mokume::node
