#include "nu_solver.hpp"

#include "libsvm_solver.hpp"
#include "nu.embed.hpp"
#include "nu_native.hpp"
#include "places.embed.hpp"

namespace mokume::svc {

NuSolver::NuSolver(const sdk::Host& host, const sdk::Device& device, bool regression, Storage storage)
    : host_(host),
      device_(device),
      regression_(regression),
      program_(sdk::Program::build(
          device, "nu", (std::string(kPlaces) + kNu).c_str(),
          "-DPAIRS -DGROUP=" + std::to_string(kGroup) + (regression ? " -DREGRESSION=1" : "") + options_of(storage))) {}

void NuSolver::advance(Places& places, KernelStore& store, int64_t max_iterations) {
  const std::vector<int32_t> order = places.running();
  if (order.empty()) return;
  const auto phase = device_.phase("solve");
  std::vector<int32_t> rows, keep;
  for (const int32_t p : order) {
    PlaceInts& i = places.ints()[static_cast<size_t>(p)];
    // A problem that starts waits for the row that it adds next, or only for the next launch.
    if (i.status != kNeed && (i.status != kStart || i.need < 0)) continue;
    rows.push_back(i.need);
    if (i.status == kStart) continue;
    for (const int32_t of_side : {i.best, i.steps_left})
      if (of_side >= 0) keep.push_back(of_side);
    i.status = kRunning;
  }
  if (!rows.empty() && store.mode() == KernelStore::Mode::on_the_fly) store.fetch(rows, keep);
  // A launch has one more sweep than steps, and its last loops run twice.
  const StepRunner runner{host_,
                          device_,
                          program_ ? &*program_ : nullptr,
                          "nu_group",
                          kGroup,
                          3 * places.stride(),
                          nu_native(regression_, store.storage()),
                          "nu_native"};
  runner.run(places, store, order, max_iterations);
  places.count_steps(order, max_iterations);
}

bool NuSolver::restore(Places& places, KernelStore&, int64_t place, const SolveState& state) {
  const bool is_row = state.steps_left >= -1 && state.steps_left < places.rows();
  return is_row && places.restore(place, state);
}

}  // namespace mokume::svc
