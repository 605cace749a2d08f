// Computes ops that access each element once. Kernels of every VW do the same operations on each element.
#include "common/math.cl"
#include "common/runs.cl"
#include "elementwise/elementwise_args.h"
#include "formulas/kernel_function.cl"

__kernel void fill(ITEM const FillArgs args, __global float* out) {
  FOR_EACH_RUN store_some(SPLAT(args.value), out + args.out.offset + r * args.out.step + c, RUN);
}

// Computes out = value * out. If value is 0, the result is 0 regardless of the old contents.
__kernel void scale(ITEM const FillArgs args, __global float* out) {
  FOR_EACH_RUN {
    __global float* at = out + args.out.offset + r * args.out.step + c;
    store_some(args.value == 0.0f ? SPLAT(0.0f) : SPLAT(args.value) * load_some(at, RUN), at, RUN);
  }
}

// The kernel reads norm_x and norm_y only if the kind needs norms.
__kernel void kernel_map(ITEM const KernelMapArgs args, __global const float* dot, __global const float* norm_x,
                         __global const float* norm_y, __global float* out) {
  FOR_EACH_RUN {
    const float nx = NEEDS_NORMS(args.kind) ? norm_x[args.norm_x_offset + r] : 0.0f;
    const vec ny = NEEDS_NORMS(args.kind) ? load_some(norm_y + args.norm_y_offset + c, RUN) : SPLAT(0.0f);
    const vec value = kernel_value(args.kind, load_some(dot + args.dot.offset + r * args.dot.step + c, RUN), nx, ny,
                                   args.gamma, args.coef0, args.degree);
    store_some(value, out + args.out.offset + r * args.out.step + c, RUN);
  }
}

// An index outside x gives a row of NaN instead of an out-of-bounds read. Prefetches the next row, anywhere in x.
__kernel void gather_rows(ITEM const GatherRowsArgs args, __global const float* x, __global const int* index,
                          __global float* out) {
  FOR_EACH_RUN {
    const long from = index[args.index_offset + r];
    FETCH(x + args.x.offset + index[args.index_offset + min(r + 1, r1 - 1)] * args.x.step + c);
    const vec value =
        from < 0 || from >= args.x_rows ? SPLAT(NAN) : load_some(x + args.x.offset + from * args.x.step + c, RUN);
    store_some(value, out + args.out.offset + r * args.out.step + c, RUN);
  }
}
