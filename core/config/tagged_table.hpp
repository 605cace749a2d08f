// The values of [model_options] beyond plain ones: "$name", which stands for a searched parameter, and forms: tables
// told apart by their key "type", alone (an optimizer) or in a list (the layers of a network).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "abi/model.h"
#include "config/config.hpp"
#include "config/tree.hpp"

namespace mokume::config {

// "$name" at `place`, where a value of `param` is wanted.
struct Use {
  std::string name;
  const mk_param* param = nullptr;
  Place place;
};

inline bool is_form(const mk_param& param) { return param.type == MK_PARAM_FORM || param.type == MK_PARAM_FORMS; }

// One value of a parameter that is no form, or a reference, which is added to `uses`. Adds a finding and returns
// nothing if it is no good.
std::optional<Field> read_field(const mk_param& param, const Node& node, std::vector<Use>& uses, Findings& findings);

// The value of a parameter that is_form(), keys that are not given filled in. Adds every finding; returns nothing if
// there is one.
std::optional<Forms> read_forms(const mk_param& param, const Node& node, std::vector<Use>& uses, Findings& findings);

// The default that the model publishes; nothing if it has none. Throws Error(MK_DEVICE_ERROR) for one that is not
// valid.
std::optional<Forms> default_forms(const mk_param& param);

// The value itself, or the one that a candidate has for the searched parameter; an integer becomes a real where that is
// wanted. Throws Error(MK_INTERNAL) if the parameter is not searched.
search::Value resolve(const Field& field, const std::vector<std::string>& params,
                      const std::vector<search::Value>& candidate);

// As a model gets it (see mk_value): JSON, "type" first, reals shortest round-trip and never without point or exponent.
std::string json_text(const Forms& forms, const std::vector<std::string>& params,
                      const std::vector<search::Value>& candidate);

// A real with a point or an exponent, shortest round-trip: TOML and JSON read it as a real again.
std::string real_text(double value);

}  // namespace mokume::config
