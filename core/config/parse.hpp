// Reads and checks an experiment file.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/diagnostics.hpp"
#include "config/parameter.hpp"

namespace mokume::config {

// Fetches the parameters of a model by name. Returns nothing and fills `why` if there is no such model.
using SchemaLookup = std::function<std::optional<ModelSchema>(
    const std::string& model, const std::vector<std::string>& plugin_directories, std::string& why)>;

struct ParseResult {
  std::optional<Config> config;         // present only if there are no diagnostics
  std::vector<Diagnostic> diagnostics;  // sorted by location
};

// Tells whether a file is an experiment or the resolved file of a run. Keys that a resolved file lacks are newer than
// the run; parse() sets them to values that preserve the run's behaviour.
enum class Origin { experiment, run };

// Parses `text`. Messages call it `file`. `sets` are the --set arguments. Bad input causes diagnostics, not exceptions.
ParseResult parse(const std::string& text, const std::string& file, const std::vector<std::string>& sets,
                  const SchemaLookup& lookup, Origin origin = Origin::experiment);

}  // namespace mokume::config
