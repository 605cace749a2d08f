// Runs races between variants: each variant runs the same op, and the fastest one wins.
#pragma once

#include "runtime/device.hpp"
#include "runtime/queue.hpp"
#include "variants/variant_set.hpp"

namespace mokume::opencl {

// Limits the work of a race, so that all races and builds take about a second on devices that emulate a GPU.
struct RaceSize {
  int64_t gemm;     // m, n and k of the product
  int64_t columns;  // number of columns of the map, which has 256 rows
  double budget_s;  // time in seconds after which no further candidate starts
};
RaceSize race_size(const mk_device_info& info);

// Returns whether the device emulates a GPU. Vector kernels take minutes to build on these devices and run at a sixth
// of the speed (measured on llvmpipe), so races leave these kernels out.
bool is_emulated(const mk_device& device);

// Runs an op without an event.
void run_unmeasured(mk_queue& queue, const mk_op& op);

// Returns the best time of up to four runs of an op, after one run that builds and warms up.
double seconds_of(mk_queue& queue, const mk_op& op);

// Runs `op` with each candidate in the slot and leaves the fastest one there. A later candidate must be `lead` times as
// fast as the best before it, so that candidates with different bits do not win by chance. On a CPU, no further
// candidate starts after one that does `work` at a rate of `per_core` per second and core. Throws MK_DEVICE_ERROR if no
// candidate works.
void race(mk_device& device, mk_queue& queue, const VariantSet& set, const mk_op& op, double work, double per_core,
          double lead = 1);

}  // namespace mokume::opencl
