// Products with one short side, after gemm_vector.cl. The long operand is read once, where it lies; only the short one is
// packed. In both kernels the vectors run along the side that needs no transposing.
//
// Element (l, k) of the long operand is at x[l * l_step + k * k_step], out element (l, s) at out[l * out_l + s * out_s].

void skinny_out(float sum, __global float* out, float alpha, float beta, int first) {
  const float keep = first ? beta : 1.0f;
  *out = keep == 0.0f ? alpha * sum : fma(alpha, sum, keep * *out);
}

#if VW == 16
#define SR 12
#define FOR_SR(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#else
#define SR 8
#define FOR_SR(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#endif

// k_step == 1: vectors along s, the short operand in panels of SHORT, SR rows of the long operand side by side. One work-item does `rows_each` rows.
__kernel ONE_ITEM void skinny_rows(__global const float* restrict x, long offset, long l_step, long l_size,
                                   __global const float* restrict panels, long s_size, long k_size,
                                   __global float* restrict out, long out_offset, long out_l, long out_s, float alpha,
                                   float beta, long rows_each) {
  const long begin = (long)get_global_id(0) * rows_each;
  const long end = min(begin + rows_each, l_size);
  x += offset;
  out += out_offset;
  for (long l = begin; l < end; l += SR) {
    const int live = (int)min((long)SR, end - l);
// A row past the end repeats the last one; its sums are dropped.
#define ROW(i) __global const float* x##i = x + (l + min(i, live - 1)) * l_step;
    FOR_SR(ROW)
    for (long k0 = 0; k0 < k_size; k0 += KB) {
      const int terms = (int)min((long)KB, k_size - k0);
      for (long s0 = 0; s0 < s_size; s0 += VW) {
        __global const float* p = panels + ((s0 / SHORT) * k_size + k0) * SHORT + s0 % SHORT;
#define SKINNY_ZERO(i) vec t##i = (vec)(0.0f);
#define SKINNY_STEP(i) t##i = fma((vec)(x##i[k0 + k]), b, t##i);
#define SKINNY_SPILL(i) VSTORE(t##i, i, sums);
        FOR_SR(SKINNY_ZERO)
        for (int k = 0; k < terms; ++k) {
          const vec b = VLOAD(0, p + k * SHORT);
          FOR_SR(SKINNY_STEP)
        }
        float sums[SR * VW];
        FOR_SR(SKINNY_SPILL)
        const int columns = (int)min((long)VW, s_size - s0);
        for (int i = 0; i < live; ++i)
          for (int s = 0; s < columns; ++s)
            skinny_out(sums[i * VW + s], out + (l + i) * out_l + (s0 + s) * out_s, alpha, beta, k0 == 0);
      }
    }
  }
}

// l_step == 1: vectors along l, the short operand in panels of MR as pack_a makes them. One work-item does NR rows of
// the long operand, of which there are at least NR; the last one begins early and drops what is another's.
__kernel ONE_ITEM void skinny_columns(__global const float* restrict x, long offset, long k_step, long l_size,
                                      __global const float* restrict panels, long s_size, long k_size,
                                      __global float* restrict out, long out_offset, long out_l, long out_s,
                                      float alpha, float beta) {
  const long l = (long)get_global_id(0) * NR;
  const long begin = min(l, l_size - NR);
  x += offset + begin;
  out += out_offset + begin * out_l;
  for (long k0 = 0; k0 < k_size; k0 += KB) {
    const int terms = (int)min((long)KB, k_size - k0);
    for (long s = 0; s < s_size; s += MR)
      tile(panels + s * k_size + k0 * MR, MR, x + k0 * k_step, k_step, terms, out + s * out_s, out_s, out_l,
           (int)min((long)MR, s_size - s), (int)(l - begin), NR, alpha, beta, k0 == 0);
  }
}
