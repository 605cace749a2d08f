// The build compiles this file once per instruction set, which SOLVER_ISA names. The code follows kernels/blocked.cl,
// which describes the method, operation by operation.
#include "blocked_native.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "native.hpp"

namespace mokume::svc::SOLVER_ISA {
namespace {

enum Count : int32_t { kMembers = 0, kMoved = 1, kInPairs = 2, kPoor = 4 };

constexpr int32_t kLeastSteps = 1000;
constexpr float kShareOfGap = 0.1F, kShareOfTol = 0.9F, kRoundingOfTol = 0.25F, kHalfUlp = 5.9604645e-8F;

// Selects the rows with v < value, and the rows from `row` on with v == value; v is F for I_up and -F for I_low.
struct Cut {
  float value = kInfinity;
  int32_t row = 0;
};

int32_t key_of(float x) {
  const auto bits = std::bit_cast<int32_t>(x);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}
float float_of(int32_t key) { return std::bit_cast<float>(key ^ ((key >> 31) & 0x7fffffff)); }

float shuffled(int64_t k) { return static_cast<float>((static_cast<uint32_t>(k) * 2654435761U) >> 8); }

Ints within(const Floats& v, const Ints& row, const Cut& cut) {
  return (v < spread(cut.value)) | ((v == spread(cut.value)) & (row >= cut.row));
}

Ints eligible(const Problem& p, int64_t v, bool low, const Cut& up) {
  const Ints flag = flags_at(p.flags, v);
  if (!low) return (flag & kUp) != 0;
  return ((flag & kLow) != 0) & ~(((flag & kUp) != 0) & within(at(p.f, v), rows_of(v), up));
}

int32_t count_rows(const Problem& p, bool low, const Cut& up, float value, int32_t from) {
  Ints count{};
  for_vectors(p, [&](int64_t v) {
    const Floats f = at(p.f, v);
    const Floats side = low ? -f : f;
    const Ints taken = from < 0 ? Ints(side <= spread(value)) : (side == spread(value)) & (rows_of(v) >= from);
    count -= eligible(p, v, low, up) & taken;
  });
  int32_t sum = 0;
  for (int t = 0; t < kLanes; ++t) sum += count[t];
  return sum;
}

Cut find_cut(const Problem& p, bool low, const Cut& up, int32_t want, float least, float most) {
  Cut cut{most, 0};
  if (count_rows(p, low, up, most, -1) <= want) return cut;
  int64_t from = key_of(least), to = key_of(most);
  int32_t at_or_below = 0;
  while (from < to) {
    const int64_t middle = from + (to - from) / 2;
    at_or_below = count_rows(p, low, up, float_of(static_cast<int32_t>(middle)), -1);
    if (at_or_below >= want)
      to = middle;
    else
      from = middle + 1;
    if (at_or_below == want) break;
  }
  cut.value = float_of(static_cast<int32_t>(to));
  if (at_or_below == want) return cut;
  const int32_t extra = count_rows(p, low, up, cut.value, -1) - want;
  const int32_t equal = count_rows(p, low, up, cut.value, 0);
  int32_t first = 0, last = static_cast<int32_t>(p.ld);
  while (last - first > 1) {
    const int32_t middle = first + (last - first) / 2;
    if (count_rows(p, low, up, cut.value, middle) >= equal - extra)
      first = middle;
    else
      last = middle;
  }
  cut.row = first;
  return cut;
}

void start_shuffled(const Problem& p) {
  for (int64_t k = 0; k < p.ld; ++k) {
    p.f[k] = shuffled(k);
    p.f[p.ld + k] = 0;
    p.a[k] = 0;
    p.a[p.ld + k] = 0;
    p.flags[k] = p.y[k] > 0 ? kUp : (p.y[k] < 0 ? kLow : 0);
  }
}

struct Bounds {
  float up = kInfinity, low = -kInfinity;
};

Bounds bounds_of(const Problem& p) {
  Floats up = spread(kInfinity), low = spread(-kInfinity);
  for_vectors(p, [&](int64_t v) {
    const Floats h = at(p.f, v);
    const Ints flag = flags_at(p.flags, v);
    up = select(has(flag, kUp) & less(h, up), h, up);
    low = select(has(flag, kLow) & less(low, h), h, low);
  });
  return {-largest_of(-up), largest_of(low)};
}

int32_t collect(const Problem& p, const Cut& up, const Cut& low, int32_t* members) {
  int32_t m = 0;
  for_vectors(p, [&](int64_t v) {
    const Floats h = at(p.f, v);
    const Ints row = rows_of(v);
    const Ints taken =
        (eligible(p, v, false, up) & within(h, row, up)) | (eligible(p, v, true, up) & within(-h, row, low));
    if (!any(taken)) return;
    for (int t = 0; t < kLanes; ++t)
      if (taken[t] != 0) members[m++] = row[t];
  });
  return m;
}

void choose(const BlockArrays& arrays, int32_t place, int32_t want) noexcept {
  const Problem p(arrays.places, place);
  PlaceInts& si = arrays.places.ints[place];
  PlaceFloats& sf = arrays.places.floats[place];
  int32_t* const count = arrays.counts + int64_t{place} * kCounts;
  const bool first = si.status == kStart;
  count[kMoved] = 0;
  count[kMembers] = 0;
  if (!first && si.status != kRunning) return;
  if (first) {
    count[kPoor] = 0;
    start_shuffled(p);
  }
  Bounds bounds = bounds_of(p);
  const bool both = bounds.up < kInfinity && bounds.low > -kInfinity;
  if (both && !(bounds.low - bounds.up < kInfinity)) bounds.up = std::numeric_limits<float>::quiet_NaN();
  if (!both || !(first || bounds.low - bounds.up >= sf.tol)) {
    si.status = kConverged;
  } else if (si.steps_left <= 0) {
    si.status = kStuck;
  } else {
    const float gap = bounds.low - bounds.up;
    const Cut up = find_cut(p, false, Cut{-kInfinity, 0}, want, bounds.up, bounds.low + gap);
    const Cut low = find_cut(p, true, up, want, -bounds.low, gap - bounds.up);
    count[kMembers] = collect(p, up, low, arrays.members + place * arrays.set);
    si.status = kRunning;
  }
  if (first) {
    for (int64_t k = 0; k < p.ld; ++k) p.f[k] = -static_cast<float>(p.y[k]);
    if (bounds.up < kInfinity) bounds.up = -1;
    if (bounds.low > -kInfinity) bounds.low = 1;
  }
  sf.up = bounds.up;
  sf.low = bounds.low;
  if (si.status != kRunning) write_model(p, si, sf);
}

template <class Value>
void gather(const BlockArrays& arrays, int32_t place, int32_t from, int32_t to) noexcept {
  const Problem p(arrays.places, place);
  const int32_t m = arrays.counts[int64_t{place} * kCounts + kMembers];
  const int32_t* const members = arrays.members + place * arrays.set;
  const auto first = std::lower_bound(members, members + m, from) - members;
  for (int64_t x = first; x < m && members[x] < to; ++x) {
    const auto* const row = p.row<Value>(arrays.places.slot[members[x]]);
    float* const out = arrays.tile + (place * arrays.set + x) * arrays.set;
    int64_t z = 0;
    for (; z < m; ++z) out[z] = row[members[z]];
    for (; z % kLanes != 0; ++z) out[z] = 0;
  }
}

// Holds the working set of a round. The arrays are indexed by member.
class WorkingSet {
 public:
  WorkingSet(const BlockArrays& arrays, int32_t place)
      : arrays_(arrays),
        p_(arrays.places, place),
        sf_(arrays.places.floats[place]),
        count_(arrays.counts + int64_t{place} * kCounts),
        members_(arrays.members + place * arrays.set),
        tile_(arrays.tile + place * arrays.set * arrays.set),
        size_(count_[kMembers]),
        vectors_((size_ + kLanes - 1) / kLanes),
        f_(room()),
        f_rest_(room()),
        high_(room()),
        rest_(room()),
        diagonal_(room()),
        state_(room()),
        label_(room()) {
    for (int32_t x = 0; x < size_; ++x) {
      const int32_t k = members_[x];
      f_[at(x)] = p_.f[k];
      f_rest_[at(x)] = p_.f[p_.ld + k];
      high_[at(x)] = p_.a[k];
      rest_[at(x)] = p_.a[p_.ld + k];
      diagonal_[at(x)] = arrays.places.diagonal[k];
      state_[at(x)] = p_.flags[k];
      label_[at(x)] = p_.y[k];
    }
  }

