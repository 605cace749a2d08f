#include "isa/network.hpp"

#include <string.h>

#include "isa/formulas.hpp"
#include "isa/independent.hpp"

namespace mokume::host::MOKUME_HOST_ISA {

void max_window(const MaxWindow& w);          // pooling.cpp
void optimizer(const OptimizerRange& range);  // optimizer.cpp

namespace {

void bias_act(const BiasRows& rows) {
  const int64_t n = rows.columns;
  for (int64_t r = 0; r < rows.rows; ++r) {
    const float* x = rows.x + r * rows.x_stride;
    const float* bias = rows.bias == nullptr ? nullptr : rows.bias + r * rows.bias_stride;
    float* out = rows.out + r * rows.out_stride;
    if (bias != nullptr && rows.relu) {
      MOKUME_INDEPENDENT
      for (int64_t c = 0; c < n; ++c) {
        const float sum = x[c] + bias[c];
        out[c] = sum < 0.0F ? 0.0F : sum;  // this form lets a NaN pass through
      }
    } else if (bias != nullptr) {
      MOKUME_INDEPENDENT
      for (int64_t c = 0; c < n; ++c) out[c] = x[c] + bias[c];
    } else if (rows.relu) {
      MOKUME_INDEPENDENT
      for (int64_t c = 0; c < n; ++c) out[c] = x[c] < 0.0F ? 0.0F : x[c];
    } else if (out != x) {
      memcpy(out, x, static_cast<size_t>(n) * sizeof(float));
    }
  }
}

void relu_grad(const ReluGradRows& rows) {
  for (int64_t r = 0; r < rows.rows; ++r) {
    const float* grad = rows.grad + r * rows.grad_stride;
    const float* y = rows.y + r * rows.y_stride;
    float* dx = rows.dx + r * rows.dx_stride;
    MOKUME_INDEPENDENT
    for (int64_t c = 0; c < rows.columns; ++c) {
      const float passed = grad[c];  // loaded unconditionally to avoid a branch
      dx[c] = y[c] > 0.0F ? passed : 0.0F;
    }
  }
}

void affine(const AffineRows& rows) {
  const float *scale = rows.scale, *shift = rows.shift;
  for (int64_t r = 0; r < rows.rows; ++r) {
    const float* x = rows.x + r * rows.x_stride;
    float* out = rows.out + r * rows.out_stride;
    if (shift != nullptr) {
      MOKUME_INDEPENDENT
      for (int64_t c = 0; c < rows.columns; ++c) out[c] = (x[c] - shift[c]) * scale[c];
    } else {
      MOKUME_INDEPENDENT
      for (int64_t c = 0; c < rows.columns; ++c) out[c] = x[c] * scale[c];
    }
  }
}

void add(float* sum, const float* x, int64_t n) {
  MOKUME_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) sum[i] += x[i];
}

void add_product(float* sum, const float* x, const float* weight, int64_t n) {
  MOKUME_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) sum[i] += x[i] * weight[i];
}

void add_chosen(float* sum, const float* grad, const int32_t* place, int32_t chosen, int64_t n) {
  MOKUME_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const float value = grad[i];
    sum[i] += place[i] == chosen ? value : 0.0F;
  }
}

float share(int32_t height, int32_t width) { return share_of(height, width); }

void add_scaled(float* sum, const float* x, float factor, int64_t n) {
  MOKUME_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) sum[i] = fused(x[i], factor, sum[i]);
}

void scale(float* x, float factor, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] *= factor;
}

constexpr int kCounters = 64;  // number of counters processed at once

// Computes Philox4x32-10 (sdk/philox.hpp) of the counters {row, quarter, step, layer}, one per lane.
void philox_words(const DropoutRows& d, const uint32_t* row, const uint32_t* quarter, uint32_t* words) {
  const uint32_t step = d.step, layer = d.layer, key0 = d.key[0], key1 = d.key[1];
  for (int lane = 0; lane < kCounters; ++lane) {
    uint32_t c0 = row[lane], c1 = quarter[lane], c2 = step, c3 = layer, k0 = key0, k1 = key1;
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53U} * c0, p1 = uint64_t{0xCD9E8D57U} * c2;
      c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
      c1 = static_cast<uint32_t>(p1);
      c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c3 = static_cast<uint32_t>(p0);
      k0 += 0x9E3779B9U;
      k1 += 0xBB67AE85U;
    }
    words[4 * lane] = c0;
    words[4 * lane + 1] = c1;
    words[4 * lane + 2] = c2;
    words[4 * lane + 3] = c3;
  }
}

void keep(const float* x, const uint32_t* words, uint32_t threshold, float factor, float* out, int64_t n) {
  MOKUME_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const float kept = x[i] * factor;
    out[i] = words[i] >= threshold ? kept : 0.0F;
  }
}

// Lanes continue from row to row, so that short rows leave no lane idle. Lanes past the last row are not used.
void dropout(const DropoutRows& d) {
  const int64_t quarters = (d.columns + 3) / 4;
  uint32_t row[kCounters], quarter[kCounters], words[4 * kCounters];
  int64_t r = 0, q = 0;
  while (r < d.rows) {
    int64_t next_r = r, next_q = q;
    for (int lane = 0; lane < kCounters; ++lane) {
      row[lane] = d.first_row + static_cast<uint32_t>(next_r);
      quarter[lane] = static_cast<uint32_t>(next_q);
      if (++next_q == quarters) {
        next_q = 0;
        ++next_r;
      }
    }
    philox_words(d, row, quarter, words);
    for (int64_t lane = 0; lane < kCounters && r < d.rows;) {
      const int64_t lanes = quarters - q < kCounters - lane ? quarters - q : kCounters - lane;
      const int64_t n = 4 * (q + lanes) <= d.columns ? 4 * lanes : d.columns - 4 * q;
      keep(d.x + r * d.x_stride + 4 * q, words + 4 * lane, d.threshold, d.scale, d.out + r * d.out_stride + 4 * q, n);
      lane += lanes;
      q += lanes;
      if (q == quarters) {
        q = 0;
        ++r;
      }
    }
  }
}

}  // namespace

extern const NetworkLoops kNetworkLoops;
const NetworkLoops kNetworkLoops = {bias_act, relu_grad,   affine,     dropout, max_window, optimizer,
                                    add,      add_product, add_chosen, share,   add_scaled, scale};

}  // namespace mokume::host::MOKUME_HOST_ISA
