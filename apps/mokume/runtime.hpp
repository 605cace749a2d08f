// What every command stands on, owned by main(): log, threads, libraries.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "cluster/transport.hpp"
#include "experiment/config.hpp"
#include "registry/registry.hpp"
#include "scheduler/host_services.hpp"

namespace mokume::app {

class Runtime {
 public:
  Runtime();

  base::Log& log() { return log_; }
  // The first call fixes the directories that are searched before the usual ones.
  registry::Registry& registry(const std::vector<std::string>& directories = {});
  experiment::SchemaLookup schema_lookup();
  // The other nodes of the job that a launcher started, or none. The first call may load a library and start MPI.
  cluster::Transport& transport();
  // A thread hangs, in a driver say: the process is to end without it.
  void leave_threads() { hung_ = true; }
  // The last thing main() does, with everything written: parts from the other nodes. Ends the process here, by _exit,
  // if it cannot end as usual since a node was lost or a thread hangs.
  void part(int exit_code);
  // See HostServices::limit.
  void limit_loops(uint32_t threads) { host_.limit(threads); }

 private:
  base::Log log_;
  scheduler::HostServices host_;
  std::optional<registry::Registry> registry_;
  std::optional<cluster::Transport> transport_;
  bool hung_ = false;
};

}  // namespace mokume::app
