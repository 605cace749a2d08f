// A library that is valid unless a macro breaks it: tests/abi/CMakeLists.txt builds the zoo from it.
#include <cstddef>
#include <cstring>

#include "abi/backend.h"
#include "abi/model.h"
#include "abi/transport.h"
#include "sdk/plugin.hpp"

#ifndef ZOO_SYMBOL
#define ZOO_SYMBOL mokume_plugin_query_v1
#endif
#ifndef ZOO_HEADER
#define ZOO_HEADER &header
#endif
#ifndef ZOO_MAGIC
#define ZOO_MAGIC MK_PLUGIN_MAGIC
#endif
#ifndef ZOO_SIZE
#define ZOO_SIZE sizeof(mk_plugin_header)
#endif
#ifndef ZOO_MAJOR
#define ZOO_MAJOR MK_ABI_MAJOR
#endif
#ifndef ZOO_MINOR
#define ZOO_MINOR MK_ABI_MINOR
#endif
#ifndef ZOO_HASH
#define ZOO_HASH MK_ABI_HASH
#endif
#ifndef ZOO_SANITIZER
#define ZOO_SANITIZER MOKUME_SANITIZER
#endif
#ifndef ZOO_KIND
#define ZOO_KIND MK_PLUGIN_BACKEND
#endif
#ifndef ZOO_START
#define ZOO_START start
#endif
#ifndef ZOO_FAIL
#define ZOO_FAIL 0
#endif
#ifndef ZOO_TABLE
#define ZOO_TABLE mk_backend
#define ZOO_FIRST enumerate
#endif
#ifndef ZOO_TABLE_SIZE
#define ZOO_TABLE_SIZE sizeof(ZOO_TABLE)
#endif
#ifndef ZOO_TABLE_MAJOR
#define ZOO_TABLE_MAJOR MK_ABI_MAJOR
#endif

namespace {

ZOO_TABLE the_table;
const mk_host* the_host;

// The test's host keeps the log, which shows starts and shutdowns.
void tell(const char* what) { the_host->log(the_host->self, MK_LOG_INFO, ZOO_NAME, what); }

void never_called(void*) {}

[[maybe_unused]] int32_t start(const mk_host* host, const void** table, [[maybe_unused]] mk_error* error) {
  if (ZOO_FAIL == 1)
    return mokume::sdk::guard(error, [] { throw mokume::Error(MK_DEVICE_ERROR, "the driver is missing: install it"); });
  if (ZOO_FAIL == 2) throw mokume::Error(MK_DEVICE_ERROR, "thrown across the boundary");
  if (ZOO_FAIL == 3) return MK_INTERNAL;
  the_host = host;
  void (*const filler)(void*) = never_called;
  for (size_t at = offsetof(ZOO_TABLE, ZOO_FIRST); at < sizeof(the_table); at += sizeof(filler))
    std::memcpy(reinterpret_cast<char*>(&the_table) + at, &filler, sizeof(filler));
  the_table.struct_size = static_cast<uint32_t>(ZOO_TABLE_SIZE);
  the_table.abi_major = ZOO_TABLE_MAJOR;
  the_table.abi_minor = MK_ABI_MINOR;
  the_table.shutdown = [](void*) { tell("shutdown"); };
#ifdef ZOO_NULL_SLOT
  the_table.supports = nullptr;
#endif
  tell("start");
#ifndef ZOO_NULL_TABLE
  *table = &the_table;
#else
  *table = nullptr;
#endif
  return MK_OK;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const mk_plugin_header* ZOO_SYMBOL(uint32_t) {
  [[maybe_unused]] static const mk_plugin_header header = {ZOO_MAGIC,     static_cast<uint32_t>(ZOO_SIZE),
                                                           ZOO_MAJOR,     ZOO_MINOR,
                                                           ZOO_HASH,      ZOO_KIND,
                                                           ZOO_SANITIZER, ZOO_NAME,
                                                           "1.2.3",       "a fixture",
                                                           ZOO_START};
#ifdef ZOO_QUERY_THROWS
  throw mokume::Error(MK_INTERNAL, "thrown by the query");
#else
  return ZOO_HEADER;
#endif
}
