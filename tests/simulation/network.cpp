#include "simulation/network.hpp"

#include <cmath>
#include <memory>

#include "abi/plugin.h"
#include "sdk/error.hpp"

namespace mokume::simulation {

Network::Network(World& world, std::vector<Process*> ranks, Weather weather)
    : world_(world),
      weather_(weather),
      cuts_(ranks.size()),
      directions_(ranks.size(), std::vector<Direction>(ranks.size())) {
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    Node& node = nodes_.emplace_back();
    node.network = this;
    node.number = node.rank = rank;
    node.process = ranks[rank];
    node.closed.resize(ranks.size());
    node.forgotten.resize(ranks.size());
    node.table = table_of(&node);
  }
}

mk_transport Network::table_of(Node* node) {
  mk_transport table{};
  table.struct_size = sizeof(mk_transport);
  table.abi_major = MK_ABI_MAJOR;
  table.abi_minor = MK_ABI_MINOR;
  table.self = node;
  table.rank = [](void* self) { return of(self).rank; };
  table.size = [](void* self) { return static_cast<uint32_t>(of(self).network->nodes_.size()); };
  table.send = [](void* self, uint32_t to, const void* message, uint64_t bytes, void (*release)(void*), void* context,
                  mk_error* error) {
    return sdk::guard(error, [&] {
      const std::shared_ptr<void> owner(context, [=](void* kept) {
        if (release != nullptr) release(kept);
      });
      of(self).network->send(of(self), to, std::string(static_cast<const char*>(message), bytes));
    });
  };
  table.poll = [](void* self, uint32_t* from, void** message, uint64_t* bytes, mk_error* error) {
    return sdk::guard(error, [&] {
      Node& own = of(self);
      *bytes = 0;
      if (own.process->dead()) throw Error(MK_CANCELLED, "this process is dead");
      if (own.inbox.empty()) return;
      const std::string& text = own.inbox.front().second;
      *from = own.inbox.front().first;
      own.forgotten[*from] = false;
      *bytes = text.size();
      *message = std::copy(text.begin(), text.end(), new char[text.size()]) - text.size();
      own.inbox.pop_front();
    });
  };
  table.release = [](void* message) { delete[] static_cast<char*>(message); };
  table.wait = [](void* self, uint32_t timeout_us, mk_error* error) {
    return sdk::guard(error, [&] { of(self).network->wait(of(self), timeout_us * 1e-6); });
  };
  table.wake = [](void* self) {
    of(self).woken = true;
    of(self).network->notify(of(self));
  };
  table.flush = [](void*, uint32_t, mk_error*) -> int32_t { return MK_OK; };
  table.forget = [](void* self, uint32_t peer) { of(self).forgotten.at(peer) = true; };
  table.lost = [](void* self, uint32_t peer) -> int32_t {
    const Node& own = of(self);
    if (peer == own.rank || (own.rank != 0 && peer != 0)) return 0;
    const bool unread = std::any_of(own.inbox.begin(), own.inbox.end(), [&](const auto& m) { return m.first == peer; });
    return own.forgotten.at(peer) || (own.closed[peer] && !unread) ? 1 : 0;
  };
  table.regroup = [](void* self, uint32_t timeout_ms, mk_error* error) {
    return sdk::guard(error, [&] { of(self).network->regroup(of(self), timeout_ms * 1e-3); });
  };
  table.shutdown = [](void*) {};
  return table;
}

void Network::notify(Node& node) {
  if (node.waiting != nullptr) world_.wake(node.waiting);
}

int32_t Network::wait(Node& node, double seconds) {
  if (!node.woken && !node.process->dead()) {
    node.waiting = world_.running();
    world_.park(world_.now() + seconds);
    node.waiting = nullptr;
  }
  node.woken = false;
  if (node.process->dead()) throw Error(MK_CANCELLED, "this process is dead");
  return MK_OK;
}

// Returns when a message that is sent now arrives: after the previous message, and not while the connection is cut.
double Network::arrival(uint32_t from, uint32_t to) {
  Direction& direction = directions_[from][to];
  double time = world_.now() + world_.random().about(weather_.latency_s);
  for (int tries = 0; tries < 10 && world_.random().chance(weather_.loss); ++tries) time += weather_.resend_s;
  time = std::max(time, direction.last_arrival);
  if (cut_until(from, to) > time) time = cut_until(from, to) + world_.random().about(weather_.resend_s);
  direction.last_arrival = time;
  return time;
}

