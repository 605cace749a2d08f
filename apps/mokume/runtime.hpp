// The log, threads and libraries that every command uses; main() owns them.
#pragma once

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

// How the program was called, for messages that print a command to run again.
struct CommandLine {
  std::vector<std::string> words;    // as typed, from the program's name and the command on
  std::vector<std::string> plugins;  // the directories after --plugins

  // The words as a shell takes them, with these directories behind --plugins in addition.
  std::string with_plugins(const std::vector<std::string>& directories) const;
};

// One word as a shell takes it, without a character that a terminal would obey.
std::string shell_quoted(const std::string& word);
// A path for people; quoted where it would act on the terminal.
std::string shown(const std::string& path);

class Runtime {
 public:
  explicit Runtime(CommandLine command = {});

  base::Log& log() { return log_; }
  const CommandLine& command() const { return command_; }
  // Searches what the command line names, what search_also() was told before the first call, and the usual places.
  registry::Registry& registry();
  // For directories that somebody answers for: those of the file that `run` was given. Later calls change nothing.
  void search_also(const std::vector<std::string>& directories);
  // Absolute directories that the command line and search_also() name, each once.
  const std::vector<std::string>& named_directories() const { return named_; }

  // For a file whose [plugins] directories are searched: the one that `run` was given.
  config::SchemaLookup trusting_lookup();
  // Returns those of `directories` that are not searched.
  std::vector<std::string> unsearched(const std::vector<std::string>& directories);
  // The other nodes of the job that a launcher started, or none. The first call may load a library and start MPI.
  cluster::Transport& transport();
  // A thread hangs, in a driver say: the process is to end without it.
  void leave_threads() { hung_ = true; }
  // The last thing main() does, with everything written: parts from the other nodes. Ends the process here, by _exit,
  // if it cannot end as usual since a node was lost or a thread hangs.
  void part(int exit_code);
  // See HostServices::limit.
  void limit_loops(uint32_t threads) { host_.limit(threads); }

 private:
  CommandLine command_;
  std::vector<std::string> named_;
  base::Log log_;
  scheduler::HostServices host_;
  std::optional<registry::Registry> registry_;
  std::optional<cluster::Transport> transport_;
  bool hung_ = false;
};

}  // namespace mokume::app
