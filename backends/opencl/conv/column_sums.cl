// Sums over the rows of a matrix, after common.cl and vector.cl: blocks of rows first, then the blocks in order. Which
// rows a block has is the same on every device, and so are the bits.

// One work-item sums VW columns of one block of rows_each rows. VW <= columns: the last vector begins early.
__kernel void column_sums(ITEM __global const float* x, long offset, long step, long rows, int columns, long rows_each,
                          __global float* part) {
  const long block = (long)get_global_id(0), end = min((block + 1) * rows_each, rows);
  if ((int)get_global_id(1) * VW >= columns) return;
  const int c = min((int)get_global_id(1) * VW, columns - VW);
  x += offset + c;
  vec sum = SPLAT(0.0f);
  for (long r = block * rows_each; r < end; ++r) sum += VLOAD(0, x + r * step);
  VSTORE(sum, 0, part + block * columns + c);
}

__kernel void sum_blocks(ITEM __global const float* part, long blocks, int columns, __global float* out, long offset, int first) {
  const int c = (int)get_global_id(0);
  if (c >= columns) return;
  float sum = first ? 0.0f : out[offset + c];
  for (long b = 0; b < blocks; ++b) sum += part[b * columns + c];
  out[offset + c] = sum;
}
