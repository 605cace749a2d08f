#include "simulation/network.hpp"

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
    node.rank = rank;
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
    if (peer == own.rank) return 0;
    const bool unread = std::any_of(own.inbox.begin(), own.inbox.end(), [&](const auto& m) { return m.first == peer; });
    return own.forgotten.at(peer) || (own.closed[peer] && !unread) ? 1 : 0;
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
  directions_[from.rank][to].under_way.push_back(std::move(text));
  world_.at(arrival(from.rank, to), [this, sender = from.rank, to] { deliver(sender, to); });
}

// Delivers the oldest message of a direction: the event of one message may deliver another message.
void Network::deliver(uint32_t from, uint32_t to) {
  // The sender sent this message before the cut, so it sends the message again after the cut.
  if (cut_until(from, to) > world_.now()) return world_.at(arrival(from, to), [this, from, to] { deliver(from, to); });
  std::deque<std::string>& under_way = directions_[from][to].under_way;
  Node& target = nodes_[to];
  if (!target.process->dead() && !target.closed[from]) target.inbox.emplace_back(from, std::move(under_way.front()));
  under_way.pop_front();
  target.woken = true;
  notify(target);
}

void Network::cut(uint32_t rank, double until) {
  double& cut = cut_until(rank, 0);
  const double since = world_.now();
  cut = std::max(cut, until);
  // Both kernels end the connection, each for itself.
  world_.at(since + kKeepaliveSeconds, [this, rank] {
    if (cut_until(rank, 0) <= world_.now()) return;
    close(rank, 0);
    close(0, rank);
  });
}

void Network::died(uint32_t rank) {
  for (uint32_t peer = 0; peer < nodes_.size(); ++peer) {
    if (peer == rank || (rank != 0 && peer != 0)) continue;
    world_.at(arrival(rank, peer), [this, peer, rank] { close(peer, rank); });
  }
}

void Network::close(uint32_t at, uint32_t peer) {
  nodes_[at].closed[peer] = true;
  notify(nodes_[at]);
}

}  // namespace mokume::simulation
