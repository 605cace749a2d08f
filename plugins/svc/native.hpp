// Defines what the native solvers share: vectors of rows, a problem and its model. The build compiles the files that
// include this header once per instruction set, which SOLVER_ISA names. A vector is as wide as a register of the set:
// compilers split wider vectors badly, and keep parts of them in memory. Extremes do not depend on the width, because
// the row decides between equal values; sums that would depend on it are added in kBlock parts with every set.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "places.hpp"
#include "sdk/isa.hpp"
#include "sdk/rounded_to_odd.hpp"

#ifndef SOLVER_ISA
#define SOLVER_ISA base
#endif

namespace mokume::svc::SOLVER_ISA {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
typedef float Floats __attribute__((vector_size(kLanes * 4), aligned(4)));
typedef int32_t Ints __attribute__((vector_size(kLanes * 4), aligned(4)));

constexpr int64_t kVectors = kBlock / kLanes;  // vectors of a block, in which spans count
constexpr int32_t kUp = 1, kLow = 2, kPositive = 4, kNegative = 8;
constexpr float kTau = 1e-12F;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int32_t kNone = -1;

// Holds a stored kernel value as an IEEE half (ADR 63). Solvers read rows of floats or of halves.
struct Half {
  uint16_t bits;

  operator float() const {
    const uint32_t sign = (bits & 0x8000U) << 16, size = bits & 0x7fffU;
    // The smallest halves are multiples of 2^-24. The float of the same bits would be subnormal, which counts as 0.
    if (size < 0x400U) return std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(size) * 0x1p-24F) | sign);
    return std::bit_cast<float>(((size << 13) + (size < 0x7c00U ? 112U << 23 : 224U << 23)) | sign);
  }
};

struct Problem {
  const PlaceArrays& arrays;
  const int32_t* span;
  const int8_t* y;
  int32_t* flags;
  float* f;
  float* a;
  int64_t ld;

  Problem(const PlaceArrays& all, int64_t place)
      : arrays(all),
        span(all.spans + place * kMaxSpans * 2),
        y(all.sign + place * all.ld),
        flags(all.flags + place * all.ld),
        f(all.f + place * 2 * all.ld),
        a(all.a + place * 2 * all.ld),
        ld(all.ld) {}

  template <class Value>
  const Value* row(int32_t slot) const {
    return static_cast<const Value*>(arrays.panels[slot / arrays.panel_rows]) + slot % arrays.panel_rows * ld;
  }
};

// Return vector v of an array. All casts from elements to vectors are here.
inline const Floats& at(const float* p, int64_t v) { return *reinterpret_cast<const Floats*>(p + v * kLanes); }
inline Floats& at(float* p, int64_t v) { return *reinterpret_cast<Floats*>(p + v * kLanes); }
inline const Ints& flags_at(const int32_t* p, int64_t v) { return *reinterpret_cast<const Ints*>(p + v * kLanes); }

inline Floats at(const Half* p, int64_t v) {
#if defined(__AVX512F__)
  const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + v * kLanes));
  return reinterpret_cast<Floats>(_mm512_cvtph_ps(halves));
#elif defined(__AVX2__)
  const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + v * kLanes));
  return reinterpret_cast<Floats>(_mm256_cvtph_ps(halves));
#else
  Floats values;
  for (int t = 0; t < kLanes; ++t) values[t] = p[v * kLanes + t];
  return values;
#endif
}

// Calls `body` with each vector of the spans, in ascending order.
template <class Body>
inline void for_vectors(const Problem& p, const Body& body) {
  for (const int32_t* s = p.span; s[0] >= 0; s += 2)
    for (int64_t v = s[0] * kVectors; v < s[1] * kVectors; ++v) body(v);
}

inline Floats spread(float x) { return Floats{} + x; }

// Returns the rows of vector v.
inline Ints rows_of(int64_t v) {
  Ints row{};
  for (int t = 0; t < kLanes; ++t) row[t] = t;
  return row + static_cast<int32_t>(v * kLanes);
}

