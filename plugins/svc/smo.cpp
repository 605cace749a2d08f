#include "smo.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include "sdk/ops.hpp"
#include "smo.embed.hpp"
#include "smo_native.hpp"

namespace mokume::svc {
namespace {

// Status values of kernels/smo.cl.
constexpr int32_t kRunning = 0, kConverged = 1, kNeed = 2, kStart = 3;
constexpr const char* kVector = "vector";
constexpr const char* kWorkGroup = "group";
constexpr int32_t kRaceSteps = 16;

}  // namespace

uint64_t SmoBench::bytes(const RowOrder& order, int64_t places, int64_t coef_rows) {
  const auto ld = static_cast<uint64_t>(order.stride());
  const uint64_t per_place = ld * (4 * sizeof(float) + sizeof(int32_t) + sizeof(int8_t)) +
                             2 * kMaxSpans * sizeof(int32_t) + sizeof(PlaceInts) + sizeof(PlaceFloats) +
                             sizeof(int32_t);
  return static_cast<uint64_t>(places) * per_place + static_cast<uint64_t>(coef_rows) * ld * sizeof(float);
}

SmoBench::SmoBench(const sdk::Host& host, const sdk::Device& device, const RowOrder& order, int64_t places,
                   int64_t coef_rows)
    : host_(host),
      device_(device),
      order_(order),
      places_(places),
      program_(sdk::Program::build(device, "smo", kSmo, "-DGROUP=" + std::to_string(kGroup))) {
  const auto ld = static_cast<uint64_t>(order.stride());
  const auto p = static_cast<uint64_t>(places);
  order_buffer_ = device.buffer<int32_t>(p);
  ints_buffer_ = device.buffer<PlaceInts>(p);
  floats_buffer_ = device.buffer<PlaceFloats>(p);
  spans_ = device.buffer<int32_t>(p * 2 * kMaxSpans);
  sign_ = device.buffer<int8_t>(p * ld);
  flags_ = device.buffer<int32_t>(p * ld);
  f_ = device.buffer<float>(p * 2 * ld);
  a_ = device.buffer<float>(p * 2 * ld);
  coef_ = device.buffer<float>(static_cast<uint64_t>(coef_rows) * ld);
  device.submit(ops::fill(sdk::matrix(coef_.get(), coef_rows, order.stride()), 0.0F));
  ints_.resize(p);
  floats_.resize(p);
  first_.assign(p, -1);
  weights_.assign(p, {1, 1});
  active_.assign(p, false);
  steps_.assign(p, 0);
  capped_.assign(p, false);
}

// One work-item per problem suits CPUs, and one work-group per problem suits GPUs, but some drivers claim to be a CPU
// and suit neither rule. So both kernels start the first problems, and the faster one is recorded. Both take the same
// steps, so the variant affects the duration of a fit but not its result.
void SmoBench::choose_variant(const KernelStore& store, const std::vector<int32_t>& order) {
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
      enqueue(store, order, round == 0 ? 0 : kRaceSteps);  // round 0: drivers compile at the first launch
      device_.finish();
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (round > 0) best_s[v] = std::min(best_s[v], seconds);
    }
  variant_ = variants[best_s[1] < kClearly * best_s[0] ? 1 : 0];
  device_.set_choice("svc.smo", variant_);
}

void SmoBench::occupy(int64_t place, const BinaryProblem& problem) {
  const auto phase = device_.phase("load");
  std::vector<int8_t> sign(static_cast<size_t>(order_.stride()));
  std::vector<int32_t> spans(2 * kMaxSpans, -1);
  first_[static_cast<size_t>(place)] = mark_rows(order_, problem, sign.data(), spans.data());
  const double positive = problem.positive_weight, negative = problem.negative_weight;
  weights_[static_cast<size_t>(place)] = {problem.sign() > 0 ? positive : negative,
                                          problem.sign() > 0 ? negative : positive};
  device_.write(sign_, sign.data(), sign.size(), static_cast<uint64_t>(place * order_.stride()));
  device_.write(spans_, spans.data(), spans.size(), static_cast<uint64_t>(place) * spans.size());
}

void SmoBench::start(int64_t place, double c, double tol, int64_t coef_row) {
  const auto p = static_cast<size_t>(place);
  ints_[p] = {kStart, first_[p], -1, 0, 0, 0, static_cast<int32_t>(coef_row), 0};
  const auto [plus, minus] = weights_[p];
  floats_[p] = {0, 0, 0, static_cast<float>(c * plus), static_cast<float>(tol), 0, static_cast<float>(c * minus), 0};
  active_[p] = true;
  steps_[p] = 0;
  capped_[p] = false;
}

