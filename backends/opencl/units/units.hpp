// Selects the matrix units of GPUs, which multiply rounded operands (unit_sums.cl). A run asks for them with
// [devices] precision, which arrives as the choice `precision` = "tf32" or "bf16".
#pragma once

#include <functional>
#include <span>
#include <string>

#include "gemm/problem.hpp"
#include "gemm/tiles.hpp"
#include "platforms/describe.hpp"
#include "runtime/device.hpp"
#include "variants/variant_set.hpp"

namespace mokume::opencl {

// Returns why the device cannot use its units, or "". Never crashes.
using TryUnits = std::function<std::string(const UnitProbe&)>;

// Sets the choices `precision` and `units`, and those of products and convolutions if the device has units. A device
// whose units are unknown, whose compiler refuses the instructions, or whose products of small integers are wrong
// computes in fp32 and logs why. Throws MK_DEVICE_ERROR if it cannot use units that are given, because a run has
// recorded them. Must precede the device's context: some cards admit one process at a time.
Choices choose_units(const sdk::Host& host, const mk_device_info& info, Choices given, const TryUnits& try_units);

// Returns the tiles for the units.
std::span<const Tile> unit_tiles();

// Returns whether the device's units multiply.
bool with_units(const mk_device& device, const Problem& p);

// Returns the macros of unit_sums.cl for a tile, or "" without units.
std::string unit_macros(const mk_device& device, const Problem& p, const Tile& t);

// Returns the number of floats of local memory that a product's tile takes.
int64_t local_floats(const mk_device& device, const Problem& p, const Tile& t);

// The values of `precision` are those of the key [devices] precision. `units` names the instruction; the emulated ones
// take plain code with the same layouts, and only tests choose them.
extern const VariantSet kPrecisionVariants, kUnitVariants;

}  // namespace mokume::opencl
