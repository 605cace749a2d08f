// What solves the problems of places: by LIBSVM's steps (libsvm_solver) or by blocks of rows (blocked_solver).
//
// With every solver, the solution of a problem depends neither on the problems solved alongside it, nor on the number
// of places, nor on how much work one call does.
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

  // Advances every running place by a bounded amount of work. A problem that takes `max_iterations` steps is capped.
  virtual void advance(Places& places, KernelStore& store, int64_t max_iterations) = 0;
};

// The kernel function with whose values the solver of these settings works. LIBSVM's steps depend on the roundings of
// its sums, so its solver takes the kernel as it is.
ops::KernelFunction kernel_of(const Settings& settings, const KernelStore& store);

// Whether a solver on OpenCL gives each problem a work-group, which suits every device but a real CPU; there, one
// work-item per problem is faster and compiles sooner. A choice recorded under `key` counts on CPUs only: on a GPU, one
// work-item alone takes so long that a watchdog ends it. Both give the same bits. A device without a compiler records
// no choice.
bool solves_in_groups(const sdk::Device& device, const char* key);

// How a fit of this fold starts a problem at C.
Places::Start start_of(const Settings& settings, const RowOrder& order, int32_t fold, double c);

// The host pointers of everything that the places hold, and of the kernel rows if there is a store, after waiting for
// the device. Throws MK_UNSUPPORTED if the device does not share its memory.
PlaceArrays arrays_of(Places& places, const KernelStore* store);

// The panels of a store as kernels take them: kMaxPanels buffers, unused ones repeating the first.
struct PanelArguments {
  mk_buffer* k[kMaxPanels];
};
PanelArguments panels_of(const KernelStore& store);

}  // namespace mokume::svc
