#include "node/team_seat.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "sdk/error.hpp"

namespace mokume::node {

TeamSeat::TeamSeat(cluster::TeamJoin join, Send send) : join_(std::move(join)), send_(std::move(send)) {
  table_.struct_size = sizeof(table_);
  table_.n_members = static_cast<uint32_t>(join_.speeds.size());
  table_.member = join_.member;
  table_.self = this;
  table_.speeds = join_.speeds.data();
  if (join_.splits) table_.splits = join_.splits->c_str();
  table_.split = join_.split;
  table_.give = [](void* self, uint64_t count, const mk_block* blocks, uint32_t n_blocks, mk_error* error) {
    return sdk::guard(error, [&] { static_cast<TeamSeat*>(self)->give(count, {blocks, n_blocks}); });
  };
  table_.take = [](void* self, float* sum, uint64_t count, mk_error* error) {
    return sdk::guard(error, [&] { static_cast<TeamSeat*>(self)->take({sum, count}); });
  };
  table_.send = [](void* self, uint32_t to, const float* values, uint64_t count, mk_error* error) {
    return sdk::guard(error, [&] { static_cast<TeamSeat*>(self)->send_to(to, {values, count}); });
  };
  table_.receive = [](void* self, uint32_t from, float* values, uint64_t count, mk_error* error) {
    return sdk::guard(error, [&] { static_cast<TeamSeat*>(self)->receive(from, {values, count}); });
  };
  table_.account = [](void* self, double elapsed_s, const double* busy_s, const double* units, const char* shares,
                      const char* at) {
    const auto& seat = *static_cast<TeamSeat*>(self);
    const size_t n = seat.join_.speeds.size();
    seat.send_(cluster::TeamProgress{elapsed_s, {busy_s, busy_s + n}, {units, units + n}, shares, at});
  };
}

void TeamSeat::check_whole() const {
  if (why_) throw Error(MK_CANCELLED, *why_);
}

void TeamSeat::give(uint64_t count, std::span<const mk_block> blocks) {
  {
    const std::lock_guard lock(mutex_);
    check_whole();
  }
  cluster::TeamContribution contribution{0, join_.member, given_++, count, {}};
  for (const mk_block& b : blocks)
    contribution.blocks.push_back({b.first, b.size, base::Floats::view({b.values, count})});
  send_(contribution);
}

void TeamSeat::take(std::span<float> to) { ask(cluster::TeamTake{to.size()}, to); }

void TeamSeat::send_to(uint32_t member, std::span<const float> values) {
  {
    const std::lock_guard lock(mutex_);
    check_whole();
  }
  send_(cluster::TeamParcel{0, join_.member, member, base::Floats::view(values)});
}

void TeamSeat::receive(uint32_t from, std::span<float> to) { ask(cluster::TeamReceive{from, to.size()}, to); }

void TeamSeat::ask(const cluster::Message& request, std::span<float> to) {
  send_(request);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return sum_ || why_; });
  if (!sum_) check_whole();
  if (sum_->size() != to.size()) throw Error(MK_INTERNAL, "an answer of a team has a length other than that requested");
  std::memcpy(to.data(), sum_->span().data(), to.size_bytes());
  sum_.reset();
}

void TeamSeat::take_sum(base::Floats sum) {
  const std::lock_guard lock(mutex_);
  sum_ = std::move(sum);
  changed_.notify_all();
}

void TeamSeat::break_up(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (!why_) why_ = why;
  changed_.notify_all();
}

bool serve_team(const mk_team& team, const cluster::Message& message, const TeamSeat::Send& send) {
  try {
    if (const auto* given = std::get_if<cluster::TeamContribution>(&message)) {
      std::vector<mk_block> blocks;
      for (const cluster::Block& b : given->blocks) {
        if (b.values.size() != given->count) throw Error(MK_BAD_DATA, "a block of a sum has the wrong length");
        blocks.push_back({b.first, b.size, b.values.span().data()});
      }
      sdk::call(team.give, team.self, given->count, static_cast<const mk_block*>(blocks.data()),
                static_cast<uint32_t>(blocks.size()));
    } else if (const auto* wanted = std::get_if<cluster::TeamTake>(&message)) {
      base::Floats sum(wanted->count);
      sdk::call(team.take, team.self, sum.span().data(), wanted->count);
      send(cluster::TeamSum{0, 0, sum});
    } else if (const auto* parcel = std::get_if<cluster::TeamParcel>(&message)) {
      const std::span<const float> values = parcel->values.span();
      sdk::call(team.send, team.self, parcel->to, values.data(), uint64_t{values.size()});
    } else if (const auto* awaited = std::get_if<cluster::TeamReceive>(&message)) {
      base::Floats values(awaited->count);
      sdk::call(team.receive, team.self, awaited->from, values.span().data(), awaited->count);
      send(cluster::TeamSum{0, 0, values});
    } else if (const auto* said = std::get_if<cluster::TeamProgress>(&message)) {
      if (said->busy_s.size() != team.n_members || said->units.size() != team.n_members)
        throw Error(MK_BAD_DATA, "the account of a team has the wrong number of members");
      team.account(team.self, said->elapsed_s, said->busy_s.data(), said->units.data(), said->shares.c_str(),
                   said->at.c_str());
    } else {
      return false;
    }
  } catch (const Error& e) {
    if (e.status() != MK_CANCELLED) throw;
    send(cluster::TeamBreak{0, e.what()});  // another member is gone, so the child stops its work
  }
  return true;
}

cluster::TeamJoin join_of(const mk_team& team) {
  cluster::TeamJoin join{team.member, {team.speeds, team.speeds + team.n_members}, std::nullopt, team.split};
  if (team.splits != nullptr) join.splits = team.splits;
  return join;
}

}  // namespace mokume::node
