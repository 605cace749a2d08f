/* The op descriptor: the narrow waist between the program and a backend.
 *
 * An op is a code, tensors and attributes in one fixed layout, so that a new op changes no table and the fallback to
 * the host backend is one piece of code. core/sdk/ops/<op>.hpp documents the operands and attributes of each op, its
 * shape rule, tolerance and cost. The set is closed and small: at most MK_OP_CAP codes, admitted by the rule in
 * docs/extend/add-op.md.
 *
 * Subnormal floats (below 2^-126) count as zero: where the device allows it, an op reads them as zeros and writes zeros
 * instead of them (docs/adr/0020). Fills, copies and gathered rows keep their bits.
 */
#ifndef MOKUME_ABI_OP_H
#define MOKUME_ABI_OP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mk_buffer mk_buffer; /* device memory; owned by the backend that created it */

typedef enum mk_dtype { MK_F32 = 1, MK_I32 = 2 } mk_dtype;

/* A row-major matrix view: element (r, c) is at offset + r * row_stride + c, in elements of dtype, from the start of
 * the buffer. A vector of n elements is {rows = 1, columns = n}. Indices are 64 bits; columns <= row_stride unless
 * rows <= 1. */
typedef struct mk_tensor {
  mk_buffer* buffer;
  int64_t offset;
  int64_t rows;
  int64_t columns;
  int64_t row_stride;
  int32_t dtype; /* a mk_dtype */
  int32_t reserved;
} mk_tensor;

typedef enum mk_op_code {
  MK_OP_FILL = 1,        /* out = value */
  MK_OP_GEMM = 2,        /* out = activation(alpha * op(a) * op(b) + beta * out + bias) */
  MK_OP_ROW_NORM2 = 3,   /* out[r] = sum of squares of row r */
  MK_OP_KERNEL_MAP = 4,  /* out = kernel function of dot products and squared norms */
  MK_OP_GATHER_ROWS = 5, /* out row r = in row index[r] */
  /* Layers of neural networks: docs/adr/0009. Images are rows of height * width * channels, channels innermost. */
  MK_OP_CONV2D = 6,              /* out = activation(convolution of images + bias) */
  MK_OP_CONV2D_GRAD_INPUT = 7,   /* gradient with respect to the images */
  MK_OP_CONV2D_GRAD_WEIGHT = 8,  /* gradients with respect to the weights and the bias */
  MK_OP_MAX_POOL = 9,            /* largest element of each window, and its position */
  MK_OP_MAX_POOL_GRAD = 10,      /* gradient of max_pool */
  MK_OP_AVG_POOL = 11,           /* average of the windows, or of the areas of a grid */
  MK_OP_AVG_POOL_GRAD = 12,      /* gradient of avg_pool */
  MK_OP_BIAS_ACT = 13,           /* out = activation(x + bias) */
  MK_OP_ACT_GRAD = 14,           /* gradient of an activation from its output */
  MK_OP_DROPOUT = 15,            /* out = x * mask / (1 - p), the mask a pure function of seed and place */
  MK_OP_AFFINE_COLUMNS = 16,     /* out = (x - shift) * scale, column by column */
  MK_OP_SOFTMAX_LOSS = 17,       /* cross-entropy of logits, and its gradient */
  MK_OP_SQUARED_LOSS = 18,       /* squared error, and its gradient */
  MK_OP_OPTIMIZER_STEP = 19,     /* one step of SGD, Adam, RMSprop or Adadelta on flat parameters */
  MK_OP_LINEAR_UPDATE = 20,      /* input gradient and SGD step of a fully connected layer: docs/adr/0010 */
  MK_OP_BATCH_NORM = 21,         /* columns with mean 0 and variance 1, scaled and shifted, and their moments */
  MK_OP_BATCH_NORM_GRAD = 22,    /* gradients of batch_norm */
  MK_OP_GROUP_NORM = 23,         /* groups of each row with mean 0 and variance 1, scaled and shifted */
  MK_OP_GROUP_NORM_GRAD = 24,    /* gradients of group_norm */
  MK_OP_AUGMENT = 25,            /* out row r = image index[r], changed at random: flips, shifts, turns, colours */
  MK_OP_GATHER_PIXELS = 26,      /* out pixel (y, x) of an image = its pixel (row[y], column[x]) */
  MK_OP_GATHER_PIXELS_GRAD = 27, /* gradient of gather_pixels */
  MK_OP_SOFTMAX = 28,            /* exponentials of each row, divided by their sum */
  MK_OP_SOFTMAX_GRAD = 29,       /* gradient of softmax */
  MK_OP_COUNT_                   /* one past the last code */
} mk_op_code;

#define MK_OP_CAP 32
#define MK_OP_MAX_INPUTS 5
#define MK_OP_MAX_OUTPUTS 4

typedef struct mk_op {
  uint32_t struct_size; /* sizeof(mk_op) */
  int32_t code;         /* a mk_op_code */
  uint32_t n_inputs;
  uint32_t n_outputs;
  mk_tensor inputs[MK_OP_MAX_INPUTS];
  mk_tensor outputs[MK_OP_MAX_OUTPUTS];
  double reals[8];      /* attributes; see the header of each op */
  int64_t integers[16]; /* attributes; see the header of each op */
} mk_op;

#ifdef __cplusplus
}
#endif
#endif
