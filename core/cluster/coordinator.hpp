// Rank 0's side of a run: which fits are done, which bundles wait, who holds which. A state machine without I/O,
// threads or clocks: messages go in, messages come out.
//
//   running --all fits done, no lease open--> ending --every node said BYE--> over
//   running --STOP from anybody, or a broken rule--> ending
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cluster/messages.hpp"
#include "scheduler/order.hpp"

namespace mokume::cluster {

struct Outgoing {
  Outgoing(uint32_t node, Message content) : to(node), message(std::move(content)) {}
  uint32_t to;
  Message message;
};

class Coordinator {
 public:
  // nodes: the devices of each rank. Throws Error if a fit is in no bundle or in two, or if no device can hold a bundle
  // that has work left.
  Coordinator(CoordinatorSetup setup, std::vector<std::vector<LocalDevice>> nodes);

  std::vector<Outgoing> start();  // once; it may be all done
  // Never throws for what a message says: a broken rule stops the run.
  std::vector<Outgoing> handle(uint32_t from, const Message& message);
  std::vector<Outgoing> stop(const Stop& why);

  bool over() const { return ending_ && said_bye_.size() == nodes_.size(); }
  const std::optional<Stop>& stopped() const { return stopped_; }  // no value: all fits are done
  std::vector<journal::FitRecord> records() const;                 // sorted by fit

 private:
  struct Lease {
    uint32_t bundle = 0;
    uint32_t node = 0;
    uint32_t device = 0;
    uint32_t attempt = 0;
  };
  using Out = std::vector<Outgoing>;

  void index_bundles();
  void check_placeable() const;
  const LocalDevice& device(uint32_t node, uint32_t index) const;
  Lease& lease(uint32_t node, uint64_t id);
  WorkItem item(uint32_t bundle) const;
  void take(uint32_t from, const Request& request, Out& out);
  void take(uint32_t from, const Done& done, Out& out);
  void take(uint32_t from, const BundleDone& bundle_done, Out& out);
  void take(uint32_t from, const Beat& beat, Out& out);
  void take(uint32_t from, const Stop& why, Out& out);
  void take(uint32_t from, const Bye& bye, Out& out);
  template <class Unexpected>
  void take(uint32_t from, const Unexpected& unexpected, Out& out);
  void take_record(uint32_t from, const Lease& lease, journal::FitRecord record);
  void finish_if_done(Out& out);
  void end(const Message& message, Out& out);

  CoordinatorSetup setup_;
  std::vector<std::vector<LocalDevice>> nodes_;
  scheduler::Queue queue_;
  std::vector<uint32_t> bundle_of_;                      // by fit
  std::vector<std::optional<journal::FitRecord>> done_;  // by fit
  uint32_t n_done_ = 0;
  std::vector<uint32_t> attempts_;  // by bundle
  std::map<uint64_t, Lease> leases_;
  uint64_t next_lease_ = 1;
  bool ending_ = false;
  std::optional<Stop> stopped_;
  std::set<uint32_t> said_bye_;
};

}  // namespace mokume::cluster
