#include "isa/loops.hpp"

#include <string.h>

#include "isa/formulas.hpp"
#include "isa/independent.hpp"
#include "isa/network.hpp"
#include "isa/norm.hpp"
#include "isa/rows.hpp"

#define MOKUME_TEXT_(x) #x
#define MOKUME_TEXT(x) MOKUME_TEXT_(x)

namespace mokume::host::MOKUME_HOST_ISA {
namespace {

// Number of elements that pass through each factor of a power at once. They stay in the first-level cache. Because they
// are copies, the compiler may assume that out and dot do not overlap.
constexpr int kBlock = 256;

void powers(const MapRow& row) {
  const float gamma = row.gamma, coef0 = row.coef0;
  float base[kBlock], power[kBlock];
  for (int64_t at = 0; at < row.n; at += kBlock) {
    const int n = row.n - at < kBlock ? static_cast<int>(row.n - at) : kBlock;
    for (int i = 0; i < n; ++i) base[i] = affine(row.dot[at + i], gamma, coef0);
    for (int i = 0; i < n; ++i) power[i] = 1.0F;
    for (int64_t d = 0; d < row.degree; ++d)
      for (int i = 0; i < n; ++i) power[i] *= base[i];
    memcpy(row.out + at, power, static_cast<size_t>(n) * sizeof(float));
  }
}

template <int kind>
void map(const MapRow& row) {
  const float *dot = row.dot, *norm_y = row.norm_y, norm_x = row.norm_x, gamma = row.gamma, coef0 = row.coef0;
  float* out = row.out;
  MOKUME_INDEPENDENT
  for (int64_t i = 0; i < row.n; ++i)
    out[i] = kernel_value(kind, dot[i], norm_x, NEEDS_NORMS(kind) ? norm_y[i] : 0.0F, gamma, coef0, 0);
}

void kernel_map(const MapRow& row) {
  switch (row.kind) {
    case mk_kernel_kind::polynomial:
      return powers(row);
    case mk_kernel_kind::rbf:
      return map<RBF>(row);
    case mk_kernel_kind::rbf_minus_one:
      return map<RBF_MINUS_ONE>(row);
    default:
      return map<static_cast<int>(mk_kernel_kind::sigmoid)>(row);
  }
}

}  // namespace

void row_norm2(const NormedRows& rows);         // rows.cpp
extern const RowLoops kRowLoops;                // rows.cpp
extern const NormLoops kNormLoops;              // norm.cpp
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
const Loops kLoops = {kName,       row_norm2,   kernel_map,        &kNetworkLoops,
                      &kNormLoops, &kRowLoops,  &kActivationLoops, &kChannelLoops,
                      kConvolve,   kRowProduct, kProducts,         kFiltering};

}  // namespace mokume::host::MOKUME_HOST_ISA
