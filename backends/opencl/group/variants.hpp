// Defines the choice `sequence`: whether one core runs all ops of a member. It affects only speed and has no race.
#pragma once

#include "variants/variant_set.hpp"

namespace mokume::opencl {

inline const VariantSet kSequenceVariants{"sequence",
                                          &Choices::sequence,
                                          {"worthwhile", "always", "never"},
                                          {},
                                          [](const mk_device&) { return std::vector<std::string>{"worthwhile"}; },
                                          nullptr};

}  // namespace mokume::opencl
