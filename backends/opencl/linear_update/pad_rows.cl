// x with rows of `padded` floats, zero behind the end, after common.cl: one work-item copies one row.
__kernel ONE_ITEM void pad_rows(ITEM __global const float* restrict x, long offset, long step, long columns,
                                __global float* restrict out, long padded) {
  const long r = get_global_id(0);
  for (long c = 0; c < padded; ++c) out[r * padded + c] = c < columns ? x[offset + r * step + c] : 0.0f;
}
