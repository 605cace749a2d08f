// Generates completion scripts for bash, zsh and fish.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "texts/command_table.hpp"

namespace mokume::app {
namespace {

using Files = Argument::Files;
using Visit = std::function<void(const Command&)>;

void for_each(const Command& command, const Visit& visit) {
  visit(command);
  for (const Command& inner : command.inner) for_each(inner, visit);
}

std::string last_word(const Command& command) { return command.path.back(); }

std::vector<std::string> names_of(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& one : commands) names.push_back(last_word(one));
  return names;
}

std::string in_quotes(const std::string& text) {
  std::string made = "'";
  for (const char c : text) made += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return made + "'";
}

// --- bash ---

std::string compgen(const std::vector<std::string>& words) {
  return fmt::format("compgen -W {} -- \"$word\"", in_quotes(joined(words)));
}

std::string bash_words(const Argument& one) {
  if (!one.words.empty()) return compgen(one.words);
  switch (one.files) {
    case Files::directories:
      return "compgen -d -- \"$word\"";
    case Files::any:
      return "compgen -f -- \"$word\"";
    case Files::experiments:
      return "compgen -d -- \"$word\"; compgen -f -X '!*.toml' -- \"$word\"";
    case Files::none:
      break;
  }
  return "";
}

std::string followed(const std::string& command) { return command.empty() ? "" : command + "; "; }

// Returns the cases that complete the value after an option.
std::string bash_values(const Command& mokume) {
  std::string text;
  std::set<std::string> seen;
  for_each(mokume, [&](const Command& command) {
    for (const Argument& one : command.options)
      if (!one.value.empty() && seen.insert(one.name).second)
        text += fmt::format("    {}) {}return ;;\n", one.name, followed(bash_words(one)));
  });
  return text;
}

std::string bash_commands(const Command& mokume) {
  std::string text;
  for_each(mokume, [&](const Command& command) {
    std::vector<std::string> options;
    for (const Argument& one : command.options) options.push_back(one.name);
    std::set<std::string> ways;  // proposals for a positional argument
    if (!command.inner.empty()) ways.insert(compgen(names_of(command.inner)));
    for (const Argument& one : command.words) ways.insert(bash_words(one));
    ways.erase("");
    std::string words;
    for (const std::string& way : ways) words += followed(way);
    text += fmt::format("    {}) if [[ $word == -* ]]; then {}; {}fi ;;\n", in_quotes(joined(command.path)),
                        compgen(options), words.empty() ? "" : "else " + words);
  });
  return text;
}

std::string bash(const Command& mokume) {
  std::vector<std::string> deeper;
  for_each(mokume, [&](const Command& command) {
    if (command.path.size() > 1) deeper.push_back(in_quotes(joined(command.path)));
  });
  return fmt::format(R"(# Completion of mokume's command lines in bash. Made by `mokume completion bash`.
_mokume_words() {{
  local word=$1 before=$2 command=$3
  case "$before" in
{}  esac
  case "$command" in
{}  esac
}}

_mokume() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command=mokume index
  for ((index = 1; index < COMP_CWORD; ++index)); do
    case "$command ${{COMP_WORDS[index]}}" in
      {}) command+=" ${{COMP_WORDS[index]}}" ;;
    esac
  done
  mapfile -t COMPREPLY < <(_mokume_words "$word" "$before" "$command" | sort -u)
}}
complete -o filenames -F _mokume mokume
)",
                     bash_values(mokume), bash_commands(mokume), joined(deeper, " | "));
}

// --- zsh ---

// Escapes a description inside '[...]' or after ':' of _arguments.
std::string zsh_text(const std::string& text) {
  std::string made;
  for (const char c : text)
    made += std::string(":[]\\").find(c) != std::string::npos ? std::string("\\") + c : std::string(1, c);
  return made;
}

std::string zsh_action(const Argument& one) {
  if (!one.words.empty()) {
    std::vector<std::string> words;
    for (const std::string& word : one.words) words.push_back(zsh_text(word));
    return "(" + joined(words) + ")";
  }
  switch (one.files) {
    case Files::directories:
      return "_files -/";
    case Files::any:
      return "_files";
    case Files::experiments:
      return "_files -g \"*.toml\"";
    case Files::none:
      break;
  }
  return " ";
}