void SmoBench::stop(int64_t place) { active_[static_cast<size_t>(place)] = false; }

std::optional<Solution> SmoBench::solution(int64_t place) const {
  const auto p = static_cast<size_t>(place);
  if (!active_[p] || (ints_[p].status != kConverged && !capped_[p])) return std::nullopt;
  return Solution{floats_[p].rho, steps_[p], ints_[p].vectors, ints_[p].at_c != 0, capped_[p]};
}

void SmoBench::advance(KernelStore& store, int64_t max_iterations) {
  std::vector<int32_t> order;
  for (int64_t p = 0; p < places_; ++p)
    if (active_[static_cast<size_t>(p)] && !solution(p)) order.push_back(static_cast<int32_t>(p));
  if (order.empty()) return;
  const auto phase = device_.phase("solve");
  std::vector<int32_t> rows, keep;
  for (const int32_t p : order) {
    PlaceInts& i = ints_[static_cast<size_t>(p)];
    if (i.status != kNeed) continue;
    rows.push_back(i.need);
    keep.push_back(i.best);  // the first row of the pair was found before the second was missed
    i.status = kRunning;
  }
  if (!rows.empty()) store.fetch(rows, keep);
  launch(store, order);
  for (const int32_t p : order) {
    const auto at = static_cast<size_t>(p);
    steps_[at] += ints_[at].steps;
    ints_[at].steps = 0;
    if (ints_[at].status == kRunning && steps_[at] >= max_iterations) capped_[at] = true;
  }
}

// Takes up to `steps` steps with the chosen kernel, starting from the state in the host arrays.
void SmoBench::enqueue(const KernelStore& store, const std::vector<int32_t>& order, int32_t steps) {
  device_.write(order_buffer_, order.data(), order.size());
  device_.write(ints_buffer_, ints_.data(), ints_.size());
  device_.write(floats_buffer_, floats_.data(), floats_.size());
  mk_buffer* k[kMaxPanels];
  for (int i = 0; i < kMaxPanels; ++i) k[i] = (store.panel(i) != nullptr ? store.panel(i) : store.panel(0))->get();
  const bool vector = variant_ == kVector;
  const uint64_t local = vector ? 1 : kGroup;
  program_->launch(vector ? "smo_vector" : "smo_group", order.size() * local, local, order_buffer_, ints_buffer_,
                   floats_buffer_, spans_, sign_, flags_, f_, a_, coef_, store.diagonal(), store.slots(),
                   static_cast<int64_t>(order_.stride()), steps, k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7],
                   static_cast<int32_t>(store.panel_rows()));
}

void SmoBench::launch(const KernelStore& store, const std::vector<int32_t>& order) {
  if (program_) {
    if (variant_.empty()) choose_variant(store, order);
    enqueue(store, order, steps_per_launch(device_.info(), order_.stride()));
    device_.read(ints_buffer_, ints_.data(), ints_.size());
    device_.read(floats_buffer_, floats_.data(), floats_.size());
    return;
  }
  device_.write(order_buffer_, order.data(), order.size());
  device_.finish();
  SmoArrays arrays{};
  arrays.order = device_.host_pointer<int32_t>(order_buffer_);
  if (arrays.order == nullptr)
    throw Error(MK_UNSUPPORTED,
                std::string(device_.info().name) +
                    " neither compiles kernels nor shares its memory with the host, but svc needs one of the two");
  arrays.ints = ints_.data();
  arrays.floats = floats_.data();
  arrays.spans = device_.host_pointer<int32_t>(spans_);
  arrays.sign = device_.host_pointer<int8_t>(sign_);
  arrays.flags = device_.host_pointer<int32_t>(flags_);
  arrays.f = device_.host_pointer<float>(f_);
  arrays.a = device_.host_pointer<float>(a_);
  arrays.coef = device_.host_pointer<float>(coef_);
  arrays.diagonal = device_.host_pointer<float>(store.diagonal());
  arrays.slot = device_.host_pointer<int32_t>(store.slots());
  arrays.ld = order_.stride();
  arrays.max_steps = kStepsPerLaunch;
  for (int i = 0; i < kMaxPanels; ++i)
    arrays.panels[i] = store.panel(i) != nullptr ? device_.host_pointer<float>(*store.panel(i)) : nullptr;
  arrays.panel_rows = store.panel_rows();
  const SmoFunction solve = smo_native();
  const auto kernel = device_.kernel("smo_native");
  host_.parallel_for(order.size(), [&](uint64_t k) { solve(arrays, arrays.order[k]); });
}

}  // namespace mokume::svc
