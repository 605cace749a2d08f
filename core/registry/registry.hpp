// Finds, checks and loads shared libraries; records every candidate and why it was accepted or rejected.
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

// One step of a candidate. stage: "find", "permissions", "open", "symbol", "query", "header", "start",
// "enumerate", "shutdown", "loaded".
struct LoadEntry {
  std::string kind;  // "backend", "model", "transport"
  std::string name;
  std::string path;
  std::string stage;
  bool loaded = false;
  std::string text;     // the reason, as one sentence with the cure
  std::string warning;  // why the library is loaded although others may change it; usually ""
};

struct Library {
  mk_plugin_kind kind{};
  std::string name, path, version, description;
  const void* table = nullptr;

  const mk_backend* backend() const { return static_cast<const mk_backend*>(table); }
  const mk_model* model() const { return static_cast<const mk_model*>(table); }
  const mk_transport* transport() const { return static_cast<const mk_transport*>(table); }
};

// Tries a library elsewhere before it is loaded here: see registry/probe.hpp. Throws Refused or Error(MK_CANCELLED).
using Prober = std::function<void(mk_plugin_kind kind, const std::string& name, const std::string& real_path)>;

// Searches, in order: `directories` (absolute), each entry of $MOKUME_PLUGIN_PATH (secure_getenv), and <directory of
// the executable>/../lib/mokume. Each of them may contain backends/NAME.so, plugins/NAME.so and transports/NAME.so.
// Never searches the current directory, and never unloads a library. $MOKUME_TRUST_GROUP_WRITABLE=1 (secure_getenv)
// accepts libraries that this user's groups may change. Thread-safe.
class Registry {
 public:
  // Calls `prober` for backends and models, but not for transports: a second process must not join a launcher's job.
  Registry(const mk_host* host, const std::vector<std::string>& directories, Prober prober = {});
  ~Registry();  // calls shutdown() of all started libraries in reverse order
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Throws Error(MK_DEVICE_ERROR) with the reason and the available names if the library cannot be loaded.
  const Library& load(mk_plugin_kind kind, const std::string& name);
  // Returns null if the library cannot be loaded; the report tells why. Throws only if the program must end.
  const Library* try_load(mk_plugin_kind kind, const std::string& name);
  // Returns the sorted file names in the directories, without loading anything.
  std::vector<std::string> available(mk_plugin_kind kind) const;

  std::vector<LoadEntry> report() const;
  const std::vector<std::string>& directories() const;  // absolute, in search order

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mokume::registry
