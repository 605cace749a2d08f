// Rounds operands of products as the matrix units of GPUs do, so that a CPU computes what they compute, apart from the
// order of sums. A run asks for it with [devices] precision.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "call.hpp"

namespace mokume::host {

// Returns the precision that the choice `precision` names, or fp32 without that choice. Throws Error for an unknown
// one.
Precision precision_of(std::span<const mk_choice> choices);
std::string_view name_of(Precision precision);

// Rounds to 10 bits of mantissa, ties away from zero, as the instruction cvt.rna.tf32 does, or to 7, ties to even.
float rounded(float x, Precision precision);

// Returns whether `op` multiplies operands that matrix units round: products, and convolutions that are not depthwise.
bool multiplies(const mk_op& op);

// Runs `function` on the op with rounded copies of its first two inputs. The gradients of biases are sums of gradients
// that are not rounded.
void run_rounded(const Call& call, OpFunction function, Precision precision);

}  // namespace mokume::host