  // Takes at most `most` steps and returns their number.
  int32_t solve(int32_t most) {
    int32_t steps = 0;
    Pair pair = extremes<false>(0, nullptr, nullptr);
    const float enough = std::fmax(kShareOfTol * sf_.tol, kShareOfGap * (pair.low - pair.up));
    const auto goes_on = [&] {
      const float gap = pair.low - pair.up;
      return gap >= enough && gap < kInfinity && pair.i != kNone;
    };
    while (steps < most && goes_on()) {
      const float* ki = row(pair.i);
      const int32_t j = second(pair, ki);
      if (j == kNone) break;
      const float* kj = row(j);
      const float step = take_step(pair.i, j, ki[j]);
      pair = extremes<true>(step, ki, kj);
      ++steps;
    }
    return steps;
  }

  // Stores the moved multipliers and lists the changes. Returns the sum of their absolute values.
  float put_back(int32_t* moved, float* delta) {
    int32_t n = 0;
    float size[kBlock] = {};
    for (int32_t x = 0; x < size_; ++x) {
      const int32_t k = members_[x];
      float low;
      float d = change(x, low);
      if (d == 0 && low == 0) continue;
      moved[n] = k;
      delta[n] = d;
      delta[arrays_.set + n] = low;
      ++n;
      size[x % kBlock] += std::fabs(d);
      p_.a[k] = high_[at(x)];
      p_.a[p_.ld + k] = rest_[at(x)];
      p_.flags[k] = state_[at(x)];
    }
    for (int t = 1; t < kBlock; ++t) size[0] += size[t];
    count_[kMoved] = n;
    return size[0];
  }

