#include "blocked_solver.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "blocked.embed.hpp"
#include "blocked_group.embed.hpp"
#include "blocked_vector.embed.hpp"
#include "concurrency.hpp"
#include "native_loop.hpp"
#include "places.embed.hpp"

namespace mokume::svc {
namespace {

constexpr int64_t kBlocksPerItem = 8;                    // WIDE in kernels/blocked_vector.cl
constexpr int64_t kRowsPerItem = 32;                     // STRIP in kernels/blocked_vector.cl
constexpr int32_t kMembers = 0, kInside = 3, kPoor = 4;  // MEMBERS, INSIDE and POOR in kernels/blocked.cl
constexpr size_t kInner = 5;                             // floats of an unfinished round per row of the working set
constexpr int32_t kSteps = 32'768;                       // most steps in a launch of `solve`
constexpr int32_t kMostInside = 1 << 30;                 // steps of an unfinished round that a checkpoint may name
// Devices with MK_DEVICE_SOFTWARE limit the loops of a work-item to 65,535 iterations, and a step takes up to 100.
constexpr int32_t kStepsInSoftware = 600;

}  // namespace

uint64_t BlockedSolver::bytes(const RowOrder& order, int64_t count) {
  const auto set = static_cast<uint64_t>(working_set(order.rows()));
  return static_cast<uint64_t>(count) * sizeof(float) * (kCounts + (4 + kInner) * set + set * set);
}

BlockedSolver::BlockedSolver(const sdk::Host& host, const sdk::Device& device, const RowOrder& order, int64_t count,
                             Storage storage)
    : host_(host),
      device_(device),
      set_(working_set(order.rows())),
      groups_(solves_in_groups(device, "svc.blocked")),
      most_poor_(!groups_ || is_strict(device) ? kMostPoorRounds : std::numeric_limits<int32_t>::max()),
      program_(sdk::Program::build(
          device, "blocked", (std::string(kPlaces) + kBlocked + (groups_ ? kBlocked_group : kBlocked_vector)).c_str(),
          "-DGROUP=" + std::to_string(kItems) + " -DSET=" + std::to_string(set_) + options_of(storage))),
      native_(blocked_native(storage)),
      storage_(storage),
      handed_over_(static_cast<size_t>(count)) {
  const auto n = static_cast<uint64_t>(count), set = static_cast<uint64_t>(set_);
  counts_ = device.buffer<int32_t>(n * kCounts);
  members_ = device.buffer<int32_t>(n * set);
  moved_ = device.buffer<int32_t>(n * set);
  delta_ = device.buffer<float>(n * 2 * set);
  inner_ = device.buffer<float>(n * kInner * set);
  tile_ = device.buffer<float>(n * set * set);
}

void BlockedSolver::advance(Places& places, KernelStore& store, int64_t max_iterations) {
  Order in_rounds, in_steps;
  for (const int32_t p : places.running()) {
    if (places.ints()[static_cast<size_t>(p)].status == kStart) handed_over_[static_cast<size_t>(p)] = false;
    (takes_steps(p) ? in_steps : in_rounds).push_back(p);
  }
  if (!in_rounds.empty()) advance_rounds(places, store, in_rounds, max_iterations);
  if (!in_steps.empty()) steps().advance_some(places, store, in_steps, max_iterations);
}

LibsvmSolver& BlockedSolver::steps() {
  if (!steps_) steps_.emplace(host_, device_, false, storage_);
  return *steps_;
}

void BlockedSolver::advance_rounds(Places& places, KernelStore& store, const Order& order, int64_t max_iterations) {
  const auto phase = device_.phase("solve");
  for (const int32_t p : order) {
    PlaceInts& i = places.ints()[static_cast<size_t>(p)];
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (i.status == kStart) i.steps_left = static_cast<int32_t>(std::min(max_iterations, kMost));
  }
  places.send(order);
  const auto problems = static_cast<int64_t>(order.size());
  const bool waits = !groups_ || store.mode() == KernelStore::Mode::on_the_fly;  // in every round
  const int rounds = waits ? 1 : rounds_at_once(device_.info(), problems, places.stride(), set_);
  for (int k = 0; k < rounds; ++k) round(places, store, order);
  places.fetch();
  for (const int32_t p : order)
    if (places.ints()[static_cast<size_t>(p)].status == kHandedOver) handed_over_[static_cast<size_t>(p)] = true;
  places.count_steps(order, std::numeric_limits<int64_t>::max());
}

void BlockedSolver::round(Places& places, KernelStore& store, const Order& order) {
  choose(places, order);
  if (store.mode() != KernelStore::Mode::on_the_fly) return solve_and_update(places, store, order);
  // The cache may not hold the rows of all working sets, so the solver handles a few problems at a time.
  std::vector<int32_t> counts(static_cast<size_t>(places.count() * kCounts));
  std::vector<int32_t> members(static_cast<size_t>(places.count() * set_));
  device_.read(counts_, counts.data(), counts.size());
  device_.read(members_, members.data(), members.size());
  Order some;
  std::vector<int32_t> rows;
  const auto finish = [&] {
    if (some.empty()) return;
    store.fetch(rows, {});
    places.send_order(some);
    solve_and_update(places, store, some);
    some.clear();
    rows.clear();
  };
  for (const int32_t p : order) {
    const auto size = static_cast<int64_t>(counts[static_cast<size_t>(p * kCounts)]);
    if (static_cast<int64_t>(rows.size()) + size > store.capacity()) finish();
    some.push_back(p);
    const auto first = members.begin() + p * set_;
    rows.insert(rows.end(), first, first + size);
  }
  finish();
  places.send_order(order);
}

void BlockedSolver::choose(Places& places, const Order& order) {
  const auto want = static_cast<int32_t>(set_ / 2);
  const Places::Buffers& b = places.buffers();
  if (program_) {
    program_->launch(groups_ ? "choose_group" : "choose_vector", order.size() * items(), items(), b.order, b.ints,
                     b.floats, b.spans, b.sign, b.flags, b.f, b.a, places.coefficients(), counts_, members_, b.weight,
                     places.stride(), want);
    return;
  }
  const BlockArrays arrays = arrays_of_blocks(places, nullptr);
  native_loop(host_, device_, "choose_native", order.size(),
              [&](uint64_t k) { native_.choose(arrays, order[k], want); });
}

void BlockedSolver::gather(Places& places, const KernelStore& store, const Order& order) {
  if (program_) {
    const auto [k] = panels_of(store);
    const auto running = static_cast<int64_t>(order.size());
    const int64_t strips = groups_ ? set_ : (places.stride() + kRowsPerItem - 1) / kRowsPerItem;
    program_->launch(groups_ ? "gather_group" : "gather_vector", static_cast<uint64_t>(strips * running) * items(),
                     items(), places.buffers().order, static_cast<int32_t>(running), counts_, members_, tile_,
                     store.slots(), places.stride(), k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7],
                     static_cast<int32_t>(store.panel_rows()));
    return;
  }
  const BlockArrays arrays = arrays_of_blocks(places, &store);
  const auto strips = static_cast<uint64_t>((places.stride() + kRowsPerItem - 1) / kRowsPerItem);
  native_loop(host_, device_, "gather_native", strips * order.size(), [&](uint64_t k) {
    const auto from = static_cast<int32_t>(static_cast<int64_t>(k / order.size()) * kRowsPerItem);
    native_.gather(arrays, order[k % order.size()], from, from + static_cast<int32_t>(kRowsPerItem));
  });
}

