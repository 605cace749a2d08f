// Describes the command line as data, with the texts of --help, for the manual page and shell completions.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mokume::app {

struct Argument {
  std::string name;  // "--devices", or "CONFIG" for a positional argument
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

// Returns the table of all commands except hidden ones.
Command command_table(const CLI::App& cli);

std::string joined(const std::vector<std::string>& words, const std::string& between = " ");

// Returns a manual page in roff's man macros. `footer` is the text of --help about exit codes.
std::string manual(const Command& mokume, const std::string& version, const std::string& footer);

// Returns a script that completes command lines in `shell`: bash, zsh or fish.
std::string completion(const Command& mokume, const std::string& shell);

}  // namespace mokume::app
