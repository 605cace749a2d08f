// Simulates the connections of one start of a job as reliable streams: messages between two ranks keep their order and
// arrive late rather than never. A connection ends with its process, or after a long silence.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "abi/transport.h"
#include "simulation/world.hpp"

namespace mokume::simulation {

class Network {
 public:
  struct Weather {
    double latency_s = 2e-4;  // average
    double loss = 0;          // share of messages that are sent again after resend_s
    double resend_s = 0.2;
  };
  static constexpr double kKeepaliveSeconds = 80;  // a connection that is cut for longer ends

  Network(World& world, std::vector<Process*> ranks, Weather weather);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  const mk_transport* table(uint32_t rank) const { return &nodes_[rank].table; }
  void cut(uint32_t rank, double until);  // cuts the rank's connection to rank 0
  void died(uint32_t rank);               // the kernel closes the rank's connections

 private:
  struct Node {
    Network* network = nullptr;
    uint32_t rank = 0;
    Process* process = nullptr;
    std::deque<std::pair<uint32_t, std::string>> inbox;
    std::vector<bool> closed, forgotten;  // by peer
    bool woken = false;
    Fiber* waiting = nullptr;
    mk_transport table{};
  };
  struct Direction {
    double last_arrival = 0;
    std::deque<std::string> under_way;  // in sending order
  };

  static Node& of(void* self) { return *static_cast<Node*>(self); }
  static mk_transport table_of(Node* node);
  void send(Node& from, uint32_t to, std::string text);
  void deliver(uint32_t from, uint32_t to);
  void close(uint32_t at, uint32_t peer);
  int32_t wait(Node& node, double seconds);
  void notify(Node& node);
  double arrival(uint32_t from, uint32_t to);
  double& cut_until(uint32_t from, uint32_t to) { return cuts_[std::max(from, to)]; }

  World& world_;
  const Weather weather_;
  std::deque<Node> nodes_;
  std::vector<double> cuts_;                        // end of the cut by rank
  std::vector<std::vector<Direction>> directions_;  // by sender and receiver
};

}  // namespace mokume::simulation
