// Completes a symmetric matrix: sets to[c][r] = from[r][c] for rows r and columns c of a part. Both parts have stride
// `ld` and may lie in one buffer without overlap. Each work-group copies one tile, in the order of the tiles of `from`.
#define SIDE 16

#ifdef FP16
#define STORED half
#define STORE(value, at) vstore_half_rte(value, at, to)
#else
#define STORED float
#define STORE(value, at) to[at] = value
#endif

__kernel __attribute__((reqd_work_group_size(SIDE * SIDE, 1, 1))) void mirror(
    __global const float* from, const long from_at, __global STORED* to, const long to_at, const long ld,
    const long rows, const long columns) {
  __local float tile[SIDE][SIDE + 1];
  const int x = (int)(get_local_id(0) % SIDE), y = (int)(get_local_id(0) / SIDE);
  const long across = (columns + SIDE - 1) / SIDE;
  const long r0 = (long)get_group_id(0) / across * SIDE, c0 = (long)get_group_id(0) % across * SIDE;
  if (r0 + y < rows && c0 + x < columns) tile[y][x] = from[from_at + (r0 + y) * ld + c0 + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (c0 + y < columns && r0 + x < rows) STORE(tile[x][y], to_at + (c0 + y) * ld + r0 + x);
}
