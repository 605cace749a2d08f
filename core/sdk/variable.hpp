// Reads numbers from environment variables.
#pragma once

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sdk/error.hpp"

namespace mokume::sdk {

inline constexpr double kMostSeconds = 1e9;

// Returns the time that an environment variable sets, or `otherwise` if the variable is not set or empty. Throws
// Error(MK_INVALID_ARGUMENT) if the value is anything but a number of seconds above 0, such as "10m".
inline double seconds_variable(const char* name, double otherwise) {
  const char* const given = std::getenv(name);
  const std::string_view text = given == nullptr ? "" : given;
  if (text.empty()) return otherwise;
  double seconds = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (fault == std::errc() && end == text.data() + text.size() && seconds > 0 && seconds <= kMostSeconds)
    return seconds;
  throw Error(MK_INVALID_ARGUMENT, std::string(name) + " is '" + std::string(text) +
                                       "': give it a number of seconds above 0 without a unit, for instance 600");
}

}  // namespace mokume::sdk
