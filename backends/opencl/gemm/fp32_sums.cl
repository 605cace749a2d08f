// Sums a tile with fused multiply-adds in fp32: product_sum.cl. Each work-item has TM x TN sums, in quads of rows and
// columns.
#define LINE(width) ((width) + 4)  // distance of terms in local memory
#define OPERAND(width) (BK * LINE(width))
#define BUFFER (OPERAND(BM) + OPERAND(BN))

typedef struct {
  float4 at[TM][TN / 4];
} sums_t;

INLINE void clear(__private sums_t* sums) {
  UNROLL
  for (int i = 0; i < TM; ++i) {
    UNROLL
    for (int j = 0; j < TN / 4; ++j) sums->at[i][j] = (float4)(0.0f);
  }
}

INLINE void put(float4 v, __local float* to, place_t place, const int width, const int along_k) {
  to += place.k * LINE(width) + place.row;
  if (along_k) {
    to[0] = v.x;
    to[LINE(width)] = v.y;
    to[2 * LINE(width)] = v.z;
    to[3 * LINE(width)] = v.w;
  } else {
    *(__local float4*)to = v;
  }
}

// Returns the row or column of a tile that belongs to sum i of the work-item at `t` of `items`.
INLINE int place_of_sum(int i, int t, const int items) { return i / 4 * 4 * items + t * 4 + i % 4; }

// Multiplies the BK terms in a buffer.
INLINE void multiply(__local const float* buffer, __local float* buffers, int id, __private sums_t* sums) {
  const int tx = id % GX, ty = id / GX;
  __local const float4* x = (__local const float4*)buffer + ty;
  __local const float4* y = (__local const float4*)(buffer + OPERAND(BM)) + tx;
  UNROLL
  for (int k = 0; k < BK; ++k, x += LINE(BM) / 4, y += LINE(BN) / 4) {
    float4 column[TN / 4];
    UNROLL
    for (int j = 0; j < TN / 4; ++j) column[j] = y[j * GX];
    UNROLL
    for (int i = 0; i < TM; i += 4) {
      const float4 rows = x[i / 4 * GY];
      UNROLL
      for (int j = 0; j < TN / 4; ++j) {
        sums->at[i][j] = fma((float4)(rows.x), column[j], sums->at[i][j]);
        sums->at[i + 1][j] = fma((float4)(rows.y), column[j], sums->at[i + 1][j]);
        sums->at[i + 2][j] = fma((float4)(rows.z), column[j], sums->at[i + 2][j]);
        sums->at[i + 3][j] = fma((float4)(rows.w), column[j], sums->at[i + 3][j]);
      }
    }
  }
}

INLINE float4 load_row(__global const float* at, int count) {
#if OUT_WIDE
  return *(__global const float4*)at;
#else
  return (float4)(at[0], count > 1 ? at[1] : 0.0f, count > 2 ? at[2] : 0.0f, count > 3 ? at[3] : 0.0f);
#endif
}

INLINE void store_row(float4 v, __global float* at, int count) {
#if OUT_WIDE
  *(__global float4*)at = v;
#else
  at[0] = v.x;
  if (count > 1) at[1] = v.y;
  if (count > 2) at[2] = v.z;
  if (count > 3) at[3] = v.w;
#endif
}

INLINE void store(__private const sums_t* sums, const ARGS args, tile_t tile, __global const float* bias,
                  __global float* out, int id) {
  const Product p = args.product;
  const int tx = id % GX, ty = id / GX, columns = tile.columns;
  UNROLL
  for (int j = 0; j < TN / 4; ++j) {
    const int n = place_of_sum(4 * j, tx, GX);
    if (n < columns) {
      const float4 more =
          tile.finish && p.biased ? load_row(bias + p.bias_offset + tile.n0 + n, columns - n) : (float4)(0.0f);
      const long first_row = (tile.m0 + 4 * ty) * p.out.row_step + tile.n0 + n;
      __global float* at = out + first_row;
#ifdef MASKS
      __global const float* mask = bias + p.bias_offset + first_row;
#endif
      UNROLL
      for (int i = 0; i < TM; ++i) {
        if (place_of_sum(i, ty, GY) < tile.rows) {
          float4 v = sums->at[i][j];
          if (!args.split.partial)
            v = tile.keep == 0.0f ? p.alpha * v
                                  : fma((float4)(p.alpha), v, tile.keep * load_row(at, columns - n));
          if (tile.finish && p.biased) v += more;
          if (tile.finish && p.relu == RELU)
            v = select(v, (float4)(0.0f), v < (float4)(0.0f));  // a NaN passes through
#ifdef MASKS
          if (tile.finish && p.relu == RELU_GRAD)
            v = select((float4)(0.0f), v, load_row(mask, columns - n) > (float4)(0.0f));
#endif
          store_row(v, at, columns - n);
        }
        const long step = i % 4 == 3 ? (4 * GY - 3) * p.out.row_step : p.out.row_step;
        at += step;
#ifdef MASKS
        mask += step;
#endif
      }
    }
  }
}