 private:
  struct Pair {
    float up = kInfinity, low = -kInfinity;
    int32_t i = kNone;
  };

  static size_t at(int32_t x) { return static_cast<size_t>(x); }
  size_t room() const { return static_cast<size_t>(vectors_ * kLanes); }

  float weight(int32_t x) const { return p_.arrays.weight[members_[x]]; }
  const float* row(int32_t x) const { return tile_ + x * arrays_.set; }

  template <bool kUpdate>
  Pair extremes(float step, const float* ki, const float* kj) {
    Floats up = spread(kInfinity), low = spread(-kInfinity);
    Ints up_at = Ints{} + kNone;
    for (int64_t v = 0; v < vectors_; ++v) {
      Floats h = SOLVER_ISA::at(f_.data(), v);
      if constexpr (kUpdate) {
        Floats l = SOLVER_ISA::at(f_rest_.data(), v);
        add_step(h, l, spread(step), SOLVER_ISA::at(ki, v) - SOLVER_ISA::at(kj, v));
        SOLVER_ISA::at(f_.data(), v) = h;
        SOLVER_ISA::at(f_rest_.data(), v) = l;
      }
      const Ints flag = flags_at(state_.data(), v);
      const Mask better = has(flag, kUp) & at_most(h, up);
      up = select(better, h, up);
      up_at = select(better, rows_of(v), up_at);
      low = select(has(flag, kLow) & less(low, h), h, low);
    }
    return {-largest_of(-up), largest_of(low), index_of_largest(-up, up_at)};
  }

