/* Defines the op descriptor, with which the program asks a backend for a computation.
 *
 * An op has one fixed layout: a code, tensors and attributes. So a new op changes no table, and one piece of code
 * implements the fallback to the host backend. core/sdk/ops/<op>.hpp documents the operands, attributes, shape rule,
 * tolerance and cost of each op. The set is closed; docs/extend/add-op.md has the rule by which an op enters it.
 *
 * Subnormal floats (below 2^-126) count as zero: where the device allows it, an op reads them as zeros and writes zeros
 * in their place (docs/adr/0020). Fills, copies and gathered rows keep their bits.
 */
#ifndef MOKUME_ABI_OP_H
#define MOKUME_ABI_OP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mk_buffer mk_buffer; /* device memory; owned by the backend that created it */

typedef enum mk_dtype { MK_F32 = 1, MK_I32 = 2 } mk_dtype;

/* Describes a row-major matrix view. Element (r, c) is at offset + r * row_stride + c, in elements of dtype, from the
 * start of the buffer. A vector of n elements is {rows = 1, columns = n}. Indices have 64 bits. columns <= row_stride
 * unless rows <= 1. */
typedef struct mk_tensor {
  mk_buffer* buffer;
  int64_t offset;
  int64_t rows;
  int64_t columns;
  int64_t row_stride;
  int32_t dtype; /* an mk_dtype */
  int32_t reserved;
} mk_tensor;

typedef enum mk_op_code {
  MK_OP_FILL = 1,        /* out = value */
  MK_OP_GEMM = 2,        /* out = activation(alpha * op(a) * op(b) + beta * out + bias) */
  MK_OP_ROW_NORM2 = 3,   /* out[r] = sum of squares of row r */
  MK_OP_KERNEL_MAP = 4,  /* out = kernel function of dot products and squared norms */
  MK_OP_GATHER_ROWS = 5, /* out row r = in row index[r] */
  /* Ops for networks follow (docs/adr/0009). Images are rows of height * width * channels, channels innermost. */
  MK_OP_CONV2D = 6,                /* out = activation(convolution of images + bias) */
  MK_OP_CONV2D_GRAD_INPUT = 7,     /* gradient with respect to the images */
  MK_OP_CONV2D_GRAD_WEIGHT = 8,    /* gradients with respect to the weights and the bias */
  MK_OP_MAX_POOL = 9,              /* largest element of each window, and its position */
  MK_OP_MAX_POOL_GRAD = 10,        /* gradient of max_pool */
  MK_OP_AVG_POOL = 11,             /* average of the windows, or of the areas of a grid */
  MK_OP_AVG_POOL_GRAD = 12,        /* gradient of avg_pool */
  MK_OP_BIAS_ACT = 13,             /* out = activation(x + bias) */
  MK_OP_ACT_GRAD = 14,             /* gradient of an activation, from its output or input */
  MK_OP_DROPOUT = 15,              /* out = x * mask / (1 - p), where the mask is a pure function of seed and place */
  MK_OP_AFFINE_COLUMNS = 16,       /* out = (x - shift) * scale, column by column */
  MK_OP_SOFTMAX_LOSS = 17,         /* cross-entropy of logits, and its gradient */
  MK_OP_SQUARED_LOSS = 18,         /* squared error, and its gradient */
  MK_OP_OPTIMIZER_STEP = 19,       /* one step of SGD, Adam, AdamW, RMSprop or Adadelta on flat parameters */
  MK_OP_LINEAR_UPDATE = 20,        /* input gradient and SGD step of a fully connected layer (docs/adr/0010) */
  MK_OP_BATCH_NORM = 21,           /* columns with mean 0 and variance 1, scaled and shifted, and their moments */
  MK_OP_BATCH_NORM_GRAD = 22,      /* gradients of batch_norm */
  MK_OP_GROUP_NORM = 23,           /* groups of each row with mean 0 and variance 1, scaled and shifted */
  MK_OP_GROUP_NORM_GRAD = 24,      /* gradients of group_norm */
  MK_OP_AUGMENT = 25,              /* out row r = image index[r], changed at random (flips, shifts, turns, colours) */
  MK_OP_GATHER_PIXELS = 26,        /* out pixel (y, x) of an image = its pixel (row[y], column[x]) */
  MK_OP_GATHER_PIXELS_GRAD = 27,   /* gradient of gather_pixels */
  MK_OP_SOFTMAX = 28,              /* exponentials of each row, divided by their sum */
  MK_OP_SOFTMAX_GRAD = 29,         /* gradient of softmax */
  MK_OP_MULTIPLY = 30,             /* out = x * factor, with the same factor for each pixel of an image */
  MK_OP_MULTIPLY_GRAD_FACTOR = 31, /* gradient of multiply with respect to the factor */
  MK_OP_LRN = 32,                  /* out = x / (bias + mean square of its neighbours in the row) ^ beta */
  MK_OP_LRN_GRAD = 33,             /* gradient of lrn */
  MK_OP_EMBEDDING = 34,            /* out = the rows of tables whose numbers are in x */
  MK_OP_EMBEDDING_GRAD = 35,       /* gradient of embedding with respect to the tables */
  MK_OP_COUNT_                     /* one past the last code */
} mk_op_code;

