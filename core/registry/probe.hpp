// Tries libraries in a child process before the program loads them: a damaged or broken library crashes or hangs the
// process that loads it.
//
// The child opens the library, starts it, lists its devices if it is a backend, and shuts it down. What passes is
// remembered until one of the files that were mapped changes, so that later starts need no child.
#pragma once

#include <functional>
#include <string>

#include "base/program.hpp"
#include "registry/registry.hpp"

namespace mokume::registry {

struct ProbeSetup {
  std::string program = base::program_to_start();  // see serve_probe()
  std::string cache_directory;                     // "": remember nothing
  double limit_s = 120;                            // OpenCL drivers may take 20 s each to be tried in their turn
  double patience_s = 10;                          // before `tell` is called
  std::function<void(const std::string& text)> tell = {};  // that a library takes long, and other warnings
  std::function<bool()> stopped = {};                      // whether the user wants the program to end
};

class Probe {
 public:
  explicit Probe(ProbeSetup setup) : setup_(std::move(setup)) {}

  // Throws Refused, with the stage at which the library failed, or Error(MK_CANCELLED) if the program is to end. If no
  // child can be started, the library passes and `tell` is called.
  void operator()(mk_plugin_kind kind, const std::string& name, const std::string& real_path) const;

 private:
  ProbeSetup setup_;
};

// The command of `program` that serves a Probe, followed by the parent's process id, kind, name and path.
inline constexpr const char* kProbeCommand = "library-probe";

// The child's side, after base::join_parent(). Does not return.
[[noreturn]] void serve_probe(mk_plugin_kind kind, const std::string& name, const std::string& real_path,
                              const mk_host* host);

}  // namespace mokume::registry
