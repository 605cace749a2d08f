// Declares the interface of the solvers. LibsvmSolver and NuSolver take LIBSVM's steps, without and with the parameter
// nu, and BlockedSolver works on blocks of rows. With all of them, the solution of a problem depends neither on the
// problems solved alongside it, nor on the number of places, nor on the amount of work per call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "matrix/kernel_store.hpp"
#include "places.hpp"
#include "sdk/plugin.hpp"
#include "settings.hpp"

namespace mokume::svc {

class Solver {
 public:
  virtual ~Solver() = default;

  // Advances every running place by a bounded amount of work. Ends problems that take `max_iterations` steps.
  virtual void advance(Places& places, KernelStore& store, int64_t max_iterations) = 0;

  // Returns the state of a running problem, or nothing before its first steps.
  virtual std::optional<SolveState> state(const Places& places, int64_t place) const { return places.state(place); }
  // Continues a problem that has just been started from this state, which may be anything. Takes the remaining steps as
  // if the solver had never stopped. Returns false, and leaves the problem at its start, if the state does not fit.
  virtual bool restore(Places& places, KernelStore& store, int64_t place, const SolveState& state) = 0;
};

// Returns the kernel function that the solver of these settings uses. LIBSVM's steps depend on the rounding of its
// sums, so LibsvmSolver uses the kernel unchanged unless halves store it, which have few digits for values close to 1.
Kernel kernel_of(const Settings& settings, const KernelStore& store);

// Returns whether a solver on OpenCL gives each problem a work-group, and records the choice under `key`. Work-groups
// suit every device except a real CPU, where one work-item per problem is faster and its kernel compiles sooner. A
// recorded choice counts on CPUs only: a single work-item takes so long on a GPU that a watchdog would end it. Both
// variants give the same bits. Returns false and records nothing for a device without a compiler.
bool solves_in_groups(const sdk::Device& device, const char* key);

// Returns whether the run asks for one answer on all devices ([devices] numerics = "strict").
bool is_strict(const sdk::Device& device);

// Returns the options of a solver's kernels for the storage of the kernel values.
std::string options_of(Storage storage);

// Returns the values with which a problem starts at this C and nu.
Places::Start start_of(const Settings& settings, const RowOrder& order, const BinaryProblem& problem, double c,
                       double nu);

// Waits for the device, and returns the host pointers of the places and, if there is a store, of the kernel rows.
// Throws Error(MK_UNSUPPORTED) if the device does not share its memory with the host.
PlaceArrays arrays_of(Places& places, const KernelStore* store);

// Holds the panels of a store as kernel arguments. Unused arguments repeat the first panel.
struct PanelArguments {
  mk_buffer* k[kMaxPanels];
};
PanelArguments panels_of(const KernelStore& store);

}  // namespace mokume::svc
