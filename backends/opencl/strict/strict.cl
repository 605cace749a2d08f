// Computes what strict numerics relies on, so that the host can compare it.
#include "common/exact.cl"
#include "strict/strict_args.h"

// `in` holds a, b and c, of `count` values each, a multiple of VW. A work-item takes VW of each.
__kernel void strict_values(ITEM const StrictArgs args, __global const float* in, __global float* out) {
  const long i = (long)get_global_id(0), next = args.count;
  if (i * VW >= next) return;
  const vec a = VLOAD(i, in), b = VLOAD(i, in + next), c = VLOAD(i, in + 2 * next);
  const vec product = a * b;
  VSTORE(fma(a, b, c), i, out);
  VSTORE(product + c, i, out + next);
  VSTORE(QUOTIENT(a, b), i, out + 2 * next);
  VSTORE(ROOT(a), i, out + 3 * next);
}
