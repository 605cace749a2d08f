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

// An experiment, or the resolved file of a run. Keys that a resolved file lacks are newer than its run, which keeps its
// behaviour.
enum class Origin { experiment, run };

// `sets` are the --set arguments. Never throws on bad input. `file` is the name shown in messages.
ParseResult parse(const std::string& text, const std::string& file, const std::vector<std::string>& sets,
                  const SchemaLookup& lookup, Origin origin = Origin::experiment);

}  // namespace mokume::config
