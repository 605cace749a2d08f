// Seeds: decimal numbers of any length.
#pragma once

#include <cstdint>
#include <string>

namespace mokume::config {

// Returns the number, or the first 64 bits of the SHA-256 of a longer number (without leading zeros).
uint64_t seed_of(const std::string& digits);
std::string without_leading_zeros(const std::string& digits);

}  // namespace mokume::config
