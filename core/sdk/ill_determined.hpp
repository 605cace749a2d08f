// Names the word of a fit's note that counts the validated rows whose class the solver's tolerance leaves open
// ("unsure=2"), and decides with how many of these rows another solver or tolerance would give another error.
#pragma once

#include <cstdint>
#include <string_view>

namespace mokume::sdk {

inline constexpr std::string_view kUnsureWord = "unsure=";

// Returns whether more than one row in 50 is unsure.
constexpr bool is_ill_determined(int64_t unsure, int64_t rows) { return unsure > rows / 50; }

}  // namespace mokume::sdk
