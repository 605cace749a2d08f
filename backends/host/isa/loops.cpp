#include "isa/loops.hpp"

#include <string.h>

#include "isa/exp.hpp"
#include "isa/network.hpp"

#define MOKUME_TEXT_(x) #x
#define MOKUME_TEXT(x) MOKUME_TEXT_(x)

namespace mokume::host::MOKUME_HOST_ISA {
namespace {

// Number of elements that pass through each step of a formula at once. They stay in the first-level cache. Because they
// are copies, the compiler may assume that out and dot do not overlap.
constexpr int kBlock = 256;

// Returns exp(x) for the arguments of rbf_block. Near 0, the result is the exact value, rounded: 1 plus a sum of powers
// up to x^8.
float rbf_one(float x) {
  float p = 2.48015873e-5F;
  p = __builtin_fmaf(p, x, 1.98412698e-4F);
  p = __builtin_fmaf(p, x, 1.38888889e-3F);
  p = __builtin_fmaf(p, x, 8.33333333e-3F);
  p = __builtin_fmaf(p, x, 4.16666667e-2F);
  p = __builtin_fmaf(p, x, 0.166666667F);
  p = __builtin_fmaf(p, x, 0.5F);
  const float near = 1.0F + __builtin_fmaf(p * x, x, x);
  return __builtin_fabsf(x) < 0.5F ? near : exp_one(x);
}

void exp_block(float* t, int n) {
  for (int i = 0; i < n; ++i) t[i] = rbf_one(t[i]);
}

// Computes the arguments of exp.
void rbf_block(const MapRow& row, int64_t at, float* t, int n) {
  const float* dot = row.dot + at;
  const float* norm_y = row.norm_y + at;
  const float norm_x = row.norm_x, gamma = row.gamma;
  for (int i = 0; i < n; ++i) {
    const float d2 = norm_x + norm_y[i] - 2.0F * dot[i];
    t[i] = -gamma * (d2 < 0.0F ? 0.0F : d2);  // in this form, a NaN is not taken for a distance of 0
  }
}

void affine_block(const MapRow& row, int64_t at, float* t, int n) {
  const float* dot = row.dot + at;
  const float gamma = row.gamma, coef0 = row.coef0;
  for (int i = 0; i < n; ++i) t[i] = gamma * dot[i] + coef0;
}

// Computes powers by squaring. Degree 0 gives 1 for every base.
void power_block(float* t, int n, int64_t degree) {
  float base[kBlock];
  for (int i = 0; i < n; ++i) base[i] = t[i];
  for (int i = 0; i < n; ++i) t[i] = 1.0F;
  for (int64_t d = degree; d != 0; d >>= 1) {
    if ((d & 1) != 0)
      for (int i = 0; i < n; ++i) t[i] *= base[i];
    if (d > 1)
      for (int i = 0; i < n; ++i) base[i] *= base[i];
  }
}

// Computes tanh(x) = sign(x) (1 - e) / (1 + e), e = exp(-2|x|). The absolute error is at most 3 * 2^-24.
void tanh_block(float* t, int n) {
  float e[kBlock];
  for (int i = 0; i < n; ++i) e[i] = exp_one(-2.0F * __builtin_fabsf(t[i]));
  for (int i = 0; i < n; ++i) t[i] = __builtin_copysignf((1.0F - e[i]) / (1.0F + e[i]), t[i]);
}

void kernel_map(const MapRow& row) {
  float t[kBlock];
  for (int64_t at = 0; at < row.n; at += kBlock) {
    const int n = row.n - at < kBlock ? static_cast<int>(row.n - at) : kBlock;
    switch (row.kind) {
      case mk_kernel_kind::polynomial:
        affine_block(row, at, t, n);
        power_block(t, n, row.degree);
        break;
      case mk_kernel_kind::rbf:
        rbf_block(row, at, t, n);
        exp_block(t, n);
        break;
      case mk_kernel_kind::rbf_minus_one:
        rbf_block(row, at, t, n);
        exp_block(t, n);
        for (int i = 0; i < n; ++i) t[i] -= 1.0F;
        break;
      default:
        affine_block(row, at, t, n);
        tanh_block(t, n);
    }
    memcpy(row.out + at, t, static_cast<size_t>(n) * sizeof(float));
  }
}

// Adds 32 partial sums as a tree. These are enough lanes to hide the adder's latency on every instruction set.
float norm2(const float* x, int64_t n) {
  typedef float Lanes __attribute__((vector_size(64)));
  Lanes a{}, b{};
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    Lanes u, v;
    memcpy(&u, x + i, sizeof u);
    memcpy(&v, x + i + 16, sizeof v);
    a += u * u;
    b += v * v;
  }
  float lanes[32] = {};
  memcpy(lanes, &a, sizeof a);
  memcpy(lanes + 16, &b, sizeof b);
  for (int l = 0; i < n; ++i, ++l) lanes[l] += x[i] * x[i];
  for (int width = 16; width >= 1; width /= 2)
    for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  return lanes[0];
}

}  // namespace

extern const NetworkLoops kNetworkLoops;        // network.cpp
extern const ActivationLoops kActivationLoops;  // activations.cpp
extern const ChannelLoops kChannelLoops;        // channels.cpp
#if defined(MOKUME_HOST_FMA) || defined(MOKUME_HOST_EXACT)
void convolve(const WindowRow& row);          // convolution.cpp
void row_product(const RowProduct& product);  // products.cpp
extern const ProductLoops kProductLoops;
constexpr decltype(Loops::convolve) kConvolve = convolve;
constexpr decltype(Loops::row_product) kRowProduct = row_product;
constexpr const ProductLoops* kProducts = &kProductLoops;
#else
constexpr decltype(Loops::convolve) kConvolve = nullptr;
constexpr decltype(Loops::row_product) kRowProduct = nullptr;
constexpr const ProductLoops* kProducts = nullptr;
#endif
#ifdef MOKUME_HOST_FMA
extern const FilteringLoops kFilteringLoops;  // filtering.cpp
constexpr const FilteringLoops* kFiltering = &kFilteringLoops;
#else
constexpr const FilteringLoops* kFiltering = nullptr;
#endif
#ifdef MOKUME_HOST_EXACT
constexpr char kName[] = "base";
#else
constexpr char kName[] = MOKUME_TEXT(MOKUME_HOST_ISA);
#endif
extern const Loops kLoops;
const Loops kLoops = {kName,
                      norm2,
                      kernel_map,
                      &kNetworkLoops,
                      &kActivationLoops,
                      &kChannelLoops,
                      kConvolve,
                      kRowProduct,
                      kProducts,
                      kFiltering};

}  // namespace mokume::host::MOKUME_HOST_ISA
