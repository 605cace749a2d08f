// Computes products of sparse rows. A tile holds `width` rows as columns: the value of row t in a column c is at
// tile[c * width + t]. A product is a sum of fp32 fma in ascending order of the columns, in which zeros change nothing,
// so the bits are those of sparse_native.cpp.
#pragma OPENCL FP_CONTRACT OFF
#define SIDE 16

// Writes the rows index[first + t] to the tile or, if `clear` is set, zeros in their place.
__kernel void sparse_tile(__global const long* starts, __global const int* column, __global const float* x,
                          __global const int* index, const long first, const long count, __global float* tile,
                          const long width, const int clear) {
  const long t = (long)get_global_id(0);
  if (t >= count) return;
  const long row = index[first + t];
  for (long i = starts[row]; i < starts[row + 1]; ++i) tile[column[i] * width + t] = clear ? 0.0f : x[i];
}

// Sets out[t][r] to the product of row t of the tile and row r of y. A work-group has 16 rows of each.
__kernel __attribute__((reqd_work_group_size(SIDE * SIDE, 1, 1))) void sparse_products(
    __global const float* tile, const long width, const long lanes, __global const long* starts,
    __global const int* column, __global const float* x, const long rows, __global float* out, const long out_at,
    const long out_ld) {
  __local float sums[SIDE][SIDE + 1];
  const int a = (int)(get_local_id(0) % SIDE), b = (int)(get_local_id(0) / SIDE);
  const long across = (rows + SIDE - 1) / SIDE;
  const long t0 = (long)get_group_id(0) / across * SIDE, r0 = (long)get_group_id(0) % across * SIDE;
  float sum = 0.0f;
  if (r0 + b < rows)
    for (long i = starts[r0 + b]; i < starts[r0 + b + 1]; ++i)
      sum = fma(x[i], tile[column[i] * width + t0 + a], sum);
  sums[a][b] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t0 + b < lanes && r0 + a < rows) out[out_at + (t0 + b) * out_ld + r0 + a] = sums[b][a];
}
