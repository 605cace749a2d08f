#include "libsvm_solver.hpp"

#include "libsvm.embed.hpp"
#include "libsvm_group.embed.hpp"
#include "libsvm_native.hpp"
#include "libsvm_vector.embed.hpp"
#include "native_loop.hpp"
#include "places.embed.hpp"

namespace mokume::svc {

LibsvmSolver::LibsvmSolver(const sdk::Host& host, const sdk::Device& device, bool regression, Storage storage)
    : host_(host),
      device_(device),
      regression_(regression),
      groups_(solves_in_groups(device, "svc.smo")),
      program_(sdk::Program::build(
          device, "smo", (std::string(kPlaces) + kLibsvm + (groups_ ? kLibsvm_group : kLibsvm_vector)).c_str(),
          "-DPAIRS -DGROUP=" + std::to_string(kGroup) + (regression ? " -DREGRESSION=1" : "") + options_of(storage))) {}

void LibsvmSolver::advance(Places& places, KernelStore& store, int64_t max_iterations) {
  advance_some(places, store, places.running(), max_iterations);
}

void LibsvmSolver::advance_some(Places& places, KernelStore& store, const std::vector<int32_t>& order,
                                int64_t max_iterations) {
  if (order.empty()) return;
  const auto phase = device_.phase("solve");
  std::vector<int32_t> rows, keep;
  for (const int32_t p : order) {
    PlaceInts& i = places.ints()[static_cast<size_t>(p)];
    if (i.status != kNeed) continue;
    rows.push_back(i.need);
    keep.push_back(i.best);  // a pair whose second row is missing still needs its first row
    i.status = kRunning;
  }
  if (!rows.empty() && store.mode() == KernelStore::Mode::on_the_fly) store.fetch(rows, keep);
  const StepRunner runner{host_,
                          device_,
                          program_ ? &*program_ : nullptr,
                          groups_ ? "smo_group" : "smo_vector",
                          groups_ ? uint64_t{kGroup} : 1,
                          places.stride(),
                          smo_native(regression_, store.storage()),
                          "smo_native"};
  runner.run(places, store, order, max_iterations);
  places.count_steps(order, max_iterations);
}

bool LibsvmSolver::restore(Places& places, KernelStore&, int64_t place, const SolveState& state) {
  return state.status != kStart && state.best >= 0 && places.restore(place, state);
}

void StepRunner::run(Places& places, const KernelStore& store, const std::vector<int32_t>& order,
                     int64_t max_iterations) const {
  places.send(order);
  if (program != nullptr) {
    const Places::Buffers& b = places.buffers();
    const auto [k] = panels_of(store);
    const int32_t steps = places.steps_within(order, max_iterations, steps_per_launch(device.info(), turns_stride));
    program->launch(kernel, order.size() * items, items, b.order, b.ints, b.floats, b.spans, b.sign, b.flags, b.f, b.a,
                    places.coefficients(), store.diagonal(), store.slots(), b.target, b.weight, places.stride(), steps,
                    k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7], static_cast<int32_t>(store.panel_rows()));
    places.fetch();
    return;
  }
  const int32_t steps = places.steps_within(order, max_iterations, kStepsPerLaunch);
  const PlaceArrays arrays = arrays_of(places, &store);
  native_loop(host, device, native_name, order.size(), [&](uint64_t k) { native(arrays, steps, arrays.order[k]); });
  places.fetch();
}

}  // namespace mokume::svc
