// Divides counts of elements, which are not negative, in 32 bits if possible, because a 64-bit division takes a GPU about
// a hundred instructions. With ALIGNED, the host has checked that 32 bits suffice (for_views in grid.hpp).
#ifdef ALIGNED
static long divide(long a, long b) { return (long)((uint)a / (uint)b); }
#else
static long divide(long a, long b) { return ((a | b) >> 32) == 0 ? (long)((uint)a / (uint)b) : a / b; }
#endif