  // Returns the member of I_low with the largest second-order gain.
  int32_t second(const Pair& pair, const float* ki) const {
    Partner partner;
    const Floats up = spread(pair.up);
    const float kii = diagonal_[at(pair.i)];
    for (int64_t v = 0; v < vectors_; ++v) {
      const Mask usable = has(flags_at(state_.data(), v), kLow);
      partner.look_at(v, usable, SOLVER_ISA::at(f_.data(), v) - up, diagonal_.data(), ki, kii);
    }
    return partner.row();
  }

  float take_step(int32_t i, int32_t j, float k_ij) {
    const size_t x = at(i), z = at(j);
    const float c = sf_.c, c_minus = sf_.c_minus;
    const float eta = std::fmax(diagonal_[x] + diagonal_[z] - 2.0F * k_ij, kTau);
    const float room_i = label_[x] > 0 ? (c * weight(i) - high_[x]) - rest_[x] : high_[x] + rest_[x];
    const float room_j = label_[z] > 0 ? high_[z] + rest_[z] : (c_minus * weight(j) - high_[z]) - rest_[z];
    const float step = std::fmin(((f_[z] - f_[x]) + (f_rest_[z] - f_rest_[x])) / eta, std::fmin(room_i, room_j));
    add_to(high_[x], rest_[x], label_[x] > 0 ? step : -step);
    add_to(high_[z], rest_[z], label_[z] > 0 ? -step : step);
    state_[x] = step >= room_i ? kLow : (kUp | kLow);
    state_[z] = step >= room_j ? kUp : (kUp | kLow);
    return step;
  }

  float change(int32_t x, float& low) const {
    const int32_t k = members_[x];
    float e;
    const float d = two_sum(high_[at(x)], -p_.a[k], e);
    low = e + (rest_[at(x)] - p_.a[p_.ld + k]);
    if (label_[at(x)] < 0) low = -low;
    return label_[at(x)] > 0 ? d : -d;
  }

