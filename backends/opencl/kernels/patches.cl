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

// CPUs: row after row of a window, which is one run of memory where the window is inside the image.
__kernel ONE_ITEM void unfold_vector(SHARE, WINDOW, __global const float* VIEW(images), __global float* VIEW(out)) {
  const long run = (long)kernel_w * channels;
  FOR_EACH_ROW {
    const long n = divide(r, out_h);
    const int top = (int)(r - n * out_h) * stride_h - pad_h;
    __global const float* image = images + images_offset + n * images_step;
    for (int column = 0; column < out_w; ++column) {
      const int left = column * stride_w - pad_w;
      const int begin = max(0, -left), end = min(kernel_w, width - left);  // of the window's columns, inside the image
      __global float* to = out + out_offset + (r * out_w + column) * out_step;
      for (int i = 0; i < kernel_h; ++i, to += run) {
        if (top + i < 0 || top + i >= height) {
          clear(to, run);
          continue;
        }
        __global const float* from = image + ((long)(top + i) * width + left) * channels;
        if (begin != 0) clear(to, (long)begin * channels);
        copy(from + (long)begin * channels, to + (long)begin * channels, (long)(end - begin) * channels);
        if (end != kernel_w) clear(to + (long)end * channels, (long)(kernel_w - end) * channels);
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
    FOR_EACH_COLUMN(width) {
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
