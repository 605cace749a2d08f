// Philox4x32-10: random numbers as a pure function of (key, counter).
// Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3. SC 2011.
#pragma once

#include <array>
#include <cstdint>

namespace mokume::sdk {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

constexpr PhiloxCounter philox(PhiloxCounter c, PhiloxKey k) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * c[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(p0)};
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  return c;
}

// What a number is for: the first word of the counter, so that no two uses share numbers.
enum class Purpose : uint32_t {
  folds = 1,
  digits = 2,
  search = 3,
  bootstrap = 4,
  weights = 5,
  batches = 6,
  dropout = 7,
  friedman = 8
};

// A stream of one purpose and up to two ids; element i is a pure function of (seed, purpose, ids, i).
class Random {
 public:
  constexpr Random(uint64_t seed, Purpose purpose, uint32_t id0 = 0, uint32_t id1 = 0)
      : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
        words_{static_cast<uint32_t>(purpose), id0, id1} {}

  constexpr uint32_t bits(uint32_t index) const {
    return philox({index / 4, words_[0], words_[1], words_[2]}, key_)[index % 4];
  }
  constexpr uint64_t bits64(uint32_t index) const {
    const PhiloxCounter c = philox({index / 2, words_[0] | 0x80000000U, words_[1], words_[2]}, key_);
    return (uint64_t{c[(index % 2) * 2]} << 32) | c[(index % 2) * 2 + 1];
  }
  // In [0, 1).
  constexpr double uniform(uint32_t index) const { return static_cast<double>(bits64(index) >> 11) * 0x1p-53; }
  // In [0, bound), bound > 0; the bias is below bound / 2^64.
  constexpr uint64_t below(uint32_t index, uint64_t bound) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((static_cast<Wide>(bits64(index)) * bound) >> 64);
  }

 private:
  PhiloxKey key_;
  std::array<uint32_t, 3> words_;
};

}  // namespace mokume::sdk
