// Iterates over a matrix view. One work-item processes rows_each x columns_each elements, VW at a time: whole rows on
// CPUs, four elements on GPUs.
#include "common/vector.cl"

// Loads the first n of VW elements and sets the others to zero without reading them.
static vec load_some(__global const float* p, int n) {
#if VW == 1
  return *p;
#else
  if (n == VW) return VLOAD(0, p);
  float some[VW];
  for (int i = 0; i < VW; ++i) some[i] = i < n ? p[i] : 0.0f;
  return VLOAD(0, some);
#endif
}

static void store_some(vec v, __global float* p, int n) {
#if VW == 1
  *p = v;
#else
  if (n == VW) {
    VSTORE(v, 0, p);
    return;
  }
  float some[VW];
  VSTORE(v, 0, some);
#if VW == 4
  UNROLL  // keeps the elements in registers
  for (int i = 0; i < VW; ++i)
    if (i < n) p[i] = some[i];
#else
  for (int i = 0; i < n; ++i) p[i] = some[i];
#endif
#endif
}

// Visits the part of a RunGrid that this work-item processes: for each row r, runs of n <= VW columns from c on.
#define FOR_EACH_LINE                                                                                               \
  const long r0 = (long)get_global_id(1) * args.grid.rows_each, r1 = min(r0 + args.grid.rows_each, args.grid.rows); \
  const long c0 = (long)get_global_id(0) * args.grid.columns_each;                                                  \
  const long c1 = min(c0 + args.grid.columns_each, args.grid.columns);                                              \
  for (long r = r0; r < r1; ++r)
#define FOR_EACH_RUN FOR_EACH_LINE for (long c = c0; c < c1; c += VW)
#define RUN ((int)min((long)VW, c1 - c))
