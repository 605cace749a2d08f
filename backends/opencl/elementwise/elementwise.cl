// Ops that touch each element once, after math.cl and runs.cl. Both shares do the same operations on each element.

#define LINEAR 0
#define POLYNOMIAL 1
#define RBF 2

static vec kernel_value(int kind, vec dot, float norm_x, vec norm_y, float gamma, float coef0, int degree) {
  if (kind == LINEAR) return dot;
  if (kind == RBF) {
    const vec distance = fma(SPLAT(-2.0f), dot, SPLAT(norm_x) + norm_y);
    return exp_f32(SPLAT(-gamma) * select(distance, SPLAT(0.0f), (ivec)(distance < SPLAT(0.0f))));
  }
  const vec argument = fma(SPLAT(gamma), dot, SPLAT(coef0));
  if (kind != POLYNOMIAL) return tanh_f32(argument);
  vec power = SPLAT(1.0f);
  for (int i = 0; i < degree; ++i) power *= argument;
  return power;
}

__kernel void fill(ITEM long rows, long columns, long rows_each, long columns_each, __global float* out, long offset,
                   long step, float value) {
  FOR_EACH_RUN store_some(SPLAT(value), out + offset + r * step + c, RUN);
}

// out = keep * out; zero for keep == 0 whatever it was.
__kernel void scale(ITEM long rows, long columns, long rows_each, long columns_each, __global float* out, long offset,
                    long step, float keep) {
  FOR_EACH_RUN {
    __global float* at = out + offset + r * step + c;
    store_some(keep == 0.0f ? SPLAT(0.0f) : SPLAT(keep) * load_some(at, RUN), at, RUN);
  }
}

// Without norms (kind other than RBF) norm_x and norm_y are not read.
__kernel void kernel_map(ITEM long rows, long columns, long rows_each, long columns_each, __global const float* dot,
                         long dot_offset, long dot_step, __global const float* norm_x, long x_offset,
                         __global const float* norm_y, long y_offset, __global float* out, long out_offset,
                         long out_step, int kind, float gamma, float coef0, int degree) {
  FOR_EACH_RUN {
    const float nx = kind == RBF ? norm_x[x_offset + r] : 0.0f;
    const vec ny = kind == RBF ? load_some(norm_y + y_offset + c, RUN) : SPLAT(0.0f);
    const vec value =
        kernel_value(kind, load_some(dot + dot_offset + r * dot_step + c, RUN), nx, ny, gamma, coef0, degree);
    store_some(value, out + out_offset + r * out_step + c, RUN);
  }
}

// An index outside x gives a row of NaN instead of a read outside the buffer. Rows lie anywhere in x: the next one is
// fetched meanwhile.
__kernel void gather_rows(ITEM long rows, long columns, long rows_each, long columns_each, __global const float* x,
                          long x_offset, long x_step, long x_rows, __global const int* index, long index_offset,
                          __global float* out, long out_offset, long out_step) {
  FOR_EACH_RUN {
    const long from = index[index_offset + r];
    FETCH(x + x_offset + index[index_offset + min(r + 1, r1 - 1)] * x_step + c);
    const vec value = from < 0 || from >= x_rows ? SPLAT(NAN) : load_some(x + x_offset + from * x_step + c, RUN);
    store_some(value, out + out_offset + r * out_step + c, RUN);
  }
}
