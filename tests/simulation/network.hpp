// Simulates the connections of one start of a job as reliable streams: messages between two ranks keep their order and
// arrive late rather than never. A connection ends with its process, or after a long silence. If rank 0 is lost, the
// remaining ranks may group anew (abi/transport.h). A process keeps its number from the start, and its group is the
// number of the process that is rank 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
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
  static constexpr uint32_t kNoGroup = UINT32_MAX;
  static constexpr double kKeepaliveSeconds = 80;  // a connection that is cut for longer ends

  Network(World& world, std::vector<Process*> ranks, Weather weather);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // All arguments are numbers of processes.
  const mk_transport* table(uint32_t number) const { return &nodes_[number].table; }
  void cut(uint32_t number, double until);  // cuts the host off from all others
  void died(uint32_t number);               // the kernel closes its connections

 private:
  struct Node {
    Network* network = nullptr;
    uint32_t number = 0, rank = 0, group = 0;
    bool accepts = false;  // becomes rank 0 and waits for others
    Process* process = nullptr;
    std::deque<std::pair<uint32_t, std::string>> inbox;
    std::vector<bool> closed, forgotten;  // by rank
    bool woken = false;
    Fiber* waiting = nullptr;
    mk_transport table{};
  };
  struct Letter {
    uint32_t group = 0;
    std::string text;
  };
  struct Direction {
    double last_arrival = 0;
    std::deque<Letter> under_way;  // in sending order
  };

  static Node& of(void* self) { return *static_cast<Node*>(self); }
  static mk_transport table_of(Node* node);
  void send(Node& from, uint32_t to, std::string text);
  void deliver(uint32_t from, uint32_t to);
  void close(uint32_t at, uint32_t peer, uint32_t group);
  void close_all_of(Node& node, const std::function<void(uint32_t at, uint32_t peer)>& with);
  void regroup(Node& node, double seconds);
  bool join(Node& node, Node& leader, double deadline);
  void lead(Node& node, double deadline);
  void nap(const Node& node);
  Node& at_rank(const Node& node, uint32_t rank) { return nodes_[rank == 0 ? node.group : rank]; }
  int32_t wait(Node& node, double seconds);
  void notify(Node& node);
  double arrival(uint32_t from, uint32_t to);
  double cut_until(uint32_t from, uint32_t to) const { return std::max(cuts_[from], cuts_[to]); }

  World& world_;
  const Weather weather_;
  std::deque<Node> nodes_;
  std::vector<double> cuts_;                        // end of the cut, by number
  std::vector<std::vector<Direction>> directions_;  // by sender and receiver
};

}  // namespace mokume::simulation
