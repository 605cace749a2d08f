#include "libsvm_solver.hpp"

#include <array>
#include <chrono>
#include <limits>

#include "libsvm.embed.hpp"
#include "libsvm_native.hpp"
#include "places.embed.hpp"

namespace mokume::svc {
namespace {

constexpr const char* kVector = "vector";
constexpr const char* kWorkGroup = "group";
constexpr int32_t kRaceSteps = 16;

}  // namespace

LibsvmSolver::LibsvmSolver(const sdk::Host& host, const sdk::Device& device, bool regression)
    : host_(host),
      device_(device),
      regression_(regression),
      program_(sdk::Program::build(device, "smo", (std::string(kPlaces) + kLibsvm).c_str(),
                                   "-DGROUP=" + std::to_string(kGroup) + (regression ? " -DREGRESSION=1" : ""))) {}

// One work-item per problem suits CPUs, and one work-group per problem suits GPUs, but some drivers claim to be a CPU
// and suit neither rule. So both kernels start the first problems, and the faster one is recorded. Both take the same
// steps, so the variant affects the duration of a fit but not its result.
void LibsvmSolver::choose_variant(const Places& places, const KernelStore& store, const std::vector<int32_t>& order) {
  const auto recorded = device_.choice("svc.smo");
  if (recorded == kVector || recorded == kWorkGroup) {
    variant_ = *recorded;
    return;
  }
  if ((device_.info().flags & MK_DEVICE_SOFTWARE) != 0) {  // one work-item alone would take too many turns
    variant_ = kWorkGroup;
    device_.set_choice("svc.smo", variant_);
    return;
  }
  // The second variant must be clearly faster, so that noise does not decide when there is little to do.
  constexpr double kClearly = 0.8;
  constexpr int kRounds = 5;  // best of several, since others use the machine too
  const std::array<const char*, 2> variants = {kVector, kWorkGroup};
  std::array<double, 2> best_s;
  best_s.fill(std::numeric_limits<double>::infinity());
  for (int round = 0; round <= kRounds; ++round)
    for (size_t v = 0; v < variants.size(); ++v) {
      variant_ = variants[v];
      const auto start = std::chrono::steady_clock::now();
      enqueue(places, store, order, round == 0 ? 0 : kRaceSteps);  // round 0: drivers compile at the first launch
      device_.finish();
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (round > 0) best_s[v] = std::min(best_s[v], seconds);
    }
  variant_ = variants[best_s[1] < kClearly * best_s[0] ? 1 : 0];
  device_.set_choice("svc.smo", variant_);
}

void LibsvmSolver::advance(Places& places, KernelStore& store, int64_t max_iterations) {
  const std::vector<int32_t> order = places.running();
  if (order.empty()) return;
  const auto phase = device_.phase("solve");
  std::vector<int32_t> rows, keep;
  for (const int32_t p : order) {
    PlaceInts& i = places.ints()[static_cast<size_t>(p)];
    if (i.status != kNeed) continue;
    rows.push_back(i.need);
    keep.push_back(i.best);  // the first row of the pair was found before the second was missed
    i.status = kRunning;
  }
  if (!rows.empty()) store.fetch(rows, keep);
  launch(places, store, order);
  places.count_steps(order, max_iterations);
}

// Takes up to `steps` steps with the chosen kernel, starting from the state in the host arrays.
void LibsvmSolver::enqueue(const Places& places, const KernelStore& store, const std::vector<int32_t>& order,
                           int32_t steps) const {
  places.send(order);
  const Places::Buffers& b = places.buffers();
  const auto [k] = panels_of(store);
  const bool vector = variant_ == kVector;
  const uint64_t local = vector ? 1 : kGroup;
  program_->launch(vector ? "smo_vector" : "smo_group", order.size() * local, local, b.order, b.ints, b.floats, b.spans,
                   b.sign, b.flags, b.f, b.a, places.coefficients(), store.diagonal(), store.slots(), b.target,
                   b.weight, places.stride(), steps, k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7],
                   static_cast<int32_t>(store.panel_rows()));
}

void LibsvmSolver::launch(Places& places, const KernelStore& store, const std::vector<int32_t>& order) {
  if (program_) {
    if (variant_.empty()) choose_variant(places, store, order);
    enqueue(places, store, order, steps_per_launch(device_.info(), places.stride()));
    places.fetch();
    return;
  }
  places.send(order);
  const PlaceArrays arrays = arrays_of(places, &store);
  const SmoFunction solve = smo_native(regression_);
  {
    const auto kernel = device_.kernel("smo_native");
    host_.parallel_for(order.size(), [&](uint64_t k) { solve(arrays, kStepsPerLaunch, arrays.order[k]); });
  }
  places.fetch();
}

}  // namespace mokume::svc
