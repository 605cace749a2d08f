/* Point-to-point messages between the nodes of a run. All functions are called from one thread. No collective exists
 * on purpose: one would hang for ever once a node is gone.
 */
#ifndef MOKUME_ABI_TRANSPORT_H
#define MOKUME_ABI_TRANSPORT_H

#include <stdint.h>

#include "abi/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mk_transport {
  uint32_t struct_size; /* sizeof(mk_transport) */
  uint16_t abi_major;
  uint16_t abi_minor;
  void* self;

  uint32_t (*rank)(void* self);
  uint32_t (*size)(void* self);

  /* Copies the message and returns at once; never blocks on the receiver. Messages between two nodes keep their order.
   */
  int32_t (*send)(void* self, uint32_t to, const void* message, uint64_t bytes, mk_error* error);

  /* If a message waits: its sender and size, and a pointer valid until the next call. Otherwise *bytes = 0. */
  int32_t (*poll)(void* self, uint32_t* from, const void** message, uint64_t* bytes, mk_error* error);

  /* Waits until every message sent has left, at most `timeout_ms`. */
  int32_t (*flush)(void* self, uint32_t timeout_ms, mk_error* error);

  /* Leaves. Called once, by every node, after the last message. */
  void (*shutdown)(void* self);
} mk_transport;

#ifdef __cplusplus
}
#endif
#endif
