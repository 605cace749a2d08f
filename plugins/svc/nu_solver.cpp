#include "nu_solver.hpp"

#include "libsvm_solver.hpp"
#include "nu.embed.hpp"
#include "nu_native.hpp"
#include "places.embed.hpp"

namespace mokume::svc {

NuSolver::NuSolver(const sdk::Host& host, const sdk::Device& device, bool regression)
    : host_(host),
      device_(device),
      regression_(regression),
      program_(
          sdk::Program::build(device, "nu", (std::string(kPlaces) + kNu).c_str(),
                              "-DPAIRS -DGROUP=" + std::to_string(kGroup) + (regression ? " -DREGRESSION=1" : ""))) {}

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
  launch(places, store, order, max_iterations);
  places.count_steps(order, max_iterations);
}

void NuSolver::launch(Places& places, const KernelStore& store, const std::vector<int32_t>& order,
                      int64_t max_iterations) {
  places.send(order);
  if (program_) {
    const Places::Buffers& b = places.buffers();
    const auto [k] = panels_of(store);
    // A launch has one more sweep than steps, and its last loops run twice.
    const int32_t steps =
        places.steps_within(order, max_iterations, steps_per_launch(device_.info(), 3 * places.stride()));
    program_->launch("nu_group", order.size() * kGroup, kGroup, b.order, b.ints, b.floats, b.spans, b.sign, b.flags,
                     b.f, b.a, places.coefficients(), store.diagonal(), store.slots(), b.target, b.weight,
                     places.stride(), steps, k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7],
                     static_cast<int32_t>(store.panel_rows()));
    places.fetch();
    return;
  }
  const int32_t steps = places.steps_within(order, max_iterations, kStepsPerLaunch);
  const PlaceArrays arrays = arrays_of(places, &store);
  const SmoFunction solve = nu_native(regression_);
  {
    const auto kernel = device_.kernel("nu_native");
    host_.parallel_for(order.size(), [&](uint64_t k) { solve(arrays, steps, arrays.order[k]); });
  }
  places.fetch();
}

}  // namespace mokume::svc
