// Computes products with one short side. The kernels read the long operand once, in place, and pack only the short
// operand. Their vectors run along the side that needs no transposing.
//
// Element (l, k) of the long operand is at x[l * l_step + k * k_step], and element (l, s) of out is at out[l * out_l +
// s * out_s].
#include "gemm/vector.cl"

static void skinny_out(float sum, __global float* out, float alpha, float beta, int first) {
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

// Multiplies terms [k0, k0 + KB) of SR rows of the long operand, starting at x, by the short operand in panels of
// SHORT. Vectors run along s. Rows after the `live` rows repeat the last row, and their sums are dropped.
#define ROW(i) __global const float* x##i = x + min(i, live - 1) * l_step;
#define SKINNY_ZERO(i) vec t##i = SPLAT(0.0f);
#define SKINNY_STEP(i) t##i = fma(SPLAT(x##i[k0 + k]), b, t##i);
#define SKINNY_SPILL(i) VSTORE(t##i, i, sums);
static void skinny_block(__global const float* restrict x, long l_step, int live, __global const float* restrict panels,
                  long s_size, long k0, long k_size, __global float* restrict out, long out_l, long out_s, float alpha,
                  float beta, int first) {
  FOR_SR(ROW)
  const int terms = (int)min((long)KB, k_size - k0);
  for (long s0 = 0; s0 < s_size; s0 += VW) {
    __global const float* p = panels + ((s0 / SHORT) * k_size + k0) * SHORT + s0 % SHORT;
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
        skinny_out(sums[i * VW + s], out + i * out_l + (s0 + s) * out_s, alpha, beta, first);
  }
}

// Requires k_step == 1. One work-item processes `rows_each` rows of the long operand, SR at a time.
__kernel ONE_ITEM void skinny_rows(ITEM const SkinnyArgs args, __global const float* restrict x,
                                   __global const float* restrict panels, __global float* restrict out,
                                   __global const float* bias) {
  const long l_step = args.product.a.row_step, s_size = args.product.n, k_size = args.product.k;
  const long out_l = args.product.out.row_step, out_s = args.product.out.column_step;
  const long begin = (long)get_global_id(0) * args.rows_each;
  const long l_end = min(begin + args.rows_each, args.product.m);
  const epilogue_t end = epilogue(bias, args.product);
  out += args.product.out.offset;
  for (long l = begin; l < l_end; l += SR) {
    const int live = (int)min((long)SR, l_end - l);
    for (long k0 = 0; k0 < k_size; k0 += KB)
      skinny_block(x + args.product.a.offset + l * l_step, l_step, live, panels, s_size, k0, k_size, out + l * out_l,
                   out_l, out_s, args.product.alpha, args.product.beta, k0 == 0);
    if (!(args.product.biased || args.product.relu)) continue;
    for (int i = 0; i < live; ++i)
      for (long s = 0; s < s_size; ++s) {
        __global float* at = out + (l + i) * out_l + s * out_s;
        *at = finished(*at, end, args.turned ? l + i : s);
      }
  }
}

// Does the work of skinny_rows for too few rows to occupy all cores. One work-item processes blocks_each blocks of
// terms of all rows and leaves their sums in `part`, block by block, for sum_of_blocks. It packs the short operand y
// itself; element (s, k) is at y[s * y_s + k * y_k]. It needs KB * SHORT floats of scratch per SHORT rows of y.
__kernel ONE_ITEM void skinny_rows_shared(ITEM const SkinnyArgs args, __global const float* restrict x,
                                          __global const float* restrict y, __global float* restrict part,
                                          __global float* restrict scratch) {
  const long l_step = args.product.a.row_step, y_s = args.product.b.row_step, y_k = args.product.b.k_step;
  const long l_size = args.product.m, s_size = args.product.n;
  const long part_l = args.turned ? 1 : s_size, part_s = args.turned ? l_size : 1;
  const long begin = (long)get_global_id(0) * args.blocks_each * KB,
             end = min(begin + args.blocks_each * KB, args.product.k);
  const long panels = (s_size + SHORT - 1) / SHORT;
  scratch += (long)get_global_id(0) * panels * SHORT * KB;
  x += args.product.a.offset;
  y += args.product.b.offset;
  for (long k0 = begin; k0 < end; k0 += KB) {
    const int terms = (int)min((long)KB, end - k0);
    for (long p = 0; p < panels; ++p) {
      const int live = (int)min((long)SHORT, s_size - p * SHORT);
      __global const float* from = y + p * SHORT * y_s + k0 * y_k;
      __global float* to = scratch + p * SHORT * terms;
      pack_panel(from, y_s, y_k, live, terms, to, SHORT);
    }
    for (long l = 0; l < l_size; l += SR)
      skinny_block(x + k0 + l * l_step, l_step, (int)min((long)SR, l_size - l), scratch, s_size, 0, terms,
                   part + k0 / KB * l_size * s_size + l * part_l, part_l, part_s, 1.0f, 0.0f, 1);
  }
}

// Returns the sums of VW whole blocks of terms of the row that starts at x, one block per lane. Transposes a square of
// VW blocks by VW terms at a time, and prefetches the row at `later`. `y` comes from blocks_of_y.
static vec sums_of_blocks(__global const float* restrict x, __private const vec* y, __global const float* later) {
  vec sum = SPLAT(0.0f);
  for (int k = 0; k < KB; k += VW) {
    vec r[VW];
    UNROLL
    for (int i = 0; i < VW; ++i) {
      r[i] = VLOAD(0, x + i * KB + k);
      FETCH_EARLY(later + i * KB + k);
    }
    transpose(r);
    UNROLL
    for (int i = 0; i < VW; ++i) sum = fma(r[i], y[k + i], sum);
  }
  return sum;
}

static void blocks_of_y(__global const float* restrict y, __private vec* out) {
  for (int k = 0; k < KB; k += VW) {
    vec r[VW];
    UNROLL
    for (int i = 0; i < VW; ++i) r[i] = VLOAD(0, y + i * KB + k);
    transpose(r);
    UNROLL
    for (int i = 0; i < VW; ++i) out[k + i] = r[i];
  }
}

// Does the work of skinny_rows_shared for a single row y, whose element k is at y[k * y_k]. The vectors run along
// blocks if there are enough, otherwise along l. Both loops transpose squares.
__kernel ONE_ITEM void skinny_rows_one(ITEM const SkinnyArgs args, __global const float* restrict x,
                                       __global const float* restrict y, __global float* restrict part) {
  const long l_step = args.product.a.row_step, l_size = args.product.m, y_k = args.product.b.k_step;
  const long begin = (long)get_global_id(0) * args.blocks_each * KB,
             end = min(begin + args.blocks_each * KB, args.product.k);
  x += args.product.a.offset;
  y += args.product.b.offset;
  long k0 = begin;
  for (; y_k == 1 && end - k0 >= VW * KB; k0 += VW * KB) {
    vec y_blocks[KB];
    blocks_of_y(y + k0, y_blocks);
    for (long l = 0; l < l_size; ++l) {
      float sums[VW];
      VSTORE(sums_of_blocks(x + l * l_step + k0, y_blocks, x + (l + 1) * l_step + k0), 0, sums);
      for (int i = 0; i < VW; ++i) part[(k0 / KB + i) * l_size + l] = sums[i];
    }
  }
  for (; k0 < end; k0 += KB) {
    const long k1 = min(k0 + KB, end), squares_end = k0 + (k1 - k0) / VW * VW;
    for (long l = 0; l < l_size; l += VW) {
      const int live = (int)min((long)VW, l_size - l);
      __global const float* from = x + l * l_step;
      vec sum = SPLAT(0.0f);
      for (long k = k0; k < squares_end; k += VW) {
        vec r[VW];
        UNROLL
        for (int i = 0; i < VW; ++i) r[i] = i < live ? VLOAD(0, from + i * l_step + k) : SPLAT(0.0f);
        transpose(r);
        UNROLL
        for (int i = 0; i < VW; ++i) sum = fma(r[i], SPLAT(y[(k + i) * y_k]), sum);
      }
      float sums[VW];
      VSTORE(sum, 0, sums);
      for (int i = 0; i < live; ++i) {
        float s = sums[i];
        for (long k = squares_end; k < k1; ++k) s = fma(from[i * l_step + k], y[k * y_k], s);
        part[k0 / KB * l_size + l + i] = s;
      }
    }
  }
}

// Requires l_step == 1 and the short operand in panels from pack_a. Vectors run along l. One work-item processes NR of
// at least NR rows of the long operand; the last work-item starts early and drops the rows of another one.
__kernel ONE_ITEM void skinny_columns(ITEM const SkinnyArgs args, __global const float* restrict x,
                                      __global const float* restrict panels, __global float* restrict out) {
  const long k_size = args.product.k, out_l = args.product.out.row_step, out_s = args.product.out.column_step;
  const long l = (long)get_global_id(0) * NR;
  const long begin = min(l, args.product.m - NR);
  x += args.product.a.offset + begin;
  out += args.product.out.offset + begin * out_l;
  for (long k0 = 0; k0 < k_size; k0 += KB) {
    const int terms = (int)min((long)KB, k_size - k0);
    for (long s = 0; s < args.product.n; s += MR)
      tile(panels + s * k_size + k0 * MR, MR, x + k0 * args.product.a.k_step, args.product.a.k_step, terms,
           out + s * out_s, out_s, out_l, (int)min((long)MR, args.product.n - s), (int)(l - begin), NR,
           args.product.alpha, args.product.beta, k0 == 0);
  }
}

// few_rows does the work of skinny_columns if l is the index of the columns of out and the rows of out and x are
// contiguous. It takes up to MR rows of the short operand y at a time; element (s, k) is at y[s * y_s + k * y_k].
#define AHEAD 12  // prefetch distance in rows of x

// Sums a strip, and prefetches a pair of vectors for each term. `next` is pair `pair` of the `row_pairs` adjacent pairs
// of a row; the pairs of the next row follow the last pair.
#define STRIP(name, FOR_ROWS)                                                                                  \
  static void name(__global const float* restrict a, __global const float* restrict b, long b_step, int terms, \
                   __global const float* next, int pair, int row_pairs, __private float* sums) {               \
    FOR_ROWS(ZERO)                                                                                             \
    for (int k = 0; k < terms; ++k, a += MR, b += b_step) {                                                    \
      const vec b0 = VLOAD(0, b), b1 = VLOAD(1, b);                                                            \
      FETCH(b + AHEAD * b_step);                                                                               \
      FETCH(b + AHEAD * b_step + NR - 1);                                                                      \
      FETCH_EARLY(next);                                                                                       \
      FETCH_EARLY(next + VW);                                                                                  \
      next += NR;                                                                                              \
      if (++pair == row_pairs) {                                                                               \
        pair = 0;                                                                                              \
        next += b_step - row_pairs * NR;                                                                       \
      }                                                                                                        \
      FOR_ROWS(STEP)                                                                                           \
    }                                                                                                          \
    FOR_ROWS(STRIP_SAVE)                                                                                       \
  }
#define STRIP_SAVE(i)                \
  VSTORE(s##i##0, 2 * i, sums);      \
  VSTORE(s##i##1, 2 * i + 1, sums);
STRIP(strip_whole, FOR_MR)
STRIP(strip_one, FOR_1)
STRIP(strip_middle, FOR_MIDDLE)
STRIP(strip_small, FOR_SMALL)

// Sums WIDE strips of one row of y side by side, whose sums would otherwise wait for each other. The hardware fetches the
// longer runs of x by itself; prefetching them took longer.
#define WIDE 4
static void strips_of_row(__global const float* restrict a, __global const float* restrict b, long b_step, int terms,
                          __private float* sums) {
  vec s[2 * WIDE];
  UNROLL
  for (int i = 0; i < 2 * WIDE; ++i) s[i] = SPLAT(0.0f);
  for (int k = 0; k < terms; ++k, a += MR, b += b_step) {
    const vec ai = SPLAT(a[0]);
    UNROLL
    for (int i = 0; i < 2 * WIDE; ++i) s[i] = fma(ai, VLOAD(i, b), s[i]);
  }
  UNROLL
  for (int i = 0; i < 2 * WIDE; ++i) VSTORE(s[i], i, sums);
}

// Packs `terms` terms of `live` rows of y: row i of term k goes to a[k * MR + i]. Elements from `live` to `rows` are
// arbitrary. With `whole`, whole vectors of y may be read. The next term overwrites what a vector writes after the
// rows.
static void pack_rows(__global const float* restrict y, long y_s, long y_k, int live, int rows, int whole, int terms,
               __global float* restrict a) {
  int k = 0;
  if (y_k == 1)
    k = pack_transposed(y, y_s, live, terms, a, MR);
  else if (VW >= MR && live == MR && y_s == 1 && whole)
    for (; k < terms - 1; ++k) VSTORE(VLOAD(0, y + k * y_k), 0, a + k * MR);
  for (; k < terms; ++k)
    for (int i = 0; i < rows; ++i) a[k * MR + i] = y[min(i, live - 1) * y_s + k * y_k];
}

#define STRIP_OUT(space)                                                                                               \
  static __attribute__((overloadable)) void strip_out(space const float* sum, __global float* out, int columns, float alpha, \
                                               float keep) {                                                           \
    int j = 0;                                                                                                         \
    for (; j + VW <= columns; j += VW) {                                                                               \
      const vec s = VLOAD(0, sum + j), scaled = SPLAT(alpha) * s;                                                      \
      VSTORE(keep == 0.0f ? scaled : fma(SPLAT(alpha), s, SPLAT(keep) * VLOAD(0, out + j)), 0, out + j);               \
    }                                                                                                                  \
    for (; j < columns; ++j) skinny_out(sum[j], out + j, alpha, keep, 1);                                              \
  }
STRIP_OUT(__private)
STRIP_OUT(__global)

// One work-item computes columns_each columns (a multiple of NR) over blocks_each blocks of terms. If work-items share
// the blocks, it leaves their sums in `out`, one s_size x l_size matrix per block, for sum_of_blocks. The last NR
// columns start early, and the kernel drops the results that overlap those of another work-item. With fewer than NR but
// more than VW columns, it drops values read after a row, and first copies the last block, after which it may read no
// memory. Each work-item needs (MR + NR) * KB floats of scratch.
__kernel ONE_ITEM void few_rows(ITEM const SkinnyArgs args, __global const float* restrict x,
                                __global const float* restrict y, __global float* restrict out,
                                __global float* restrict scratch, __global const float* bias) {
  const long k_step = args.product.b.k_step, y_s = args.product.a.row_step, y_k = args.product.a.k_step;
  const long l_size = args.product.n, k_size = args.product.k;
  const int s_size = (int)args.product.m;
  const long c0 = (long)get_global_id(0) * args.columns_each, c1 = min(c0 + args.columns_each, l_size);
  const long k_begin = (long)get_global_id(1) * args.blocks_each * KB,
             k_end = min(k_begin + args.blocks_each * KB, k_size);
  const epilogue_t end = epilogue(bias, args.product);
  __global float* a = scratch + ((long)get_global_id(1) * get_global_size(0) + get_global_id(0)) * (MR + NR) * KB;
  __global float* copied = a + MR * KB;
  x += args.product.b.offset;
  y += args.product.a.offset;
  out += args.product.out.offset;
  for (long k0 = k_begin; k0 < k_end; k0 += KB) {
    const int terms = (int)min((long)KB, k_size - k0), copies = l_size < NR && k0 + KB >= k_size;
    for (int k = 0; copies && k < terms; ++k)
      for (int j = 0; j < NR; ++j) copied[k * NR + j] = j < l_size ? x[(k0 + k) * k_step + j] : 0.0f;
    for (int s0 = 0; s0 < s_size; s0 += MR) {
      const int live = min(MR, s_size - s0);
      const int rows = live == 1 ? 1 : live <= SMALL ? SMALL : live <= MIDDLE ? MIDDLE : MR;
      pack_rows(y + s0 * y_s + k0 * y_k, y_s, y_k, live, rows, s_size - s0 >= VW, terms, a);
      for (long c = c0, step = NR; c < c1; c += step) {
        step = rows == 1 && c + WIDE * NR <= c1 ? WIDE * NR : NR;
        const long begin = max(min(c, l_size - NR), 0L);
        __global const float* b = copies ? copied : x + k0 * k_step + begin;
        const long b_step = copies ? NR : k_step;
        float sums[MR * NR];
        // While the first rows of y read x from memory, the strips prefetch the next terms of x, run by run.
        __global const float* next = b;
        int pair = 0, row_pairs = 1;
        if (s0 == 0 && k0 + KB < k_end) {
          const long pairs = (c - c0) / NR * KB;
          row_pairs = (int)((c1 - c0 + NR - 1) / NR);
          pair = (int)(pairs % row_pairs);
          next = x + (k0 + KB + pairs / row_pairs) * k_step + c0 + pair * NR;
        }
#define STRIP_ARGUMENTS a, b, b_step, terms, next, pair, row_pairs, sums
        if (step > NR)
          strips_of_row(a, b, b_step, terms, sums);
        else if (rows == 1)
          strip_one(STRIP_ARGUMENTS);
        else if (rows == SMALL)
          strip_small(STRIP_ARGUMENTS);
        else if (rows == MIDDLE)
          strip_middle(STRIP_ARGUMENTS);
        else
          strip_whole(STRIP_ARGUMENTS);
        const int skip = (int)(c - begin), columns = (int)min(step, c1 - c);
        for (int i = 0; i < live; ++i) {
          __private const float* sum = sums + i * NR + skip;
          __global float* to = args.shared ? out + ((k0 / KB) * s_size + s0 + i) * l_size + c
                                           : out + (s0 + i) * args.product.out.row_step + c;
          if (args.shared) {
            strip_out(sum, to, columns, 1.0f, 0.0f);
            continue;
          }
          strip_out(sum, to, columns, args.product.alpha, k0 == 0 ? args.product.beta : 1.0f);
          if (k0 + KB >= k_size && (args.product.biased || args.product.relu)) finish_row(to, end, c, columns);
        }
      }
    }
  }
}

// Does the work of few_rows for long rows of x and at most SHORT rows of y, where memory bandwidth is the limit. Reads
// TERMS rows of x at a time from end to end. Work-items work far apart, and the sums stay in the core's cache.
#if VW == 16
#define TERMS 16
#else
#define TERMS 8
#endif

// Adds `n` terms of VW columns of x, multiplied by the same number of terms of `live` rows of y (row i at y[i *
// TERMS]), to the sums of these columns. Prefetches the following rows and the next columns of these rows.
static __attribute__((always_inline)) void meet(__global const float* restrict x, long x_step, const float* y, int live, int n,
                                         __global float* restrict sums) {
  vec terms[TERMS];
  UNROLL
  for (int k = 0; k < n; ++k) {
    terms[k] = VLOAD(0, x + k * x_step);
    FETCH_EARLY(x + (TERMS + k) * x_step);
    FETCH(x + k * x_step + 4 * VW);
  }
  for (int i = 0; i < live; ++i) {
    vec sum = VLOAD(i, sums);
    UNROLL
    for (int k = 0; k < n; ++k) sum = fma(SPLAT(y[i * TERMS + k]), terms[k], sum);
    VSTORE(sum, i, sums);
  }
}

// One work-item sums blocks_each blocks of terms and leaves the sums in `out`, one s_size x l_size matrix per block,
// for sum_of_blocks. There are at least VW columns; the last VW columns start early, and the kernel drops their overlap
// with earlier columns. Each work-item needs scratch for s_size rows of l_size floats, rounded up to whole vectors.
__kernel ONE_ITEM void long_rows(ITEM const SkinnyArgs args, __global const float* restrict x,
                                 __global const float* restrict y, __global float* restrict out,
                                 __global float* restrict scratch) {
  const long k_step = args.product.b.k_step, y_s = args.product.a.row_step, y_k = args.product.a.k_step;
  const long l_size = args.product.n;
  const int s_size = (int)args.product.m;
  const long k_begin = (long)get_global_id(0) * args.blocks_each * KB,
             k_end = min(k_begin + args.blocks_each * KB, args.product.k);
  const long vectors = (l_size + VW - 1) / VW;
  __global float* sums = scratch + (long)get_global_id(0) * vectors * VW * s_size;
  x += args.product.b.offset;
  y += args.product.a.offset;
  for (long k0 = k_begin; k0 < k_end; k0 += KB) {
    for (long v = 0; v < vectors * s_size; ++v) VSTORE(SPLAT(0.0f), v, sums);
    const long k1 = min(k0 + KB, k_end);
    for (long k = k0; k < k1;) {
      const int n = k1 - k < TERMS ? 1 : TERMS;
      float terms[SHORT * TERMS];
      for (int i = 0; i < s_size; ++i)
        for (int j = 0; j < n; ++j) terms[i * TERMS + j] = y[i * y_s + (k + j) * y_k];
      for (long v = 0; v < vectors; ++v) {
        __global const float* rows = x + k * k_step + min(v * VW, l_size - VW);
        if (n == TERMS)
          meet(rows, k_step, terms, s_size, TERMS, sums + v * s_size * VW);
        else
          meet(rows, k_step, terms, s_size, 1, sums + v * s_size * VW);
      }
      k += n;
    }
    for (long v = 0; v < vectors; ++v) {
      const long c = v * VW, skip = c - min(c, l_size - VW);
      for (int i = 0; i < s_size; ++i)
        strip_out(sums + (v * s_size + i) * VW + skip, out + (k0 / KB * s_size + i) * l_size + c, (int)(VW - skip),
                  1.0f, 0.0f);
    }
  }
}

// Does the work of few_rows for a single term. Memory bandwidth is the limit, so it writes one row at a time.
__kernel ONE_ITEM void few_rows_one_term(ITEM const SkinnyArgs args, __global const float* restrict x,
                                         __global const float* restrict y, __global float* restrict out,
                                         __global const float* bias) {
  const float alpha = args.product.alpha, beta = args.product.beta;
  const long c0 = (long)get_global_id(0) * args.columns_each, c1 = min(c0 + args.columns_each, args.product.n);
  const epilogue_t end = epilogue(bias, args.product);
  x += args.product.b.offset;
  for (int s = 0; s < (int)args.product.m; ++s) {
    __global float* to = out + args.product.out.offset + s * args.product.out.row_step;
    const float term = y[args.product.a.offset + s * args.product.a.row_step];
    long c = c0;
    for (; c + VW <= c1; c += VW) {
      const vec sum = fma(VLOAD(0, x + c), SPLAT(term), SPLAT(0.0f));
      VSTORE(beta == 0.0f ? SPLAT(alpha) * sum : fma(SPLAT(alpha), sum, SPLAT(beta) * VLOAD(0, to + c)), 0, to + c);
    }
    for (; c < c1; ++c) skinny_out(fma(x[c], term, 0.0f), to + c, alpha, beta, 1);
    if (args.product.biased || args.product.relu) finish_row(to + c0, end, c0, c1 - c0);
  }
}

// Adds the block sums from the kernels above in order. One work-item computes one row or a part of a row.
__kernel ONE_ITEM void sum_of_blocks(ITEM const SumOfBlocksArgs args, __global const float* restrict part,
                                     __global float* restrict out, __global const float* bias) {
  const long l_size = args.product.n;
  const float alpha = args.product.alpha, beta = args.product.beta;
  const long s = (long)get_global_id(1), c0 = (long)get_global_id(0) * args.columns_each,
             c1 = min(c0 + args.columns_each, l_size);
  const long apart = args.product.m * l_size;
  part += s * l_size;
  out += args.product.out.offset + s * args.product.out.row_step;
  long c = c0;
  for (; c + VW <= c1; c += VW) {
    vec sum = SPLAT(alpha) * VLOAD(0, part + c);
    if (beta != 0.0f) sum = fma(SPLAT(alpha), VLOAD(0, part + c), SPLAT(beta) * VLOAD(0, out + c));
    for (long b = 1; b < args.blocks; ++b) sum = fma(SPLAT(alpha), VLOAD(0, part + b * apart + c), sum);
    VSTORE(sum, 0, out + c);
  }
  for (; c < c1; ++c)
    for (long b = 0; b < args.blocks; ++b) skinny_out(part[b * apart + c], out + c, alpha, beta, b == 0);
  if (args.product.biased || args.product.relu) finish_row(out + c0, epilogue(bias, args.product), c0, c1 - c0);
}

// Multiplies terms [k, k1) of a vector of columns by FOR_ROWS rows of x, of which `live` exist. Element (i, k) of x is
// at x[i * l_step + k * x_k], and element (k, j) of b is at b[j * b_row + k * b_k]. Terms before `whole` may be read as
// whole vectors.
#define SMALL_STEP(i) t##i = fma(SPLAT(x##i[k * x_k]), terms, t##i);
#define SMALL_ROWS(name, FOR_ROWS)                                                                                  \
  static void name(__global const float* restrict x, long l_step, long x_k, int live, __global const float* restrict b, \
                   long b_row, long b_k, int columns, long k, long whole, long k1, __private float* sums) {          \
    FOR_ROWS(ROW)                                                                                                   \
    FOR_ROWS(SKINNY_ZERO)                                                                                           \
    for (; k < whole; ++k) {                                                                                        \
      const vec terms = VLOAD(0, b + k * b_k);                                                                      \
      FOR_ROWS(SMALL_STEP)                                                                                          \
    }                                                                                                               \
    for (; k < k1; ++k) {                                                                                           \
      float part[VW];                                                                                               \
      for (int j = 0; j < VW; ++j) part[j] = b[min(j, columns - 1) * b_row + k * b_k];                              \
      const vec terms = VLOAD(0, part);                                                                             \
      FOR_ROWS(SMALL_STEP)                                                                                          \
    }                                                                                                               \
    FOR_ROWS(SKINNY_SPILL)                                                                                          \
  }
SMALL_ROWS(small_rows_whole, FOR_MR)
SMALL_ROWS(small_rows_middle, FOR_MIDDLE)
SMALL_ROWS(small_rows_small, FOR_SMALL)

// Computes a product that is so small that launches would dominate its cost. One work-item does all of it, with the
// operands in place, and multiplies up to MR rows of a by a vector of columns at a time. Element (i, k) of a is at a[i
// * a_row + k * a_k], and element (k, j) of b is at b[j * b_row + k * b_k].
__kernel ONE_ITEM void small_product(ITEM const SkinnyArgs args, __global const float* restrict a,
                                     __global const float* restrict b, __global float* restrict out,
                                     __global const float* bias) {
  const long a_row = args.product.a.row_step, a_k = args.product.a.k_step, b_row = args.product.b.row_step;
  const long b_k = args.product.b.k_step, k_size = args.product.k, out_step = args.product.out.row_step;
  const epilogue_t end = epilogue(bias, args.product);
  a += args.product.a.offset;
  b += args.product.b.offset;
  out += args.product.out.offset;
  for (long i0 = 0; i0 < args.product.m; i0 += MR) {
    const int rows = (int)min((long)MR, args.product.m - i0);
    for (long j0 = 0; j0 < args.product.n; j0 += VW) {
      const int columns = (int)min((long)VW, args.product.n - j0);
      // A vector that is longer than the columns also reads columns of later terms, which the last terms do not have.
      const long spilt = columns < VW ? (VW - columns - 1) / max(b_k, 1L) + 1 : 0;
      const long whole = b_row == 1 ? k_size - spilt : 0;
      for (long k0 = 0; k0 < k_size; k0 += KB) {
        const long k1 = min(k0 + KB, k_size);
        float sums[MR * VW];
#define SMALL_ARGUMENTS \
  a + i0 * a_row, a_row, a_k, rows, b + j0 * b_row, b_row, b_k, columns, k0, min(whole, k1), k1, sums
        if (rows <= SMALL)
          small_rows_small(SMALL_ARGUMENTS);
        else if (rows <= MIDDLE)
          small_rows_middle(SMALL_ARGUMENTS);
        else
          small_rows_whole(SMALL_ARGUMENTS);
        for (int i = 0; i < rows; ++i)
          strip_out(sums + i * VW, out + (i0 + i) * out_step + j0, columns, args.product.alpha,
                    k0 == 0 ? args.product.beta : 1.0f);
      }
    }
    if (args.product.biased || args.product.relu)
      for (int i = 0; i < rows; ++i) finish_row(out + (i0 + i) * out_step, end, 0, args.product.n);
  }
}
