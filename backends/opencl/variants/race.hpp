// Races of variants: the same op with each of them.
#pragma once

#include "runtime/device.hpp"
#include "runtime/queue.hpp"
#include "variants/variant_set.hpp"

namespace mokume::opencl {

// The sizes of a race. Devices that emulate a GPU get so little that the whole takes a second, builds included.
struct RaceSize {
  int64_t gemm;     // a cube
  int64_t columns;  // of a map of 256 rows
  double budget_s;  // no further candidate is begun after this
};
RaceSize race_size(const mk_device_info& info);

// Such devices reach a sixth with vector kernels (measured on llvmpipe) and build them for minutes: not even tried.
bool is_emulated(const mk_device& device);

// Runs an op that needs no timing.
void run_unmeasured(mk_queue& queue, const mk_op& op);

// Runs `op` with each candidate in the slot and leaves the fastest there. On a CPU no further candidate is begun after
// one that does `work` at `per_core` a second on each core.
void race(mk_device& device, mk_queue& queue, const VariantSet& set, const mk_op& op, double work, double per_core);

}  // namespace mokume::opencl
