// Iteration over images. The geometry is that of sdk/ops/window.hpp: sides are at most 2^20, so pixel positions are
// ints; counts of elements are longs.
//
// A work-item does a few rows of pixels with `channels` channels each: whole rows on CPUs, one element (VW = 1) on
// GPUs. An element's operations depend only on its position, so its bits are the same for every VW and grid.
#include "common/vector.cl"

// A 64-bit division takes a GPU about a hundred instructions.
static long divide(long a, long b) { return ((a | b) >> 32) == 0 ? (long)((uint)a / (uint)b) : a / b; }

// FOR_EACH_ROW iterates over an ImageGrid and sets r. Row y of image n is
//   n = divide(r, rows of an image), y = r - n * rows of an image.
#define FOR_EACH_ROW                                                 \
  const long row0 = (long)get_global_id(2) * args.grid.rows_each;    \
  const long row1 = min(row0 + args.grid.rows_each, args.grid.rows); \
  for (long r = row0; r < row1; ++r)
#define FOR_EACH_COLUMN(columns)                                   \
  const int x0 = (int)get_global_id(1) * args.grid.columns_each;   \
  const int x1 = min(x0 + args.grid.columns_each, (int)(columns)); \
  for (int x = x0; x < x1; ++x)
// VW <= channels: the last vector of a pixel starts early and repeats some channels.
#define FOR_EACH_CHANNEL(channels)                                \
  const int c0 = (int)get_global_id(0) * args.grid.channels_each; \
  const int c1 = min(c0 + args.grid.channels_each, channels);     \
  for (int c = c0; c < c1; c += VW)
#define CHANNEL min(c, c1 - VW)

// The windows along one side that contain a pixel, from `high` down to `low`. In window w it is pixel pixel + pad - w *
// stride, so pixels ascend.
#define WINDOWS_OF(pixel, pad, kernel_size, stride, count, low, high)                              \
  const int high = min(((pixel) + (pad)) / (stride), (count)-1);                                   \
  const int low = (pixel) + (pad) < (kernel_size) ? 0 : ((pixel) + (pad) - (kernel_size)) / (stride) + 1
