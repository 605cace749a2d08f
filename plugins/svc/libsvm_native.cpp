// The build compiles this file once per instruction set, which SOLVER_ISA names. The code follows kernels/libsvm.cl,
// which describes the method, operation by operation.
#include "libsvm_native.hpp"

#include "native.hpp"

namespace mokume::svc::SOLVER_ISA {
namespace {

// Return the summand of F with which a row of a regression counts in I_up and in I_low, see kernels/libsvm.cl.
float up_offset(int32_t flag, float epsilon) { return (flag & kNegative) != 0 ? -epsilon : epsilon; }
float low_offset(int32_t flag, float epsilon) { return (flag & kPositive) != 0 ? epsilon : -epsilon; }

Floats up_offsets(const Ints& flag, float epsilon) {
  return ((flag & kNegative) != 0) ? spread(-epsilon) : spread(epsilon);
}
Floats low_offsets(const Ints& flag, float epsilon) {
  return ((flag & kPositive) != 0) ? spread(epsilon) : spread(-epsilon);
}

// Adds offset to the double-float (h, l).
inline void shift(Floats& h, Floats& l, const Floats& offset) {
  const Floats sum = h + offset;
  const Floats bb = sum - h;
  l += (h - (sum - bb)) + (offset - bb);
  h = sum;
}

// Moves the multiplier of row k by `step`: up if `sign` is 1, down if it is -1. `last` means that the step takes the
// multiplier to the end of its range.
void move(const Problem& p, int32_t k, float step, float sign, bool last) {
  const int32_t away = sign > 0 ? kPositive : kNegative, back = sign > 0 ? kNegative : kPositive;
  if (last && (p.flags[k] & back) != 0) {
    p.a[k] = 0;
    p.a[p.ld + k] = 0;
    p.flags[k] = kUp | kLow;
    return;
  }
  add_to(p.a[k], p.a[p.ld + k], sign * step);
  const int32_t side = p.a[k] > 0 ? kPositive : (p.a[k] < 0 ? kNegative : 0);
  p.flags[k] = last ? (away | (sign > 0 ? kLow : kUp)) : (side | kUp | kLow);
}

float regression_step(const Problem& p, int32_t i, int32_t j, float kIj, float kIi, float kJj, const PlaceFloats& sf) {
  const float* f = p.f;
  const float* a = p.a;
  const int64_t ld = p.ld;
  const float eta = std::fmax(kIi + kJj - 2.0F * kIj, kTau);
  const float offsets = low_offset(p.flags[j], sf.epsilon) - up_offset(p.flags[i], sf.epsilon);
  const float gap = ((f[j] - f[i]) + offsets) + (f[ld + j] - f[ld + i]);
  const float most_i = sf.c * p.arrays.weight[i], most_j = sf.c * p.arrays.weight[j];
  const float room_i = (p.flags[i] & kNegative) != 0 ? -a[i] - a[ld + i] : (most_i - a[i]) - a[ld + i];
  const float room_j = (p.flags[j] & kPositive) != 0 ? a[j] + a[ld + j] : (most_j + a[j]) + a[ld + j];
  const float step = std::fmin(gap / eta, std::fmin(room_i, room_j));
  move(p, i, step, 1, step >= room_i);
  move(p, j, step, -1, step >= room_j);
  return step;
}

float take_step(const Problem& p, int32_t i, int32_t j, float kIj, float kIi, float kJj, float c, float c_minus) {
  float* f = p.f;
  float* a = p.a;
  const int64_t ld = p.ld;
  const float eta = std::fmax(kIi + kJj - 2.0F * kIj, kTau);
  const float gap = (f[j] - f[i]) + (f[ld + j] - f[ld + i]);
  const float room_i = p.y[i] > 0 ? (c * p.arrays.weight[i] - a[i]) - a[ld + i] : a[i] + a[ld + i];
  const float room_j = p.y[j] > 0 ? a[j] + a[ld + j] : (c_minus * p.arrays.weight[j] - a[j]) - a[ld + j];
  const float step = std::fmin(gap / eta, std::fmin(room_i, room_j));
  add_to(a[i], a[ld + i], p.y[i] > 0 ? step : -step);
  add_to(a[j], a[ld + j], p.y[j] > 0 ? -step : step);
  p.flags[i] = step >= room_i ? kLow : (kUp | kLow);
  p.flags[j] = step >= room_j ? kUp : (kUp | kLow);
  return step;
}

struct Extremes {
  float up = kInfinity, up_rest = 0, low = -kInfinity;  // the minimum is up + up_rest
  int32_t i = kNone;
  int32_t j = kNone;  // a row at the maximum
};

// Returns the second-order gain of the row with the largest F against row i, or -1 if there is none.
template <bool kRegression, class Value>
float gain_of_farthest(const Problem& p, float epsilon, const Extremes& ends, const Value* ki, float kii) {
  if (ends.j == kNone) return -1;
  float shifted = 0;
  const float h = two_sum(p.f[ends.j], kRegression ? low_offset(p.flags[ends.j], epsilon) : 0.0F, shifted);
  const float l = p.f[p.ld + ends.j] + shifted;
  const float diff = (h - ends.up) + (l - ends.up_rest);
  return diff > 0 ? diff * diff / std::fmax((kii + p.arrays.diagonal[ends.j]) - 2.0F * ki[ends.j], kTau) : -1;
}

// Returns the row of I_low with the largest second-order gain against row i.
template <bool kRegression, class Value>
int32_t choose_second(const Problem& p, float epsilon, const Extremes& ends, const Value* ki, float kii) {
  Partner partner(gain_of_farthest<kRegression>(p, epsilon, ends, ki, kii));
  prefetch_start(p, ki);
  const Floats up16 = spread(ends.up), up_rest16 = spread(ends.up_rest);
  for_vectors(p, [&](int64_t v) {
    prefetch(ki, v);
    const Ints flag = flags_at(p.flags, v);
    Floats h = at(p.f, v), l = at(p.f + p.ld, v);
    if constexpr (kRegression) shift(h, l, low_offsets(flag, epsilon));
    partner.look_at_many(v, has(flag, kLow), (h - up16) + (l - up_rest16), p.arrays.diagonal, ki, kii);
  });
  return partner.row();
}

// Adds step * (K_i - K_j) to F if there is a step, and returns the new extremes.
template <bool kRegression, bool kUpdate, class Value>
Extremes sweep(const Problem& p, float epsilon, float step, const Value* ki, const Value* kj) {
  Floats up16 = spread(kInfinity), up_rest16 = spread(0), low16 = spread(-kInfinity);
  Ints up_at = Ints{} + kNone, low_at = up_at;
  for_vectors(p, [&](int64_t v) {
    Floats h = at(p.f, v), l = at(p.f + p.ld, v);
    if constexpr (kUpdate) {
      prefetch(kj, v);
      add_step(h, l, spread(step), at(ki, v) - at(kj, v));
      at(p.f, v) = h;
      at(p.f + p.ld, v) = l;
    }
    const Ints flag = flags_at(p.flags, v);
    Floats as_low = h;
    if constexpr (kRegression) {
      as_low += low_offsets(flag, epsilon);
      shift(h, l, up_offsets(flag, epsilon));
    }
    const Mask better = has(flag, kUp) & (less(h, up16) | (equal(h, up16) & at_most(l, up_rest16)));
    up16 = select(better, h, up16);
    up_rest16 = select(better, l, up_rest16);
    up_at = select(better, rows_of(v), up_at);
    const Mask higher = has(flag, kLow) & less(low16, as_low);
    low16 = select(higher, as_low, low16);
    low_at = select(higher, rows_of(v), low_at);
  });
  Extremes found;
  for (int t = 0; t < kLanes; ++t) {
    const bool equal = up16[t] == found.up && up_rest16[t] == found.up_rest;
    if (up16[t] < found.up || (up16[t] == found.up && up_rest16[t] < found.up_rest) || (equal && up_at[t] > found.i)) {
      found.up = up16[t];
      found.up_rest = up_rest16[t];
      found.i = up_at[t];
    }
    if (low16[t] > found.low) {
      found.low = low16[t];
      found.j = low_at[t];
    }
  }
  return found;
}

template <bool kRegression>
void begin(const Problem& p) {
  for (int64_t k = 0; k < p.ld; ++k) {
    p.f[k] = kRegression ? -p.arrays.target[k] : -static_cast<float>(p.y[k]);
    p.f[p.ld + k] = 0;
    p.a[k] = 0;
    p.a[p.ld + k] = 0;
    if (kRegression)
      p.flags[k] = p.y[k] != 0 ? kUp | kLow : 0;
    else
      p.flags[k] = p.y[k] > 0 ? kUp : (p.y[k] < 0 ? kLow : 0);
  }
}

template <bool kRegression, class Value>
void advance(const PlaceArrays& arrays, int32_t max_steps, int32_t place) noexcept {
  const Problem p(arrays, place);
  PlaceInts& si = arrays.ints[place];
  PlaceFloats& sf = arrays.floats[place];
  Extremes ends{sf.up, sf.up_rest, sf.low, si.best};
  if (si.status == kStart) begin<kRegression>(p);
  if (si.status == kStart || si.status == kHandedOver) {
    ends = sweep<kRegression, false, Value>(p, sf.epsilon, 0, nullptr, nullptr);
    if (si.best != kNone) ends.i = si.best;
  }
  int32_t status = kRunning;
  int32_t steps = 0;
  while (true) {
    if (!(ends.low - ends.up >= sf.tol)) {
      status = kConverged;
      break;
    }
    if (steps >= max_steps) break;
    const int32_t i = ends.i;
    if (arrays.slot[i] < 0) {
      si.need = i;
      status = kNeed;
      break;
    }
    const auto* ki = p.row<Value>(arrays.slot[i]);
    const int32_t j = choose_second<kRegression>(p, sf.epsilon, ends, ki, arrays.diagonal[i]);
    if (j == kNone) {
      ends.up = std::numeric_limits<float>::quiet_NaN();
      status = kConverged;
      break;
    }
    if (arrays.slot[j] < 0) {
      si.need = j;
      status = kNeed;
      break;
    }
    const auto* kj = p.row<Value>(arrays.slot[j]);
    prefetch_start(p, kj);
    float step = 0;
    if constexpr (kRegression)
      step = regression_step(p, i, j, ki[j], arrays.diagonal[i], arrays.diagonal[j], sf);
    else
      step = take_step(p, i, j, ki[j], arrays.diagonal[i], arrays.diagonal[j], sf.c, sf.c_minus);
    ends = sweep<kRegression, true, Value>(p, sf.epsilon, step, ki, kj);
    ++steps;
  }
  si.status = status;
  si.best = ends.i;
  si.steps += steps;
  sf.up = ends.up;
  sf.up_rest = ends.up_rest;
  sf.low = ends.low;
  if (status == kConverged || steps >= max_steps) write_model<kRegression>(p, si, sf);
}

}  // namespace

SmoFunction smo(bool regression, Storage storage) noexcept {
  if (storage == Storage::fp16) return regression ? advance<true, Half> : advance<false, Half>;
  return regression ? advance<true, float> : advance<false, float>;
}

}  // namespace mokume::svc::SOLVER_ISA

#if defined(SOLVER_DISPATCH)
namespace mokume::svc {

SmoFunction smo_native(bool regression, Storage storage) { return SOLVER_BEST(smo)(regression, storage); }

}  // namespace mokume::svc
#endif