void BlockedSolver::solve_and_update(Places& places, const KernelStore& store, const Order& order) {
  gather(places, store, order);
  const Places::Buffers& b = places.buffers();
  const int64_t blocks = places.stride() / kBlock;
  const auto running = static_cast<int64_t>(order.size());
  if (program_) {
    const auto [k] = panels_of(store);
    const auto panel_rows = static_cast<int32_t>(store.panel_rows());
    const int32_t steps = (device_.info().flags & MK_DEVICE_SOFTWARE) != 0 ? kStepsInSoftware : kSteps;
    program_->launch(groups_ ? "solve_group" : "solve_vector", order.size() * items(), items(), b.order, b.ints,
                     b.floats, b.sign, b.flags, b.f, b.a, counts_, members_, moved_, delta_, inner_, tile_,
                     store.diagonal(), b.weight, places.stride(), steps, store.largest(), most_poor_);
    const int64_t chunk = groups_ ? static_cast<int64_t>(kItems) / kBlock : kBlocksPerItem;
    const auto work = static_cast<uint64_t>((blocks + chunk - 1) / chunk * running);
    program_->launch(groups_ ? "update_group" : "update_vector", work * items(), items(), b.order,
                     static_cast<int32_t>(running), b.spans, b.sign, b.f, counts_, moved_, delta_, store.slots(),
                     places.stride(), k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7], panel_rows);
    return;
  }
  const BlockArrays arrays = arrays_of_blocks(places, &store);
  native_loop(host_, device_, "solve_native", order.size(),
              [&](uint64_t k) { native_.solve(arrays, order[k], store.largest(), most_poor_); });
  // Iterates over columns first, so that problems share the cached part of the kernel matrix.
  const auto chunks = static_cast<uint64_t>((blocks + kBlocksPerItem - 1) / kBlocksPerItem);
  native_loop(host_, device_, "update_native", chunks * order.size(), [&](uint64_t k) {
    const auto from = static_cast<int64_t>(k / order.size()) * kBlocksPerItem;
    native_.update(arrays, order[k % order.size()], from, std::min(from + kBlocksPerItem, blocks));
  });
}

