// Describes all keys of the experiment file. A new key needs one entry in keys.cpp and one member of Config.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/parameter.hpp"

namespace mokume::config {

inline constexpr const char* kSearched = "search.params";
inline constexpr const char* kOptions = "model_options";

const std::vector<Parameter>& keys();

const Parameter* find_key(std::string_view table, std::string_view name);  // returns nullptr if there is none
std::vector<std::string> names_in(std::string_view table);

// Returns the value that stands for the behaviour of versions without the key.
Json value_before(const Parameter& key);

// Returns "[data]" or "the top level".
std::string title(std::string_view table);
std::string inside(std::string_view table);  // returns "in [data]" or "at the top level"

// Returns the seed for decimal digits of any length: the number if it fits into 64 bits, otherwise the first 64 bits of
// the SHA-256 of the digits without leading zeros.
uint64_t seed_of(const std::string& digits);
std::string without_leading_zeros(const std::string& digits);

}  // namespace mokume::config