std::string zsh_arguments(const Command& command) {
  std::string text;
  for (const Argument& one : command.options) {
    std::string spec = (one.repeated ? "*" : "") + one.name + "[" + zsh_text(one.help) + "]";
    if (!one.value.empty()) spec += ":" + one.value + ":" + zsh_action(one);
    text += " \\\n    " + in_quotes(spec);
  }
  for (const Argument& one : command.words)
    text += " \\\n    " + in_quotes((one.required ? ":" : "::") + one.name + ":" + zsh_action(one));
  return text;
}

std::string zsh_function(const Command& command) {
  const std::string name = "_" + joined(command.path, "_");
  if (command.inner.empty()) return fmt::format("{}() {{\n  _arguments{}\n}}\n\n", name, zsh_arguments(command));
  std::string commands, cases;
  for (const Command& inner : command.inner) {
    commands += "    " + in_quotes(last_word(inner) + ":" + zsh_text(inner.help)) + "\n";
    cases += fmt::format("        {}) _{} ;;\n", last_word(inner), joined(inner.path, "_"));
  }
  return fmt::format(R"({0}() {{
  local line state
  local -a commands=(
{1}  )
  _arguments -C{2} ':command:->command' '*:: :->rest'
  case $state in
    command) _describe command commands ;;
    rest)
      case $line[1] in
{3}      esac ;;
  esac
}}

)",
                     name, commands, zsh_arguments(command), cases);
}

std::string zsh(const Command& mokume) {
  std::string text =
      "#compdef mokume\n# Completion of mokume's command lines in zsh. Made by `mokume completion zsh`.\n\n";
  for_each(mokume, [&](const Command& command) { text += zsh_function(command); });
  return text + "if [ \"$funcstack[1]\" = \"_mokume\" ]; then _mokume \"$@\"; else compdef _mokume mokume; fi\n";
}

// --- fish ---

std::string fish_proposals(const Argument& one) {
  if (!one.words.empty()) return " -a " + in_quotes(joined(one.words));
  switch (one.files) {
    case Files::directories:
      return " -a '(__fish_complete_directories)'";
    case Files::any:
      return " -F";
    case Files::experiments:
      return " -a '(__fish_complete_suffix .toml)'";
    case Files::none:
      break;
  }
  return "";
}

std::string fish(const Command& mokume) {
  std::string text = R"(# Completion of mokume's command lines in fish. Made by `mokume completion fish`.
function __mokume_at --description 'the command line begins with these commands'
  set -l words (commandline -opc)[2..]
  string match -q -- "$argv *" "$words "
end
function __mokume_next --description 'the command line ends with these commands'
  set -l words (commandline -opc)[2..]
  test "$words" = "$argv"
end
complete -c mokume -f
)";
  for_each(mokume, [&](const Command& command) {
    const std::string path = joined({command.path.begin() + 1, command.path.end()});
    for (const Command& inner : command.inner)
      text += fmt::format("complete -c mokume -n {} -a {} -d {}\n", in_quotes("__mokume_next " + path),
                          last_word(inner), in_quotes(inner.help));
    const std::string at = in_quotes((command.inner.empty() ? "__mokume_at " : "__mokume_next ") + path);
    for (const Argument& one : command.words)
      if (const std::string proposals = fish_proposals(one); !proposals.empty())
        text += fmt::format("complete -c mokume -n {}{}\n", at, proposals);
    for (const Argument& one : command.options)
      text += fmt::format("complete -c mokume -n {} -l {}{}{} -d {}\n", at, one.name.substr(2),
                          one.value.empty() ? "" : " -r", fish_proposals(one), in_quotes(one.help));
  });
  return text;
}

}  // namespace

std::string completion(const Command& mokume, const std::string& shell) {
  if (shell == "bash") return bash(mokume);
  if (shell == "zsh") return zsh(mokume);
  return fish(mokume);
}

}  // namespace mokume::app
