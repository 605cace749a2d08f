// Single values of an experiment file, checked against the key or the model's parameter that they belong to. Each
// function adds a finding at the value and returns nothing (or false) if the value is no good.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "abi/model.h"
#include "config/keys.hpp"
#include "config/tree.hpp"

namespace mokume::config {

// Checks the value of `key` and stores it in its slot.
bool read_setting(const Key& key, const Node& node, Config& config, Findings& findings);

// One value of a model's parameter.
std::optional<search::Value> read_value(const mk_param& param, const Node& node, Findings& findings);

// A searched parameter: a value, a list, or a table such as { log10 = [-3, 6], n = 24 }. `param` may be nullptr (the
// model is not known): then only the form is checked. Distributions are refused if `method` is "grid".
std::optional<search::Space> read_space(const std::string& name, const mk_param* param, const std::string& method,
                                        const Node& node, Findings& findings);

// The default that the model publishes; nothing if it has none. Throws Error(MK_DEVICE_ERROR) for one that is not
// valid.
std::optional<search::Value> default_value(const mk_param& param);

// The words of "a|b|c"; nullptr and "" have none.
std::vector<std::string> choices_of(const char* choices);

// "above 0 and at most 1000000".
std::string range_of(const mk_param& param);

// "a, b, c".
std::string join(const std::vector<std::string>& words);

// "did you mean 'limit'?", or "" if nothing is close.
std::string suggest(const std::string& word, const std::vector<std::string>& known);

// The number, or the first 64 bits of SHA-256 of a longer decimal string (without leading zeros).
uint64_t seed_of(const std::string& digits);
std::string without_leading_zeros(const std::string& digits);

}  // namespace mokume::config
