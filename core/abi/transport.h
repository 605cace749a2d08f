/* Point-to-point messages between the nodes of a run. All functions but wake() and release() are called from one
 * thread. No collective exists on purpose: one would hang for ever once a node is gone.
 *
 * A node may die at any time. It is then lost to the others: nobody waits for it, and what is sent to it is dropped.
 * Nodes speak with rank 0, and rank 0 with all; no two others ever need to know of each other.
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

  /* Returns at once; never blocks on the receiver. Messages between two nodes keep their order. A message to a lost
   * node is dropped; that is no error. `release` NULL: the message is copied. Otherwise it must stay as it is until
   * release(context), which is called once, also after an error, within this call or a later one. */
  int32_t (*send)(void* self, uint32_t to, const void* message, uint64_t bytes, void (*release)(void* context),
                  void* context, mk_error* error);

  /* If a message waits: its sender, its size, and its bytes, aligned as malloc() does. They are the caller's, to read
   * and write, until he gives them back by release(). Otherwise *bytes = 0. */
  int32_t (*poll)(void* self, uint32_t* from, void** message, uint64_t* bytes, mk_error* error);

  /* Takes back what poll() gave. From any thread, also after shutdown(). */
  void (*release)(void* message);

  /* Waits until poll() or lost() may have something to say that is new since poll() last found nothing, wake() was
   * called since the last wait, or `timeout_us` is over; maybe less. Messages that were sent go on leaving meanwhile.
   */
  int32_t (*wait)(void* self, uint32_t timeout_us, mk_error* error);

  /* Ends a wait(), or the next one if none is under way. From any thread, until shutdown(). */
  void (*wake)(void* self);

  /* Waits until every message sent has left, at most `timeout_ms`. A node that has not taken its messages by then is
   * forgotten. */
  int32_t (*flush)(void* self, uint32_t timeout_ms, mk_error* error);

  /* The caller gives `peer` up: it is lost until a message from it arrives, which takes that back. NULL: no node of
   * this transport can be lost. */
  void (*forget)(void* self, uint32_t peer);

  /* Whether `peer` is lost: forgotten, or known to be gone (its connection broke, as it does when its process ends).
   * Only a hint: of a host that loses its power or its network, only its silence tells. What it sent before is
   * delivered first, as far as it has arrived. NULL: never. */
  int32_t (*lost)(void* self, uint32_t peer);

  /* Parts from the other nodes, in at most about `timeout_ms`. Called once, by every node, after the last message and
   * with everything written. 1: the process may end as usual. 0: a node was lost, or did not part in time: what
   * libraries do at exit would wait for it, so the process has to end by _exit() now. NULL: always 1. */
  int32_t (*leave)(void* self, uint32_t timeout_ms);

  /* Frees the transport; leaves first where that was not done. */
  void (*shutdown)(void* self);
} mk_transport;

#ifdef __cplusplus
}
#endif
#endif
