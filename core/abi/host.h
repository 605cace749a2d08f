/* The table that the program passes to every shared library it starts. Libraries have no undefined symbols that resolve
 * to the program; this table is their only access to it. Every function may be called from any thread.
 */
#ifndef MOKUME_ABI_HOST_H
#define MOKUME_ABI_HOST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A NOTE tells a person at a terminal the reason of a long wait; nothing is wrong. */
typedef enum mk_log_level {
  MK_LOG_DEBUG = 0,
  MK_LOG_INFO = 1,
  MK_LOG_NOTE = 2,
  MK_LOG_WARNING = 3,
  MK_LOG_ERROR = 4
} mk_log_level;

typedef struct mk_host {
  uint32_t struct_size; /* sizeof(mk_host) */
  uint16_t abi_major;
  uint16_t abi_minor;
  void* self; /* first argument of every function below */

  /* Writes one line to the log (stderr and the log file of the run). */
  void (*log)(void* self, int32_t level, const char* source, const char* text);

  /* Runs body(context, i) for every i in [0, count) on the program's TBB arena and returns when all are done. The
   * order and the threads are unspecified; the calling thread takes part. body must not throw. May be nested. */
  void (*parallel_for)(void* self, uint64_t count, void (*body)(void* context, uint64_t index), void* context);

  /* The maximum number of threads that parallel_for uses, including the calling thread. At least 1. */
  uint32_t (*concurrency)(void* self);

  /* Returns host memory aligned to 64 bytes, or NULL. release() of the same table frees it. */
  void* (*allocate)(void* self, size_t bytes);
  void (*release)(void* self, void* memory);

  /* Directory for caches that outlive a run (built kernels, probe results): absolute, existing, private to the user. It
   * is "" if there is none; nothing may be cached then. The string is valid as long as the table. */
  const char* (*cache_directory)(void* self);
} mk_host;

#ifdef __cplusplus
}
#endif
#endif
