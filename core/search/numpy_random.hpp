// Reproduces the random numbers of numpy.random.default_rng(seed) in NumPy 1.17 and later bit for bit, to replay
// published experiments. mokume's own numbers come from sdk/philox.hpp.
//
// Sources:
//   SeedSequence  NumPy's reference manual, numpy.random.SeedSequence; its mixing is by M. E. O'Neill, "Developing a
//                 seed_seq Alternative", 2015
//   Pcg64         M. E. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for Random
//                 Number Generation", HMC-CS-2014-0905, 2014: the 128-bit generator with XSL-RR output
//   integers      D. Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019
//   shuffle       R. Durstenfeld, "Algorithm 235: Random Permutation", CACM 7(7), 1964
//
// Unlike the rest of mokume, these streams have state: a number depends on all numbers drawn before it. An object
// belongs to one thread at a time. Arguments that NumPy rejects throw Error(MK_INVALID_ARGUMENT).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace mokume::search::numpy {

// Turns a seed of any size into well-mixed words and independent children.
class SeedSequence {
 public:
  explicit SeedSequence(uint64_t entropy);
  // Expects a whole number in decimal digits, of any length (in quadratic time). Ignores leading zeros.
  explicit SeedSequence(std::string_view digits);

  // Returns the next n children. A second call continues after the first. A sequence has at most 2^32 - 1 children.
  std::vector<SeedSequence> spawn(uint32_t n);

  // Return the first n words, which are the same in every call. A 64-bit word is a pair of 32-bit words, low first.
  std::vector<uint32_t> generate_state(size_t n) const;
  std::vector<uint64_t> generate_state64(size_t n) const;

 private:
  SeedSequence(std::vector<uint32_t> entropy, std::vector<uint32_t> spawn_key);

  std::vector<uint32_t> entropy_;    // the seed, lowest word first
  std::vector<uint32_t> spawn_key_;  // child numbers that lead to this sequence
  uint32_t spawned_ = 0;
  std::array<uint32_t, 4> pool_{};
};

// Reproduces numpy.random.PCG64.
class Pcg64 {
 public:
  explicit Pcg64(const SeedSequence& seed);

  uint64_t next64();
  // Returns the low half of a 64-bit number and, at the next call, its high half. next64() does not affect this pair.
  uint32_t next32();

 private:
  __extension__ using Wide = unsigned __int128;
  void step();

  Wide state_ = 0;
  Wide increment_ = 0;
  uint32_t high_half_ = 0;
  bool half_waits_ = false;
};

// Reproduces numpy.random.Generator over PCG64, as numpy.random.default_rng creates it.
class Generator {
 public:
  explicit Generator(const SeedSequence& seed) : bits_(seed) {}

  // Returns a multiple of 2^-53 in [0, 1).
  double random();

  // Returns numbers in [low, high); requires low < high. The second form equals n calls of the first.
  int64_t integers(int64_t low, int64_t high);
  std::vector<int64_t> integers(int64_t low, int64_t high, size_t n);

  // Returns n bytes, taken from as few 32-bit words as possible, but at least one.
  std::vector<uint8_t> bytes(size_t n);

  // Choose from 0 ... size - 1 or from the values, with replacement (replace = True, no probabilities).
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

  // Returns 0 ... size - 1 or the values in random order. Accepts at most 2^32 elements.
  std::vector<int64_t> permutation(int64_t size);
  template <class T>
  std::vector<T> permutation(std::vector<T> values) {
    check_permutation(values.size());
    for (size_t i = values.size(); i-- > 1;) std::swap(values[i], values[up_to(static_cast<uint32_t>(i))]);
    return values;
  }

 private:
  static void check_permutation(uint64_t size);
  uint64_t below(uint64_t last);  // returns a number in [0, last] by multiplication
  uint32_t up_to(uint32_t last);  // returns a number in [0, last] by masking, like NumPy's shuffle

  Pcg64 bits_;
};

}  // namespace mokume::search::numpy
