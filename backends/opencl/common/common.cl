// Every program begins with this text. Sums and products are contracted only where fma() is written. A device without
// fma in hardware (CL_FP_FMA) would emulate it at a tenth of the speed. On such a device, a product and a sum are
// rounded separately, in the same order, so that variants still agree with each other bit by bit.
//
// The build expands each #include once, into the text of the program (cmake/embed.cmake).
#pragma OPENCL FP_CONTRACT OFF
#ifdef NO_FMA
#define fma(a, b, c) ((a) * (b) + (c))
#endif

// Generated kernels call these kernels in sequence (group/sequence.cpp) or for a member of a group (group/group.cpp). A
// called kernel is a function that takes its index in the range, so all parameters begin with ITEM.
#ifdef CALLED
#define __kernel static
#define ONE_ITEM
#define GROUP_OF(x, y)
typedef struct {
  size_t at[3], of[3];
} item_t;
#define ITEM const item_t work_item,
#define THIS_ITEM work_item,
#define get_global_id(dimension) work_item.at[dimension]
#define get_global_size(dimension) work_item.of[dimension]
#else
#define ONE_ITEM GROUP_OF(1, 1)
#define GROUP_OF(x, y) __attribute__((reqd_work_group_size(x, y, 1)))
#define ITEM
#define THIS_ITEM
#endif

// Compilers based on clang, and NVIDIA's (cl_nv_pragma_unroll), obey this pragma in every version of OpenCL C; the
// attribute opencl_unroll_hint requires OpenCL C 2.0. Unrolling keeps arrays in registers, not on the stack.
#define UNROLL _Pragma("unroll")
