#include "isa/network.hpp"
#include "isa/vectors.hpp"

namespace mokume::host::MOKUME_HOST_ISA {

void max_window(const MaxWindow& w);

namespace {

// Computes channel c and the following channels that fill a vector. Uses masks, because branches on each element of a
// few channels would be mispredicted half the time.
template <class Vector>
void max_columns(const MaxWindow& w, int64_t c) {
  using Of = LanesOf<Vector>;
  Vector best = Of::load(w.first + c);
  auto place = (best == best);
  place = w.place - (place ^ place);
  for (int64_t i = 0; i < w.rows; ++i)
    for (int64_t j = i == 0 ? 1 : 0; j < w.columns; ++j) {
      const Vector value = Of::load(w.first + i * w.row_stride + j * w.channels + c);
      const auto take = (best == best) & ~(value <= best);  // larger, or the first NaN
      best = take ? value : best;
      place = take ? static_cast<int32_t>(w.place + i * w.place_stride + j) - (place ^ place) : place;
    }
  Of::store(best, w.best + c);
  memcpy(w.best_place + c, &place, sizeof(place));
}

void max_one(const MaxWindow& w, int64_t c) {
  float best = w.first[c];
  int32_t place = w.place;
  for (int64_t i = 0; i < w.rows; ++i)
    for (int64_t j = i == 0 ? 1 : 0; j < w.columns; ++j) {
      const float value = w.first[i * w.row_stride + j * w.channels + c];
      if (!(best == best) || value <= best) continue;
      best = value;
      place = static_cast<int32_t>(w.place + i * w.place_stride + j);
    }
  w.best[c] = best;
  w.best_place[c] = place;
}

// Covers the channels with vectors of one width. The last vector may overlap the previous one.
template <class Vector>
void max_in_vectors(const MaxWindow& w) {
  constexpr int kLanes = LanesOf<Vector>::kCount;
  for (int64_t c = 0; c + kLanes < w.channels; c += kLanes) max_columns<Vector>(w, c);
  max_columns<Vector>(w, w.channels - kLanes);
}

}  // namespace

void max_window(const MaxWindow& w) {
  if (w.channels >= LanesOf<Widest>::kCount) return max_in_vectors<Widest>(w);
  if (w.channels >= LanesOf<Four>::kCount) return max_in_vectors<Four>(w);
  for (int64_t c = 0; c < w.channels; ++c) max_one(w, c);
}

}  // namespace mokume::host::MOKUME_HOST_ISA
