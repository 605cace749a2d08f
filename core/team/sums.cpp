#include "team/sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

#include "sdk/error.hpp"

namespace mokume::team {
namespace {

constexpr uint64_t kMostFloats = uint64_t{1} << 30;  // in one parcel
constexpr double kSlice = 1;                         // longest wait at a time, in seconds

bool is_subtree(const cluster::Block& b) { return std::has_single_bit(b.size) && b.first % b.size == 0; }

uint64_t end_of(const cluster::Block& b) { return uint64_t{b.first} + b.size; }

// Sums sorted, disjoint blocks over the leaves [first, first + size).
base::Floats sum_of(std::span<const cluster::Block> blocks, uint64_t first, uint64_t size) {
  if (blocks.empty()) return {};
  if (blocks.size() == 1) return blocks.front().values;
  const uint64_t half = size / 2;
  const auto middle = std::partition_point(blocks.begin(), blocks.end(),
                                           [&](const cluster::Block& b) { return b.first < first + half; });
  const auto left_of = static_cast<size_t>(middle - blocks.begin());
  const base::Floats left = sum_of(blocks.first(left_of), first, half);
  const base::Floats right = sum_of(blocks.subspan(left_of), first + half, half);
  if (!left || !right) return left ? left : right;
  const std::span<float> sum = left.span(), more = right.span();
  std::transform(sum.begin(), sum.end(), more.begin(), sum.begin(), std::plus<float>());
  return left;
}

}  // namespace

base::Floats add_up(std::vector<cluster::Block> blocks, uint64_t count) {
  std::sort(blocks.begin(), blocks.end(),
            [](const cluster::Block& a, const cluster::Block& b) { return a.first < b.first; });
  uint64_t end = 0;
  for (const cluster::Block& b : blocks) {
    if (!is_subtree(b)) throw Error(MK_INTERNAL, "a block of a sum is not a subtree");
    if (b.first < end) throw Error(MK_INTERNAL, "two blocks of a sum overlap");
    if (b.values.size() != count) throw Error(MK_INTERNAL, "the blocks of a sum differ in length");
    end = end_of(b);
  }
  if (blocks.empty()) return base::Floats(count);
  return sum_of(blocks, 0, std::bit_ceil(end));
}

// Holds the state of a member in this process.
struct TeamSums::Seat {
  TeamSums& team;
  uint32_t member;
  mk_team table{};
  uint64_t given = 0, taken = 0;  // numbers of sums; used only by the member's own thread
};

TeamSums::TeamSums(Setup setup) : setup_(std::move(setup)) {
  for (const uint32_t member : setup_.local) {
    auto seat = std::make_unique<Seat>(Seat{*this, member});
    mk_team& table = seat->table;
    table.struct_size = sizeof(table);
    table.n_members = static_cast<uint32_t>(setup_.speeds.size());
    table.member = member;
    table.self = seat.get();
    table.speeds = setup_.speeds.data();
    if (member == 0 && !setup_.splits.empty()) table.splits = setup_.splits.c_str();
    table.split = setup_.split;
    table.give = [](void* self, uint64_t count, const mk_block* blocks, uint32_t n_blocks, mk_error* error) {
      return sdk::guard(error, [&] {
        Seat& from = *static_cast<Seat*>(self);
        from.team.give(from, count, {blocks, n_blocks});
      });
    };
    table.take = [](void* self, float* sum, uint64_t count, mk_error* error) {
      return sdk::guard(error, [&] {
        Seat& to = *static_cast<Seat*>(self);
        to.team.take(to, {sum, count});
      });
    };
    table.send = [](void* self, uint32_t to, const float* values, uint64_t count, mk_error* error) {
      return sdk::guard(error, [&] {
        const Seat& from = *static_cast<Seat*>(self);
        from.team.send(from, to, {values, count});
      });
    };
    table.receive = [](void* self, uint32_t from, float* values, uint64_t count, mk_error* error) {
      return sdk::guard(error, [&] {
        const Seat& to = *static_cast<Seat*>(self);
        to.team.receive(to, from, {values, count});
      });
    };
    table.account = [](void* self, double elapsed_s, const double* busy_s, const double* units, const char* shares,
                       const char* at) {
      const Setup& of = static_cast<Seat*>(self)->team.setup_;
      const size_t n = of.speeds.size();
      if (of.account) of.account(elapsed_s, {busy_s, n}, {units, n}, shares, at);
    };
    seats_.push_back(std::move(seat));
  }
}

TeamSums::~TeamSums() = default;

const mk_team* TeamSums::table(uint32_t member) const {
  for (const auto& seat : seats_)
    if (seat->member == member) return &seat->table;
  throw Error(MK_INTERNAL, "that member of the team is in another process");
}

void TeamSums::check_whole() const {
  if (why_) throw Error(MK_CANCELLED, *why_);
}

void TeamSums::give(Seat& seat, uint64_t count, std::span<const mk_block> blocks) {
  const bool gathers = !setup_.gathered.empty();
  cluster::TeamContribution contribution{0, seat.member, seat.given++, count, {}};
  for (const mk_block& b : blocks) {
    const std::span<const float> values(b.values, count);
    contribution.blocks.push_back({b.first, b.size, gathers ? base::Floats(values) : base::Floats::view(values)});
  }
  if (gathers) return take_contribution(std::move(contribution));
  {
    const std::lock_guard lock(mutex_);
    check_whole();
  }
  setup_.send(contribution);
}

void TeamSums::take_contribution(cluster::TeamContribution contribution) {
  Sum whole;
  {
    const std::lock_guard lock(mutex_);
    check_whole();
    Sum& sum = open_[contribution.number];
    if (sum.members.empty()) sum.count = contribution.count;
    const auto& gathered = setup_.gathered;
    if (sum.count != contribution.count ||
        std::find(gathered.begin(), gathered.end(), contribution.member) == gathered.end() ||
        !sum.members.insert(contribution.member).second)
      throw Error(MK_INTERNAL, fmt::format("member {} of the team contributed out of turn", contribution.member));
    std::move(contribution.blocks.begin(), contribution.blocks.end(), std::back_inserter(sum.blocks));
    if (sum.members.size() < gathered.size()) return;
    whole = std::move(sum);
    open_.erase(contribution.number);
  }
  if (setup_.slice) return setup_.slice(contribution.number, whole.count, std::move(whole.blocks));
  const base::Floats sum = add_up(std::move(whole.blocks), whole.count);
  keep(contribution.number, sum);
  if (setup_.publish) setup_.publish(contribution.number, sum);
}

void TeamSums::take_sum(uint64_t number, const base::Floats& sum) { keep(number, sum); }

void TeamSums::keep(uint64_t number, const base::Floats& sum) {
  const std::lock_guard lock(mutex_);
  made_[number] = {sum, static_cast<uint32_t>(seats_.size())};
  changed_.notify_all();
}

// Waits in slices, so that a suspended process does not take its own absence for that of other members.
template <class Ready>
bool TeamSums::wait(std::unique_lock<std::mutex>& lock, const Ready& ready) {
  const auto done = [&] { return why_ || ready(); };
  double waited = 0;
  while (!changed_.wait_for(lock, std::chrono::duration<double>(std::min(kSlice, setup_.patience_s)), done)) {
    if (waited >= setup_.patience_s) return false;
    waited += kSlice;
  }
  return true;
}

void TeamSums::take(Seat& seat, std::span<float> to) {
  const uint64_t number = seat.taken++;
  base::Floats sum;
  {
    std::unique_lock lock(mutex_);
    const bool in_time = wait(lock, [&] { return made_.count(number) > 0; });
    // Returns a finished sum even if a member has left since.
    if (made_.count(number) == 0) {
      if (in_time) check_whole();
      late_ = true;
      if (const auto open = open_.find(number); open != open_.end())
        for (const uint32_t m : setup_.gathered)
          if (open->second.members.count(m) == 0) missing_.push_back(m);
      why_ = fmt::format("a member of the team has contributed nothing for {:.0f} s", setup_.patience_s);
      changed_.notify_all();
      check_whole();
    }
    Made& made = made_.at(number);
    sum = made.sum;
    if (--made.left == 0) made_.erase(number);
  }
  if (sum.size() != to.size())
    throw Error(MK_INTERNAL, "a sum of a team was taken with a length other than that given");
  std::memcpy(to.data(), sum.span().data(), to.size_bytes());
}

bool TeamSums::is_local(uint32_t member) const {
  return std::find(setup_.local.begin(), setup_.local.end(), member) != setup_.local.end();
}

void TeamSums::send(const Seat& seat, uint32_t to, std::span<const float> values) {
  if (to >= setup_.speeds.size() || to == seat.member || values.size() > kMostFloats)
    throw Error(MK_INTERNAL, "the team has no such other member, or the floats are too many");
  if (is_local(to)) return take_parcel({0, seat.member, to, base::Floats(values)});
  {
    const std::lock_guard lock(mutex_);
    check_whole();
  }
  setup_.forward({0, seat.member, to, base::Floats::view(values)});
}

void TeamSums::take_parcel(const cluster::TeamParcel& parcel) {
  const std::lock_guard lock(mutex_);
  check_whole();
  if (!is_local(parcel.to) || parcel.from >= setup_.speeds.size() || parcel.from == parcel.to)
    throw Error(MK_INTERNAL, fmt::format("member {} of the team sent floats astray", parcel.from));
  parcels_[{parcel.from, parcel.to}].push_back(parcel.values);
  changed_.notify_all();
}

// A late sender breaks up the team, but is not blamed, because it may itself wait for another member. A member that
// hangs shows itself by not returning from its work.
void TeamSums::receive(const Seat& seat, uint32_t from, std::span<float> to) {
  base::Floats values;
  if (from >= setup_.speeds.size() || from == seat.member)
    throw Error(MK_INTERNAL, "the team has no such other member");
  if (setup_.expect && !is_local(from)) setup_.expect(from, seat.member);
  {
    std::unique_lock lock(mutex_);
    std::deque<base::Floats>& parcels = parcels_[{from, seat.member}];
    const bool in_time = wait(lock, [&] { return !parcels.empty(); });
    if (parcels.empty()) {
      if (in_time) check_whole();
      late_ = true;
      why_ = fmt::format("member {} of the team has sent nothing for {:.0f} s", from, setup_.patience_s);
      changed_.notify_all();
      check_whole();
    }
    values = std::move(parcels.front());
    parcels.pop_front();
  }
  if (values.size() != to.size())
    throw Error(MK_INTERNAL, "a member of a team received another number of floats than were sent");
  std::memcpy(to.data(), values.span().data(), to.size_bytes());
}

void TeamSums::break_up(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (!why_) why_ = why;
  changed_.notify_all();
}

bool TeamSums::broken() const {
  const std::lock_guard lock(mutex_);
  return why_.has_value();
}

std::vector<uint32_t> TeamSums::missing() const {
  const std::lock_guard lock(mutex_);
  return missing_;
}

bool TeamSums::late() const {
  const std::lock_guard lock(mutex_);
  return late_;
}

}  // namespace mokume::team
