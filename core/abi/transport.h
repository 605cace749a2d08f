/* Carries point-to-point messages between the nodes of a run. One thread calls all functions except wake(), release(),
 * give() and take(). There are deliberately no collectives, because a collective would hang forever once a node is
 * gone.
 *
 * A node may die at any time. It is then lost to the other nodes: no node waits for it, and messages to it are dropped.
 * Every node communicates only with rank 0, and rank 0 with all nodes, except by give() and take().
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

  /* Returns at once and never waits for the receiver. Messages between two nodes keep their order. Drops a message to a
   * lost node without an error. If `release` is NULL, copies the message. Otherwise, the message must stay unchanged
   * until the transport calls release(context), exactly once, even after an error, within this call or a later one. */
  int32_t (*send)(void* self, uint32_t to, const void* message, uint64_t bytes, void (*release)(void* context),
                  void* context, mk_error* error);

  /* If a message is waiting, returns its sender, its size, and its bytes, aligned as malloc() aligns. The caller owns
   * the bytes, and may write to them, until it passes them to release(). If none is waiting, sets *bytes to 0. */
  int32_t (*poll)(void* self, uint32_t* from, void** message, uint64_t* bytes, mk_error* error);

  /* Takes back a message from poll(). Any thread may call this function, even after shutdown(). */
  void (*release)(void* message);

  /* Waits until poll() or lost() may have news since poll() last found nothing, until wake() is called (or was called
   * since the last wait), or until `timeout_us` has passed. May return early. Sent messages keep leaving meanwhile.
   */
  int32_t (*wait)(void* self, uint32_t timeout_us, mk_error* error);

  /* Ends the current wait(), or else the next one. Any thread may call this function until shutdown(). */
  void (*wake)(void* self);

  /* Waits until every sent message has left, at most `timeout_ms`. Forgets nodes that have not taken theirs by then. */
  int32_t (*flush)(void* self, uint32_t timeout_ms, mk_error* error);

  /* Gives up on `peer`, which is lost until a message from it arrives. NULL if this transport cannot lose a node. */
  void (*forget)(void* self, uint32_t peer);

  /* Returns whether `peer` is lost: forgotten, or known to be gone (its connection broke, as happens when its process
   * ends). This is only a hint, because a host that loses power or network just falls silent. poll() still returns the
   * messages from `peer` that have arrived. NULL if no node of this transport can be lost. */
  int32_t (*lost)(void* self, uint32_t peer);

  /* Disconnects from the other nodes, within about `timeout_ms`. Every node calls this once, after its last message and
   * all output. Returns 1 if the process may exit normally. Returns 0 if a node was lost or did not disconnect in time;
   * exit handlers of libraries would wait for that node, so the process must call _exit() now. NULL means that the
   * result is always 1. */
  int32_t (*leave)(void* self, uint32_t timeout_ms);

  /* Frees the transport. Calls leave() first if the caller did not. */
  void (*shutdown)(void* self);

  /* Both are NULL, or move floats between any two nodes over the fabric that the launcher knows. The n-th take() from a
   * node with a tag below 32,768 receives the n-th give() of that node with that tag, of at most `most` floats. The
   * floats must stay valid until done(context, count), which runs at most once, on the thread that calls wait();
   * `count` is the number of floats that were sent. Any thread may call both until leave(). Once a node is lost,
   * nothing moves any more on any node, and done() is not called: libraries may wait for the dead forever, or end the
   * process. flush() does not wait for floats. */
  int32_t (*give)(void* self, uint32_t to, uint32_t tag, const float* values, uint64_t count,
                  void (*done)(void* context, uint64_t count), void* context, mk_error* error);
  int32_t (*take)(void* self, uint32_t from, uint32_t tag, float* values, uint64_t most,
                  void (*done)(void* context, uint64_t count), void* context, mk_error* error);

  /* Connects the remaining ranks anew after rank 0 is lost. Every remaining rank calls this function, each within
   * `timeout_ms` of the others. Messages that have not arrived are dropped. Afterwards, the remaining rank with the
   * lowest number is rank 0, the others keep their numbers, and size() has not changed. Numbers without a rank are lost
   * for good, and nothing moves by give() and take() any more. A rank that is late or that no other rank reaches
   * becomes rank 0 without the others, so the caller must ensure that the former rank 0 and all others are gone. NULL
   * if this transport cannot do this. */
  int32_t (*regroup)(void* self, uint32_t timeout_ms, mk_error* error);
} mk_transport;

#ifdef __cplusplus
}
#endif
#endif
