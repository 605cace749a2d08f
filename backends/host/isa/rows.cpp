#include "isa/rows.hpp"

#include "isa/formulas.hpp"
#include "isa/independent.hpp"
#include "isa/loops.hpp"
#include "isa/vectors.hpp"

namespace mokume::host::MOKUME_HOST_ISA {
namespace {

struct Largest {
  float value;    // NaN if any element is NaN
  int64_t first;  // -1 if any element is NaN
};

Largest largest_of(const float* x, int64_t n) {
  int64_t best = 0;
  for (int64_t c = 0; c < n; ++c) {
    if (x[c] != x[c]) return {x[c], -1};
    if (x[c] > x[best]) best = c;
  }
  return {x[best], best};
}

// Computes e[i] = exp(x[i] - largest). e may be x.
void exp_minus(const float* x, float largest, float* e, int64_t n) {
  MOKUME_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) e[i] = exp_f32(x[i] - largest);
}

// Returns the sum of exp(x[i] - largest), in order. Stores the terms in `kept` unless it is null. `kept` may be x.
float sum_of_exponentials(const float* x, float largest, float* kept, int64_t n) {
  constexpr int64_t kTerms = 256;
  float block[kTerms], sum = 0.0F;
  for (int64_t at = 0; at < n; at += kTerms) {
    const int64_t count = n - at < kTerms ? n - at : kTerms;
    float* e = kept != nullptr ? kept + at : block;
    exp_minus(x + at, largest, e, count);
    for (int64_t i = 0; i < count; ++i) sum += e[i];
  }
  return sum;
}

void softmax(const float* x, float* out, int64_t n) {
  float largest = largest_of(x, n).value;
  if (fabs(largest) == INFINITY) largest = NAN;
  const float share = reciprocal(sum_of_exponentials(x, largest, out, n));
  for (int64_t i = 0; i < n; ++i) out[i] *= share;
}

void softmax_grad(const float* grad, const float* y, float* dx, int64_t n) {
  float sum = 0.0F;
  for (int64_t i = 0; i < n; ++i) sum += grad[i] * y[i];
  MOKUME_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) dx[i] = y[i] * (grad[i] - sum);
}

// Returns the factor of the gradient, and sets the loss.
float general_loss(const SoftmaxLossRow& row, float log_sum, float below, float* loss) {
  if (row.smoothing > 0.0F) *loss = smoothed(*loss, log_sum, below, row.smoothing, row.per_column);
  float factor = row.weight;
  if (row.gamma > 0.0F) {
    const Focal factors = focal(*loss, row.gamma);
    factor *= factors.grad;
    *loss *= factors.loss;
  }
  *loss *= row.weight;
  return factor;
}

void softmax_loss(const SoftmaxLossRow& row) {
  const float *x = row.logits, scale = row.scale;
  float* grad = row.grad;
  const int64_t n = row.n, target = row.target;
  const Largest largest = largest_of(x, n);
  const float at_target = x[target] - largest.value;
  float below = 0.0F;
  for (int64_t i = 0; !row.plain && i < n; ++i) below += largest.value - x[i];
  const float sum = sum_of_exponentials(x, largest.value, grad, n), log_sum = log_f32(sum);
  float loss = log_sum - at_target;
  const float factor = row.plain ? 1.0F : general_loss(row, log_sum, below, &loss);
  row.out[0] = loss;
  row.out[1] = largest.first == target ? 1.0F : 0.0F;
  if (grad == nullptr) return;
  const float share = reciprocal(sum), p = grad[target] * share;
  if (row.plain) {
    for (int64_t i = 0; i < n; ++i) grad[i] = grad[i] * share * scale;
    grad[target] = (p - 1.0F) * scale;
  } else {
    const float wish = wish_of(false, row.smoothing, row.per_column);
    for (int64_t i = 0; i < n; ++i) grad[i] = (grad[i] * share - wish) * factor * scale;
    grad[target] = (p - wish_of(true, row.smoothing, row.per_column)) * factor * scale;
  }
}

// Holds 16 sums of squares in vectors of the instruction set.
constexpr int64_t kSquares = 16, kVector = LanesOf<Widest>::kCount, kVectors = kSquares / kVector;

struct Squares {
  Widest part[kVectors]{};
};

// Adds the squares of up to 16 elements.
inline void add_squares(Squares& squares, const float* x, int64_t n) {
  float rest[kSquares] = {};
  if (n < kSquares) {
    memcpy(rest, x, static_cast<size_t>(n) * sizeof(float));
    x = rest;
  }
  for (int64_t p = 0; p < kVectors; ++p) {
    const Widest v = LanesOf<Widest>::load(x + p * kVector);
    squares.part[p] = fused(v, v, squares.part[p]);
  }
}

// Adds the sums in halves.
inline float sum_of(const Squares& squares) {
  float all[kSquares];
  memcpy(all, &squares, sizeof all);
  for (int64_t half = kSquares / 2; half > 0; half /= 2)
    for (int64_t j = 0; j < half; ++j) all[j] += all[j + half];
  return all[0];
}

