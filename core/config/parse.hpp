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

// The parameters of a model, fetched by name while the file is checked. Returns nothing and fills `why` if there is no
// such model.
using SchemaLookup = std::function<std::optional<ModelSchema>(
    const std::string& model, const std::vector<std::string>& plugin_directories, std::string& why)>;

struct ParseResult {
  std::optional<Config> config;         // only if there are no diagnostics
  std::vector<Diagnostic> diagnostics;  // sorted by location
};

// `sets` are the texts after --set. Never throws for bad input. `file` is shown in messages.
ParseResult parse(const std::string& text, const std::string& file, const std::vector<std::string>& sets,
                  const SchemaLookup& lookup);

}  // namespace mokume::config
