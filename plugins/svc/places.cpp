#include "places.hpp"

#include <algorithm>
#include <utility>

#include "sdk/ops.hpp"
#include "shared_memory.hpp"
#include "solver.hpp"

namespace mokume::svc {

uint64_t Places::bytes(const RowOrder& order, int64_t count, int64_t coef_rows, int64_t sides) {
  const auto ld = static_cast<uint64_t>(order.stride()), floats = 2 + 2 * static_cast<uint64_t>(sides);
  const uint64_t each = ld * (floats * sizeof(float) + sizeof(int32_t) + sizeof(int8_t)) +
                        2 * kMaxSpans * sizeof(int32_t) + sizeof(PlaceInts) + sizeof(PlaceFloats) + sizeof(int32_t);
  return static_cast<uint64_t>(count) * each + static_cast<uint64_t>(coef_rows) * ld * sizeof(float) +
         2 * ld * sizeof(float);
}

Places::Places(const sdk::Device& device, const RowOrder& order, int64_t count, int64_t coef_rows, int64_t sides)
    : device_(device), order_(order), count_(count), sides_(sides) {
  const auto ld = static_cast<uint64_t>(order.stride());
  const auto p = static_cast<uint64_t>(count);
  buffers_.order = device.buffer<int32_t>(p);
  buffers_.ints = device.buffer<PlaceInts>(p);
  buffers_.floats = device.buffer<PlaceFloats>(p);
  buffers_.spans = device.buffer<int32_t>(p * 2 * kMaxSpans);
  buffers_.sign = device.buffer<int8_t>(p * ld);
  buffers_.flags = device.buffer<int32_t>(p * ld);
  buffers_.f = device.buffer<float>(p * 2 * ld);
  buffers_.a = device.buffer<float>(p * 2 * static_cast<uint64_t>(sides) * ld);
  buffers_.target = device.upload(order.padded(order.targets(), 0));
  buffers_.weight = device.upload(order.padded(order.weights(), 1));
  coef_ = device.buffer<float>(static_cast<uint64_t>(coef_rows) * ld);
  device.submit(ops::fill(sdk::matrix(coef_.get(), coef_rows, order.stride()), 0.0F));
  ints_.resize(p);
  floats_.resize(p);
  spans_.assign(p, {-1});
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
  spans_[static_cast<size_t>(place)] = std::move(spans);
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
  auto at = static_cast<uint64_t>(place * 2 * sides_ * order_.stride());
  for (const SideMultipliers& side : start.multipliers)
    for (const std::vector<float>* part : {&side.high, &side.low}) {
      if (!part->empty()) device_.write(buffers_.a, part->data(), part->size(), at);
      at += part->size();
    }
  active_[p] = true;
  steps_[p] = 0;
  capped_[p] = false;
}

std::optional<Solution> Places::solution(int64_t place) const {
  const auto p = static_cast<size_t>(place);
  if (!active_[p] || (ints_[p].status != kConverged && !capped_[p])) return std::nullopt;
  const float rho = floats_[p].rho + 0.0F;  // devices may differ in the sign of a zero
  return Solution{rho, steps_[p], ints_[p].vectors, ints_[p].at_c, capped_[p]};
}

namespace {

// Calls body(first row, rows) for each span of a list that ends with a negative number.
template <class Body>
void for_spans(const std::vector<int32_t>& spans, const Body& body) {
  for (const int32_t* s = spans.data(); s[0] >= 0; s += 2) body(s[0] * kBlock, (s[1] - s[0]) * kBlock);
}

}  // namespace

int64_t Places::rows_of_spans(int64_t place) const {
  int64_t rows = 0;
  for_spans(spans_[static_cast<size_t>(place)], [&](int64_t, int64_t count) { rows += count; });
  return rows;
}

template <class T>
std::vector<T> Places::read_spans(const sdk::Buffer& from, int64_t place, int64_t parts) const {
  std::vector<T> all(static_cast<size_t>(parts * stride())), values;
  device_.read(from, all.data(), all.size(), static_cast<uint64_t>(place * parts * stride()));
  for (int64_t part = 0; part < parts; ++part)
    for_spans(spans_[static_cast<size_t>(place)], [&](int64_t first, int64_t count) {
      const auto begin = all.begin() + part * stride() + first;
      values.insert(values.end(), begin, begin + count);
    });
  return values;
}

// The rows outside the spans are in no sum, but a file must not decide what they hold.
template <class T>
void Places::write_spans(const sdk::Buffer& to, int64_t place, int64_t parts, const std::vector<T>& values) const {
  std::vector<T> all(static_cast<size_t>(parts * stride()));
  auto next = values.begin();
  for (int64_t part = 0; part < parts; ++part)
    for_spans(spans_[static_cast<size_t>(place)], [&](int64_t first, int64_t count) {
      std::copy_n(next, count, all.begin() + part * stride() + first);
      next += count;
    });
  device_.write(to, all.data(), all.size(), static_cast<uint64_t>(place * parts * stride()));
}

std::optional<SolveState> Places::state(int64_t place) const {
  const auto p = static_cast<size_t>(place);
  const PlaceInts& i = ints_[p];
  const PlaceFloats& f = floats_[p];
  if (i.status == kStart && i.need < 0) return std::nullopt;
  SolveState state{i.status,  i.best, i.need, i.steps_left, f.up, f.low, f.up_rest, f.rounding,
                   steps_[p], {},     {},     {},           {},   {},    0};
  state.flags = read_spans<int32_t>(buffers_.flags, place, 1);
  state.f = read_spans<float>(buffers_.f, place, 2);
  state.a = read_spans<float>(buffers_.a, place, 2 * sides_);
  return state;
}

// A solver checks what only it can know.
bool Places::fits(int64_t place, const SolveState& s) const {
  const auto rows = static_cast<size_t>(rows_of_spans(place));
  const bool known = s.status == kRunning || s.status == kNeed || s.status == kStart || s.status == kHandedOver;
  const bool needs_a_row = s.status == kNeed || s.status == kStart;
  return known && s.best >= -1 && s.best < order_.rows() && s.need >= (needs_a_row ? 0 : -1) &&
         s.need < order_.rows() && s.flags.size() == rows && s.f.size() == 2 * rows &&
         s.a.size() == static_cast<size_t>(2 * sides_) * rows;
}

bool Places::restore(int64_t place, const SolveState& state) {
  if (!fits(place, state)) return false;
  const auto p = static_cast<size_t>(place);
  PlaceInts& i = ints_[p];
  PlaceFloats& f = floats_[p];
  i.status = state.status;
  i.best = state.best;
  i.need = state.need;
  i.steps_left = state.steps_left;
  f.up = state.up;
  f.low = state.low;
  f.up_rest = state.up_rest;
  f.rounding = state.rounding;
  steps_[p] = state.steps;
  write_spans(buffers_.flags, place, 1, state.flags);
  write_spans(buffers_.f, place, 2, state.f);
  write_spans(buffers_.a, place, 2 * sides_, state.a);
  return true;
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

int32_t Places::steps_within(const std::vector<int32_t>& order, int64_t limit, int32_t most) const {
  int64_t least = most;
  for (const int32_t p : order) least = std::min(least, limit - steps_[static_cast<size_t>(p)]);
  return static_cast<int32_t>(std::max<int64_t>(1, least));
}

void Places::count_steps(const std::vector<int32_t>& order, int64_t limit) {
  for (const int32_t p : order) {
    const auto at = static_cast<size_t>(p);
    steps_[at] += ints_[at].steps;
    ints_[at].steps = 0;
    if (ints_[at].status == kStuck || (ints_[at].status == kRunning && steps_[at] >= limit)) capped_[at] = true;
  }
}

Kernel kernel_of(const Settings& settings, const KernelStore& store) {
  const bool needs_digits = settings.solver == SolverKind::blocked || settings.storage == Storage::fp16;
  return needs_digits ? store.for_sums(settings.kernel) : settings.kernel;
}

std::string options_of(Storage storage) { return storage == Storage::fp16 ? " -DFP16" : ""; }

// Dividing the targets by s has the same effect as multiplying C, epsilon and the tolerance by s, except that the
// solution is s times smaller.
Places::Start start_of(const Settings& settings, const RowOrder& order, const BinaryProblem& problem, double c,
                       double nu) {
  const bool penalises = settings.kind != Kind::nu_svc && settings.kind != Kind::one_class;
  const double unit = settings.standardise_target ? order.target_deviation(problem.fold) : 1;
  const double bound = penalises ? c * unit : 1;
  Places::Start start{bound, settings.tol, settings.epsilon * unit, {}};
  if (has_nu(settings.kind)) start.multipliers = nu_start(order, problem, settings.kind, nu, bound);
  if (!order.regression()) return start;
  // The solver compares the high parts of F, whose rounding errors are relative to the size of the targets.
  const double resolved = 0x1p-20 * order.largest_target();
  start.tol = std::max(settings.tol * unit, resolved);
  return start;
}

PlaceArrays arrays_of(Places& places, const KernelStore* store) {
  const sdk::Device& device = places.device();
  const Places::Buffers& buffers = places.buffers();
  device.finish();
  PlaceArrays arrays{};
  arrays.order = shared_memory<int32_t>(device, buffers.order.get());
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
    arrays.panels[i] = store->panel(i) != nullptr ? device.host_pointer<void>(*store->panel(i)) : nullptr;
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

bool is_strict(const sdk::Device& device) { return device.choice("numerics") == "strict"; }

PanelArguments panels_of(const KernelStore& store) {
  PanelArguments panels{};
  for (int i = 0; i < kMaxPanels; ++i)
    panels.k[i] = (store.panel(i) != nullptr ? store.panel(i) : store.panel(0))->get();
  return panels;
}

}  // namespace mokume::svc