/* The attributes of an op determine everything about it except its operands. The header of the op in core/sdk/ops
 * documents them. The gradient of an op has the attributes of the op.
 *
 * Each list becomes a struct with these fields. F(type, name, value) is one field; `value` is its default in core/sdk,
 * which the text of an op leaves out. PART(type, name, LIST) is a nested struct. All fields have 8 bytes, so no
 * compiler adds padding, and equal bytes mean equal attributes. */

/* Defines the type of an attribute with one of these values, which count from 0. In C, the type is a plain number. */
#ifdef __cplusplus
#define MK_CHOICE(type, ...) enum class type : int64_t { __VA_ARGS__ }
#else
#define MK_CHOICE(type, ...) typedef int64_t type
#endif

MK_CHOICE(mk_activation, none, relu, leaky_relu, gelu, gelu_tanh, silu, tanh, sigmoid, hard_sigmoid, hard_swish);
MK_CHOICE(mk_kernel_kind, linear, polynomial, rbf, sigmoid, rbf_minus_one);
MK_CHOICE(mk_distance, squared, huber, smooth_l1);
MK_CHOICE(mk_optimizer, sgd, adam, rmsprop, adadelta, adamw);

/* clang-format off */
/* core/sdk/ops/window.hpp documents the window of convolutions and pools. */
#define MK_WINDOW(F) \
  F(int64_t, height, 1) F(int64_t, width, 1) F(int64_t, channels, 1) \
  F(int64_t, kernel_h, 1) F(int64_t, kernel_w, 1) F(int64_t, stride_h, 1) F(int64_t, stride_w, 1) \
  F(int64_t, pad_h, 0) F(int64_t, pad_w, 0) F(int64_t, dilation_h, 1) F(int64_t, dilation_w, 1) \
  F(int64_t, more_h, 0) F(int64_t, more_w, 0) F(int64_t, groups, 1)
#define MK_AVG_POOL(F) \
  F(int64_t, height, 1) F(int64_t, width, 1) F(int64_t, channels, 1) \
  F(int64_t, out_h, 1) F(int64_t, out_w, 1) F(int64_t, kernel_h, 0) F(int64_t, kernel_w, 0) \
  F(int64_t, stride_h, 1) F(int64_t, stride_w, 1) F(int64_t, pad_h, 0) F(int64_t, pad_w, 0) \
  F(int64_t, counts_padding, 0)
#define MK_AUGMENT_CHANGE(F) \
  F(int64_t, height, 1) F(int64_t, width, 1) F(int64_t, channels, 1) \
  F(int64_t, shift, 0) F(int64_t, erase, 0) \
  F(double, horizontal, 0) F(double, vertical, 0) F(double, degrees, 0) \
  F(double, brightness, 0) F(double, contrast, 0) F(double, saturation, 0) F(double, erase_p, 0) \
  F(double, hue, 0)
