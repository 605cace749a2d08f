// The word of a fit's note that counts the validated rows whose class the solver's tolerance leaves open ("unsure=2"),
// and the number of these rows from which another solver or tolerance would give another error.
#pragma once

#include <cstdint>
#include <string_view>

namespace mokume::sdk {

inline constexpr std::string_view kUnsureWord = "unsure=";

// More than one row in 50.
constexpr bool is_ill_determined(int64_t unsure, int64_t rows) { return unsure > rows / 50; }

}  // namespace mokume::sdk
