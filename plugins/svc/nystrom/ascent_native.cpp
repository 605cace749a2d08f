// The build compiles this file once per instruction set, which SOLVER_ISA names. The code follows kernels/ascent.cl,
// which describes the method, operation by operation.
#include "nystrom/ascent_native.hpp"

#include "native.hpp"

namespace mokume::svc::SOLVER_ISA {
namespace {

constexpr int kSums = kFeatureUnit / kLanes;  // vectors of partial sums

float dot_of(const float* w, const float* x, int64_t width) {
  Floats sums[kSums] = {};
  for (int64_t b = 0; b < width / kLanes; b += kSums)
    for (int j = 0; j < kSums; ++j) sums[j] += at(w, b + j) * at(x, b + j);
  float lanes[kBlock];
  for (int v = 0; v < kVectors; ++v) {
    Floats sum = sums[v];
    for (int j = v + kVectors; j < kSums; j += kVectors) sum += sums[j];
    at(lanes, v) = sum;
  }
  for (int64_t half = kBlock / 2; half > 0; half /= 2)
    for (int64_t t = 0; t < half; ++t) lanes[t] += lanes[t + half];
  return lanes[0];
}

float violation_of(float a, float g, float epsilon, float low, float high) {
  const float right = g + (a >= 0 ? epsilon : -epsilon), left = g + (a > 0 ? epsilon : -epsilon);
  if (a < high && right < 0) return -right;
  return a > low && left > 0 ? left : 0.0F;
}

float moved(float a, float g, float q, float epsilon, float low, float high) {
  const float lower = a - (g + epsilon) / q, upper = a - (g - epsilon) / q;
  const float to = lower > 0 ? lower : (upper < 0 ? upper : 0.0F);
  return to < low ? low : (to > high ? high : to);
}

template <bool kRegression>
void ascend(const AscentArrays& all, int32_t place, int32_t first, int32_t count) {
  AscentInts& si = all.ints[place];
  AscentFloats& sf = all.floats[place];
  const int8_t* const sign = all.signs + si.signs * all.rows;
  float* const multipliers = all.multipliers + place * all.rows;
  int8_t* const active = all.active + place * all.rows;
  float* const w = all.weights + place * all.width;
  for (int32_t i = first; i < first + count; ++i) {
    const int64_t row = (si.start + static_cast<int64_t>(i) * si.step) % all.rows;
    if (sign[row] == 0 || (si.all == 0 && active[row] == 0)) continue;
    const float* const x = all.panels[row / all.panel_rows] + row % all.panel_rows * all.width;
    const float bound = sign[row] < 0 ? -sf.c_minus * all.weight[row] : sf.c * all.weight[row];
    const float a = multipliers[row], high = bound > 0 ? bound : 0.0F;
    const float low = kRegression ? -high : (bound < 0 ? bound : 0.0F);
    const float wanted = kRegression ? all.target[row] : static_cast<float>(sign[row]);
    const float g = dot_of(w, x, all.width) + (sf.centre + sf.elastic * sf.sum) - wanted;
    const float violation = violation_of(a, g, sf.epsilon, low, high);
    const float to = violation > 0 ? moved(a, g, all.norms[row] + sf.elastic, sf.epsilon, low, high) : a;
    if (violation > sf.violation) sf.violation = violation;
    if (to != a) {
      const float by = to - a;
      for (int64_t b = 0; b < all.width / kLanes; ++b) at(w, b) += by * at(x, b);
      add_to(sf.sum, sf.sum_rest, by);
      ++si.moved;
    }
    multipliers[row] = to;
    active[row] = violation > 0 ? 1 : 0;
  }
}

}  // namespace

void ascend_classes(const AscentArrays& arrays, int32_t place, int32_t first, int32_t count) noexcept {
  ascend<false>(arrays, place, first, count);
}

void ascend_numbers(const AscentArrays& arrays, int32_t place, int32_t first, int32_t count) noexcept {
  ascend<true>(arrays, place, first, count);
}

}  // namespace mokume::svc::SOLVER_ISA

#if defined(SOLVER_DISPATCH)
namespace mokume::svc {

AscentFunction ascent_native(bool regression) {
  return regression ? SOLVER_BEST(ascend_numbers) : SOLVER_BEST(ascend_classes);
}

}  // namespace mokume::svc
#endif
