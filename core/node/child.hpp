// Implements the other end of a ChildSession: the process that drives one device for a node.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "config/parse.hpp"
#include "registry/registry.hpp"

namespace mokume::node {

// Refers to the objects that main() owns: the log, the registry with the experiment's plugin directories, and the
// schemas of models.
struct ChildRuntime {
  base::Log& log;
  std::function<registry::Registry&(const std::vector<std::string>& plugin_directories)> registry;
  config::SchemaLookup schema_lookup;
};

// Serves the requests that the run sends over `socket`. Never returns: when the run closes the socket or dies, the
// process exits at once, even in the middle of a driver call.
[[noreturn]] void serve_device(const ChildRuntime& runtime, int socket);

}  // namespace mokume::node
