// Wraps mk_team, the devices that jointly train one network, in C++.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "abi/model.h"
#include "sdk/error.hpp"

namespace mokume::sdk {

// Only the session's thread uses a team. Every failure is an Error, with MK_CANCELLED if the team has broken up.
class Team {
 public:
  // A null `table` stands for a single device: a team of one, whose sums are its own values.
  explicit Team(const mk_team* table) : table_(table) {}

  uint32_t members() const { return table_ == nullptr ? 1 : table_->n_members; }
  uint32_t member() const { return table_ == nullptr ? 0 : table_->member; }
  bool alone() const { return table_ == nullptr; }
  bool leads() const { return member() == 0; }
  // Returns the splits of the leader; see mk_team.
  const char* splits() const { return table_ == nullptr ? nullptr : table_->splits; }
  mk_team_split split() const { return table_ == nullptr ? MK_SPLIT_AUTO : static_cast<mk_team_split>(table_->split); }
  double speed(uint32_t member) const { return table_ == nullptr ? 1 : table_->speeds[member]; }

  // Calls body(first, count) for each bucket of the range [begin, begin + size) of a vector. With a separate sum for
  // each bucket, the team adds up one bucket while it returns the previous one and sends the next one, and repeated
  // copies hit the cache.
  template <class Body>
  static void in_buckets(uint64_t begin, uint64_t size, Body&& body) {
    constexpr uint64_t kBucket = uint64_t{1} << 16;
    for (uint64_t first = 0; first < size; first += kBucket) body(begin + first, std::min(kBucket, size - first));
  }

  // See mk_team. A single device must not call these functions.
  void give(uint64_t count, std::span<const mk_block> blocks) const {
    call(table_->give, table_->self, count, blocks.data(), static_cast<uint32_t>(blocks.size()));
  }
  void take(std::span<float> sum) const { call(table_->take, table_->self, sum.data(), uint64_t{sum.size()}); }

  void account(double elapsed_s, std::span<const double> busy_s, std::span<const double> units,
               const std::string& shares, const std::string& at) const {
    if (!alone()) table_->account(table_->self, elapsed_s, busy_s.data(), units.data(), shares.c_str(), at.c_str());
  }

  // Sums the values of all members in the order of the members. A member that has only zeros may set `zeros`.
  void sum(std::span<float> values, bool zeros = false) const {
    exchange(values, {member(), 1, values.data()}, !zeros);
  }
  // Replaces the values of every member by those of the given one, bit for bit.
  void from_member(uint32_t owner, std::span<float> values) const {
    exchange(values, {0, 1, values.data()}, member() == owner);
  }
  void from_leader(std::span<float> values) const { from_member(0, values); }

  // See mk_team. Both take large vectors in pieces, so that one piece is on its way while the next one is copied.
  void send(uint32_t to, std::span<const float> values) const {
    in_pieces(values.size(), [&](uint64_t first, uint64_t count) {
      call(table_->send, table_->self, to, values.data() + first, count);
    });
  }
  void receive(uint32_t from, std::span<float> values) const {
    in_pieces(values.size(), [&](uint64_t first, uint64_t count) {
      call(table_->receive, table_->self, from, values.data() + first, count);
    });
  }

 private:
  template <class Body>
  static void in_pieces(uint64_t size, Body&& body) {
    constexpr uint64_t kPiece = uint64_t{1} << 20;
    for (uint64_t first = 0; first < size; first += kPiece) body(first, std::min(kPiece, size - first));
  }
  void exchange(std::span<float> values, const mk_block& own, bool gives) const {
    if (alone() || values.empty()) return;
    in_buckets(0, values.size(), [&](uint64_t first, uint64_t count) {
      const mk_block part{own.first, own.size, own.values + first};
      give(count, std::span(&part, gives ? 1 : 0));
    });
    in_buckets(0, values.size(), [&](uint64_t first, uint64_t count) { take(values.subspan(first, count)); });
  }

  const mk_team* table_;
};

}  // namespace mokume::sdk
