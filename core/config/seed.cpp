#include "config/seed.hpp"

#include <charconv>

#include "base/files.hpp"

namespace mokume::config {

std::string without_leading_zeros(const std::string& digits) {
  const size_t first = digits.find_first_not_of('0');
  return first == std::string::npos ? "0" : digits.substr(first);
}

uint64_t seed_of(const std::string& digits) {
  const std::string plain = without_leading_zeros(digits);
  uint64_t seed = 0;
  if (std::from_chars(plain.data(), plain.data() + plain.size(), seed).ec == std::errc{}) return seed;
  const std::string hash = base::sha256(plain);
  std::from_chars(hash.data(), hash.data() + 16, seed, 16);
  return seed;
}

}  // namespace mokume::config
