// unfold and fold, after windows.cl.

void copy(__global const float* from, __global float* to, long n) {
  if (n < VW) {
    for (long i = 0; i < n; ++i) to[i] = from[i];
    return;
  }
  for (long i = 0; i + VW <= n; i += VW) VSTORE(VLOAD(0, from + i), 0, to + i);
  if (n % VW != 0) VSTORE(VLOAD(0, from + n - VW), 0, to + n - VW);
}

void clear(__global float* to, long n) {
  for (long i = 0; i < n; ++i) to[i] = 0.0f;
}

// A window inside the image, row by row: runs of memory `line` apart. Where runs are shorter than a vector, what follows
// them is copied too if it may be: the next runs, up to `limit` and written later, put that right.
void copy_runs(__global const float* from, long line, __global const float* from_end, __global float* to, long run,
               int count, __global float* limit) {
  if (run > 2 * VW) {
    for (int i = 0; i < count; ++i) copy(from + i * line, to + i * run, run);
  } else if (run >= VW) {
    for (int i = 0; i < count; ++i) {
      const vec first = VLOAD(0, from + i * line), last = VLOAD(0, from + i * line + run - VW);
      VSTORE(first, 0, to + i * run);
      VSTORE(last, 0, to + i * run + run - VW);
    }
  } else if (to + (count - 1) * run + VW <= limit && from + (count - 1) * line + VW <= from_end) {
    for (int i = 0; i < count; ++i) VSTORE(VLOAD(0, from + i * line), 0, to + i * run);
  } else {
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < (int)run; ++j) to[i * run + j] = from[i * line + j];
  }
}

// CPUs: row after row of a window, which is one run of memory where the window is inside the image.
__kernel ONE_ITEM void unfold_vector(SHARE, WINDOW, __global const float* VIEW(images), __global float* VIEW(out)) {
  const long run = (long)kernel_w * channels, line = (long)width * channels;
  out += out_offset;
  FOR_EACH_ROW {
    const long n = divide(r, out_h);
    const int top = (int)(r - n * out_h) * stride_h - pad_h;
    __global const float* image = images + images_offset + n * images_step;
    // The end of what this work-item writes, if that is one piece.
    __global float* limit = out_step == run * kernel_h ? out + row1 * out_w * out_step : out;
    for (int column = 0; column < out_w; ++column) {
      const int left = column * stride_w - pad_w;
      const int begin = max(0, -left), end = min(kernel_w, width - left);  // of the window's columns, inside the image
      __global float* to = out + (r * out_w + column) * out_step;
      if (top >= 0 && top + kernel_h <= height && end - begin == kernel_w) {
        copy_runs(image + top * line + (long)left * channels, line, image + height * line, to, run, kernel_h, limit);
        continue;
      }
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
__kernel void unfold_scalar(SHARE, WINDOW, __global const float* VIEW(images), __global float* VIEW(out)) {
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

// A patch is read in as many pieces as the window has rows, kernel_h image rows apart: too far for what the hardware
// fetches ahead of itself.
void fetch_patch(__global const float* patch, long size) {
  for (long i = 0; i < size; i += 16) FETCH(patch + i);
}

__kernel void fold(SHARE, WINDOW, __global const float* VIEW(patches), __global float* VIEW(out)) {
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
    const long ahead = (n * out_h + high_y + 1) * out_w, last = divide(rows, height) * out_h * out_w;
    FOR_EACH_COLUMN(width) {
      if (x < out_w && ahead < last)
        fetch_patch(patches + patches_offset + (ahead + x) * patches_step, (long)kernel_h * kernel_w * channels);
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
