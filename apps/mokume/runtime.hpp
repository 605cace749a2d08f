// The log, threads and libraries that every command uses; owned by main().
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

// The command line, for messages that print a command to run again.
struct CommandLine {
  std::vector<std::string> words;    // as typed, beginning with the program's name and the command
  std::vector<std::string> plugins;  // directories given with --plugins

  // Returns the words quoted for a shell, with these directories added as --plugins options.
  std::string with_plugins(const std::vector<std::string>& directories) const;
};

// Quotes one word for a shell, without characters that would control a terminal.
std::string shell_quoted(const std::string& word);
// Returns a path for display, quoted if it would control the terminal.
std::string shown(const std::string& path);

class Runtime {
 public:
  explicit Runtime(CommandLine command = {});

  base::Log& log() { return log_; }
  const CommandLine& command() const { return command_; }
  // Searches the directories of the command line, the directories given to search_also() before the first call, and the
  // default directories.
  registry::Registry& registry();
  // For directories that the user has approved, from the file given to `run`. Has no effect after the first registry()
  // call.
  void search_also(const std::vector<std::string>& directories);
  // Absolute directories given on the command line or to search_also(), without duplicates.
  const std::vector<std::string>& named_directories() const { return named_; }

  // From now on a child process tries each library before it is loaded (registry/probe.hpp). Has no effect after the
  // first registry() call.
  void probe_libraries() { probes_ = true; }
  // While a library is tried, the program ends if `stop` becomes true. It must outlive the registry's last load.
  void watch_stop(const std::atomic<bool>& stop) { stop_ = &stop; }

  // Returns the command line "mokume VERB --plugins DIR... RUN" for a run that used the named directories, which no
  // command reads from the run itself; "" if there are none.
  std::string with_libraries(const std::string& verb, const std::string& run) const;

  // For the file given to `run`, whose [plugins] directories are searched.
  config::SchemaLookup trusting_lookup();
  // Returns the members of `directories` that are not searched.
  std::vector<std::string> unsearched(const std::vector<std::string>& directories);
  // Returns the connection to the other nodes of the launcher's job, if any. The first call may load a library and
  // start MPI.
  cluster::Transport& transport();
  // A thread hangs, for example in a driver: the process will exit without waiting for it.
  void leave_threads() { hung_ = true; }
  // Disconnects from the other nodes: the last call of main(), after everything is written. Exits the process with
  // _exit if it cannot exit normally, because a node was lost or a thread hangs.
  void part(int exit_code);
  const mk_host* host() const { return host_.table(); }
  void limit_loops(uint32_t threads) { host_.limit(threads); }

 private:
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
