// Multiplies blocks with the matrix units of GPUs. One instruction multiplies and adds UNIT_WORDS words of each row and
// column of a block of 16 x UNIT_N sums, which a sub-group of LANES work-items holds. A word has TERMS terms: one tf32, or
// two bf16, the first in the low half. UNIT names the instruction:
//   MMA    NVIDIA from compute capability 8.0 on: mma.sync.m16n8k8 (tf32) and m16n8k16 (bf16); the layouts of operands
//          and sums are those of the PTX ISA, section "Matrix Fragments"
//   MFMA   AMD gfx942: v_mfma_f32_16x16x8_xf32 and v_mfma_f32_16x16x16_bf16; the layouts are those of the ISA guide of
//          the MI300, section "Matrix Arithmetic Instructions"
// With EMULATED, compilers that have neither instruction take plain code with the same layouts, for tests.
#include "common/common.cl"

#ifndef INLINE
#define INLINE static __attribute__((always_inline))
#endif
#define MMA 1
#define MFMA 2
#define UNIT_WORDS 8
#define SUMS 4     // a work-item has this many sums of a block
#define B_WORDS 2  // a work-item loads this many words of the second operand of a block

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
#define EMULATED_WORDS (UNIT_WORDS * (16 + UNIT_N))  // each sub-group exchanges these words of local memory

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
