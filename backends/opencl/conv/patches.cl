// unfold and fold, after windows.cl.

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

// `count` windows that lie inside the image: in `from` windows are `apart` and their rows `line` apart, in `to` they
// are to_step and `run` apart. Where runs are shorter than a vector, what follows them is copied too if it may be: the
// next runs, which come before `limit` and are written later, put that right.
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

// CPUs: row after row of a window, which is one run of memory where the window is inside the image.
__kernel ONE_ITEM void unfold_vector(ITEM SHARE, WINDOW, __global const float* VIEW(images), __global float* VIEW(out)) {
  const long run = (long)kernel_w * channels, line = (long)width * channels;
  // The windows of a row that lie inside the image.
  const int room = width + pad_w - kernel_w;
  const int in0 = min((pad_w + stride_w - 1) / stride_w, out_w), in1 = room < 0 ? 0 : min(room / stride_w + 1, out_w);
  out += out_offset;
  FOR_EACH_ROW {
    const long n = divide(r, out_h);
    const int top = (int)(r - n * out_h) * stride_h - pad_h;
    __global const float* image = images + images_offset + n * images_step;
    // The end of what this work-item writes, if that is one piece.
    __global const float* limit = out_step == run * kernel_h ? out + row1 * out_w * out_step : out;
    const bool inside = top >= 0 && top + kernel_h <= height;
    for (int column = 0; column < out_w; ++column) {
      const int left = column * stride_w - pad_w;
      __global float* to = out + (r * out_w + column) * out_step;
      if (inside && column == in0 && in1 > in0) {
        copy_windows(image + top * line + (long)left * channels, (long)stride_w * channels, line, image + height * line,
                     to, out_step, limit, run, kernel_h, in1 - in0);
        column = in1 - 1;
        continue;
      }
      const int begin = max(0, -left), end = min(kernel_w, width - left);  // of the window's columns, inside the image
      for (int i = 0; i < kernel_h; ++i, to += run) {
        if (top + i < 0 || top + i >= height) {
          clear(to, run);
          continue;
        }
        __global const float* from = image + (top + i) * line + (long)(left + begin) * channels;
        clear(to, (long)begin * channels);
        copy(from, to + (long)begin * channels, (long)(end - begin) * channels);
        clear(to + (long)end * channels, (long)(kernel_w - end) * channels);
      }
    }
  }
}

// GPUs: neighbours in a patch side by side. Here `channels_each` counts elements of a patch.
__kernel void unfold_scalar(ITEM SHARE, WINDOW, __global const float* VIEW(images), __global float* VIEW(out)) {
  const long run = (long)kernel_w * channels, patch = run * kernel_h;
  const long e0 = (long)get_global_id(0) * channels_each, e1 = min(e0 + channels_each, patch);
  FOR_EACH_ROW {
    const long n = divide(r, out_h);
    const int top = (int)(r - n * out_h) * stride_h - pad_h;
    __global const float* image = images + images_offset + n * images_step;
    FOR_EACH_COLUMN(out_w) {
      const int left = x * stride_w - pad_w;
      __global float* to = out + out_offset + (r * out_w + x) * out_step;
      for (long e = e0; e < e1; ++e) {
        const long i = divide(e, run), in_run = e - i * run;
        const int from_y = top + (int)i, from_x = left + (int)divide(in_run, channels);
        const bool inside = from_y >= 0 && from_y < height && from_x >= 0 && from_x < width;
        to[e] = inside ? image[((long)from_y * width + left) * channels + in_run] : 0.0f;
      }
    }
  }
}

#ifdef HINTS
// A patch is read in as many pieces as the window has rows, a row of the image apart: too far for what the hardware
// fetches ahead of itself.
static void fetch_patch(__global const float* patch, long size) {
  for (long i = 0; i < size; i += 16) FETCH(patch + i);
}
#endif

__kernel void fold(ITEM SHARE, WINDOW, __global const float* VIEW(patches), __global float* VIEW(out)) {
  // From a window to the next lower one, in which the pixel's place is a stride further on.
  const long next_x = (long)stride_w * channels - patches_step;
  const long next_y = (long)stride_h * kernel_w * channels - out_w * patches_step;
  FOR_EACH_ROW {
    const long n = divide(r, height);
    const int y = (int)(r - n * height);
    WINDOWS_OF(y, pad_h, kernel_h, stride_h, out_h, low_y, high_y);
    __global const float* top = patches + patches_offset + (n * out_h + high_y) * out_w * patches_step +
                                (long)(y + pad_h - high_y * stride_h) * kernel_w * channels;
    __global float* to = out + out_offset + n * out_step + (long)y * width * channels;
#ifdef HINTS
    const long ahead = (n * out_h + high_y + 1) * out_w, last = divide(rows, height) * out_h * out_w;
#endif
    FOR_EACH_COLUMN(width) {
#ifdef HINTS
      if (x < out_w && ahead < last)
        fetch_patch(patches + patches_offset + (ahead + x) * patches_step, (long)kernel_h * kernel_w * channels);
#endif
      WINDOWS_OF(x, pad_w, kernel_w, stride_w, out_w, low_x, high_x);
      __global const float* first =
          top + high_x * patches_step + (long)(x + pad_w - high_x * stride_w) * channels;
      FOR_EACH_CHANNEL {
        const int k = CHANNEL;
        __global const float* line = first + k;
        vec sum = SPLAT(0.0f);
        for (int wy = high_y; wy >= low_y; --wy, line += next_y) {
          __global const float* p = line;
          for (int wx = high_x; wx >= low_x; --wx, p += next_x) sum += VLOAD(0, p);
        }
        VSTORE(sum, 0, to + (long)x * channels + k);
      }
    }
  }
}