// Native code completes every round. A kernel may end in the middle of one, and then needs the working set.
std::optional<SolveState> BlockedSolver::state(const Places& places, int64_t place) const {
  std::optional<SolveState> state = places.state(place);
  if (!state) return state;
  if (takes_steps(place)) {
    state->poor_rounds = kMostPoorRounds;
    return state;
  }
  int32_t counts[kCounts];
  device_.read(counts_, &counts[0], kCounts, static_cast<uint64_t>(place * kCounts));
  const int32_t inside = program_ ? counts[kInside] : 0;
  state->poor_rounds = inside > 0 ? -inside : std::min(counts[kPoor], kMostPoorRounds - 1);
  if (inside == 0) return state;
  const auto rows = static_cast<size_t>(counts[kMembers]);
  state->members.resize(rows);
  state->inner.resize(kInner * rows);
  device_.read(members_, state->members.data(), rows, static_cast<uint64_t>(place * set_));
  for (size_t part = 0; part < kInner; ++part)
    device_.read(inner_, state->inner.data() + part * rows, rows, place_of_inner(place, part));
  return state;
}

bool BlockedSolver::are_members(const std::vector<int32_t>& rows, const Places& places) const {
  const bool ascend = std::adjacent_find(rows.begin(), rows.end(), std::greater_equal<>()) == rows.end();
  return static_cast<int64_t>(rows.size()) <= set_ && ascend && (rows.empty() || rows.front() >= 0) &&
         (rows.empty() || rows.back() < places.rows());
}

uint64_t BlockedSolver::place_of_inner(int64_t place, size_t part) const {
  return (static_cast<uint64_t>(place) * kInner + part) * static_cast<uint64_t>(set_);
}

void BlockedSolver::set_counts(int64_t place, const SolveState& state, int32_t inside) const {
  int32_t counts[kCounts] = {};
  counts[kMembers] = static_cast<int32_t>(state.members.size());
  counts[kInside] = inside;
  counts[kPoor] = std::max(state.poor_rounds, 0);
  device_.write(counts_, &counts[0], kCounts, static_cast<uint64_t>(place * kCounts));
}

bool BlockedSolver::restore(Places& places, KernelStore& store, int64_t place, const SolveState& state) {
  if (state.poor_rounds < -kMostInside || state.poor_rounds > kMostPoorRounds) return false;
  if (state.poor_rounds == kMostPoorRounds) {
    if (most_poor_ > kMostPoorRounds || (state.status != kHandedOver && !steps().restore(places, store, place, state)))
      return false;
    if (state.status == kHandedOver && !places.restore(place, state)) return false;
    handed_over_[static_cast<size_t>(place)] = true;
    return true;
  }
  const size_t rows = state.members.size();
  const bool inside = rows > 0;
  if (state.status != kRunning || state.inner.size() != kInner * rows || (inside && !program_)) return false;
  if (!are_members(state.members, places) || !places.restore(place, state)) return false;
  set_counts(place, state, 0);
  if (!inside) return true;
  device_.write(members_, state.members.data(), rows, static_cast<uint64_t>(place * set_));
  for (size_t part = 0; part < kInner; ++part)
    device_.write(inner_, state.inner.data() + part * rows, rows, place_of_inner(place, part));
  if (store.mode() == KernelStore::Mode::on_the_fly) store.fetch(state.members, {});
  const Order order{static_cast<int32_t>(place)};
  places.send_order(order);
  gather(places, store, order);  // between rounds, because the kernel keeps the values of an unfinished round
  device_.finish();
  set_counts(place, state, std::max(1, -state.poor_rounds));
  return true;
}

BlockArrays BlockedSolver::arrays_of_blocks(Places& places, const KernelStore* store) const {
  BlockArrays arrays{};
  arrays.places = arrays_of(places, store);
  arrays.set = set_;
  arrays.counts = device_.host_pointer<int32_t>(counts_);
  arrays.members = device_.host_pointer<int32_t>(members_);
  arrays.moved = device_.host_pointer<int32_t>(moved_);
  arrays.delta = device_.host_pointer<float>(delta_);
  arrays.tile = device_.host_pointer<float>(tile_);
  return arrays;
}

}  // namespace mokume::svc
