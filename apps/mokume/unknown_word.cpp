#include "unknown_word.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "base/text.hpp"
#include "runtime.hpp"

namespace mokume::app {
namespace {

// Leaves out commands that help hides.
std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string sentence(const std::string& command, const CLI::App& app, const std::string& word) {
  const bool is_option = word.size() > 1 && word.front() == '-';
  const std::string name = is_option ? word.substr(0, word.find('=')) : word;
  const std::vector<std::string> known = is_option ? options_of(app) : commands_of(app);
  const std::string best = base::closest(name, known);
  const std::string hint = best.empty() ? "" : fmt::format("; did you mean '{}'?", best);
  const std::string said = shown(name);
  if (is_option) return fmt::format("{} has no option '{}'{}", command, said, hint);
  if (!known.empty()) return fmt::format("{} has no command '{}'{}", command, said, hint);
  return fmt::format("{} does not take the word '{}'", command, said);
}

}  // namespace

std::string unknown_word(const CLI::App& cli) {
  std::string command = "mokume";
  for (const CLI::App* app = &cli;;) {
    if (const std::vector<std::string> words = app->remaining(); !words.empty())
      return sentence(command, *app, words.front());
    const std::vector<CLI::App*> inner = app->get_subcommands();
    if (inner.empty()) return "";
    app = inner.front();
    command += " " + app->get_name();
  }
}

}  // namespace mokume::app
