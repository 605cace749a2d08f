// GEMM for GPUs: a BM x BN tile of the output per work-group, BK terms at a time in local memory, TM x TN sums per
// work-item. Every element is summed as ops_gemm.cpp says, so that the bits are those of gemm_vector.cl.
//
// Work-item (tx, ty) owns rows ty + i * GY and columns tx + j * GX: neighbours read and write neighbouring addresses.
#define GX (BN / TN)
#define GY (BM / TM)

// Loads the terms [k0, k0 + BK) of `width` rows from `row` on; what is past an end is zero. Consecutive work-items take
// consecutive addresses, whichever step is 1. local element (k, i) is at to[k * (width + 1) + i].
static void load_tile(__global const float* x, long row_step, long k_step, long row, long rows, long k0, long k_end,
               __local float* to, const int width, int id) {
  const int along_k = k_step == 1;
  for (int at = id; at < width * BK; at += GX * GY) {
    const int k = along_k ? at % BK : at / width;
    const int i = along_k ? at / BK : at % width;
    const int inside = row + i < rows && k0 + k < k_end;
    to[k * (width + 1) + i] = inside ? x[(row + i) * row_step + (k0 + k) * k_step] : 0.0f;
  }
}

// The tiles lie along the first dimension alone, since cards take only 65,535 groups in the others. Without `partial` the
// output is updated after each block of KB terms. With it, group z sums `blocks_each` blocks and leaves block i in
// out[i][rows][columns] for gemm_reduce.
__kernel GROUP_OF(GX, GY) void gemm_tile(
    ITEM __global const float* a, long a_offset, long a_row_step, long a_k_step, __global const float* b, long b_offset,
    long b_row_step, long b_k_step, long rows, long columns, long k_size, __global float* out, long out_offset,
    long out_step, float alpha, float beta, long blocks_each, int partial, __local float* ta) {
  __local float* tb = ta + BK * (BM + 1);
  const int tx = get_local_id(0), ty = get_local_id(1), id = ty * GX + tx;
  const uint tile = get_group_id(0), tiles_n = (uint)((columns + BN - 1) / BN);
  const long m0 = (long)(tile / tiles_n) * BM, n0 = (long)(tile % tiles_n) * BN;
  const long first = (long)get_global_id(2) * blocks_each * KB;
  const long last = min(first + blocks_each * KB, k_size);
  a += a_offset;
  b += b_offset;
  out += partial ? first / KB * rows * columns : out_offset;

  for (long block = first; block < last; block += KB) {
    const long end = min(block + KB, last);
    float sum[TM][TN];
    UNROLL
    for (int i = 0; i < TM; ++i) {
      UNROLL
      for (int j = 0; j < TN; ++j) sum[i][j] = 0.0f;
    }
    for (long k0 = block; k0 < end; k0 += BK) {
      load_tile(a, a_row_step, a_k_step, m0, rows, k0, end, ta, BM, id);
      load_tile(b, b_row_step, b_k_step, n0, columns, k0, end, tb, BN, id);
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int k = 0; k < BK; ++k) {
        float x[TM], y[TN];
        UNROLL
        for (int i = 0; i < TM; ++i) x[i] = ta[k * (BM + 1) + ty + i * GY];
        UNROLL
        for (int j = 0; j < TN; ++j) y[j] = tb[k * (BN + 1) + tx + j * GX];
        UNROLL
        for (int i = 0; i < TM; ++i) {
          UNROLL
          for (int j = 0; j < TN; ++j) sum[i][j] = fma(x[i], y[j], sum[i][j]);
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    const float keep = block == first ? beta : 1.0f;
    UNROLL
    for (int i = 0; i < TM; ++i) {
      UNROLL
      for (int j = 0; j < TN; ++j) {
        const long m = m0 + ty + i * GY, n = n0 + tx + j * GX;
        if (m < rows && n < columns) {
          __global float* at = out + m * out_step + n;
          if (partial)
            *at = sum[i][j];
          else
            *at = keep == 0.0f ? alpha * sum[i][j] : fma(alpha, sum[i][j], keep * *at);
        }
      }
    }
    if (partial) out += rows * columns;
  }
}

// Adds the block sums of a partial gemm_tile to the output in order.
__kernel void gemm_reduce(ITEM __global const float* partial, long blocks, long rows, long columns, __global float* out,
                          long out_offset, long out_step, float alpha, float beta) {
  const long n = get_global_id(0);
  if (n >= columns) return;
  for (long m = get_global_id(1); m < rows; m += get_global_size(1)) {
    __global float* at = out + out_offset + m * out_step + n;
    float value = beta == 0.0f ? alpha * partial[m * columns + n] : fma(alpha, partial[m * columns + n], beta * *at);
    for (long block = 1; block < blocks; ++block)
      value = fma(alpha, partial[(block * rows + m) * columns + n], value);
    *at = value;
  }
}
