// Pools, after windows.cl and math.cl.

// A NaN is larger than everything; of equal ones the first stays.
__kernel void max_pool(ITEM SHARE, WINDOW, __global const float* VIEW(images), __global float* VIEW(out),
                       __global int* VIEW(place)) {
  FOR_EACH_ROW {
    const long n = divide(r, out_h);
    const int y = (int)(r - n * out_h), top = y * stride_h - pad_h;
    const int i0 = max(0, -top), i1 = min(kernel_h, height - top);
    __global const float* image = images + images_offset + n * images_step;
    __global float* to = out + out_offset + n * out_step + (long)y * out_w * channels;
    __global int* place_to = place + place_offset + n * place_step + (long)y * out_w * channels;
    FOR_EACH_COLUMN(out_w) {
      const int left = x * stride_w - pad_w;
      const int j0 = max(0, -left), j1 = min(kernel_w, width - left);
      __global const float* first = image + ((long)(top + i0) * width + left + j0) * channels;
      FOR_EACH_CHANNEL {
        const int k = CHANNEL;
        vec best = VLOAD(0, first + k);
        ivec at = (ivec)(i0 * kernel_w + j0);
        for (int i = i0; i < i1; ++i) {
          __global const float* p = first + (long)(i - i0) * width * channels + k;
          for (int j = j0; j < j1; ++j, p += channels) {
            const vec value = VLOAD(0, p);
            const ivec larger = (value > best) | ((value != value) & (best == best));
            best = larger ? value : best;
            at = larger ? (ivec)(i * kernel_w + j) : at;
          }
        }
        VSTORE(best, 0, to + (long)x * channels + k);
        VSTORE(at, 0, place_to + (long)x * channels + k);
      }
    }
  }
}

__kernel void max_pool_grad(ITEM SHARE, WINDOW, __global const float* VIEW(grad), __global const int* VIEW(place),
                            __global float* VIEW(dx)) {
  FOR_EACH_ROW {
    const long n = divide(r, height);
    const int y = (int)(r - n * height);
    WINDOWS_OF(y, pad_h, kernel_h, stride_h, out_h, low_y, high_y);
    __global const float* from = grad + grad_offset + n * grad_step;
    __global const int* place_from = place + place_offset + n * place_step;
    __global float* to = dx + dx_offset + n * dx_step + (long)y * width * channels;
    FOR_EACH_COLUMN(width) {
      WINDOWS_OF(x, pad_w, kernel_w, stride_w, out_w, low_x, high_x);
      FOR_EACH_CHANNEL {
        const int k = CHANNEL;
        vec sum = SPLAT(0.0f);
        for (int wy = high_y; wy >= low_y; --wy)
          for (int wx = high_x; wx >= low_x; --wx) {
            const int here = (y + pad_h - wy * stride_h) * kernel_w + x + pad_w - wx * stride_w;
            const long window = ((long)wy * out_w + wx) * channels + k;
            const ivec chosen = VLOAD(0, place_from + window) == (ivec)(here);
            sum += select(SPLAT(0.0f), VLOAD(0, from + window), chosen);
          }
        VSTORE(sum, 0, to + (long)x * channels + k);
      }
    }
  }
}

// ---- adaptive averages: see sdk/ops/avg_pool.hpp ------------------------------------------------------------------

#define AREAS int height, int width, int channels, int out_h, int out_w

// The pixels [begin, end) of a side of `size` that cell `at` of `cells` averages.
static int area_begin(int at, int size, int cells) { return (int)divide((long)at * size, cells); }
static int area_end(int at, int size, int cells) { return (int)divide((long)(at + 1) * size + cells - 1, cells); }

// 1 / the number of pixels of an area. No division: its rounding is the device's own affair.
static vec share_of(int area_h, int area_w) { return reciprocal(SPLAT((float)area_h * (float)area_w)); }

__kernel void avg_pool(ITEM SHARE, AREAS, __global const float* VIEW(images), __global float* VIEW(out)) {
  FOR_EACH_ROW {
    const long n = divide(r, out_h);
    const int y = (int)(r - n * out_h), i0 = area_begin(y, height, out_h), i1 = area_end(y, height, out_h);
    __global const float* image = images + images_offset + n * images_step;
    __global float* to = out + out_offset + n * out_step + (long)y * out_w * channels;
    FOR_EACH_COLUMN(out_w) {
      const int j0 = area_begin(x, width, out_w), j1 = area_end(x, width, out_w);
      const vec share = share_of(i1 - i0, j1 - j0);
      FOR_EACH_CHANNEL {
        const int k = CHANNEL;
        vec sum = SPLAT(0.0f);
        for (int i = i0; i < i1; ++i) {
          __global const float* p = image + ((long)i * width + j0) * channels + k;
          for (int j = j0; j < j1; ++j, p += channels) sum += VLOAD(0, p);
        }
        VSTORE(sum * share, 0, to + (long)x * channels + k);
      }
    }
  }
}

static int area_length(int at, int size, int cells) { return area_end(at, size, cells) - area_begin(at, size, cells); }

// The cells whose areas a pixel is in: pixel * cells / size to ((pixel + 1) * cells - 1) / size. In a smaller output
// these are one or two to a side, whose shares are the same for all channels. (An array of the two would live in a GPU's
// memory, not in registers.)
__kernel void avg_pool_grad(ITEM SHARE, AREAS, __global const float* VIEW(grad), __global float* VIEW(dx)) {
  FOR_EACH_ROW {
    const long n = divide(r, height);
    const int i = (int)(r - n * height);
    const int y0 = area_begin(i, out_h, height), y1 = area_end(i, out_h, height);
    const int first_h = area_length(y0, height, out_h), last_h = area_length(y1 - 1, height, out_h);
    __global const float* from = grad + grad_offset + n * grad_step;
    __global float* to = dx + dx_offset + n * dx_step + (long)i * width * channels;
    FOR_EACH_COLUMN(width) {
      const int j0 = area_begin(x, out_w, width), j1 = area_end(x, out_w, width);
      const int first_w = area_length(j0, width, out_w), last_w = area_length(j1 - 1, width, out_w);
      FOR_EACH_CHANNEL {
        const int k = CHANNEL;
        vec sum = SPLAT(0.0f);
        for (int cell_y = y0; cell_y < y1; ++cell_y) {
          const int area_h = cell_y == y0 ? first_h : y1 - y0 <= 2 ? last_h : area_length(cell_y, height, out_h);
          for (int cell_x = j0; cell_x < j1; ++cell_x) {
            const int area_w = cell_x == j0 ? first_w : j1 - j0 <= 2 ? last_w : area_length(cell_x, width, out_w);
            const vec value = VLOAD(0, from + ((long)cell_y * out_w + cell_x) * channels + k);
            sum = fma(value, share_of(area_h, area_w), sum);
          }
        }
        VSTORE(sum, 0, to + (long)x * channels + k);
      }
    }
  }
}
