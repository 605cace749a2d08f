// The build compiles this file once per instruction set, which SOLVER_ISA names. The code follows kernels/nu.cl, which
// describes the method, operation by operation.
#include "nu_native.hpp"

#include "native.hpp"

namespace mokume::svc::SOLVER_ISA {
namespace {

constexpr int kSides = 2;

// Return the flags of a side.
constexpr int32_t up_flag(int side) { return kUp << (2 * side); }
constexpr int32_t low_flag(int side) { return kLow << (2 * side); }

struct NuProblem : Problem {
  float* multipliers;  // the pairs of side 0, then the pairs of side 1

  NuProblem(const PlaceArrays& all, int64_t place)
      : Problem(all, place), multipliers(all.a + place * 2 * kSides * all.ld) {}

  float* of_side(int side) const { return multipliers + side * 2 * ld; }
};

// Holds the ends of one side: the smallest F of I_up and the largest F of I_low, both as pairs.
struct Ends {
  float up = kInfinity, up_rest = 0, low = -kInfinity, low_rest = 0;
  int32_t i = kNone;

  bool open(float tol) const { return (low - up) + (low_rest - up_rest) >= tol; }
};

template <bool kRegression>
bool is_on(const NuProblem& p, int64_t k, int side) {
  return kRegression ? p.y[k] != 0 : (side == 0 ? p.y[k] > 0 : p.y[k] < 0);
}

// Returns the flags of a multiplier: a side whose multipliers lower the coefficient has I_up and I_low swapped.
int32_t flags_of(const NuProblem& p, int64_t k, int side, float bound) {
  const float high = p.of_side(side)[k], low = p.of_side(side)[p.ld + k];
  const bool zero = high == 0 && low == 0, full = high == bound && low == 0;
  if (zero) return side == 0 ? up_flag(side) : low_flag(side);
  if (full) return side == 0 ? low_flag(side) : up_flag(side);
  return up_flag(side) | low_flag(side);
}

template <bool kRegression>
void begin_nu(const NuProblem& p, float c) {
  for (int64_t k = 0; k < p.ld; ++k) {
    p.f[k] = kRegression ? -p.arrays.target[k] : 0.0F;
    p.f[p.ld + k] = 0;
    p.flags[k] = 0;
    for (int side = 0; side < kSides; ++side)
      if (is_on<kRegression>(p, k, side)) p.flags[k] |= flags_of(p, k, side, c * p.arrays.weight[k]);
  }
}

// Adds step * (K_i - K_j) to F, or step * K_i if there is no `kj`.
void add_row(const NuProblem& p, float step, const float* ki, const float* kj) {
  for_vectors(p, [&](int64_t v) {
    if (kj != nullptr) prefetch(kj, v);
    Floats h = at(p.f, v), l = at(p.f + p.ld, v);
    add_step(h, l, spread(step), kj == nullptr ? at(ki, v) : at(ki, v) - at(kj, v));
    at(p.f, v) = h;
    at(p.f + p.ld, v) = l;
  });
}

// Adds the multipliers of the start to F, row by row from si.need on. Returns false if a row is missing, or if the
// launch ends.
bool add_start(const NuProblem& p, PlaceInts& si, int32_t max_steps, int32_t& work) {
  const float* const plus = p.of_side(0);
  const float* const minus = p.of_side(1);
  for (; si.need < p.ld; ++si.need) {
    const int32_t k = si.need;
    const float high = plus[k] - minus[k], low = plus[p.ld + k] - minus[p.ld + k];
    if (high == 0 && low == 0) continue;
    if (work >= max_steps || p.arrays.slot[k] < 0) return false;
    const float* const row = p.row(p.arrays.slot[k]);
    add_row(p, high, row, nullptr);
    if (low != 0) add_row(p, low, row, nullptr);
    ++work;
  }
  return true;
}

template <int kSide>
Ends ends_of(const NuProblem& p) {
  Floats up = spread(kInfinity), up_rest = spread(0), low = spread(-kInfinity), low_rest = spread(0);
  Ints up_at = Ints{} + kNone;
  Floats least = up, most = low;  // of all lanes; most vectors do not reach them
  for_vectors(p, [&](int64_t v) {
    const Floats h = at(p.f, v), l = at(p.f + p.ld, v);
    const Ints flag = flags_at(p.flags, v);
    const Ints is_up = (flag & up_flag(kSide)) != 0, is_low = (flag & low_flag(kSide)) != 0;
    if (!any((is_up & (h <= least)) | (is_low & (h >= most)))) return;
    const Ints better = is_up & ((h < up) | ((h == up) & (l <= up_rest)));
    up = better ? h : up;
    up_rest = better ? l : up_rest;
    up_at = better ? rows_of(v) : up_at;
    const Ints higher = is_low & ((h > low) | ((h == low) & (l > low_rest)));
    low = higher ? h : low;
    low_rest = higher ? l : low_rest;
    least = spread(-largest_of(-up));
    most = spread(largest_of(low));
  });
  Ends ends;
  for (int t = 0; t < kLanes; ++t) {
    const bool equal = up[t] == ends.up && up_rest[t] == ends.up_rest;
    if (up[t] < ends.up || (up[t] == ends.up && up_rest[t] < ends.up_rest) || (equal && up_at[t] > ends.i)) {
      ends.up = up[t];
      ends.up_rest = up_rest[t];
      ends.i = up_at[t];
    }
    if (low[t] > ends.low || (low[t] == ends.low && low_rest[t] > ends.low_rest)) {
      ends.low = low[t];
      ends.low_rest = low_rest[t];
    }
  }
  return ends;
}

struct Second {
  float gain = -1;
  int32_t j = kNone;
};

// Returns the row of I_low with the largest second-order gain against the row i of its side.
template <int kSide>
Second choose_of_side(const NuProblem& p, const Ends& ends) {
  if (ends.i == kNone) return {};
  const float* const ki = p.row(p.arrays.slot[ends.i]);
  const float kii = p.arrays.diagonal[ends.i];
  Partner partner;
  const Floats up = spread(ends.up), up_rest = spread(ends.up_rest);
  for_vectors(p, [&](int64_t v) {
    const Floats diff = (at(p.f, v) - up) + (at(p.f + p.ld, v) - up_rest);
    partner.look_at_many(v, (flags_at(p.flags, v) & low_flag(kSide)) != 0, diff, p.arrays.diagonal, ki, kii);
  });
  return {partner.gain(), partner.row()};
}

float take_nu_step(const NuProblem& p, int side, int32_t i, int32_t j, float kij, float c) {
  const float* const f = p.f;
  float* const a = p.of_side(side);
  const int64_t ld = p.ld;
  const float eta = std::fmax(p.arrays.diagonal[i] + p.arrays.diagonal[j] - 2.0F * kij, kTau);
  const float gap = (f[j] - f[i]) + (f[ld + j] - f[ld + i]);
  const auto above = [&](int32_t k) { return (c * p.arrays.weight[k] - a[k]) - a[ld + k]; };
  const auto below = [&](int32_t k) { return a[k] + a[ld + k]; };
  const float room_i = side == 0 ? above(i) : below(i), room_j = side == 0 ? below(j) : above(j);
  const float step = std::fmin(gap / eta, std::fmin(room_i, room_j));
  add_to(a[i], a[ld + i], side == 0 ? step : -step);
  add_to(a[j], a[ld + j], side == 0 ? -step : step);
  const int32_t both = up_flag(side) | low_flag(side);
  p.flags[i] = (p.flags[i] & ~both) | (step >= room_i ? low_flag(side) : both);
  p.flags[j] = (p.flags[j] & ~both) | (step >= room_j ? up_flag(side) : both);
  return step;
}

// Holds the sum of F over the free rows of a side, relative to the end of I_up.
struct FreeRows {
  float sum[kBlock] = {};
  int32_t count = 0;
};

// Returns the offset of a side relative to its end of I_up (or of I_low, if I_up is empty).
float offset_of(FreeRows& free_rows, const Ends& ends) {
  for (int t = 1; t < kBlock; ++t) free_rows.sum[0] += free_rows.sum[t];
  if (free_rows.count > 0) return free_rows.sum[0] / static_cast<float>(free_rows.count);
  if (ends.up == kInfinity || ends.low == -kInfinity) return 0;
  return 0.5F * ((ends.low - ends.up) + (ends.low_rest - ends.up_rest));
}

float base_of(const Ends& ends) { return ends.up == kInfinity ? ends.low : ends.up; }
float rest_of(const Ends& ends) { return ends.up == kInfinity ? ends.low_rest : ends.up_rest; }

// Returns the size of a multiplier from its flags.
float size_of(const NuProblem& p, int64_t k, int side, float bound) {
  const int32_t flag = p.flags[k] & (up_flag(side) | low_flag(side));
  if (flag == 0 || flag == (side == 0 ? up_flag(side) : low_flag(side))) return 0;
  return flag == (up_flag(side) | low_flag(side)) ? p.of_side(side)[k] : bound;
}

template <bool kRegression>
void write_nu_model(const NuProblem& p, PlaceInts& si, PlaceFloats& sf, const Ends ends[kSides]) {
  FreeRows free_rows[kSides];
  for (int64_t k = 0; k < p.ld; ++k)
    for (int side = 0; side < kSides; ++side) {
      const int32_t both = up_flag(side) | low_flag(side);
      if ((p.flags[k] & both) != both) continue;
      free_rows[side].sum[k % kBlock] += (p.f[k] - ends[side].up) + (p.f[p.ld + k] - ends[side].up_rest);
      ++free_rows[side].count;
    }
  const float plus = offset_of(free_rows[0], ends[0]), minus = offset_of(free_rows[1], ends[1]);
  const float up = base_of(ends[0]), up_rest = rest_of(ends[0]);
  float rho = up + (up_rest + plus), margin = 1;
  if (base_of(ends[1]) != -kInfinity) {
    const float other = base_of(ends[1]), other_rest = rest_of(ends[1]);
    rho = 0.5F * (rho + (other + (other_rest + minus)));
    if (!kRegression) margin = 0.5F * ((up - other) + ((up_rest - other_rest) + (plus - minus)));
  }
  float* const out = p.arrays.coef + si.coef_row * p.ld;
  si.vectors = 0;
  for (int64_t k = 0; k < p.ld; ++k) {
    const float bound = sf.c * p.arrays.weight[k];
    const float raises = size_of(p, k, 0, bound), lowers = size_of(p, k, 1, bound);
    out[k] = (raises - lowers) / margin;
    si.vectors += raises != lowers ? 1 : 0;
  }
  sf.rho = rho / margin;
}

template <bool kRegression>
void advance_nu(const PlaceArrays& arrays, int32_t max_steps, int32_t place) noexcept {
  const NuProblem p(arrays, place);
  PlaceInts& si = arrays.ints[place];
  PlaceFloats& sf = arrays.floats[place];
  int32_t work = 0;
  if (si.status == kStart) {
    if (si.need == kNone) {
      begin_nu<kRegression>(p, sf.c);
      si.need = 0;
    }
    if (!add_start(p, si, max_steps, work)) return;
    si.need = kNone;
  }
  si.status = kRunning;
  Ends ends[kSides] = {ends_of<0>(p), ends_of<1>(p)};
  while (true) {
    if (!(ends[0].open(sf.tol) || ends[1].open(sf.tol))) {
      si.status = kConverged;
      break;
    }
    if (work >= max_steps) break;
    si.need = kNone;
    for (const Ends& end : ends)
      if (end.i != kNone && arrays.slot[end.i] < 0) si.need = end.i;
    if (si.need != kNone) break;
    const Second plus = choose_of_side<0>(p, ends[0]), minus = choose_of_side<1>(p, ends[1]);
    const int side = minus.j != kNone && minus.gain >= plus.gain ? 1 : 0;
    const int32_t i = ends[side].i, j = side == 0 ? plus.j : minus.j;
    if (j == kNone) {  // kernel values have overflowed, which rho shows
      ends[0].up = std::numeric_limits<float>::quiet_NaN();
      si.status = kConverged;
      break;
    }
    if (arrays.slot[j] < 0) {
      si.need = j;
      break;
    }
    const float* const ki = p.row(arrays.slot[i]);
    const float step = take_nu_step(p, side, i, j, ki[j], sf.c);
    add_row(p, step, ki, p.row(arrays.slot[j]));
    ends[0] = ends_of<0>(p);
    ends[1] = ends_of<1>(p);
    ++work;
    ++si.steps;
  }
  if (si.status == kRunning && si.need != kNone) si.status = kNeed;
  si.best = ends[0].i;
  si.steps_left = ends[1].i;
  if (si.status != kNeed) write_nu_model<kRegression>(p, si, sf, ends);
}

}  // namespace

SmoFunction nu(bool regression) noexcept { return regression ? advance_nu<true> : advance_nu<false>; }

}  // namespace mokume::svc::SOLVER_ISA

#if defined(SOLVER_DISPATCH)
namespace mokume::svc {

SmoFunction nu_native(bool regression) { return SOLVER_BEST(nu)(regression); }

}  // namespace mokume::svc
#endif