// A mask of lanes. AVX-512 has registers for masks, but compilers turn masks that are vectors into vectors again and
// again.
#if defined(__AVX512F__)
typedef __mmask16 Mask;
inline Mask has(const Ints& flags, int32_t bit) {
  return _mm512_test_epi32_mask(reinterpret_cast<__m512i>(flags), _mm512_set1_epi32(bit));
}
inline Mask less(const Floats& a, const Floats& b) {
  return _mm512_cmp_ps_mask(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), _CMP_LT_OQ);
}
inline Mask at_most(const Floats& a, const Floats& b) {
  return _mm512_cmp_ps_mask(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), _CMP_LE_OQ);
}
inline Mask equal(const Floats& a, const Floats& b) {
  return _mm512_cmp_ps_mask(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), _CMP_EQ_OQ);
}
inline Mask no(Mask m) { return static_cast<Mask>(~m); }
inline Floats select(Mask m, const Floats& a, const Floats& b) {
  return reinterpret_cast<Floats>(_mm512_mask_mov_ps(reinterpret_cast<__m512>(b), m, reinterpret_cast<__m512>(a)));
}
inline Ints select(Mask m, const Ints& a, const Ints& b) {
  return reinterpret_cast<Ints>(_mm512_mask_mov_epi32(reinterpret_cast<__m512i>(b), m, reinterpret_cast<__m512i>(a)));
}
inline bool any(Mask m) { return m != 0; }
#else
typedef Ints Mask;
inline Mask has(const Ints& flags, int32_t bit) { return (flags & bit) != 0; }
inline Mask less(const Floats& a, const Floats& b) { return a < b; }
inline Mask at_most(const Floats& a, const Floats& b) { return a <= b; }
inline Mask equal(const Floats& a, const Floats& b) { return a == b; }
inline Mask no(const Mask& m) { return ~m; }
inline Floats select(const Mask& m, const Floats& a, const Floats& b) { return m ? a : b; }
inline Ints select(const Mask& m, const Ints& a, const Ints& b) { return m ? a : b; }
#endif

// Uses explicit instructions, because compilers otherwise test the lanes one by one.
inline bool any(const Ints& mask) {
#if defined(__AVX512F__)
  const auto lanes = reinterpret_cast<__m512i>(mask);
  return _mm512_test_epi32_mask(lanes, lanes) != 0;
#elif defined(__AVX2__)
  const auto lanes = reinterpret_cast<__m256i>(mask);
  return _mm256_testz_si256(lanes, lanes) == 0;
#else
  int32_t all = 0;
  for (int t = 0; t < kLanes; ++t) all |= mask[t];
  return all != 0;
#endif
}

template <int kBy, class V, int... kLane>
V rotated(V v, std::integer_sequence<int, kLane...>) {
  return __builtin_shufflevector(v, v, ((kLane + kBy) % kLanes)...);
}

// Calls `step` with distances at which each lane combines with a partner, so that all lanes hold the result at last.
template <class Step>
void reduce(const Step& step) {
  if constexpr (kLanes > 8) step(std::integral_constant<int, 8>());
  if constexpr (kLanes > 4) step(std::integral_constant<int, 4>());
  step(std::integral_constant<int, 2>());
  step(std::integral_constant<int, 1>());
}

// Returns the lanes of v, rotated by kBy. A template forgets that its vectors may lie at any address, so it takes them
// by value.
template <int kBy, class V>
V partners(V v) {
  return rotated<kBy>(v, std::make_integer_sequence<int, kLanes>());
}

inline float largest_of(Floats v) {
  reduce([&v]<int kBy>(std::integral_constant<int, kBy>) {
    const Floats other = partners<kBy>(v);
    const Ints larger = other > v;
    v = larger ? other : v;
  });
  return v[0];
}

// Returns the index of the largest lane. Among equal lanes, the largest index wins. No lane may be NaN.
inline int32_t index_of_largest(Floats v, Ints index) {
  reduce([&]<int kBy>(std::integral_constant<int, kBy>) {
    const Floats other = partners<kBy>(v);
    const Ints other_index = partners<kBy>(index);
    const Ints better = (other > v) | ((other == v) & (other_index > index));
    v = better ? other : v;
    index = better ? other_index : index;
  });
  return index[0];
}

