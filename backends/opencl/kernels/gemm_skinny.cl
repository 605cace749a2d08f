// Products with one short side, after gemm_vector.cl. The long operand is read once, where it lies; only the short one is
// packed. In all kernels the vectors run along the side that needs no transposing.
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

// Terms [k0, k0 + KB) of SR rows of the long operand from x on, `live` of which there are, with the short operand in
// panels of SHORT: vectors along s.
void skinny_block(__global const float* restrict x, long l_step, int live, __global const float* restrict panels,
                  long s_size, long k0, long k_size, __global float* restrict out, long out_l, long out_s, float alpha,
                  float beta) {
// A row past the end repeats the last one; its sums are dropped.
#define ROW(i) __global const float* x##i = x + min(i, live - 1) * l_step;
  FOR_SR(ROW)
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
        skinny_out(sums[i * VW + s], out + i * out_l + (s0 + s) * out_s, alpha, beta, k0 == 0);
  }
}

// k_step == 1: one work-item does `rows_each` rows of the long operand, SR side by side.
__kernel ONE_ITEM void skinny_rows(__global const float* restrict x, long offset, long l_step, long l_size,
                                   __global const float* restrict panels, long s_size, long k_size,
                                   __global float* restrict out, long out_offset, long out_l, long out_s, float alpha,
                                   float beta, long rows_each, int bias_along_s, EPILOGUE) {
  const long begin = (long)get_global_id(0) * rows_each;
  const long l_end = min(begin + rows_each, l_size);
  const epilogue_t end = epilogue(bias, bias_offset, biased, relu);
  out += out_offset;
  for (long l = begin; l < l_end; l += SR) {
    const int live = (int)min((long)SR, l_end - l);
    for (long k0 = 0; k0 < k_size; k0 += KB)
      skinny_block(x + offset + l * l_step, l_step, live, panels, s_size, k0, k_size, out + l * out_l, out_l, out_s,
                   alpha, beta);
    if (!(biased || relu)) continue;
    for (int i = 0; i < live; ++i)
      for (long s = 0; s < s_size; ++s) {
        __global float* at = out + (l + i) * out_l + s * out_s;
        *at = finished(*at, end, bias_along_s ? s : l + i);
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

// The same where l are the columns of out, as its rows and those of x lie in memory. Up to MR rows of the short operand y
// at a time, element (s, k) of it at y[s * y_s + k * y_k]; batches of 5 and 10 have a product of their own.
#if VW == 16
#define FOR_5(X) FOR_4(X) X(4)
#define FOR_10(X) FOR_5(X) X(5) X(6) X(7) X(8) X(9)
#define SMALL 5
#define MIDDLE 10
#else
#define SMALL FEW
#define MIDDLE HALF
#endif
#define AHEAD 12  // rows of x that are fetched before they are used

#define STRIP(name, FOR_ROWS)                                                                                   \
  void name(__global const float* restrict a, __global const float* restrict b, long b_step, int terms,         \
            __private float* sums) {                                                                            \
    FOR_ROWS(ZERO)                                                                                              \
    for (int k = 0; k < terms; ++k, a += MR, b += b_step) {                                                     \
      const vec b0 = VLOAD(0, b), b1 = VLOAD(1, b);                                                             \
      FETCH(b + AHEAD * b_step);                                                                                \
      FETCH(b + AHEAD * b_step + NR - 1);                                                                       \
      FOR_ROWS(STEP)                                                                                            \
    }                                                                                                           \
    FOR_ROWS(STRIP_SAVE)                                                                                        \
  }
#define STRIP_SAVE(i)                \
  VSTORE(s##i##0, 2 * i, sums);      \
  VSTORE(s##i##1, 2 * i + 1, sums);
STRIP(strip_whole, FOR_MR)
STRIP(strip_one, FOR_1)
#if VW == 16
STRIP(strip_middle, FOR_10)
STRIP(strip_small, FOR_5)
#else
STRIP(strip_middle, FOR_HALF)
STRIP(strip_small, FOR_FEW)
#endif

// One work-item does columns_each columns (a multiple of NR) and blocks_each blocks of terms. Where the blocks are
// shared, it leaves their sums in `out`, block by block of s_size x l_size, for sum_of_blocks. There are at least NR
// columns: the last NR begin early and drop what is another's. Scratch: MR * KB floats each.
__kernel ONE_ITEM void few_rows(__global const float* restrict x, long offset, long k_step, long l_size,
                                __global const float* restrict y, long y_offset, long y_s, long y_k, int s_size,
                                long k_size, __global float* restrict out, long out_offset, long out_step, float alpha,
                                float beta, int shared, long columns_each, long blocks_each,
                                __global float* restrict scratch, EPILOGUE) {
  const long c0 = (long)get_global_id(0) * columns_each, c1 = min(c0 + columns_each, l_size);
  const long k_begin = (long)get_global_id(1) * blocks_each * KB, k_end = min(k_begin + blocks_each * KB, k_size);
  const epilogue_t end = epilogue(bias, bias_offset, biased, relu);
  __global float* a = scratch + ((long)get_global_id(1) * get_global_size(0) + get_global_id(0)) * MR * KB;
  x += offset;
  y += y_offset;
  out += out_offset;
  for (long k0 = k_begin; k0 < k_end; k0 += KB) {
    const int terms = (int)min((long)KB, k_size - k0);
    for (int s0 = 0; s0 < s_size; s0 += MR) {
      const int live = min(MR, s_size - s0);
      const int rows = live == 1 ? 1 : live <= SMALL ? SMALL : live <= MIDDLE ? MIDDLE : MR;
      const int packed = rows == MR && y_k == 1 ? pack_transposed(y + s0 * y_s + k0, y_s, live, terms, a, MR) : 0;
      for (int i = 0; i < rows; ++i) {
        __global const float* from = y + (s0 + min(i, live - 1)) * y_s + k0 * y_k;
        for (int k = packed; k < terms; ++k) a[k * MR + i] = from[k * y_k];
      }
      for (long c = c0; c < c1; c += NR) {
        const long begin = min(c, l_size - NR);
        __global const float* b = x + k0 * k_step + begin;
        float sums[MR * NR];
        if (rows == 1)
          strip_one(a, b, k_step, terms, sums);
        else if (rows == SMALL)
          strip_small(a, b, k_step, terms, sums);
        else if (rows == MIDDLE)
          strip_middle(a, b, k_step, terms, sums);
        else
          strip_whole(a, b, k_step, terms, sums);
        const int skip = (int)(c - begin), columns = (int)min((long)NR, c1 - c);
        for (int i = 0; i < live; ++i) {
          __private const float* sum = sums + i * NR + skip;
          __global float* to =
              shared ? out + ((k0 / KB) * s_size + s0 + i) * l_size + c : out + (s0 + i) * out_step + c;
          for (int j = 0; j < columns; ++j)
            if (shared)
              to[j] = sum[j];
            else
              skinny_out(sum[j], to + j, alpha, beta, k0 == 0);
          if (!shared && k0 + KB >= k_size && (biased || relu)) finish_row(to, end, c, columns);
        }
      }
    }
  }
}

// Sums of blocks, as few_rows leaves them, in order. One work-item does one row or a part of it.
__kernel ONE_ITEM void sum_of_blocks(__global const float* restrict part, long blocks, int s_size, long l_size,
                                     __global float* restrict out, long out_offset, long out_step, float alpha,
                                     float beta, long columns_each, EPILOGUE) {
  const long s = (long)get_global_id(1), c0 = (long)get_global_id(0) * columns_each, c1 = min(c0 + columns_each, l_size);
  const long apart = s_size * l_size;
  part += s * l_size;
  out += out_offset + s * out_step;
  long c = c0;
  for (; c + VW <= c1; c += VW) {
    vec sum = SPLAT(alpha) * VLOAD(0, part + c);
    if (beta != 0.0f) sum = fma(SPLAT(alpha), VLOAD(0, part + c), SPLAT(beta) * VLOAD(0, out + c));
    for (long b = 1; b < blocks; ++b) sum = fma(SPLAT(alpha), VLOAD(0, part + b * apart + c), sum);
    VSTORE(sum, 0, out + c);
  }
  for (; c < c1; ++c)
    for (long b = 0; b < blocks; ++b) skinny_out(part[b * apart + c], out + c, alpha, beta, b == 0);
  if (biased || relu) finish_row(out + c0, epilogue(bias, bias_offset, biased, relu), c0, c1 - c0);
}
