#include "texts/command_table.hpp"

#include <CLI/CLI.hpp>
#include <map>
#include <utility>

namespace mokume::app {
namespace {

using Files = Argument::Files;

struct Proposal {
  Files files = Files::none;
  std::vector<std::string> words;
};

// Returns the values that a shell proposes for an argument, or an empty proposal for an argument with a free text.
const Proposal& proposal_of(const std::string& name) {
  static const std::map<std::string, Proposal> known = {
      {"CONFIG", {Files::experiments, {}}},
      {"RUN", {Files::directories, {}}},
      {"A", {Files::directories, {}}},
      {"B", {Files::directories, {}}},
      {"IMAGE", {Files::any, {}}},
      {"--svg", {Files::any, {}}},
      {"--out", {Files::directories, {}}},
      {"--plugins", {Files::directories, {}}},
      {"--devices", {Files::none, {"all", "every", "host", "opencl", "opencl:gpu", "opencl:0"}}},
      {"MODEL", {Files::none, {"cnn", "svc"}}},
      {"NAME", {Files::none, {"mnist"}}},
      {"SHELL", {Files::none, {"bash", "zsh", "fish"}}},
  };
  static const Proposal none;
  const auto found = known.find(name);
  return found == known.end() ? none : found->second;
}

Argument argument_of(const CLI::Option& option) {
  Argument made;
  const bool word = !option.nonpositional();
  made.name = word ? option.get_name(true) : "--" + option.get_lnames().front();
  made.help = option.get_description();
  if (option.get_items_expected_max() > 0) made.value = word ? made.name : option.get_type_name();
  const Proposal& proposal = proposal_of(made.name);
  made.words = proposal.words;
  made.files = proposal.files;
  made.required = option.get_required();
  made.repeated = option.get_items_expected_max() > 1;
  return made;
}

void add_arguments(const CLI::App& app, Command& to) {
  for (const CLI::Option* option : app.get_options())
    (option->nonpositional() ? to.options : to.words).push_back(argument_of(*option));
}

Command command_of(const CLI::App& app, std::vector<std::string> path) {
  Command made;
  made.path = std::move(path);
  made.help = app.get_description();
  add_arguments(app, made);
  for (const CLI::App* inner : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); })) {
    if (inner->get_name().empty()) {  // a group of options, one of them required
      add_arguments(*inner, made);
      continue;
    }
    std::vector<std::string> deeper = made.path;
    deeper.push_back(inner->get_name());
    made.inner.push_back(command_of(*inner, std::move(deeper)));
  }
  return made;
}

}  // namespace

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

Command command_table(const CLI::App& cli) { return command_of(cli, {"mokume"}); }

}  // namespace mokume::app