constexpr int64_t kAhead = 512;  // kernel values

// Asks for the part of a kernel row that a sweep over its vectors needs soon. Processors prefetch the row themselves
// only after its first misses, and stop at the end of every page.
template <class Value>
void prefetch(const Value* row, int64_t v) {
  __builtin_prefetch(row + v * kLanes + kAhead);
}

// Prefetches the part of a kernel row that a sweep visits before the vectors that it prefetches itself arrive.
template <class Value>
void prefetch_start(const Problem& p, const Value* row) {
  int64_t left = kAhead;
  for (const int32_t* s = p.span; s[0] >= 0 && left > 0; s += 2)
    for (int64_t b = s[0]; b < s[1] && left > 0; ++b, left -= kBlock) __builtin_prefetch(row + b * kBlock);
}

// Holds the best partner of a row so far, in each lane. The gain of a step is the second-order one of LIBSVM.
class Partner {
 public:
  // Expects that the largest gain is not below `gain`, apart from roundings.
  explicit Partner(float gain = -1.0F) : below_(spread(gain * 0.999F)) {}

  // Looks at vector v, whose rows of `usable` lie `diff` above the row with the kernel values `ki` and `kii`.
  template <class Value>
  void look_at(int64_t v, const Mask& usable, const Floats& diff, const float* diagonal, const Value* ki, float kii) {
    const Floats found = diff * diff / curvature(v, diagonal, ki, kii);
    take(v, usable & less(spread(0), diff) & at_most(gain_, found), found);
  }

  // Does the same, but skips the division for vectors without a gain that reaches the largest so far. This costs more
  // than it saves where there are few vectors.
  template <class Value>
  void look_at_many(int64_t v, const Mask& usable, const Floats& diff, const float* diagonal, const Value* ki,
                    float kii) {
    const Floats eta = curvature(v, diagonal, ki, kii), square = diff * diff;
    const Mask candidates = usable & less(spread(0), diff);
    if (!any(candidates & no(less(square, eta * below_)))) return;
    const Floats found = square / eta;
    take(v, candidates & at_most(gain_, found), found);
    below_ = spread(std::fmax(below_[0], largest_of(gain_) * kRoundings));
  }

  float gain() const { return largest_of(gain_); }
  int32_t row() const { return index_of_largest(gain_, row_); }

 private:
  static constexpr float kRoundings = 1 - 0x1p-20F;  // covers those of a product and of a quotient

  template <class Value>
  static Floats curvature(int64_t v, const float* diagonal, const Value* ki, float kii) {
    const Floats tau = spread(kTau);
    const Floats eta = (kii + at(diagonal, v)) - 2.0F * at(ki, v);
    return select(less(tau, eta), eta, tau);
  }

  void take(int64_t v, const Mask& better, const Floats& found) {
    gain_ = select(better, found, gain_);
    row_ = select(better, rows_of(v), row_);
  }

  Floats gain_ = spread(-1.0F);
  Ints row_ = Ints{} + kNone;
  Floats below_;
};

inline float two_sum(float x, float y, float& low) {
  const float s = x + y;
  const float t = s - x;
  low = (x - (s - t)) + (y - t);
  return s;
}

inline void add_to(float& high, float& low, float x) {
  float e;
  const float s = two_sum(high, x, e);
  const float l = low + e;
  const float h = s + l;
  low = l - (h - s);
  high = h;
}

// Computes a * b + c with one rounding, element by element, which gives the same bits with every instruction set.
#if defined(__FMA__) || !defined(__x86_64__)
inline Floats fused(const Floats& a, const Floats& b, const Floats& c) {
  Floats result;
  for (int t = 0; t < kLanes; ++t) result[t] = __builtin_fmaf(a[t], b[t], c[t]);
  return result;
}
#else
// The C library's function is exact without the instruction, too, but takes one element at a time.
inline Floats fused(const Floats& a, const Floats& b, const Floats& c) {
  typedef double Doubles __attribute__((vector_size(kLanes * 8)));
  typedef int64_t Words __attribute__((vector_size(kLanes * 8)));
  const Doubles product = __builtin_convertvector(a, Doubles) * __builtin_convertvector(b, Doubles);
  return __builtin_convertvector(sdk::rounded_to_odd<Words>(product, __builtin_convertvector(c, Doubles)), Floats);
}
#endif

