// The command line as data: what --help prints, for the manual page and the completions of shells.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mokume::app {

// An option, or a word that a command takes.
struct Argument {
  std::string name;  // "--devices", or "CONFIG" for a word
  std::string help;
  std::string value;               // "DEVICES"; "" for a flag
  std::vector<std::string> words;  // values to propose
  enum class Files { none, any, experiments, directories } files = Files::none;
  bool required = false, repeated = false;
};

struct Command {
  std::vector<std::string> path;  // {"mokume", "data", "info"}
  std::string help;
  std::vector<Argument> options, words;
  std::vector<Command> inner;
};

// Without hidden commands.
Command command_table(const CLI::App& cli);

// For what is made of the table.
std::string joined(const std::vector<std::string>& words, const std::string& between = " ");

// A manual page in roff's man macros. `footer`: the exit codes, as help shows them.
std::string manual(const Command& mokume, const std::string& version, const std::string& footer);

// A script that completes command lines in `shell`: bash, zsh or fish.
std::string completion(const Command& mokume, const std::string& shell);

}  // namespace mokume::app
