// The other end of a ChildSession: the process that drives one device for a node.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "config/parse.hpp"
#include "registry/registry.hpp"

namespace mokume::node {

// The objects that main() owns: the registry with the experiment's plugin directories, and what models take.
struct ChildRuntime {
  base::Log& log;
  std::function<registry::Registry&(const std::vector<std::string>& plugin_directories)> registry;
  config::SchemaLookup schema_lookup;
};

// Does what the run says over `socket`. When the run closes it, or dies, the process ends at once, whatever a driver is
// doing: this function does not return.
[[noreturn]] void serve_device(const ChildRuntime& runtime, int socket);

}  // namespace mokume::node
