// Finds, checks and loads shared libraries. Records every candidate, and why it was accepted or rejected.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "abi/backend.h"
#include "abi/model.h"
#include "abi/plugin.h"
#include "abi/transport.h"

namespace mokume::registry {

// Reports how far a candidate came. `stage` is "find", "permissions", "open", "symbol", "query", "header", "start",
// "enumerate", "shutdown" or "loaded".
struct LoadEntry {
  std::string kind;  // "backend", "model" or "transport"; "" for a directory
  std::string name;
  std::string path;
  std::string stage;
  bool loaded = false;
  std::string text;     // reason and cure in one sentence; version and description of a loaded library
  std::string warning;  // names a path that is accepted only because groups are trusted, or ""
};

struct Library {
  mk_plugin_kind kind{};
  std::string name, path, version, description;
  const void* table = nullptr;

  const mk_backend* backend() const { return static_cast<const mk_backend*>(table); }
  const mk_model* model() const { return static_cast<const mk_model*>(table); }
  const mk_transport* transport() const { return static_cast<const mk_transport*>(table); }
};

// Tries a library in another process first: see registry/probe.hpp. Throws Refused or Error(MK_CANCELLED).
using Prober = std::function<void(mk_plugin_kind kind, const std::string& name, const std::string& real_path)>;

// Searches `directories` (absolute), then the entries of $MOKUME_PLUGIN_PATH, then
// <directory of the executable>/../lib/mokume. Each of them may contain backends/NAME.so, plugins/NAME.so and
// transports/NAME.so. Never searches the current directory, and never unloads a library. Accepts libraries that this
// user's groups may change if $MOKUME_TRUST_GROUP_WRITABLE is 1. Uses secure_getenv(). All functions are thread-safe.
class Registry {
 public:
  // Calls `prober` except for a transport, because a second process must not join a launcher's job.
  Registry(const mk_host* host, const std::vector<std::string>& directories, Prober prober = {});
  ~Registry();  // calls shutdown() of all started libraries in reverse order
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Throws Error(MK_DEVICE_ERROR) with the reason and the available names if the library cannot be loaded.
  const Library& load(mk_plugin_kind kind, const std::string& name);
  // Returns null if the library cannot be loaded; report() tells why. Throws only if the program must end.
  const Library* try_load(mk_plugin_kind kind, const std::string& name);
  // Returns the sorted names of the libraries in the directories, without loading any.
  std::vector<std::string> available(mk_plugin_kind kind) const;

  std::vector<LoadEntry> report() const;
  const std::vector<std::string>& directories() const;  // absolute, in search order

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mokume::registry
