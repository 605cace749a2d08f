// Races between variants: each variant runs the same op.
#pragma once

#include "runtime/device.hpp"
#include "runtime/queue.hpp"
#include "variants/variant_set.hpp"

namespace mokume::opencl {

// The sizes of a race. Devices that emulate a GPU get small sizes, so that all races and builds take about a second.
struct RaceSize {
  int64_t gemm;     // side of a cube
  int64_t columns;  // the map has 256 rows
  double budget_s;  // after this time no further candidate starts
};
RaceSize race_size(const mk_device_info& info);

// Vector kernels reach a sixth of the speed on such devices (measured on llvmpipe) and take minutes to build, so they
// are not even tried.
bool is_emulated(const mk_device& device);

// Runs an op without an event.
void run_unmeasured(mk_queue& queue, const mk_op& op);

// Runs `op` with each candidate in the slot and leaves the fastest there. On a CPU no further candidate starts after a
// candidate that does `work` at a rate of `per_core` per second and core.
void race(mk_device& device, mk_queue& queue, const VariantSet& set, const mk_op& op, double work, double per_core);

}  // namespace mokume::opencl
