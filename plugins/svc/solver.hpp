// Solvers for the problems of places: by LIBSVM's steps (libsvm_solver) or by blocks of rows (blocked_solver).
//
// With every solver, the solution of a problem depends neither on the problems solved alongside it, nor on the number
// of places, nor on the amount of work per call.
#pragma once

#include <cstdint>

#include "kernel_store.hpp"
#include "places.hpp"
#include "sdk/plugin.hpp"
#include "settings.hpp"

namespace mokume::svc {

class Solver {
 public:
  virtual ~Solver() = default;

  // Advances every running place by a bounded amount of work. Caps a problem that takes `max_iterations` steps.
  virtual void advance(Places& places, KernelStore& store, int64_t max_iterations) = 0;
};

// Returns the kernel function that the solver of these settings uses. LIBSVM's steps depend on the roundings of its
// sums, so its solver uses the kernel unchanged.
ops::KernelFunction kernel_of(const Settings& settings, const KernelStore& store);

// Tells whether a solver on OpenCL gives each problem a work-group. This suits every device except a real CPU, where
// one work-item per problem is faster and compiles sooner. A choice recorded under `key` counts on CPUs only: on a GPU,
// a single work-item takes so long that a watchdog ends it. Both variants give the same bits. A device without a
// compiler records no choice.
bool solves_in_groups(const sdk::Device& device, const char* key);

// Returns the start values of a fit of this fold at C.
Places::Start start_of(const Settings& settings, const RowOrder& order, int32_t fold, double c);

// Waits for the device, and returns the host pointers of the places and, if there is a store, of the kernel rows.
// Throws MK_UNSUPPORTED if the device does not share its memory.
PlaceArrays arrays_of(Places& places, const KernelStore* store);

// The panels of a store as kernel arguments: kMaxPanels buffers; unused arguments repeat the first buffer.
struct PanelArguments {
  mk_buffer* k[kMaxPanels];
};
PanelArguments panels_of(const KernelStore& store);

}  // namespace mokume::svc
