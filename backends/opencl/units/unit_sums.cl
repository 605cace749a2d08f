// Sums a tile with matrix units: product_sum.cl. Operands are rounded to tf32 or bf16 on their way into local memory, as
// words of TERMS terms: one tf32, or two bf16, the first in the low half. A sub-group of LANES work-items computes WM x WN
// outputs of the tile, in blocks of 16 x UNIT_N. One instruction multiplies and adds UNIT_WORDS words of each row and
// column of a block. UNIT names the instruction:
//   MMA    NVIDIA from compute capability 8.0 on: mma.sync.m16n8k8 (tf32) and m16n8k16 (bf16); the layouts of operands
//          and sums are those of the PTX ISA, section "Matrix Fragments"
//   MFMA   AMD gfx942: v_mfma_f32_16x16x8_xf32 and v_mfma_f32_16x16x16_bf16; the layouts are those of the ISA guide of
//          the MI300, section "Matrix Arithmetic Instructions"
// With EMULATED, compilers that have neither instruction take plain code with the same layouts, for tests.
#define MMA 1
#define MFMA 2
#define UNIT_WORDS 8
#define SUMS 4     // of a work-item in a block
#define B_WORDS 2  // of a work-item for a block

// Element e of work-item `lane`: its row or column, and its word.
#if UNIT == MMA
#define LANES 32
#define UNIT_N 8
#define A_WORDS 4
#define A_ROW(lane, e) ((lane) / 4 + (e) % 2 * 8)
#define A_WORD(lane, e) ((lane) % 4 + (e) / 2 * 4)
#define B_COLUMN(lane, e) ((lane) / 4)
#define B_WORD(lane, e) ((lane) % 4 + (e) * 4)
#define SUM_ROW(lane, e) ((lane) / 4 + (e) / 2 * 8)
#define SUM_COLUMN(lane, e) ((lane) % 4 * 2 + (e) % 2)
#else
#define LANES 64
#define UNIT_N 16
#define A_WORDS 2
#define A_ROW(lane, e) ((lane) % 16)
#define A_WORD(lane, e) ((lane) / 16 * 2 + (e))
#define B_COLUMN(lane, e) ((lane) % 16)
#define B_WORD(lane, e) ((lane) / 16 * 2 + (e))
#define SUM_ROW(lane, e) ((lane) / 16 * 4 + (e))
#define SUM_COLUMN(lane, e) ((lane) % 16)
#endif

#define BLOCKS_M (WM / 16)
#define BLOCKS_N (WN / UNIT_N)
#define LINE(width) ((width) + 8)  // distance of words in local memory; the loads of words reach different banks
#define OPERAND(width) (BK / TERMS * LINE(width))
#define EMULATED_WORDS (UNIT_WORDS * (16 + UNIT_N))  // of each sub-group, after the buffers
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

// Rounds to tf32 as cvt.rna does, ties away from zero, or to bf16, ties to even. The backend of the host does the same
// (backends/host/rounded.hpp).
INLINE uint rounded(float x) {
  const uint bits = as_uint(x);
#if TERMS == 1
  return isnan(x) ? 0x7FC00000u : (bits + 0x1000u) & 0xFFFFE000u;
#else
  return isnan(x) ? 0x7FC0u : (bits + 0x7FFFu + (bits >> 16 & 1)) >> 16;
#endif
}

// `terms` of place.k are multiples of 4 along k.
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

#if defined(__NVPTX__) || (!defined(EMULATED) && UNIT == MMA)

INLINE void multiply_block(__private float* sum, __private const uint* a, __private const uint* b, __local uint* scratch,
                           int lane) {
#if TERMS == 1
  __asm__ volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
#else
  __asm__ volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
#endif
                   : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#elif defined(__AMDGCN__) || !defined(EMULATED)

typedef short short4_t __attribute__((ext_vector_type(4)));

INLINE void multiply_block(__private float* sum, __private const uint* a, __private const uint* b, __local uint* scratch,
                           int lane) {
  float4 v = (float4)(sum[0], sum[1], sum[2], sum[3]);
#if TERMS == 1
  v = __builtin_amdgcn_mfma_f32_16x16x8_xf32(as_float2((uint2)(a[0], a[1])), as_float2((uint2)(b[0], b[1])), v, 0, 0, 0);
#else
  v = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(as_short4((uint2)(a[0], a[1])), as_short4((uint2)(b[0], b[1])), v, 0, 0, 0);
#endif
  sum[0] = v.x;
  sum[1] = v.y;
  sum[2] = v.z;
  sum[3] = v.w;
}

#else

INLINE float product(uint a, uint b, float sum) {
#if TERMS == 1
  return fma(as_float(a), as_float(b), sum);
#else
  sum = fma(as_float(a << 16), as_float(b << 16), sum);
  return fma(as_float(a & 0xFFFF0000u), as_float(b & 0xFFFF0000u), sum);
#endif
}

// The work-items of a sub-group exchange their words through local memory.
INLINE void multiply_block(__private float* sum, __private const uint* a, __private const uint* b, __local uint* scratch,
                           int lane) {
  __local uint* columns = scratch + 16 * UNIT_WORDS;
  for (int e = 0; e < A_WORDS; ++e) scratch[A_ROW(lane, e) * UNIT_WORDS + A_WORD(lane, e)] = a[e];
  for (int e = 0; e < B_WORDS; ++e) columns[B_COLUMN(lane, e) * UNIT_WORDS + B_WORD(lane, e)] = b[e];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int e = 0; e < SUMS; ++e)
    for (int w = 0; w < UNIT_WORDS; ++w)
      sum[e] = product(scratch[SUM_ROW(lane, e) * UNIT_WORDS + w], columns[SUM_COLUMN(lane, e) * UNIT_WORDS + w], sum[e]);
  barrier(CLK_LOCAL_MEM_FENCE);
}

#endif

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
