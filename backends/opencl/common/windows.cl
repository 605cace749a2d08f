// How kernels go over images. The geometry is that of sdk/ops/window.hpp: sides are at most 2^20, so
// positions of pixels are ints; what counts elements is long.
//
// A work-item does some rows of pixels, of `channels` channels each: whole rows on CPUs, one element (VW = 1) on GPUs.
// An element's operations depend on its position alone, so its bits are the same for every VW and grid.
#include "common/vector.cl"

// 64-bit division takes a GPU a hundred instructions.
static long divide(long a, long b) { return ((a | b) >> 32) == 0 ? (long)((uint)a / (uint)b) : a / b; }

// FOR_EACH_ROW goes over an ImageGrid and gives r; row y of image n is
//   n = divide(r, rows of an image), y = r - n * rows of an image.
#define FOR_EACH_ROW                                                 \
  const long row0 = (long)get_global_id(2) * args.grid.rows_each;    \
  const long row1 = min(row0 + args.grid.rows_each, args.grid.rows); \
  for (long r = row0; r < row1; ++r)
#define FOR_EACH_COLUMN(columns)                                   \
  const int x0 = (int)get_global_id(1) * args.grid.columns_each;   \
  const int x1 = min(x0 + args.grid.columns_each, (int)(columns)); \
  for (int x = x0; x < x1; ++x)
// VW <= channels: the last vector of a pixel begins early and does some channels again.
#define FOR_EACH_CHANNEL(channels)                                \
  const int c0 = (int)get_global_id(0) * args.grid.channels_each; \
  const int c1 = min(c0 + args.grid.channels_each, channels);     \
  for (int c = c0; c < c1; c += VW)
#define CHANNEL min(c, c1 - VW)

// The windows of one side that a pixel lies in: from `high` down to `low`; in window w it is pixel
// pixel + pad - w * stride, so pixels ascend.
#define WINDOWS_OF(pixel, pad, kernel_size, stride, count, low, high)                              \
  const int high = min(((pixel) + (pad)) / (stride), (count)-1);                                   \
  const int low = (pixel) + (pad) < (kernel_size) ? 0 : ((pixel) + (pad) - (kernel_size)) / (stride) + 1
