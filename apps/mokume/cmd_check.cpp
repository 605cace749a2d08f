// Reads experiment files, and implements the command check.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "base/files.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "config/space.hpp"
#include "inspect/dry_run.hpp"
#include "sdk/error.hpp"
#include "stored_run.hpp"

namespace mokume::app {
namespace {

// Returns the TOML text of a command-line value that is a string.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// Returns the texts of --set, then those that other options stand for. Adds the names of these options to `names`.
std::vector<std::string> all_sets(const RunOptions& options, std::vector<std::string>& names) {
  std::vector<std::string> sets = options.sets;
  const auto add = [&](const char* name, const char* key, const std::optional<std::string>& value) {
    if (!value) return;
    sets.push_back(key + ("=" + quoted(*value)));
    names.emplace_back(name);
  };
  add("--devices", "devices.use", options.devices);
  add("--out", "output.directory", options.out);
  add("--seed", "seed", options.seed);
  return sets;
}

// Returns whether --set names all library directories, so that none comes from the file.
bool names_plugins(const std::vector<std::string>& sets) {
  return std::any_of(sets.begin(), sets.end(), [](const std::string& set) {
    const std::string key = base::trim(set.substr(0, set.find('=')));
    return key == "plugins" || key == "plugins.directories";
  });
}

}  // namespace

std::optional<config::Config> read_config(const config::SchemaLookup& lookup, const std::string& path,
                                          const RunOptions& options, std::string& text, config::Origin origin) {
  try {
    text = base::read_file(path, 1U << 21);
  } catch (const Error& e) {
    throw Error(MK_INVALID_ARGUMENT, e.what());  // a missing experiment file is a usage error
  }
  std::vector<std::string> names;
  const std::vector<std::string> sets = all_sets(options, names);
  config::ParseResult parsed = config::parse(text, path, sets, lookup, origin);
  for (config::Diagnostic& d : parsed.diagnostics)
    if (d.set > options.sets.size()) d.file = names[d.set - options.sets.size() - 1];
  show(stderr, config::render_all(parsed.diagnostics, text, sets));
  if (!parsed.config && parsed.diagnostics.size() > 1)
    std::fprintf(stderr, "%zu errors in %s\n", parsed.diagnostics.size(), path.c_str());
  if (parsed.config && origin == config::Origin::experiment)
    for (const search::Space& space : parsed.config->spaces)
      if (const std::string doubt = config::doubt_about(space); !doubt.empty())
        say(stderr, "{}: warning: {}\n", path, doubt);
  return parsed.config;
}

int check_config(Runtime& runtime, const RunOptions& options) {
  std::string text;
  WaryLookup wary(runtime);
  const bool trusts = names_plugins(options.sets);
  const auto config = read_config(trusts ? runtime.trusting_lookup() : wary.function(), options.config, options, text);
  std::string told;
  if (!wary.unsearched().empty()) {
    std::vector<std::string> names;
    for (const std::string& directory : wary.unsearched()) names.push_back(shown(directory));
    told =
        fmt::format("check loads nothing from directories that the file names ({}) unless the command names them: {}",
                    fmt::join(names, ", "), runtime.command().with_plugins(wary.unsearched()));
  }
  if (wary.missing() && !told.empty())
    say(stderr, "{}: the keys of the model '{}' are not checked: {}\n", options.config, wary.model(), told);
  if (!config) return kUsage;
  if (told.empty())
    if (const std::string note = inspect::check_start(runtime.registry(), runtime.log(), *config); !note.empty())
      say(stderr, "{}: {}\n", options.config, note);
  say(stderr, "{}: ok{}\n", options.config, told.empty() ? "" : "; " + told);
  return kDone;
}

}  // namespace mokume::app
