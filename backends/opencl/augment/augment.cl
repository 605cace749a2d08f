// Changes images at random (sdk/ops/augment.hpp). The order of operations gives the same bits on every device.
#include "common/exact.cl"
#include "common/windows.cl"
#include "augment/augment_args.h"

typedef struct {
  int flip_x, flip_y, dy, dx, top, left, bottom, right;
  float sine, cosine, brightness, contrast, saturation, hue;
} draw_t;

static uint4 random_words(const AugmentArgs args, long r, uint block) {
  uint4 c = (uint4)((uint)(args.first_row + r), 0x80000000u + block, args.step, 0u);
  uint key0 = args.key0, key1 = args.key1;
  for (int round = 0; round < 10; ++round) {
    c = (uint4)(mul_hi(c.z, 0xCD9E8D57u) ^ c.y ^ key0, c.z * 0xCD9E8D57u, mul_hi(c.x, 0xD2511F53u) ^ c.w ^ key1,
                c.x * 0xD2511F53u);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return c;
}

// even() returns a number in [-1, 1), and below() returns an integer in [0, bound).
static float even(uint word) { return (float)(word >> 8) * 0x1p-23f - 1.0f; }
static int below(uint word, int bound) { return (int)mul_hi(word, (uint)bound); }

// Functions write structs through pointers, because Oclgrind does not support the compiled form of returned structs.
static void draw_of(const AugmentArgs args, long r, __private draw_t* to) {
  const uint4 place = random_words(args, r, 0), colour = random_words(args, r, 1), erased = random_words(args, r, 2);
  draw_t d;
  d.flip_x = (long)place.x < args.flip_x;
  d.flip_y = (long)place.y < args.flip_y;
  d.dy = below(place.z, 2 * args.shift + 1) - args.shift;
  d.dx = below(place.w, 2 * args.shift + 1) - args.shift;
  const float t = even(colour.x) * args.radians * 0.5f, z = t * t;
  float s = 1.6059044e-10f;
  s = s * z + -2.5052108e-8f;
  s = s * z + 2.7557319e-6f;
  s = s * z + -1.9841270e-4f;
  s = s * z + 8.3333333e-3f;
  s = s * z + -1.6666667e-1f;
  s = s * z + 1.0f;
  float c = 2.0876757e-9f;
  c = c * z + -2.7557319e-7f;
  c = c * z + 2.4801587e-5f;
  c = c * z + -1.3888889e-3f;
  c = c * z + 4.1666667e-2f;
  c = c * z + -0.5f;
  c = c * z + 1.0f;
  s = s * t;
  d.sine = 2.0f * s * c;
  d.cosine = c * c - s * s;
  d.brightness = 1.0f + even(colour.y) * args.brightness;
  d.contrast = 1.0f + even(colour.z) * args.contrast;
  d.saturation = 1.0f + even(colour.w) * args.saturation;
  d.hue = even(erased.w) * args.hue;
  const int erases = args.erased > 0 && (long)erased.x < args.erase;
  d.top = below(erased.y, args.height) - args.erased / 2;
  d.left = below(erased.z, args.width) - args.erased / 2;
  d.bottom = erases ? d.top + args.erased : d.top;
  d.right = d.left + args.erased;
  *to = d;
}

static float pixel_at(const AugmentArgs args, const draw_t d, __global const float* image, int y, int x, int k) {
  if (y < 0 || y >= args.height || x < 0 || x >= args.width) return 0.0f;
  y += d.dy;
  x += d.dx;
  if (y < 0 || y >= args.height || x < 0 || x >= args.width) return 0.0f;
  y = d.flip_y ? args.height - 1 - y : y;
  x = d.flip_x ? args.width - 1 - x : x;
  return image[((long)y * args.width + x) * args.channels + k];
}

// Locates the source of a pixel in a rotation: the four pixels from (y0, x0) on, with the weights wy and wx.
typedef struct {
  int y0, x0;
  float wy, wx;
} from_t;

static void from_of(const AugmentArgs args, const draw_t d, int y, int x, __private from_t* to) {
  const float middle_y = (float)(args.height - 1) * 0.5f, middle_x = (float)(args.width - 1) * 0.5f;
  const float v = (float)y - middle_y, u = (float)x - middle_x;
  const float from_x = (d.cosine * u - d.sine * v) + middle_x, from_y = (d.sine * u + d.cosine * v) + middle_y;
  const float left = floor(from_x), top = floor(from_y);
  to->wx = from_x - left;
  to->wy = from_y - top;
  to->x0 = (int)left;
  to->y0 = (int)top;
}

static float moved(const AugmentArgs args, const draw_t d, const from_t f, __global const float* image, int y, int x,
                   int k) {
  float value;
  if (args.radians > 0.0f) {
    const float above = (1.0f - f.wx) * pixel_at(args, d, image, f.y0, f.x0, k) +
                        f.wx * pixel_at(args, d, image, f.y0, f.x0 + 1, k);
    const float under = (1.0f - f.wx) * pixel_at(args, d, image, f.y0 + 1, f.x0, k) +
                        f.wx * pixel_at(args, d, image, f.y0 + 1, f.x0 + 1, k);
    value = (1.0f - f.wy) * above + f.wy * under;
  } else {
    value = pixel_at(args, d, image, y, x, k);
  }
  return args.brightness > 0.0f ? d.brightness * value : value;
}

// Returns the brightness of a pixel. If `scaled`, its channels are `scale` * moved() + `shade`, otherwise moved().
static float grey_of(const AugmentArgs args, const draw_t d, const from_t f, __global const float* image, int y, int x,
                     int scaled, float scale, float shade) {
  float sum = 0.0f, parts[3];
  for (int k = 0; k < args.channels; ++k) {
    float value = moved(args, d, f, image, y, x, k);
    value = scaled ? scale * value + shade : value;
    if (k < 3) parts[k] = value;
    sum += value;
  }
  return args.channels == 3 ? (0.2989f * parts[0] + 0.587f * parts[1]) + 0.114f * parts[2] : sum * args.per_channel;
}

// Moves a pixel along the circle of colours, on which red, green and blue are at 0, 2 and 4.
static void turn_hue(float turn, __global float* pixel) {
  const float red = pixel[0], green = pixel[1], blue = pixel[2];
  const float most = fmax(red, fmax(green, blue)), range = most - fmin(red, fmin(green, blue));
  const float sum = red + green + blue;  // a NaN if a channel is a NaN
  if (!(range > 0.0f) || isnan(sum)) return;
  float hue = QUOTIENT(red - green, range) + 4.0f;
  if (most == green) hue = QUOTIENT(blue - red, range) + 2.0f;
  if (most == red) hue = QUOTIENT(green - blue, range);
  hue = hue + turn;
  for (int k = 0; k < 3; ++k) {
    const float at = hue + (k == 0 ? 5.0f : k == 1 ? 3.0f : 1.0f);
    const float place = at - 6.0f * floor(at * (1.0f / 6.0f)), ramp = fmin(place, 4.0f - place);
    pixel[k] = most - range * fmin(fmax(ramp, 0.0f), 1.0f);
  }
}

// Sums the brightness of each line of the images.
__kernel void augment_lines(ITEM const AugmentArgs args, __global const float* images, __global const int* index,
                            __global float* sums) {
  FOR_EACH_ROW {
    const long n = divide(r, args.height), row = index[args.index_offset + n];
    const int y = (int)(r - n * args.height);
    if (row < 0 || row >= args.x_rows) continue;
    draw_t d;
    draw_of(args, n, &d);
    __global const float* image = images + args.x.offset + row * args.x.step;
    FOR_EACH_COLUMN(1) {
      float sum = 0.0f;
      for (int column = 0; column < args.width; ++column) {
        from_t f;
        from_of(args, d, y, column, &f);
        sum += grey_of(args, d, f, image, y, column, 0, 1.0f, 0.0f);
      }
      sums[r + x] = sum;
    }
  }
}

__kernel void augment_images(ITEM const AugmentArgs args, __global const float* images, __global const int* index,
                             __global const float* sums, __global float* out) {
  FOR_EACH_ROW {
    const long n = divide(r, args.height), row = index[args.index_offset + n];
    const int y = (int)(r - n * args.height), there = row >= 0 && row < args.x_rows;
    draw_t d;
    draw_of(args, n, &d);
    __global const float* image = images + args.x.offset + (there ? row * args.x.step : 0);
    __global float* line = out + args.out.offset + n * args.out.step + (long)y * args.width * args.channels;
    float shade = 0.0f;
    if (args.contrast > 0.0f && there) {
      float sum = 0.0f;
      for (int i = 0; i < args.height; ++i) sum += sums[n * args.height + i];
      shade = (1.0f - d.contrast) * (sum * args.per_pixel);
    }
    FOR_EACH_COLUMN(args.width) {
      __global float* to = line + (long)x * args.channels;
      if (!there) {
        for (int k = 0; k < args.channels; ++k) to[k] = NAN;
        continue;
      }
      if (y >= d.top && y < d.bottom && x >= d.left && x < d.right) {
        for (int k = 0; k < args.channels; ++k) to[k] = 0.0f;
        continue;
      }
      from_t f;
      from_of(args, d, y, x, &f);
      const int contrasts = args.contrast > 0.0f;
      float grey = 0.0f;
      if (args.saturation > 0.0f)
        grey = (1.0f - d.saturation) * grey_of(args, d, f, image, y, x, contrasts, d.contrast, shade);
      for (int k = 0; k < args.channels; ++k) {
        float value = moved(args, d, f, image, y, x, k);
        if (contrasts) value = d.contrast * value + shade;
        to[k] = args.saturation > 0.0f ? d.saturation * value + grey : value;
      }
      if (args.hue > 0.0f) turn_hue(d.hue, to);
    }
  }
}
