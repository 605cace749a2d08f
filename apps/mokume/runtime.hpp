// What every command stands on, owned by main(): log, threads, libraries.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.hpp"
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

 private:
  base::Log log_;
  scheduler::HostServices host_;
  std::optional<registry::Registry> registry_;
};

}  // namespace mokume::app
