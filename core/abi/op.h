/* The op descriptor: the narrow waist between the program and a backend.
 *
 * An op is a code, tensors and attributes in one fixed layout, so that a new op changes no table and the fallback to
 * the host backend is one piece of code. What each op's operands and attributes mean, its shape rule, tolerance and
 * cost are in core/sdk/ops/<op>.hpp. The set is closed and small: at most MK_OP_CAP codes, admitted by the rule in
 * docs/howto/add-op.md.
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
  MK_OP_GEMM = 2,        /* out = alpha * op(a) * op(b) + beta * out */
  MK_OP_ROW_NORM2 = 3,   /* out[r] = sum of squares of row r */
  MK_OP_KERNEL_MAP = 4,  /* out = kernel function of dot products and squared norms */
  MK_OP_GATHER_ROWS = 5, /* out row r = in row index[r] */
  MK_OP_COUNT_           /* one past the last code */
} mk_op_code;

#define MK_OP_CAP 32
#define MK_OP_MAX_INPUTS 4
#define MK_OP_MAX_OUTPUTS 2

typedef struct mk_op {
  uint32_t struct_size; /* sizeof(mk_op) */
  int32_t code;         /* a mk_op_code */
  uint32_t n_inputs;
  uint32_t n_outputs;
  mk_tensor inputs[MK_OP_MAX_INPUTS];
  mk_tensor outputs[MK_OP_MAX_OUTPUTS];
  double reals[4];     /* attributes; each op's header says which */
  int64_t integers[4]; /* attributes; each op's header says which */
} mk_op;

#ifdef __cplusplus
}
#endif
#endif
