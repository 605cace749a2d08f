// Sums a tile with matrix units: product_sum.cl. Operands are rounded on their way into local memory. A sub-group computes
// WM x WN outputs of the tile.
#include "units/blocks.cl"

#define BLOCKS_M (WM / 16)
#define BLOCKS_N (WN / UNIT_N)
#define LINE(width) ((width) + 8)  // distance of words in local memory; the loads of words reach different banks
#define OPERAND(width) (BK / TERMS * LINE(width))
#define BUFFER (OPERAND(BM) + OPERAND(BN))

typedef struct {
  float at[BLOCKS_M][BLOCKS_N][SUMS];
} sums_t;

INLINE void clear(__private sums_t* sums) {
  UNROLL
  for (int i = 0; i < BLOCKS_M; ++i) {
    UNROLL
    for (int j = 0; j < BLOCKS_N; ++j) {
      UNROLL
      for (int e = 0; e < SUMS; ++e) sums->at[i][j][e] = 0.0f;
    }
  }
}

// Along k, place.k is a multiple of 4.
INLINE void put(float4 v, __local float* to, place_t place, const int width, const int along_k) {
  const uint4 r = (uint4)(rounded(v.x), rounded(v.y), rounded(v.z), rounded(v.w));
  __local uint* words = (__local uint*)to + place.k / TERMS * LINE(width) + place.row;
#if TERMS == 1
  if (along_k) {
    words[0] = r.x;
    words[LINE(width)] = r.y;
    words[2 * LINE(width)] = r.z;
    words[3 * LINE(width)] = r.w;
  } else {
    *(__local uint4*)words = r;
  }
#else
  if (along_k) {
    words[0] = r.x | r.y << 16;
    words[LINE(width)] = r.z | r.w << 16;
  } else {
    __local ushort* halves = (__local ushort*)words + place.k % 2;
    halves[0] = (ushort)r.x;
    halves[2] = (ushort)r.y;
    halves[4] = (ushort)r.z;
    halves[6] = (ushort)r.w;
  }
#endif
}

// The sub-group's first output of the tile.
INLINE int first_row(int id) { return id / LANES / (BN / WN) * WM; }
INLINE int first_column(int id) { return id / LANES % (BN / WN) * WN; }

// Multiplies the BK terms in a buffer. `buffers` is the start of local memory.
INLINE void multiply(__local const float* buffer, __local float* buffers, int id, __private sums_t* sums) {
  const int lane = id % LANES;
  __local const uint* a = (__local const uint*)buffer + first_row(id);
  __local const uint* b = (__local const uint*)(buffer + OPERAND(BM)) + first_column(id);
  __local uint* scratch = (__local uint*)(buffers + 2 * BUFFER) + id / LANES * EMULATED_WORDS;
  UNROLL
  for (int w = 0; w < BK / TERMS; w += UNIT_WORDS) {
    uint rows[BLOCKS_M][A_WORDS], columns[BLOCKS_N][B_WORDS];
    UNROLL
    for (int i = 0; i < BLOCKS_M; ++i) {
      UNROLL
      for (int e = 0; e < A_WORDS; ++e)
        rows[i][e] = a[(w + A_WORD(lane, e)) * LINE(BM) + 16 * i + A_ROW(lane, e)];
    }
    UNROLL
    for (int j = 0; j < BLOCKS_N; ++j) {
      UNROLL
      for (int e = 0; e < B_WORDS; ++e)
        columns[j][e] = b[(w + B_WORD(lane, e)) * LINE(BN) + UNIT_N * j + B_COLUMN(lane, e)];
    }
    UNROLL
    for (int i = 0; i < BLOCKS_M; ++i) {
      UNROLL
      for (int j = 0; j < BLOCKS_N; ++j) multiply_block(sums->at[i][j], rows[i], columns[j], scratch, lane);
    }
  }
}

INLINE void store(__private const sums_t* sums, const ARGS args, tile_t tile, __global const float* bias,
                  __global float* out, int id) {
  const Product p = args.product;
  const int lane = id % LANES;
  UNROLL
  for (int i = 0; i < BLOCKS_M; ++i) {
    UNROLL
    for (int j = 0; j < BLOCKS_N; ++j) {
      UNROLL
      for (int e = 0; e < SUMS; ++e) {
        const int row = first_row(id) + 16 * i + SUM_ROW(lane, e);
        const int column = first_column(id) + UNIT_N * j + SUM_COLUMN(lane, e);
        if (row < tile.rows && column < tile.columns) {
          const long at = (tile.m0 + row) * p.out.row_step + tile.n0 + column;
          float v = sums->at[i][j][e];
          if (!args.split.partial) v = tile.keep == 0.0f ? p.alpha * v : fma(p.alpha, v, tile.keep * out[at]);
          if (tile.finish && p.biased) v += bias[p.bias_offset + tile.n0 + column];
          if (tile.finish && p.relu == RELU) v = v < 0.0f ? 0.0f : v;  // a NaN passes through
#ifdef MASKS
          if (tile.finish && p.relu == RELU_GRAD) v = bias[p.bias_offset + at] > 0.0f ? v : 0.0f;
#endif
          out[at] = v;
        }
      }
    }
  }
}
