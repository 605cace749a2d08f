// Implements Philox4x32-10: random numbers are a pure function of (key, counter).
// See Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3. SC 2011.
#pragma once

#include <array>
#include <cstdint>

namespace mokume::sdk {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

constexpr PhiloxCounter philox(PhiloxCounter c, PhiloxKey k) {
#pragma GCC unroll 10  // doubles the speed, because -O2 does not unroll this loop
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

// The purpose is part of the counter's second word, so that different uses never share numbers.
enum class Purpose : uint32_t {
  folds = 1,
  digits = 2,
  search = 3,
  bootstrap = 4,
  weights = 5,
  batches = 6,
  dropout = 7,
  friedman = 8,
  schedule = 9,
  rungs = 10,
  trials = 11,
  importance = 12
};

// Generates a stream for one purpose and up to two ids. Element i < 2^56 is a pure function of (seed, purpose, ids, i).
class Random {
 public:
  constexpr Random(uint64_t seed, Purpose purpose, uint32_t id0 = 0, uint32_t id1 = 0)
      : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
        words_{static_cast<uint32_t>(purpose), id0, id1} {}

  constexpr uint32_t bits(uint64_t index) const { return block(index / 4, 0)[index % 4]; }
  constexpr uint64_t bits64(uint64_t index) const {
    const PhiloxCounter c = block(index / 2, 0x80000000U);
    return index % 2 == 0 ? uint64_t{c[0]} << 32 | c[1] : uint64_t{c[2]} << 32 | c[3];
  }
  // Returns a number in [0, 1).
  constexpr double uniform(uint64_t index) const { return static_cast<double>(bits64(index) >> 11) * 0x1p-53; }
  // Returns a number in [0, bound) for a bound above 0. The bias is below bound / 2^64.
  constexpr uint64_t below(uint64_t index, uint64_t bound) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((static_cast<Wide>(bits64(index)) * bound) >> 64);
  }

 private:
  // The second word of the counter holds the purpose in bits 0 to 7, the upper bits of the block number from bit 8 on,
  // and in bit 31 whether the numbers have 64 bits.
  constexpr PhiloxCounter block(uint64_t number, uint32_t kind) const {
    const auto beyond = static_cast<uint32_t>(number >> 32);
    return philox({static_cast<uint32_t>(number), words_[0] | beyond << 8 | kind, words_[1], words_[2]}, key_);
  }

  PhiloxKey key_;
  std::array<uint32_t, 3> words_;
};

}  // namespace mokume::sdk
