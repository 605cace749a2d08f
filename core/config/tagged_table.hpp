// Reads values of [model_options] that are not plain: "$name", which refers to a searched parameter, and tagged tables,
// single (an optimizer) or in a list (the layers of a network).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/parameter.hpp"
#include "config/tree.hpp"

namespace mokume::config {

// Records a "$name" at `location`, in place of a value of `parameter`.
struct Reference {
  std::string name;
  const Parameter* parameter = nullptr;
  Location location;
};

// Reads a value, or a reference that it adds to `references`. Adds a diagnostic and returns nothing on an error.
std::optional<Field> read_field(const Parameter& parameter, const Node& node, std::vector<Reference>& references,
                                Diagnostics& diagnostics);

// Reads the value of a parameter that is_tagged(), with defaults for missing keys. A list in place of a single table
// has alternatives, of which the searched parameter of the same name chooses one by its type. Adds all diagnostics, and
// returns nothing if there are any.
std::optional<TaggedTables> read_tagged(const Parameter& parameter, const Node& node,
                                        std::vector<Reference>& references, Diagnostics& diagnostics);

// Returns the parameter's default, or nothing if it has none. Throws Error(MK_DEVICE_ERROR) if the default is invalid.
std::optional<TaggedTables> default_tagged(const Parameter& parameter);

// Returns the field's value, or the candidate's value of the searched parameter. An integer becomes a real if the model
// requires a real. Throws Error(MK_INTERNAL) if the parameter is not searched.
search::Value resolve(const Field& field, const std::vector<std::string>& params,
                      const std::vector<search::Value>& candidate);

// Returns the JSON for a model (see mk_value). "type" comes first, and reals have their shortest round-trip form with a
// point or an exponent.
std::string json_text(const TaggedTables& tagged, const std::vector<std::string>& params,
                      const std::vector<search::Value>& candidate);

}  // namespace mokume::config