#define MK_AUGMENT_PLACE(F) F(uint64_t, seed, 0) F(int64_t, step, 0) F(int64_t, first_row, 0)
#define MK_DROPOUT_PLACE(F) F(uint64_t, seed, 0) F(int64_t, layer, 0) F(int64_t, step, 0) F(int64_t, first_row, 0)
#define MK_NORM_GROUPS(F) F(int64_t, pixels, 1) F(int64_t, channels, 1) F(int64_t, groups, 1)
#define MK_OPTIMIZER_SETTINGS(F) \
  F(mk_optimizer, kind, 0) F(double, lr, 1e-3) F(double, weight_decay, 0) \
  F(double, a, 0) F(double, b, 0) F(double, eps, 1e-8) \
  F(int64_t, nesterov, 0) F(double, clip, 0) F(int64_t, amsgrad, 0)
#define MK_KERNEL_MAP(F) F(mk_kernel_kind, kind, 2) F(double, gamma, 1) F(double, coef0, 0) F(int64_t, degree, 3)
#define MK_SOFTMAX_FORM(F) F(double, smoothing, 0) F(double, gamma, 0)
#define MK_DISTANCE_FORM(F) F(mk_distance, distance, 0) F(double, delta, 1)

#define MK_FILL(F) F(double, value, 0)
#define MK_GEMM(F) \
  F(int64_t, transpose_a, 0) F(int64_t, transpose_b, 0) F(mk_activation, activation, 0) \
  F(double, alpha, 1) F(double, beta, 0) F(int64_t, may_round, 0)
#define MK_CONV2D(F, PART) PART(mk_window, window, MK_WINDOW) F(mk_activation, activation, 0)
#define MK_BIAS_ACT(F) F(mk_activation, activation, 0) F(double, slope, 0)
#define MK_DROPOUT(F, PART) F(double, p, 0) PART(mk_dropout_place, place, MK_DROPOUT_PLACE)
#define MK_SOFTMAX_LOSS(F, PART) F(double, scale, 1) PART(mk_softmax_form, form, MK_SOFTMAX_FORM)
#define MK_SQUARED_LOSS(F, PART) F(double, scale, 1) PART(mk_distance_form, form, MK_DISTANCE_FORM)
#define MK_OPTIMIZER_STEP(F, PART) PART(mk_optimizer_settings, settings, MK_OPTIMIZER_SETTINGS) F(int64_t, t, 1)
#define MK_LINEAR_UPDATE(F) \
  F(int64_t, t, 1) F(int64_t, after_relu, 0) F(double, lr, 1e-3) F(double, weight_decay, 0) F(double, momentum, 0)
#define MK_BATCH_NORM(F) F(mk_activation, activation, 0) F(double, eps, 0) F(double, share, 1)
#define MK_GROUP_NORM(F, PART) PART(mk_norm_groups, groups, MK_NORM_GROUPS) F(double, eps, 0)
#define MK_AUGMENT(F, PART) \
  PART(mk_augment_change, change, MK_AUGMENT_CHANGE) PART(mk_augment_place, place, MK_AUGMENT_PLACE)
#define MK_GATHER_PIXELS(F) F(int64_t, height, 1) F(int64_t, width, 1) F(int64_t, channels, 1)
#define MK_LRN(F) F(int64_t, size, 1) F(double, alpha, 1e-4) F(double, beta, 0.75) F(double, bias, 1)

#define MK_FIELD(type, name, value) type name;
#define MK_PART(type, name, LIST) type name;