// Sums some rows at once, because the next addition to a lane waits for the previous one.
template <int count>
void norms(const NormedRows& rows, int64_t first) {
  Squares squares[count];
  const float* x = rows.x + first * rows.stride;
  int64_t c = 0;
  for (; c + kSquares <= rows.columns; c += kSquares)
    for (int r = 0; r < count; ++r) add_squares(squares[r], x + r * rows.stride + c, kSquares);
  if (c < rows.columns)
    for (int r = 0; r < count; ++r) add_squares(squares[r], x + r * rows.stride + c, rows.columns - c);
  for (int r = 0; r < count; ++r) rows.norm2[first + r] = sum_of(squares[r]);
}

void squared_loss(const DistanceLossRow& row) {
  using Of = LanesOf<Widest>;
  const float *x = row.prediction, *t = row.target, by = row.scale;
  float* grad = row.grad;
  Squares squares;
  int64_t c = 0;
  for (; c + kSquares <= row.n; c += kSquares)
    for (int64_t p = 0; p < kVectors; ++p) {
      const int64_t at = c + p * kVector;
      const Widest d = Of::load(x + at) - Of::load(t + at);
      squares.part[p] = fused(d, d, squares.part[p]);
      if (grad != nullptr) Of::store(d * by, grad + at);
    }
  float rest[kSquares] = {};
  for (int64_t j = 0; c + j < row.n; ++j) {
    rest[j] = x[c + j] - t[c + j];
    if (grad != nullptr) grad[c + j] = rest[j] * by;
  }
  if (c < row.n) add_squares(squares, rest, kSquares);
  row.out[0] = sum_of(squares) * row.per_column;
  row.out[1] = 0.0F;
}

void distance_loss(const DistanceLossRow& row) {
  if (row.plain) return squared_loss(row);
  float sum = 0.0F, squares = 0.0F;
  for (int64_t c = 0; c < row.n; ++c) {
    const float d = row.prediction[c] - row.target[c];
    const Distance at = distance_of(d, static_cast<int>(row.distance), row.delta);
    sum += at.loss;
    squares += d * d;
    if (row.grad != nullptr) row.grad[c] = at.slope * row.weight * row.scale;
  }
  row.out[0] = sum * row.per_column * row.weight;
  row.out[1] = squares * row.per_column;
}

constexpr int64_t kLrnBlock = 256;

// Computes n <= kLrnBlock norms. Sums follow the order of the columns.
void lrn_norms(const LrnForm& form, const float* x, float* norm, int64_t n) {
  for (int64_t i = 0; i < n; ++i) norm[i] = 0.0F;
  for (int64_t k = -form.before; k <= form.after; ++k)
    for (int64_t i = 0; i < n; ++i) norm[i] += x[i + k] * x[i + k];
  for (int64_t i = 0; i < n; ++i) norm[i] = lrn_norm(norm[i], form.bias, form.share);
}

void lrn(const LrnForm& form, const float* x, float* out, int64_t n) {
  float norm[kLrnBlock];
  for (int64_t at = 0; at < n; at += kLrnBlock) {
    const int64_t count = n - at < kLrnBlock ? n - at : kLrnBlock;
    lrn_norms(form, x + at, norm, count);
    for (int64_t i = 0; i < count; ++i) out[at + i] = x[at + i] * power_of(norm[i], -form.beta);
  }
}

// Computes terms[i] = grad[i] * x[i] * norm[i] ^ (-beta - 1).
void lrn_terms(const LrnForm& form, const float* grad, const float* x, float* terms, int64_t n) {
  const float exponent = -form.beta - 1.0F;
  float norm[kLrnBlock];
  for (int64_t at = 0; at < n; at += kLrnBlock) {
    const int64_t count = n - at < kLrnBlock ? n - at : kLrnBlock;
    lrn_norms(form, x + at, norm, count);
    for (int64_t i = 0; i < count; ++i) terms[at + i] = grad[at + i] * x[at + i] * power_of(norm[i], exponent);
  }
}

void lrn_grad(const LrnForm& form, const float* grad, const float* x, float* terms, float* dx, int64_t n) {
  lrn_terms(form, grad - form.after, x - form.after, terms, form.after + n + form.before);
  float norm[kLrnBlock], sum[kLrnBlock];
  for (int64_t at = 0; at < n; at += kLrnBlock) {
    const int64_t count = n - at < kLrnBlock ? n - at : kLrnBlock;
    for (int64_t i = 0; i < count; ++i) sum[i] = 0.0F;
    for (int64_t k = 0; k <= form.after + form.before; ++k)
      for (int64_t i = 0; i < count; ++i) sum[i] += terms[at + i + k];
    lrn_norms(form, x + at, norm, count);
    for (int64_t i = 0; i < count; ++i) {
      const float direct = grad[at + i] * power_of(norm[i], -form.beta);
      dx[at + i] = lrn_difference(direct, x[at + i], sum[i], form.share, form.beta);
    }
  }
}

}  // namespace

void row_norm2(const NormedRows& rows);
void row_norm2(const NormedRows& rows) {
  constexpr int kAtOnce = kVector >= 8 ? 4 : 2;
  int64_t r = 0;
  for (; r + kAtOnce <= rows.rows; r += kAtOnce) norms<kAtOnce>(rows, r);
  for (; r < rows.rows; ++r) norms<1>(rows, r);
}

extern const RowLoops kRowLoops;
const RowLoops kRowLoops = {softmax, softmax_grad, softmax_loss, distance_loss, lrn, lrn_grad};

}  // namespace mokume::host::MOKUME_HOST_ISA
