/* Defines the one symbol that a mokume shared library exports, and its result.
 *
 * A library is a backend, a model or a transport. It exports `mokume_plugin_query_v1` and nothing else. The query may
 * be called repeatedly. It starts nothing, and returns a header in static storage, or NULL if the library cannot serve
 * `max_major`. The layout of mk_plugin_header never changes.
 *
 * Until 1.0, abi_hash must be equal on both sides. The program rejects a library that was built with other headers,
 * with a message that states this.
 */
#ifndef MOKUME_ABI_PLUGIN_H
#define MOKUME_ABI_PLUGIN_H

#include <stdint.h>

#include "abi/host.h"
#include "abi/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MK_ABI_MAJOR 1
#define MK_ABI_MINOR 0
#define MK_PLUGIN_MAGIC 0x656d756b6f6d0a01ull /* "\x01\nmokume", little endian */
#define MK_PLUGIN_QUERY_SYMBOL "mokume_plugin_query_v1"

typedef enum mk_plugin_kind { MK_PLUGIN_BACKEND = 1, MK_PLUGIN_MODEL = 2, MK_PLUGIN_TRANSPORT = 3 } mk_plugin_kind;

typedef struct mk_plugin_header {
  uint64_t magic;          /* MK_PLUGIN_MAGIC */
  uint32_t struct_size;    /* sizeof(mk_plugin_header) */
  uint16_t abi_major;      /* must equal the host's */
  uint16_t abi_minor;      /* must not exceed the host's */
  uint64_t abi_hash;       /* hash of the core/abi headers that the library was built with */
  int32_t kind;            /* an mk_plugin_kind */
  uint32_t sanitizer;      /* an MK_SANITIZER_* value, which must equal the host's */
  const char* name;        /* name in a config, e.g. "opencl"; equals the file name without ".so" */
  const char* version;     /* version of the library */
  const char* description; /* one line */

  /* Starts the library. The program calls this function once per process; `host` outlives the library. Writes the table
   * of its kind (mk_backend, mk_model, mk_transport), which stays valid until that table's shutdown(). */
  int32_t (*start)(const mk_host* host, const void** table, mk_error* error);
} mk_plugin_header;

typedef const mk_plugin_header* (*mk_plugin_query)(uint32_t max_major);

#define MK_SANITIZER_NONE 0u
#define MK_SANITIZER_ADDRESS 1u
#define MK_SANITIZER_THREAD 2u

#ifdef __cplusplus
}
#endif
#endif