typedef struct mk_window { MK_WINDOW(MK_FIELD) } mk_window;
typedef struct mk_avg_pool { MK_AVG_POOL(MK_FIELD) } mk_avg_pool;
typedef struct mk_augment_change { MK_AUGMENT_CHANGE(MK_FIELD) } mk_augment_change;
typedef struct mk_augment_place { MK_AUGMENT_PLACE(MK_FIELD) } mk_augment_place;
typedef struct mk_dropout_place { MK_DROPOUT_PLACE(MK_FIELD) } mk_dropout_place;
typedef struct mk_norm_groups { MK_NORM_GROUPS(MK_FIELD) } mk_norm_groups;
typedef struct mk_optimizer_settings { MK_OPTIMIZER_SETTINGS(MK_FIELD) } mk_optimizer_settings;
typedef struct mk_kernel_map { MK_KERNEL_MAP(MK_FIELD) } mk_kernel_map;
typedef struct mk_softmax_form { MK_SOFTMAX_FORM(MK_FIELD) } mk_softmax_form;
typedef struct mk_distance_form { MK_DISTANCE_FORM(MK_FIELD) } mk_distance_form;

typedef struct mk_fill { MK_FILL(MK_FIELD) } mk_fill;
typedef struct mk_gemm { MK_GEMM(MK_FIELD) } mk_gemm;
typedef struct mk_conv2d { MK_CONV2D(MK_FIELD, MK_PART) } mk_conv2d;
typedef struct mk_bias_act { MK_BIAS_ACT(MK_FIELD) } mk_bias_act;
typedef struct mk_dropout { MK_DROPOUT(MK_FIELD, MK_PART) } mk_dropout;
typedef struct mk_softmax_loss { MK_SOFTMAX_LOSS(MK_FIELD, MK_PART) } mk_softmax_loss;
typedef struct mk_squared_loss { MK_SQUARED_LOSS(MK_FIELD, MK_PART) } mk_squared_loss;
typedef struct mk_optimizer_step { MK_OPTIMIZER_STEP(MK_FIELD, MK_PART) } mk_optimizer_step;
typedef struct mk_linear_update { MK_LINEAR_UPDATE(MK_FIELD) } mk_linear_update;
typedef struct mk_batch_norm { MK_BATCH_NORM(MK_FIELD) } mk_batch_norm;
typedef struct mk_group_norm { MK_GROUP_NORM(MK_FIELD, MK_PART) } mk_group_norm;
typedef struct mk_augment { MK_AUGMENT(MK_FIELD, MK_PART) } mk_augment;
typedef struct mk_gather_pixels { MK_GATHER_PIXELS(MK_FIELD) } mk_gather_pixels;
typedef struct mk_lrn { MK_LRN(MK_FIELD) } mk_lrn;
/* clang-format on */

#define MK_OP_MAX_INPUTS 5
#define MK_OP_MAX_OUTPUTS 4
#define MK_OP_MAX_ATTRIBUTES 16

typedef struct mk_op {
  uint32_t struct_size; /* sizeof(mk_op) */
  int32_t code;         /* an mk_op_code */
  uint32_t n_inputs;
  uint32_t n_outputs;
  mk_tensor inputs[MK_OP_MAX_INPUTS];
  mk_tensor outputs[MK_OP_MAX_OUTPUTS];
  /* An op reads the member with its name, and a gradient reads the member of its op. The words after a member are 0. */
  union {
    int64_t attributes[MK_OP_MAX_ATTRIBUTES];
    mk_fill fill;
    mk_gemm gemm;
    mk_kernel_map kernel_map;
    mk_conv2d conv2d;
    mk_window max_pool;
    mk_avg_pool avg_pool;
    mk_bias_act bias_act; /* also for act_grad */
    mk_dropout dropout;
    mk_softmax_loss softmax_loss;
    mk_squared_loss squared_loss;
    mk_optimizer_step optimizer_step;
    mk_linear_update linear_update;
    mk_batch_norm batch_norm;
    mk_group_norm group_norm;
    mk_augment augment;
    mk_gather_pixels gather_pixels;
    mk_lrn lrn;
  };
} mk_op;

#ifdef __cplusplus
}
#endif
#endif
