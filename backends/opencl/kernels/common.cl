// What every kernel here starts with. Sums and products are contracted where fma() is written and nowhere else. A device
// without fma in hardware (CL_FP_FMA) would emulate it at a tenth of the speed: there a product and a sum are rounded
// one after the other, in the same order, so that variants still agree with each other bit by bit.
#pragma OPENCL FP_CONTRACT OFF
#ifdef NO_FMA
#define fma(a, b, c) ((a) * (b) + (c))
#endif

// The place of a work-item in the third dimension, of `count`. Where kernels run for a group (group.cpp), the members lie
// behind each other there.
#ifdef GROUPED
#define THIRD(count) ((long)get_global_id(2) % (count))
#else
#define THIRD(count) ((long)get_global_id(2))
#endif

#define UNROLL __attribute__((opencl_unroll_hint))
#define ONE_ITEM __attribute__((reqd_work_group_size(1, 1, 1)))
