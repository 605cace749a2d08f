// Carries the calls of a team's member over the socket between a node and the child process that acts as the member.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "abi/model.h"
#include "cluster/protocol/messages.hpp"

namespace mokume::node {

// Implements the child's side: an mk_team whose calls become messages to the node.
class TeamSeat {
 public:
  using Send = std::function<void(const cluster::Message&)>;  // called on the session's thread
  TeamSeat(cluster::TeamJoin join, Send send);
  TeamSeat(const TeamSeat&) = delete;
  TeamSeat& operator=(const TeamSeat&) = delete;

  const mk_team* table() const { return &table_; }  // valid for the lifetime of the seat

  // Take the node's answers. Any thread may call these functions.
  void take_sum(base::Floats sum);        // answers take() and receive()
  void break_up(const std::string& why);  // later contributions and waits get MK_CANCELLED

 private:
  void give(uint64_t count, std::span<const mk_block> blocks);
  void take(std::span<float> sum);
  void send_to(uint32_t member, std::span<const float> values);
  void receive(uint32_t from, std::span<float> values);
  void ask(const cluster::Message& request, std::span<float> answer);
  void check_whole() const;  // requires the lock

  const cluster::TeamJoin join_;
  const Send send_;
  mk_team table_{};
  uint64_t given_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<base::Floats> sum_;
  std::optional<std::string> why_;
};

// Implements the node's side: carries out the child's request on `team` and answers it. Returns false if the message is
// not about a team.
bool serve_team(const mk_team& team, const cluster::Message& message, const TeamSeat::Send& send);

cluster::TeamJoin join_of(const mk_team& team);

}  // namespace mokume::node
