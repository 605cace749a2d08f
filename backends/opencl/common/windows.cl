// Iterates over images with the geometry of sdk/ops/window.hpp. Sides are at most 2^20, so pixel positions are ints;
// counts of elements are longs.
//
// A work-item processes a few rows of pixels with `channels` channels each: whole rows on CPUs, one element (VW = 1) on
// GPUs. An element's operations depend only on its position, so its bits are the same for every VW and grid.
#include "common/divide.cl"
#include "common/vector.cl"

// FOR_EACH_ROW iterates over an ImageGrid and sets r, which is row y of image n, where
//   n = divide(r, rows of an image), y = r - n * rows of an image.
#define FOR_EACH_ROW                                                 \
  const long row0 = (long)get_global_id(2) * args.grid.rows_each;    \
  const long row1 = min(row0 + args.grid.rows_each, args.grid.rows); \
  for (long r = row0; r < row1; ++r)
#define FOR_EACH_COLUMN(columns)                                   \
  const int x0 = (int)get_global_id(1) * args.grid.columns_each;   \
  const int x1 = min(x0 + args.grid.columns_each, (int)(columns)); \
  for (int x = x0; x < x1; ++x)
// Requires VW <= channels. The last vector of a pixel starts early and repeats some channels.
#define FOR_EACH_CHANNEL(channels)                                \
  const int c0 = (int)get_global_id(0) * args.grid.channels_each; \
  const int c1 = min(c0 + args.grid.channels_each, channels);     \
  for (int c = c0; c < c1; c += VW)
#define CHANNEL min(c, c1 - VW)

// Computes the range of windows along one side that contain `pixel`. Loops run from `high` down to `low`, so that the
// position of the pixel in the window, pixel + pad - w * stride, ascends.
#define WINDOWS_OF(pixel, pad, kernel_size, stride, count, low, high)                              \
  const int high = min(((pixel) + (pad)) / (stride), (count)-1);                                   \
  const int low = (pixel) + (pad) < (kernel_size) ? 0 : ((pixel) + (pad) - (kernel_size)) / (stride) + 1
