// Defines the log, threads and libraries that every command uses. main() owns them.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "cluster/transport/transport.hpp"
#include "config/parse.hpp"
#include "registry/registry.hpp"
#include "scheduler/host_services.hpp"

namespace mokume::app {

// Holds the command line, for messages that tell the user what to run again.
struct CommandLine {
  std::vector<std::string> words;    // as typed, beginning with the program's name and the command
  std::vector<std::string> plugins;  // directories given with --plugins

  // Returns the words quoted for a shell, with `directories` added as --plugins options.
  std::string with_plugins(const std::vector<std::string>& directories) const;
};

// Quotes one word for a shell, and escapes characters that would control a terminal.
std::string shell_quoted(const std::string& word);
// Returns a path for display, quoted if it would otherwise control the terminal.
std::string shown(const std::string& path);

class Runtime {
 public:
  explicit Runtime(CommandLine command = {});

  base::Log& log() { return log_; }
  const CommandLine& command() const { return command_; }
  // Returns the registry, which the first call creates. It searches the directories of the command line, the
  // directories given to search_also() before that call, and the default directories.
  registry::Registry& registry();
  // Adds directories that the user has approved, from the file given to `run`. Has no effect after the first call of
  // registry().
  void search_also(const std::vector<std::string>& directories);
  // Returns the absolute directories given on the command line or to search_also(), without duplicates.
  const std::vector<std::string>& named_directories() const { return named_; }

  // Lets a child process try each library before this process loads it (registry/probe.hpp). Has no effect after the
  // first call of registry().
  void probe_libraries() { probes_ = true; }
  // Ends the program if `stop` becomes true during the trial of a library. `stop` must outlive the registry's last
  // load.
  void watch_stop(const std::atomic<bool>& stop) { stop_ = &stop; }

  // Returns the command line "mokume VERB --plugins DIR... RUN" for a run that used the named directories, which no
  // command reads from the run itself. Returns "" if there are none.
  std::string with_libraries(const std::string& verb, const std::string& run) const;

  // Returns a lookup for the file given to `run`, which also searches the [plugins] directories of that file.
  config::SchemaLookup trusting_lookup();
  // Returns the members of `directories` that the registry does not search.
  std::vector<std::string> unsearched(const std::vector<std::string>& directories);
  // Returns the connection to the other nodes of the launcher's job, if any. The first call may load a library and
  // start MPI.
  cluster::Transport& transport();
  // Lets the process exit without waiting for a thread that hangs, for example in a driver.
  void leave_threads() { hung_ = true; }
  // Disconnects from the other nodes. main() calls this function last, after everything is written. Calls _exit if the
  // process cannot exit normally, because a node was lost or a thread hangs.
  void part(int exit_code);
  const mk_host* host() const { return host_.table(); }
  void limit_loops(uint32_t threads) { host_.limit(threads); }

 private:
  const mk_transport* load_transport();
  registry::Prober prober();

  CommandLine command_;
  std::vector<std::string> named_;
  base::Log log_;
  scheduler::HostServices host_;
  std::optional<registry::Registry> registry_;
  std::optional<cluster::Transport> transport_;
  bool hung_ = false, probes_ = false;
  const std::atomic<bool>* stop_ = nullptr;
};

}  // namespace mokume::app
