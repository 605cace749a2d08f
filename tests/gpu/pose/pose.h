/* What tests ask of the layer in their own process. C, because they find the functions with dlsym(). */
#ifndef MOKUME_POSE_H
#define MOKUME_POSE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uint64_t launches;
  uint64_t waits; /* the host waits: clFinish, clWaitForEvents, blocking copies, and callbacks that wake a thread */
  uint64_t reads, read_bytes;
  uint64_t writes, written_bytes;
  uint64_t copies, copied_bytes; /* on the device, fills included */
  uint64_t builds;
} pose_counts_t;

/* Since the process began. Any thread may call it. */
typedef void (*pose_counts_fn)(pose_counts_t* counts);
#define POSE_COUNTS_SYMBOL "pose_counts"

/* While the card idles, launches are checked and counted but not handed to the driver: what the host asks for is the
 * same, as far as it does not depend on results. Any thread may call it. */
typedef void (*pose_idle_fn)(int idle);
#define POSE_IDLE_SYMBOL "pose_idle"

#ifdef __cplusplus
}
#endif
#endif