  const BlockArrays& arrays_;
  Problem p_;
  PlaceFloats& sf_;
  int32_t* count_;
  const int32_t* members_;
  const float* tile_;
  int32_t size_;
  int64_t vectors_;
  std::vector<float> f_, f_rest_, high_, rest_, diagonal_;
  std::vector<int32_t> state_, label_;
};

void solve(const BlockArrays& arrays, int32_t place, float largest, int32_t most_poor) noexcept {
  int32_t* const count = arrays.counts + int64_t{place} * kCounts;
  if (count[kMembers] == 0) return;
  PlaceInts& si = arrays.places.ints[place];
  PlaceFloats& sf = arrays.places.floats[place];
  WorkingSet working(arrays, place);
  const int32_t steps = working.solve(si.steps_left);
  si.steps += steps;
  si.steps_left -= std::max(steps, kLeastSteps);
  const float size = working.put_back(arrays.moved + place * arrays.set, arrays.delta + place * 2 * arrays.set);
  const float rounding = sf.rounding + kHalfUlp * largest * size;
  const bool small = rounding <= kRoundingOfTol * sf.tol;
  if (small) sf.rounding = rounding;
  count[kInPairs] = small ? 0 : 1;
  if (count[kMoved] == 0) si.steps_left = 0;
  count[kPoor] = steps < arrays.set / 4 ? count[kPoor] + 1 : 0;
  if (count[kPoor] < most_poor) return;
  si.status = kHandedOver;
  si.best = kNone;
}

// Adds the changes to kCount vectors of F, whose sums stay in registers.
template <int kCount, class Value>
void update_vectors(const BlockArrays& arrays, const Problem& p, int32_t place, int64_t v) {
  const int32_t moved_rows = arrays.counts[int64_t{place} * kCounts + kMoved];
  const int32_t* const moved = arrays.moved + place * arrays.set;
  const float* const delta = arrays.delta + place * 2 * arrays.set;
  Floats sum[kCount] = {};
  for (int32_t t = 0; t < moved_rows; ++t) {
    const auto* const row = p.row<Value>(arrays.places.slot[moved[t]]) + v * kLanes;
    const Floats d = spread(delta[t]);
#pragma GCC unroll 8
    for (int u = 0; u < kCount; ++u) sum[u] = fused(d, at(row, u), sum[u]);
  }
#pragma GCC unroll 8
  for (int u = 0; u < kCount; ++u) {
    const Floats h = at(p.f, v + u);
    const Floats s = h + sum[u];
    const Floats bb = s - h;
    const Floats r = at(p.f + p.ld, v + u) + ((h - (s - bb)) + (sum[u] - bb));
    const Floats high = s + r;
    at(p.f, v + u) = high;
    at(p.f + p.ld, v + u) = r - (high - s);
  }
}

// Does the same with changes and sums that are pairs.
template <int kCount, class Value>
void update_in_pairs(const BlockArrays& arrays, const Problem& p, int32_t place, int64_t v) {
  const int32_t moved_rows = arrays.counts[int64_t{place} * kCounts + kMoved];
  const int32_t* const moved = arrays.moved + place * arrays.set;
  const float* const delta = arrays.delta + place * 2 * arrays.set;
  Floats h[kCount], l[kCount];
#pragma GCC unroll 8
  for (int u = 0; u < kCount; ++u) {
    h[u] = at(p.f, v + u);
    l[u] = at(p.f + p.ld, v + u);
  }
  for (int32_t t = 0; t < moved_rows; ++t) {
    const auto* const row = p.row<Value>(arrays.places.slot[moved[t]]) + v * kLanes;
    const Floats d = spread(delta[t]), d_rest = spread(delta[arrays.set + t]);
#pragma GCC unroll 8
    for (int u = 0; u < kCount; ++u) {
      const Floats k = at(row, u);
      const Floats pr = d * k;
      const Floats q = fused(d, k, -pr);
      const Floats s = h[u] + pr;
      const Floats bb = s - h[u];
      const Floats e = (h[u] - (s - bb)) + (pr - bb);
      l[u] += e + fused(d_rest, k, q);
      h[u] = s;
    }
  }
#pragma GCC unroll 8
  for (int u = 0; u < kCount; ++u) {
    const Floats s = h[u] + l[u];
    at(p.f, v + u) = s;
    at(p.f + p.ld, v + u) = l[u] - (s - h[u]);
  }
}

template <class Value>
void update(const BlockArrays& arrays, int32_t place, int64_t from, int64_t to) noexcept {
  const int32_t* const count = arrays.counts + int64_t{place} * kCounts;
  if (count[kMoved] == 0) return;
  const Problem p(arrays.places, place);
  // Each of these fits the 16 registers of AVX2.
  constexpr int kWide = 8, kPairs = 4;
  const bool pairs = count[kInPairs] != 0;
  for (const int32_t* s = p.span; s[0] >= 0; s += 2) {
    int64_t v = std::max<int64_t>(from, s[0]) * kVectors;
    const int64_t end = std::min<int64_t>(to, s[1]) * kVectors;
    if (pairs) {
      for (; v + kPairs <= end; v += kPairs) update_in_pairs<kPairs, Value>(arrays, p, place, v);
      for (; v < end; ++v) update_in_pairs<1, Value>(arrays, p, place, v);
    } else {
      for (; v + kWide <= end; v += kWide) update_vectors<kWide, Value>(arrays, p, place, v);
      for (; v < end; ++v) update_vectors<1, Value>(arrays, p, place, v);
    }
  }
}

}  // namespace

BlockedFunctions blocked(Storage storage) noexcept {
  if (storage == Storage::fp16) return {choose, gather<Half>, solve, update<Half>};
  return {choose, gather<float>, solve, update<float>};
}

}  // namespace mokume::svc::SOLVER_ISA

#if defined(SOLVER_DISPATCH)
namespace mokume::svc {

BlockedFunctions blocked_native(Storage storage) { return SOLVER_BEST(blocked)(storage); }

}  // namespace mokume::svc
#endif
