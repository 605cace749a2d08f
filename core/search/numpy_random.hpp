// NumPy's random numbers, bit by bit: what numpy.random.default_rng(seed) draws in NumPy 1.17 and later, so that
// published experiments can be replayed. mokume's own numbers come from sdk/philox.hpp.
//
// Sources:
//   SeedSequence  NumPy's reference manual, numpy.random.SeedSequence; its mixing is by M. E. O'Neill, "Developing a
//                 seed_seq Alternative", 2015
//   Pcg64         M. E. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for Random
//                 Number Generation", HMC-CS-2014-0905, 2014: the 128-bit generator with the output XSL-RR
//   integers      D. Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019
//   shuffle       R. Durstenfeld, "Algorithm 235: Random Permutation", CACM 7(7), 1964
//
// Unlike the rest of mokume these streams have a hidden state: a number depends on all that were drawn before it.
// An object belongs to one thread at a time. Arguments that NumPy refuses are Error(MK_INVALID_ARGUMENT).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace mokume::search::numpy {

// Turns a seed of any size into well mixed words, and into independent children.
class SeedSequence {
 public:
  explicit SeedSequence(uint64_t entropy);
  // A whole number in decimal digits, of any length (the time grows with its square); leading zeros do not count.
  explicit SeedSequence(std::string_view digits);

  // The next n children; a second call goes on where the first ended. 2^32 - 1 in all.
  std::vector<SeedSequence> spawn(uint32_t n);

  // The first n words; calls do not depend on each other. 64-bit words are pairs of 32-bit ones, the low half first.
  std::vector<uint32_t> generate_state(size_t n) const;
  std::vector<uint64_t> generate_state64(size_t n) const;

 private:
  SeedSequence(std::vector<uint32_t> entropy, std::vector<uint32_t> spawn_key);

  std::vector<uint32_t> entropy_;    // of the seed, the lowest word first
  std::vector<uint32_t> spawn_key_;  // which child of which child
  uint32_t spawned_ = 0;
  std::array<uint32_t, 4> pool_{};
};

// numpy.random.PCG64.
class Pcg64 {
 public:
  explicit Pcg64(const SeedSequence& seed);

  uint64_t next64();
  // The low half of a 64-bit number, at the next call its high half: next64() in between leaves that half waiting.
  uint32_t next32();

 private:
  __extension__ using Wide = unsigned __int128;
  void step();

  Wide state_ = 0;
  Wide increment_ = 0;
  uint32_t high_half_ = 0;
  bool half_waits_ = false;
};

// numpy.random.Generator over PCG64, as numpy.random.default_rng makes it.
class Generator {
 public:
  explicit Generator(const SeedSequence& seed) : bits_(seed) {}

  // In [0, 1), a multiple of 2^-53.
  double random();

  // In [low, high), low < high. The second form draws n of them: the same numbers as n calls of the first.
  int64_t integers(int64_t low, int64_t high);
  std::vector<int64_t> integers(int64_t low, int64_t high, size_t n);

  // n bytes, taken from as few 32-bit words as hold them, but from at least one.
  std::vector<uint8_t> bytes(size_t n);

  // One or n of 0 ... size - 1, or of the values, with replacement (replace = True, no probabilities).
  int64_t choice(int64_t size) { return integers(0, size); }
  std::vector<int64_t> choice(int64_t size, size_t n) { return integers(0, size, n); }
  template <class T>
  std::vector<T> choice(const std::vector<T>& values, size_t n) {
    std::vector<T> chosen;
    chosen.reserve(n);
    for (const int64_t i : choice(static_cast<int64_t>(values.size()), n))
      chosen.push_back(values[static_cast<size_t>(i)]);
    return chosen;
  }

  // 0 ... size - 1, or the values, in random order. At most 2^32 of them.
  std::vector<int64_t> permutation(int64_t size);
  template <class T>
  std::vector<T> permutation(std::vector<T> values) {
    check_permutation(values.size());
    for (size_t i = values.size(); i-- > 1;) std::swap(values[i], values[up_to(static_cast<uint32_t>(i))]);
    return values;
  }

 private:
  static void check_permutation(uint64_t size);
  uint64_t below(uint64_t last);  // in [0, last], by multiplication
  uint32_t up_to(uint32_t last);  // in [0, last], by masking, as NumPy's shuffle does

  Pcg64 bits_;
};

}  // namespace mokume::search::numpy
