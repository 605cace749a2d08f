// Tries libraries in a child process before the program loads them, because a damaged or broken library crashes or
// hangs the process that loads it.
//
// The child opens the library, starts it, lists its devices if it is a backend, and shuts it down. The cache remembers
// a library that passed until one of the mapped files changes, so that later starts need no child.
#pragma once

#include <functional>
#include <string>

#include "base/program.hpp"
#include "registry/registry.hpp"

namespace mokume::registry {

struct ProbeSetup {
  std::string program = base::program_to_start();  // program to start: see serve_probe()
  std::string cache_directory;                     // if "", nothing is remembered
  double limit_s = 120;    // enough for several OpenCL drivers in succession, each of which may take 20 s
  double patience_s = 10;  // time before the first message about a slow library
  std::function<void(const std::string& text)> tell = {};  // receives warnings, for example about a slow library
  std::function<bool()> stopped = {};                      // returns whether the user wants the program to end
};

class Probe {
 public:
  explicit Probe(ProbeSetup setup) : setup_(std::move(setup)) {}

  // Throws Refused with the stage at which the library failed, or Error(MK_CANCELLED) if the program should end. If no
  // child can be started, the library passes, and `tell` receives a warning.
  void operator()(mk_plugin_kind kind, const std::string& name, const std::string& real_path) const;

 private:
  ProbeSetup setup_;
};

// Names the command of `program` that serves a Probe. The command's arguments are parent process, kind, name and path.
inline constexpr const char* kProbeCommand = "library-probe";

// Runs in the child after base::join_parent(). Does not return.
[[noreturn]] void serve_probe(mk_plugin_kind kind, const std::string& name, const std::string& real_path,
                              const mk_host* host);

}  // namespace mokume::registry
