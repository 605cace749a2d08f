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
  // Parts from the other nodes, with everything written. Ends the process here if it cannot end as usual, since a node
  // was lost.
  void part(int exit_code);

 private:
  base::Log log_;
  scheduler::HostServices host_;
  std::optional<registry::Registry> registry_;
  std::optional<cluster::Transport> transport_;
};

}  // namespace mokume::app
