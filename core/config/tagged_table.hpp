// The values of [model_options] beyond plain ones: "$name", which stands for a searched parameter, and tagged tables,
// alone (an optimizer) or in a list (the layers of a network).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/parameter.hpp"
#include "config/tree.hpp"

namespace mokume::config {

// "$name" at `location`, where a value of `parameter` is wanted.
struct Reference {
  std::string name;
  const Parameter* parameter = nullptr;
  Location location;
};

// One value, or a reference, which is added to `references`. Adds a diagnostic and returns nothing if it will not do.
std::optional<Field> read_field(const Parameter& parameter, const Node& node, std::vector<Reference>& references,
                                Diagnostics& diagnostics);

// The value of a parameter that is_tagged(), with defaults for the keys that are not given. Adds every diagnostic and
// returns nothing if there is one.
std::optional<TaggedTables> read_tagged(const Parameter& parameter, const Node& node,
                                        std::vector<Reference>& references, Diagnostics& diagnostics);

// The default that the model publishes; nothing if it has none. Throws Error(MK_DEVICE_ERROR) if it is not valid.
std::optional<TaggedTables> default_tagged(const Parameter& parameter);

// The value itself, or the one that a candidate has for the searched parameter; an integer becomes a real where the
// model wants one. Throws Error(MK_INTERNAL) if the parameter is not searched.
search::Value resolve(const Field& field, const std::vector<std::string>& params,
                      const std::vector<search::Value>& candidate);

// As a model gets it (see mk_value): JSON, "type" first, reals shortest round-trip with a point or an exponent.
std::string json_text(const TaggedTables& tagged, const std::vector<std::string>& params,
                      const std::vector<search::Value>& candidate);

}  // namespace mokume::config
