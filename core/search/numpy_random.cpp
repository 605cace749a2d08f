#include "search/numpy_random.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <string>

#include "sdk/error.hpp"

namespace mokume::search::numpy {
namespace {

__extension__ using Wide = unsigned __int128;

[[noreturn]] void refuse(const std::string& text) { throw Error(MK_INVALID_ARGUMENT, text); }

// Returns the digits of a number in base 2^32, lowest first; zero has one digit.
std::vector<uint32_t> words_of(uint64_t number) {
  std::vector<uint32_t> words{static_cast<uint32_t>(number)};
  if (number >> 32 != 0) words.push_back(static_cast<uint32_t>(number >> 32));
  return words;
}

std::vector<uint32_t> words_of(std::string_view digits) {
  constexpr size_t kDigitsAtOnce = 9;  // 10^9 fits in a word
  if (digits.empty()) refuse("the seed is empty: write a whole number in decimal digits");
  const size_t bad = digits.find_first_not_of("0123456789");
  if (bad != std::string_view::npos)
    refuse("character " + std::to_string(bad + 1) + " of the seed is not a decimal digit: write a whole number");
  std::vector<uint32_t> words{0};
  for (; !digits.empty(); digits.remove_prefix(std::min(kDigitsAtOnce, digits.size()))) {
    uint64_t carry = 0;
    uint64_t scale = 1;
    for (const char digit : digits.substr(0, kDigitsAtOnce)) {
      carry = carry * 10 + static_cast<uint64_t>(digit - '0');
      scale *= 10;
    }
    for (uint32_t& word : words) {
      carry += word * scale;
      word = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) words.push_back(static_cast<uint32_t>(carry));
  }
  return words;
}

// Hashes words by multiplication with a constant that changes with every word.
class WordHash {
 public:
  WordHash(uint32_t start, uint32_t factor) : constant_(start), factor_(factor) {}
  uint32_t operator()(uint32_t word) {
    word ^= constant_;
    constant_ *= factor_;
    word *= constant_;
    return word ^ word >> 16;
  }

