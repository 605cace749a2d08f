/* Declares the layer's interface for tests in the same process, in C because they find the functions with dlsym(). */
#ifndef MOKUME_POSE_H
#define MOKUME_POSE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uint64_t launches;
  uint64_t waits; /* waits of the host: clFinish, clWaitForEvents, blocking copies, and questions for the status of an
                     event */
  uint64_t reads, read_bytes;
  uint64_t writes, written_bytes;
  uint64_t copies, copied_bytes; /* on the device, fills included */
  uint64_t builds;               /* programs built from their source */
  uint64_t cached_programs;      /* programs made from binaries */
} pose_counts_t;

/* Returns the counts since the process began. Any thread may call this function. */
typedef void (*pose_counts_fn)(pose_counts_t* counts);
#define POSE_COUNTS_SYMBOL "pose_counts"

/* While the card idles, the layer checks and counts launches but does not pass them to the driver. The host issues the
 * same commands, as far as they do not depend on results. Any thread may call this function. */
typedef void (*pose_idle_fn)(int idle);
#define POSE_IDLE_SYMBOL "pose_idle"

/* Selects a driver without faults, or one whose commands never end for the host. */
typedef enum { POSE_HEALTHY, POSE_HANGS } pose_health_t;
typedef void (*pose_health_fn)(pose_health_t health);
#define POSE_HEALTH_SYMBOL "pose_health"

#ifdef __cplusplus
}
#endif
#endif