void Network::send(Node& from, uint32_t to, std::string text) {
  if (to >= nodes_.size() || to == from.rank || (from.rank != 0 && to != 0))
    throw Error(MK_INVALID_ARGUMENT, "there is no such node to send to");
  if (from.process->dead() || from.closed[to] || from.forgotten[to]) return;
  const uint32_t receiver = at_rank(from, to).number;
  directions_[from.number][receiver].under_way.push_back({from.group, std::move(text)});
  world_.at(arrival(from.number, receiver), [this, sender = from.number, receiver] { deliver(sender, receiver); });
}

// Delivers the oldest message of a direction: the event of one message may deliver another message.
void Network::deliver(uint32_t from, uint32_t to) {
  // The sender sent this message before the cut, so it sends the message again after the cut.
  if (cut_until(from, to) > world_.now()) return world_.at(arrival(from, to), [this, from, to] { deliver(from, to); });
  std::deque<Letter>& under_way = directions_[from][to].under_way;
  Node& target = nodes_[to];
  Letter& letter = under_way.front();
  const uint32_t sender = letter.group == from ? 0 : from;  // its rank
  if (!target.process->dead() && letter.group == target.group && !target.closed[sender])
    target.inbox.emplace_back(sender, std::move(letter.text));
  under_way.pop_front();
  target.woken = true;
  notify(target);
}

// Calls `with` for each end of the node's connections: the process, and the rank of its peer.
void Network::close_all_of(Node& node, const std::function<void(uint32_t at, uint32_t peer)>& with) {
  for (Node& peer : nodes_) {
    if (peer.number == node.number || peer.group != node.group || (node.rank != 0 && peer.rank != 0)) continue;
    with(peer.number, node.rank);
    with(node.number, peer.rank);
  }
}

void Network::cut(uint32_t number, double until) {
  cuts_[number] = std::max(cuts_[number], until);
  // Both kernels end the connection, each for itself.
  world_.at(world_.now() + kKeepaliveSeconds, [this, number] {
    if (cuts_[number] <= world_.now()) return;
    close_all_of(nodes_[number], [&](uint32_t at, uint32_t peer) { close(at, peer, nodes_[number].group); });
  });
}

// The end of a connection arrives after its last message.
void Network::died(uint32_t number) {
  close_all_of(nodes_[number], [&](uint32_t at, uint32_t peer) {
    if (at == number) return;
    const uint32_t group = nodes_[number].group;
    world_.at(std::nextafter(arrival(number, at), kNever), [this, at, peer, group] { close(at, peer, group); });
  });
}

void Network::close(uint32_t at, uint32_t peer, uint32_t group) {
  if (nodes_[at].group == group) nodes_[at].closed[peer] = true;
  notify(nodes_[at]);
}

// ---- a new rank 0

void Network::nap(const Node& node) {
  constexpr double kLookAgain = 0.05;
  world_.sleep_until(world_.now() + kLookAgain);
  if (node.process->dead()) throw Error(MK_CANCELLED, "this process is dead");
}

void Network::regroup(Node& node, double seconds) {
  const uint32_t first = node.group + 1;
  node.group = kNoGroup;  // messages under way do not arrive
  node.inbox.clear();
  for (uint32_t next = first; next < node.number; ++next)
    if (join(node, nodes_[next], world_.now() + seconds)) return;
  lead(node, world_.now() + seconds);
}

// Returns false if the process refuses for some seconds, because it has ended, or if it is busy or silent until the
// deadline.
bool Network::join(Node& node, Node& leader, double deadline) {
  constexpr double kRefusedSeconds = 4;
  double answered = world_.now();
  while (world_.now() < deadline && world_.now() < answered + kRefusedSeconds) {
    const bool reachable = cut_until(node.number, leader.number) <= world_.now();
    if (reachable && leader.accepts && !leader.process->dead()) {
      node.group = leader.number;
      node.closed.assign(nodes_.size(), false);
      node.forgotten.assign(nodes_.size(), false);
      leader.closed[node.number] = false;
      return true;
    }
    if (!reachable || !leader.process->dead()) answered = world_.now();
    nap(node);
  }
  return false;
}

// Does not wait for processes that have ended.
void Network::lead(Node& node, double deadline) {
  node.rank = 0;
  node.group = node.number;
  node.forgotten.assign(nodes_.size(), false);
  node.closed.assign(nodes_.size(), true);
  node.accepts = true;
  const auto missing = [&] {
    for (uint32_t peer = node.number + 1; peer < nodes_.size(); ++peer)
      if (node.closed[peer] && !nodes_[peer].process->dead()) return true;
    return false;
  };
  while (missing() && world_.now() < deadline) nap(node);
  node.accepts = false;
}

}  // namespace mokume::simulation