 private:
  uint32_t constant_;
  uint32_t factor_;
};

uint32_t mix(uint32_t x, uint32_t y) {
  const uint32_t mixed = 0xCA01F9DDU * x - 0x4973F715U * y;
  return mixed ^ mixed >> 16;
}

// Mixes the words: every word of the pool affects all others, and every further input word affects the whole pool.
std::array<uint32_t, 4> pool_of(const std::vector<uint32_t>& words) {
  std::array<uint32_t, 4> pool{};
  WordHash hash(0x43B0D7E5U, 0x931E8875U);
  for (size_t i = 0; i < pool.size(); ++i) pool[i] = hash(i < words.size() ? words[i] : 0);
  for (size_t from = 0; from < pool.size(); ++from)
    for (size_t to = 0; to < pool.size(); ++to)
      if (from != to) pool[to] = mix(pool[to], hash(pool[from]));
  for (size_t from = pool.size(); from < words.size(); ++from)
    for (uint32_t& to : pool) to = mix(to, hash(words[from]));
  return pool;
}

}  // namespace

SeedSequence::SeedSequence(uint64_t entropy) : SeedSequence(words_of(entropy), {}) {}
SeedSequence::SeedSequence(std::string_view digits) : SeedSequence(words_of(digits), {}) {}

SeedSequence::SeedSequence(std::vector<uint32_t> entropy, std::vector<uint32_t> spawn_key)
    : entropy_(std::move(entropy)), spawn_key_(std::move(spawn_key)) {
  std::vector<uint32_t> words = entropy_;
  // Fills up the pool first; otherwise, child 7 of seed 5 would equal the seed 5 + 7 * 2^32.
  if (!spawn_key_.empty()) words.resize(std::max(words.size(), pool_.size()));
  words.insert(words.end(), spawn_key_.begin(), spawn_key_.end());
  pool_ = pool_of(words);
}

std::vector<SeedSequence> SeedSequence::spawn(uint32_t n) {
  if (n > std::numeric_limits<uint32_t>::max() - spawned_) refuse("a seed has at most 2^32 - 1 children");
  std::vector<SeedSequence> children;
  children.reserve(n);
  for (uint32_t i = 0; i < n; ++i) {
    std::vector<uint32_t> key = spawn_key_;
    key.push_back(spawned_++);
    children.push_back(SeedSequence(entropy_, std::move(key)));
  }
  return children;
}

std::vector<uint32_t> SeedSequence::generate_state(size_t n) const {
  std::vector<uint32_t> words(n);
  WordHash hash(0x8B51F9DDU, 0x58F38DEDU);
  for (size_t i = 0; i < n; ++i) words[i] = hash(pool_[i % pool_.size()]);
  return words;
}

std::vector<uint64_t> SeedSequence::generate_state64(size_t n) const {
  const std::vector<uint32_t> halves = generate_state(2 * n);
  std::vector<uint64_t> words(n);
  for (size_t i = 0; i < n; ++i) words[i] = halves[2 * i] | uint64_t{halves[2 * i + 1]} << 32;
  return words;
}

Pcg64::Pcg64(const SeedSequence& seed) {
  const std::vector<uint64_t> words = seed.generate_state64(4);
  const auto pair = [&](size_t high) { return static_cast<Wide>(words[high]) << 64 | words[high + 1]; };
  increment_ = pair(2) << 1 | 1;
  step();
  state_ += pair(0);
  step();
}

void Pcg64::step() {
  constexpr Wide kFactor = static_cast<Wide>(0x2360ED051FC65DA4U) << 64 | 0x4385DF649FCCF645U;
  state_ = state_ * kFactor + increment_;
}

uint64_t Pcg64::next64() {
  step();
  const auto high = static_cast<uint64_t>(state_ >> 64);
  return std::rotr(high ^ static_cast<uint64_t>(state_), static_cast<int>(high >> 58));
}

uint32_t Pcg64::next32() {
  half_waits_ = !half_waits_;
  if (!half_waits_) return high_half_;
  const uint64_t both = next64();
  high_half_ = static_cast<uint32_t>(both >> 32);
  return static_cast<uint32_t>(both);
}

double Generator::random() { return static_cast<double>(bits_.next64() >> 11) * 0x1p-53; }

// Multiplies a random word by the number of values. The upper word of the product is the value, and the lower word is
// the position within the value's share. Rejects the first positions of a share, so that all shares are equal. Uses
// 32-bit words for ranges that fit in 32 bits.
uint64_t Generator::below(uint64_t last) {
  if (last == 0) return 0;
  const uint64_t count = last + 1;
  if (last <= std::numeric_limits<uint32_t>::max()) {
    const uint64_t unequal = (uint64_t{1} << 32) % count;
    uint64_t product = 0;
    do {
      product = bits_.next32() * count;
    } while (static_cast<uint32_t>(product) < unequal);
    return product >> 32;
  }
  const uint64_t unequal = (0 - count) % count;
  Wide product = 0;
  do {
    product = static_cast<Wide>(bits_.next64()) * count;
  } while (static_cast<uint64_t>(product) < unequal);
  return static_cast<uint64_t>(product >> 64);
}

uint32_t Generator::up_to(uint32_t last) {
  const uint32_t mask = std::numeric_limits<uint32_t>::max() >> std::countl_zero(last);
  uint32_t number = 0;
  do {
    number = bits_.next32() & mask;
  } while (number > last);
  return number;
}

int64_t Generator::integers(int64_t low, int64_t high) {
  if (low >= high)
    refuse("integers from " + std::to_string(low) + " to below " + std::to_string(high) + " do not exist");
  const uint64_t last = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) - 1;
  return static_cast<int64_t>(static_cast<uint64_t>(low) + below(last));
}

std::vector<int64_t> Generator::integers(int64_t low, int64_t high, size_t n) {
  std::vector<int64_t> numbers(n);
  for (int64_t& number : numbers) number = integers(low, high);
  return numbers;
}

std::vector<uint8_t> Generator::bytes(size_t n) {
  std::vector<uint8_t> bytes(n);
  uint32_t word = n == 0 ? bits_.next32() : 0;  // as in NumPy, whose quotient (n - 1) / 4 is 0 for n = 0, too
  for (size_t i = 0; i < n; ++i) {
    if (i % 4 == 0) word = bits_.next32();
    bytes[i] = static_cast<uint8_t>(word >> 8 * (i % 4));
  }
  return bytes;
}

void Generator::check_permutation(uint64_t size) {
  if (size > uint64_t{1} << 32)
    refuse("a permutation of " + std::to_string(size) + " elements is too long: at most 2^32");
}

std::vector<int64_t> Generator::permutation(int64_t size) {
  if (size < 0) refuse("a permutation cannot have " + std::to_string(size) + " elements");
  check_permutation(static_cast<uint64_t>(size));
  std::vector<int64_t> numbers(static_cast<size_t>(size));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  return permutation(std::move(numbers));
}

}  // namespace mokume::search::numpy
