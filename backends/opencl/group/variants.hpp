// The recorded choice `sequence`: whether one core does all ops of a member. It affects only speed and is not raced.
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