// Adds step * t to the double-float (h, l); h is then the rounded sum.
inline void add_step(Floats& h, Floats& l, const Floats& step, const Floats& t) {
  const Floats pr = step * t;
  const Floats q = fused(step, t, -pr);
  const Floats sum = h + pr;
  const Floats bb = sum - h;
  const Floats e = (h - (sum - bb)) + (pr - bb);
  l += e + q;
  h = sum + l;
  l -= h - sum;
}

// Describes a row in the model.
struct Multiplier {
  bool at_zero, at_c;
  float coefficient;
  float f;  // used if the multiplier is free
};

template <bool kRegression>
Multiplier multiplier(const Problem& p, const PlaceFloats& sf, int64_t k) {
  const int32_t flag = p.flags[k];
  const float weight = p.arrays.weight[k];
  if constexpr (kRegression) {
    const bool zero = (flag & (kPositive | kNegative)) == 0, bound = !zero && (flag & (kUp | kLow)) != (kUp | kLow);
    const bool positive = (flag & kPositive) != 0;
    const float most = sf.c * weight;
    return {zero, bound, bound ? (positive ? most : -most) : p.a[k], p.f[k] + (positive ? sf.epsilon : -sf.epsilon)};
  } else {
    const bool zero = p.y[k] == 0 || flag == (p.y[k] > 0 ? kUp : kLow);
    const bool bound = p.y[k] != 0 && flag == (p.y[k] > 0 ? kLow : kUp);
    const float size = bound ? (p.y[k] > 0 ? sf.c : sf.c_minus) * weight : p.a[k];
    return {zero, bound, static_cast<float>(p.y[k]) * size, p.f[k]};
  }
}

// Writes the coefficients, rho and counts of the problem in its current state.
template <bool kRegression = false>
void write_model(const Problem& p, PlaceInts& si, PlaceFloats& sf) {
  float* out = p.arrays.coef + si.coef_row * p.ld;
  float sum[kBlock] = {};
  int32_t free_count = 0;
  si.at_c = 0;
  si.vectors = 0;
  for (int64_t k = 0; k < p.ld; ++k) {
    const Multiplier of = multiplier<kRegression>(p, sf, k);
    out[k] = of.at_zero ? 0.0F : of.coefficient;
    si.vectors += of.at_zero ? 0 : 1;
    si.at_c += of.at_c ? 1 : 0;
    if (!of.at_zero && !of.at_c) {
      sum[k % kBlock] += of.f;
      ++free_count;
    }
  }
  for (int t = 1; t < kBlock; ++t) sum[0] += sum[t];
  if (free_count > 0 && !std::isnan(sf.up))
    sf.rho = sum[0] / static_cast<float>(free_count);
  else
    sf.rho = sf.up == kInfinity ? sf.low : (sf.low == -kInfinity ? sf.up : 0.5F * (sf.up + sf.low));
}

}  // namespace mokume::svc::SOLVER_ISA

#if defined(SOLVER_DISPATCH)
namespace mokume::svc {

template <class T>
T best_of(T base, [[maybe_unused]] T avx2, [[maybe_unused]] T avx512) {
  switch (sdk::widest_isa()) {
    case sdk::Isa::kAvx512:
      return avx512;
    case sdk::Isa::kAvx2:
      return avx2;
    default:
      return base;
  }
}

// Returns the variant of `function` for the best instruction set of this CPU.
#if defined(__x86_64__)
#define SOLVER_BEST(function) best_of(base::function, avx2::function, avx512::function)
#else
#define SOLVER_BEST(function) best_of(base::function, base::function, base::function)
#endif

}  // namespace mokume::svc
#endif
