#include "places.hpp"

#include <algorithm>

#include "sdk/ops.hpp"
#include "solver.hpp"

namespace mokume::svc {

uint64_t Places::bytes(const RowOrder& order, int64_t count, int64_t coef_rows) {
  const auto ld = static_cast<uint64_t>(order.stride());
  const uint64_t each = ld * (4 * sizeof(float) + sizeof(int32_t) + sizeof(int8_t)) + 2 * kMaxSpans * sizeof(int32_t) +
                        sizeof(PlaceInts) + sizeof(PlaceFloats) + sizeof(int32_t);
  return static_cast<uint64_t>(count) * each + static_cast<uint64_t>(coef_rows) * ld * sizeof(float) +
         2 * ld * sizeof(float);
}

Places::Places(const sdk::Device& device, const RowOrder& order, int64_t count, int64_t coef_rows)
    : device_(device), order_(order), count_(count) {
  const auto ld = static_cast<uint64_t>(order.stride());
  const auto p = static_cast<uint64_t>(count);
  buffers_.order = device.buffer<int32_t>(p);
  buffers_.ints = device.buffer<PlaceInts>(p);
  buffers_.floats = device.buffer<PlaceFloats>(p);
  buffers_.spans = device.buffer<int32_t>(p * 2 * kMaxSpans);
  buffers_.sign = device.buffer<int8_t>(p * ld);
  buffers_.flags = device.buffer<int32_t>(p * ld);
  buffers_.f = device.buffer<float>(p * 2 * ld);
  buffers_.a = device.buffer<float>(p * 2 * ld);
  buffers_.target = device.upload(order.padded(order.targets(), 0));
  buffers_.weight = device.upload(order.padded(order.weights(), 1));
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

void Places::occupy(int64_t place, const BinaryProblem& problem) {
  const auto phase = device_.phase("load");
  std::vector<int8_t> sign(static_cast<size_t>(order_.stride()));
  std::vector<int32_t> spans(2 * kMaxSpans, -1);
  first_[static_cast<size_t>(place)] = mark_rows(order_, problem, sign.data(), spans.data());
  const double positive = problem.positive_weight, negative = problem.negative_weight;
  weights_[static_cast<size_t>(place)] = {problem.sign() > 0 ? positive : negative,
                                          problem.sign() > 0 ? negative : positive};
  device_.write(buffers_.sign, sign.data(), sign.size(), static_cast<uint64_t>(place * order_.stride()));
  device_.write(buffers_.spans, spans.data(), spans.size(), static_cast<uint64_t>(place) * spans.size());
}

void Places::start(int64_t place, const Start& start, int64_t coef_row) {
  const auto p = static_cast<size_t>(place);
  ints_[p] = {kStart, first_[p], -1, 0, 0, 0, static_cast<int32_t>(coef_row), 0};
  const auto [plus, minus] = weights_[p];
  floats_[p] = {};
  floats_[p].c = static_cast<float>(start.c * plus);
  floats_[p].c_minus = static_cast<float>(start.c * minus);
  floats_[p].tol = static_cast<float>(start.tol);
  floats_[p].epsilon = static_cast<float>(start.epsilon);
  active_[p] = true;
  steps_[p] = 0;
  capped_[p] = false;
}

std::optional<Solution> Places::solution(int64_t place) const {
  const auto p = static_cast<size_t>(place);
  if (!active_[p] || (ints_[p].status != kConverged && !capped_[p])) return std::nullopt;
  return Solution{floats_[p].rho, steps_[p], ints_[p].vectors, ints_[p].at_c, capped_[p]};
}

std::vector<int32_t> Places::running() const {
  std::vector<int32_t> order;
  for (int64_t p = 0; p < count_; ++p)
    if (active_[static_cast<size_t>(p)] && !solution(p)) order.push_back(static_cast<int32_t>(p));
  return order;
}

void Places::send_order(const std::vector<int32_t>& order) const {
  device_.write(buffers_.order, order.data(), order.size());
}

void Places::send(const std::vector<int32_t>& order) const {
  send_order(order);
  device_.write(buffers_.ints, ints_.data(), ints_.size());
  device_.write(buffers_.floats, floats_.data(), floats_.size());
}

void Places::fetch() {
  device_.read(buffers_.ints, ints_.data(), ints_.size());
  device_.read(buffers_.floats, floats_.data(), floats_.size());
}

void Places::count_steps(const std::vector<int32_t>& order, int64_t limit) {
  for (const int32_t p : order) {
    const auto at = static_cast<size_t>(p);
    steps_[at] += ints_[at].steps;
    ints_[at].steps = 0;
    if (ints_[at].status == kStuck || (ints_[at].status == kRunning && steps_[at] >= limit)) capped_[at] = true;
  }
}

ops::KernelFunction kernel_of(const Settings& settings, const KernelStore& store) {
  return settings.solver == SolverKind::blocked ? store.for_sums(settings.kernel) : settings.kernel;
}

// Dividing the targets by s has the same effect as multiplying C, epsilon and the tolerance by s, except that the
// solution is s times smaller.
Places::Start start_of(const Settings& settings, const RowOrder& order, int32_t fold, double c) {
  if (!order.regression()) return {c, settings.tol};
  const double unit = settings.standardise_target ? order.target_deviation(fold) : 1;
  // The solver compares the high parts of F, whose rounding errors are relative to the size of the targets.
  const double resolved = 0x1p-20 * order.largest_target();
  return {c * unit, std::max(settings.tol * unit, resolved), settings.epsilon * unit};
}

PlaceArrays arrays_of(Places& places, const KernelStore* store) {
  const sdk::Device& device = places.device();
  const Places::Buffers& buffers = places.buffers();
  device.finish();
  PlaceArrays arrays{};
  arrays.order = device.host_pointer<int32_t>(buffers.order);
  if (arrays.order == nullptr)
    throw Error(MK_UNSUPPORTED,
                std::string(device.info().name) +
                    " neither compiles kernels nor shares its memory with the host, but svc needs one of the two");
  arrays.ints = device.host_pointer<PlaceInts>(buffers.ints);
  arrays.floats = device.host_pointer<PlaceFloats>(buffers.floats);
  arrays.spans = device.host_pointer<int32_t>(buffers.spans);
  arrays.sign = device.host_pointer<int8_t>(buffers.sign);
  arrays.flags = device.host_pointer<int32_t>(buffers.flags);
  arrays.f = device.host_pointer<float>(buffers.f);
  arrays.a = device.host_pointer<float>(buffers.a);
  arrays.coef = device.host_pointer<float>(places.coefficients());
  arrays.target = device.host_pointer<float>(buffers.target);
  arrays.weight = device.host_pointer<float>(buffers.weight);
  arrays.ld = places.stride();
  if (store == nullptr) return arrays;
  arrays.diagonal = device.host_pointer<float>(store->diagonal());
  arrays.slot = device.host_pointer<int32_t>(store->slots());
  for (int i = 0; i < kMaxPanels; ++i)
    arrays.panels[i] = store->panel(i) != nullptr ? device.host_pointer<float>(*store->panel(i)) : nullptr;
  arrays.panel_rows = store->panel_rows();
  return arrays;
}

bool solves_in_groups(const sdk::Device& device, const char* key) {
  if (!device.compiles()) return false;  // native code has no variants
  const mk_device_info& info = device.info();
  bool groups = info.kind != MK_DEVICE_CPU || (info.flags & MK_DEVICE_SOFTWARE) != 0;
  if (const auto recorded = device.choice(key); recorded && info.kind == MK_DEVICE_CPU) groups = *recorded == "group";
  device.set_choice(key, groups ? "group" : "vector");
  return groups;
}

PanelArguments panels_of(const KernelStore& store) {
  PanelArguments panels{};
  for (int i = 0; i < kMaxPanels; ++i)
    panels.k[i] = (store.panel(i) != nullptr ? store.panel(i) : store.panel(0))->get();
  return panels;
}

}  // namespace mokume::svc
