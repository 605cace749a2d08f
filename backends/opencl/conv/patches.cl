// Implements unfold of patches.cpp.
#include "common/windows.cl"
#include "conv/patches_args.h"

static void copy(__global const float* from, __global float* to, long n) {
  if (n < VW) {
    for (long i = 0; i < n; ++i) to[i] = from[i];
    return;
  }
  for (long i = 0; i + VW <= n; i += VW) VSTORE(VLOAD(0, from + i), 0, to + i);
  if (n % VW != 0) VSTORE(VLOAD(0, from + n - VW), 0, to + n - VW);
}

static void clear(__global float* to, long n) {
  for (long i = 0; i < n; ++i) to[i] = 0.0f;
}

// Copies `count` windows that lie inside the image. In `from`, windows are `apart` floats apart and their rows are
// `line` floats apart; in `to`, the distances are to_step and `run`. If runs are shorter than a vector, also copies the
// values after a run where the next runs, which end before `limit`, overwrite these values later.
static void copy_windows(__global const float* from, long apart, long line, __global const float* from_end,
                  __global float* to, long to_step, __global const float* limit, long run, int kernel_h, int count) {
  const long last_row = (kernel_h - 1) * line, last_run = (kernel_h - 1) * run;
  int w = 0;
  if (run > 2 * VW) {
    for (; w < count; ++w, from += apart, to += to_step)
      for (int i = 0; i < kernel_h; ++i) copy(from + i * line, to + i * run, run);
  } else if (run >= VW) {
    for (; w < count; ++w, from += apart, to += to_step) {
      __global const float* p = from;
      __global float* q = to;
      for (int i = 0; i < kernel_h; ++i, p += line, q += run) {
        const vec first = VLOAD(0, p), last = VLOAD(0, p + run - VW);
        VSTORE(first, 0, q);
        VSTORE(last, 0, q + run - VW);
      }
    }
  } else {
    for (; w < count && from + last_row + VW <= from_end && to + last_run + VW <= limit;
         ++w, from += apart, to += to_step) {
      __global const float* p = from;
      __global float* q = to;
      for (int i = 0; i < kernel_h; ++i, p += line, q += run) VSTORE(VLOAD(0, p), 0, q);
    }
    for (; w < count; ++w, from += apart, to += to_step)
      for (int i = 0; i < kernel_h; ++i)
        for (int j = 0; j < (int)run; ++j) to[i * run + j] = from[i * line + j];
  }
}

// Copies windows row by row, on CPUs. A row is one contiguous run if the window is inside the image.
__kernel ONE_ITEM void unfold_vector(ITEM const PatchesArgs args, __global const float* images, __global float* out) {
  const WindowSides sides = args.sides;
  const long run = (long)sides.kernel_w * sides.channels, line = (long)sides.width * sides.channels;
  // Windows [in0, in1) of a row lie inside the image.
  const int room = sides.width + sides.pad_w - sides.kernel_w;
  const int in0 = min((sides.pad_w + sides.stride_w - 1) / sides.stride_w, sides.out_w),
            in1 = room < 0 ? 0 : min(room / sides.stride_w + 1, sides.out_w);
  out += args.patches.offset;
  FOR_EACH_ROW {
    const long row = args.first_row + r, n = divide(row, sides.out_h);
    const int top = (int)(row - n * sides.out_h) * sides.stride_h - sides.pad_h;
    __global const float* image = images + args.images.offset + n * args.images.step;
    // `limit` is the end of the memory that this work-item writes, if that memory is contiguous.
    __global const float* limit =
        args.patches.step == run * sides.kernel_h ? out + row1 * sides.out_w * args.patches.step : out;
    const bool inside = top >= 0 && top + sides.kernel_h <= sides.height;
    for (int column = 0; column < sides.out_w; ++column) {
      const int left = column * sides.stride_w - sides.pad_w;
      __global float* to = out + (r * sides.out_w + column) * args.patches.step;
      if (inside && column == in0 && in1 > in0) {
        copy_windows(image + top * line + (long)left * sides.channels, (long)sides.stride_w * sides.channels, line,
                     image + sides.height * line, to, args.patches.step, limit, run, sides.kernel_h, in1 - in0);
        column = in1 - 1;
        continue;
      }
      // Columns [begin, end) of the window lie inside the image.
      const int begin = max(0, -left),
                end = min(sides.kernel_w, sides.width - left);
      for (int i = 0; i < sides.kernel_h; ++i, to += run) {
        if (top + i < 0 || top + i >= sides.height) {
          clear(to, run);
          continue;
        }
        __global const float* from = image + (top + i) * line + (long)(left + begin) * sides.channels;
        clear(to, (long)begin * sides.channels);
        copy(from, to + (long)begin * sides.channels, (long)(end - begin) * sides.channels);
        clear(to + (long)end * sides.channels, (long)(sides.kernel_w - end) * sides.channels);
      }
    }
  }
}

// Copies windows on GPUs: adjacent work-items take adjacent elements of a patch, which `channels_each` counts here.
__kernel void unfold_scalar(ITEM const PatchesArgs args, __global const float* images, __global float* out) {
  const WindowSides sides = args.sides;
  const long run = (long)sides.kernel_w * sides.channels, patch = run * sides.kernel_h;
  const long e0 = (long)get_global_id(0) * args.grid.channels_each, e1 = min(e0 + args.grid.channels_each, patch);
  FOR_EACH_ROW {
    const long row = args.first_row + r, n = divide(row, sides.out_h);
    const int top = (int)(row - n * sides.out_h) * sides.stride_h - sides.pad_h;
    __global const float* image = images + args.images.offset + n * args.images.step;
    FOR_EACH_COLUMN(sides.out_w) {
      const int left = x * sides.stride_w - sides.pad_w;
      __global float* to = out + args.patches.offset + (r * sides.out_w + x) * args.patches.step;
      for (long e = e0; e < e1; ++e) {
        const long i = divide(e, run), in_run = e - i * run;
        const int from_y = top + (int)i, from_x = left + (int)divide(in_run, sides.channels);
        const bool inside = from_y >= 0 && from_y < sides.height && from_x >= 0 && from_x < sides.width;
        to[e] = inside ? image[((long)from_y * sides.width + left) * sides.channels + in_run] : 0.0f;
      }
    }
  }
}
