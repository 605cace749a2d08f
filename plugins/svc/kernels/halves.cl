// Converts `count` consecutive kernel values between floats and halves (ADR 63), one in each work-item. Floats become the
// nearest half; for ties, the one whose last bit is 0.

__kernel void narrow(__global const float* from, const long from_at, __global half* to, const long to_at,
                     const long count) {
  const long k = get_global_id(0);
  if (k < count) vstore_half_rte(from[from_at + k], to_at + k, to);
}

__kernel void widen(__global const half* from, const long from_at, __global float* to, const long to_at,
                    const long count) {
  const long k = get_global_id(0);
  if (k < count) to[to_at + k] = vload_half(from_at + k, from);
}
