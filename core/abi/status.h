/* Defines status codes and the error buffer, in which every failure crosses a shared-library boundary.
 *
 * Every function of the boundary that can fail returns an mk_status as int32_t. On failure, the callee writes a message
 * into the caller's mk_error (which may be NULL) and leaves output parameters untouched. The caller frees nothing, and
 * nothing is thread-local. A message is one sentence in UTF-8 and names the cure if there is one. The SDK may write the
 * byte 1 and the reporting line of the source ("FILE:LINE", NUL) after the NUL of a message, and reads them for logs.
 */
#ifndef MOKUME_ABI_STATUS_H
#define MOKUME_ABI_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mk_status {
  MK_OK = 0,
  MK_INTERNAL = 1,         /* a bug in the callee */
  MK_INVALID_ARGUMENT = 2, /* the caller broke the contract, or a named value or place cannot be used */
  MK_BAD_DATA = 3,         /* a file or a data set is not what it claims to be */
  MK_DEVICE_ERROR = 4,     /* the device or its driver failed */
  MK_OUT_OF_MEMORY = 5,    /* the device or its budget cannot hold this; a larger device may */
  MK_UNSUPPORTED = 6,      /* this backend cannot do this; another may */
  MK_CANCELLED = 7,        /* the caller asked to stop */
  MK_STORAGE = 8           /* a disk is full or fails; earlier writes remain, so the same command resumes a run */
} mk_status;

typedef struct mk_error {
  int32_t code;   /* an mk_status */
  char text[508]; /* message, NUL-terminated and truncated if too long */
} mk_error;

#ifdef __cplusplus
}
#endif
#endif
