// Sets out[r][c] = -1/2 distance(x_r, y_c), the place of a dot product in an RBF kernel whose norms are 0: the kernel is
// then exp(-gamma * distance). CHI_SQUARED selects sum (x - y)^2 / (x + y), without terms 0 / 0; otherwise the distance
// is sum |x - y|. Each work-group computes a tile. Term f goes to partial sum f % 16, as in distances_native.cpp.
#pragma OPENCL FP_CONTRACT OFF
#define SIDE 16

#ifdef CHI_SQUARED
float term(float x, float y) {
  const float difference = x - y, sum = x + y;
  return sum > 0.0f ? difference * difference / sum : 0.0f;
}
#else
float term(float x, float y) { return fabs(x - y); }
#endif

__kernel __attribute__((reqd_work_group_size(SIDE * SIDE, 1, 1))) void distances(
    __global const float* x, const long x_at, const long x_ld, __global const float* y, const long y_at,
    const long y_ld, __global float* out, const long out_at, const long out_ld, const long rows, const long columns,
    const long features) {
  __local float xs[SIDE][SIDE + 1], ys[SIDE][SIDE + 1];
  const int a = (int)(get_local_id(0) % SIDE), b = (int)(get_local_id(0) / SIDE);
  const long across = (columns + SIDE - 1) / SIDE;
  const long r0 = (long)get_group_id(0) / across * SIDE, c0 = (long)get_group_id(0) % across * SIDE;
  float sums[SIDE];
  for (int t = 0; t < SIDE; ++t) sums[t] = 0.0f;
  for (long f = 0; f < features; f += SIDE) {
    const bool inside = f + a < features;
    xs[b][a] = inside && r0 + b < rows ? x[x_at + (r0 + b) * x_ld + f + a] : 0.0f;
    ys[b][a] = inside && c0 + b < columns ? y[y_at + (c0 + b) * y_ld + f + a] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int t = 0; t < SIDE; ++t) sums[t] += term(xs[b][t], ys[a][t]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int width = SIDE / 2; width > 0; width /= 2)
    for (int t = 0; t < width; ++t) sums[t] += sums[t + width];
  if (r0 + b < rows && c0 + a < columns) out[out_at + (r0 + b) * out_ld + c0 + a] = -0.5f * sums[0];
}
