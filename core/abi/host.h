/* Defines the table that the program passes to every shared library that it starts. Libraries have no undefined symbols
 * that resolve to the program, so this table is their only access to it. Any thread may call any function.
 */
#ifndef MOKUME_ABI_HOST_H
#define MOKUME_ABI_HOST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A NOTE tells a person at a terminal the reason for a long wait; nothing is wrong. */
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

  /* Runs body(context, i) for every i in [0, count) on the program's TBB arena and returns when all are done. The order
   * and the threads are unspecified; the calling thread takes part. body must not throw. Calls may be nested. */
  void (*parallel_for)(void* self, uint64_t count, void (*body)(void* context, uint64_t index), void* context);

  /* Returns the maximum number of threads that parallel_for uses, at least 1, including the calling thread. */
  uint32_t (*concurrency)(void* self);

  /* Returns host memory aligned to 64 bytes, or NULL. release() of the same table frees it. */
  void* (*allocate)(void* self, size_t bytes);
  void (*release)(void* self, void* memory);

  /* Returns a directory for caches that outlive a run (built kernels, probe results). It is absolute, exists and is
   * private to the user. "" means that nothing may be cached. The string is valid as long as the table. */
  const char* (*cache_directory)(void* self);
} mk_host;

#ifdef __cplusplus
}
#endif
#endif
