#include "isa/rows.hpp"

#include "isa/formulas.hpp"
#include "isa/independent.hpp"
#include "isa/loops.hpp"
#include "isa/vectors.hpp"

namespace mokume::host::MOKUME_HOST_ISA {
namespace {

// Returns the largest element, or NaN if any element is NaN.
float largest_of(const float* x, int64_t n) {
  float largest = x[0];
  bool good = true;
  for (int64_t i = 0; i < n; ++i) {
    good = good & (x[i] == x[i]);
    largest = x[i] > largest ? x[i] : largest;
  }
  return good ? largest : NAN;
}

// Returns whether x[place] is the first of the largest elements.
bool is_first(const float* x, float largest, int64_t place) {
  bool is = x[place] == largest;
  for (int64_t i = 0; i < place; ++i) is = is & (x[i] != largest);
  return is;
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
  float largest = largest_of(x, n);
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
  const float largest = largest_of(x, n);
  const bool hit = is_first(x, largest, target);
  const float at_target = x[target] - largest;
  float below = 0.0F;
  for (int64_t i = 0; row.smoothing > 0.0F && i < n; ++i) below += largest - x[i];
  const float sum = sum_of_exponentials(x, largest, grad, n), log_sum = log_f32(sum);
  float loss = log_sum - at_target;
  const float factor = row.plain ? 1.0F : general_loss(row, log_sum, below, &loss);
  row.out[0] = loss;
  row.out[1] = hit ? 1.0F : 0.0F;
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
using OfWidest = LanesOf<Widest>;
constexpr int64_t kSquares = 16, kVector = OfWidest::kCount, kVectors = kSquares / kVector;

struct Squares {
  Widest part[kVectors]{};

  void add(int64_t p, Widest d) { part[p] = fused(d, d, part[p]); }

  // Adds the lanes in halves.
  float sum() const {
    float all[kSquares];
    memcpy(all, part, sizeof all);
    const auto four_from = [&](int64_t at) { return LanesOf<Four>::load(all + at); };
    const Four four = (four_from(0) + four_from(8)) + (four_from(4) + four_from(12));
    return (four[0] + four[2]) + (four[1] + four[3]);
  }
};

// Sums some rows at once, because the next addition to a lane waits for the previous one.
template <int count>
void norms(const NormedRows& rows, int64_t first) {
  Squares squares[count];
  const float* x = rows.x + first * rows.stride;
  int64_t c = 0;
  for (; c + kSquares <= rows.columns; c += kSquares)
    for (int r = 0; r < count; ++r)
      for (int64_t p = 0; p < kVectors; ++p) squares[r].add(p, OfWidest::load(x + r * rows.stride + c + p * kVector));
  for (int64_t p = 0; p < kVectors && c < rows.columns; ++p, c += kVector)
    for (int r = 0; r < count; ++r) squares[r].add(p, OfWidest::load(x + r * rows.stride + c, rows.columns - c));
  for (int r = 0; r < count; ++r) rows.norm2[first + r] = squares[r].sum();
}

void squared_loss(const DistanceLossRow& row) {
  const float *x = row.prediction, *t = row.target, by = row.scale;
  float* grad = row.grad;
  Squares squares;
  int64_t c = 0;
  for (; c + kSquares <= row.n; c += kSquares)
    for (int64_t p = 0; p < kVectors; ++p) {
      const int64_t at = c + p * kVector;
      const Widest d = OfWidest::load(x + at) - OfWidest::load(t + at);
      squares.add(p, d);
      if (grad != nullptr) OfWidest::store(d * by, grad + at);
    }
  for (int64_t p = 0; p < kVectors && c < row.n; ++p, c += kVector) {
    const Widest d = OfWidest::load(x + c, row.n - c) - OfWidest::load(t + c, row.n - c);
    squares.add(p, d);
    if (grad != nullptr) OfWidest::store(d * by, grad + c, row.n - c);
  }
  row.out[0] = squares.sum() * row.per_column;
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
  const float exponent = -form.beta;
  float norm[kLrnBlock];
  for (int64_t at = 0; at < n; at += kLrnBlock) {
    const int64_t count = n - at < kLrnBlock ? n - at : kLrnBlock;
    lrn_norms(form, x + at, norm, count);
    MOKUME_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) out[at + i] = x[at + i] * power_of(norm[i], exponent);
  }
}

// Computes terms[i] = grad[i] * x[i] * norm[i] ^ (-beta - 1).
void lrn_terms(const LrnForm& form, const float* grad, const float* x, float* terms, int64_t n) {
  const float exponent = -form.beta - 1.0F;
  float norm[kLrnBlock];
  for (int64_t at = 0; at < n; at += kLrnBlock) {
    const int64_t count = n - at < kLrnBlock ? n - at : kLrnBlock;
    lrn_norms(form, x + at, norm, count);
    MOKUME_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) terms[at + i] = grad[at + i] * x[at + i] * power_of(norm[i], exponent);
  }
}

void lrn_grad(const LrnForm& form, const float* grad, const float* x, float* terms, float* dx, int64_t n) {
  lrn_terms(form, grad - form.after, x - form.after, terms, form.after + n + form.before);
  const float exponent = -form.beta, share = form.share, beta = form.beta;
  float norm[kLrnBlock], sum[kLrnBlock];
  for (int64_t at = 0; at < n; at += kLrnBlock) {
    const int64_t count = n - at < kLrnBlock ? n - at : kLrnBlock;
    for (int64_t i = 0; i < count; ++i) sum[i] = 0.0F;
    for (int64_t k = 0; k <= form.after + form.before; ++k)
      for (int64_t i = 0; i < count; ++i) sum[i] += terms[at + i + k];
    lrn_norms(form, x + at, norm, count);
    MOKUME_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) {
      const float direct = grad[at + i] * power_of(norm[i], exponent);
      dx[at + i] = lrn_difference(direct, x[at + i], sum[i], share, beta);
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
