// Implements a library that is valid unless a macro breaks it; tests/zoo/CMakeLists.txt builds the zoo from this file.
// As a backend, the library lists one device, which cannot be opened.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <type_traits>

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

#ifndef ZOO_WHERE  // the function that misbehaves, and how
#define ZOO_WHERE ""
#define ZOO_HOW ""
#endif
#ifndef ZOO_COUNT
#define ZOO_COUNT 1
#endif
#ifndef ZOO_INFO_SIZE
#define ZOO_INFO_SIZE sizeof(mk_device_info)
#endif
#ifndef ZOO_DEVICE
#define ZOO_DEVICE "a device of the zoo"
#endif
#ifndef ZOO_DESCRIPTION
#define ZOO_DESCRIPTION "a fixture"
#endif

namespace {

// Returns a text that is not terminated within the reader's limit.
[[maybe_unused]] const char* endless() {
  static char text[4096];
  std::memset(&text[0], 'x', sizeof(text));
  return &text[0];
}

[[noreturn]] void misbehave(std::string_view how) {
  if (how == "throws") throw std::runtime_error("thrown across the boundary");
  std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would turn the signal into an exit code
  if (how == "crashes") raise(SIGSEGV);
  if (how == "exits") _exit(3);
  for (;;) pause();
}

void visit(std::string_view function) {
  if (function == ZOO_WHERE) misbehave(ZOO_HOW);
}

__attribute__((constructor)) void loaded() { visit("constructor"); }

ZOO_TABLE the_table;
const mk_host* the_host;

// The test's host keeps the log, which shows starts and shutdowns.
void tell(const char* what) { the_host->log(the_host->self, MK_LOG_INFO, ZOO_NAME, what); }

void never_called(void*) {}

[[maybe_unused]] int32_t enumerate(void*, mk_device_info* infos, uint32_t capacity, uint32_t* count, mk_error*) {
  visit("enumerate");
  mk_device_info info{};
  info.struct_size = static_cast<uint32_t>(ZOO_INFO_SIZE);
  info.kind = MK_DEVICE_GPU;
  info.memory_bytes = info.max_buffer_bytes = 1U << 30;
  std::strncpy(&info.name[0], ZOO_DEVICE, sizeof(info.name));
  if (capacity > 0) infos[0] = info;
  *count = ZOO_COUNT;
  return MK_OK;
}

[[maybe_unused]] int32_t open(void*, uint32_t, const mk_choice*, uint32_t, mk_device**, mk_error* error) {
  visit("open");
  return mokume::sdk::fail(error, MK_DEVICE_ERROR, "it is only a fixture");
}

template <class Table>
void use([[maybe_unused]] Table& table) {
  if constexpr (std::is_same_v<Table, mk_backend>) {
    table.enumerate = enumerate;
    table.open = open;
  }
}

[[maybe_unused]] int32_t start(const mk_host* host, const void** table, [[maybe_unused]] mk_error* error) {
  visit("start");
  if (ZOO_FAIL == 1)
    return mokume::sdk::guard(error, [] { throw mokume::Error(MK_DEVICE_ERROR, "the driver is missing: install it"); });
  if (ZOO_FAIL == 3) return MK_INTERNAL;
  the_host = host;
  void (*const filler)(void*) = never_called;
  for (size_t at = offsetof(ZOO_TABLE, ZOO_FIRST); at < sizeof(the_table); at += sizeof(filler))
    std::memcpy(reinterpret_cast<char*>(&the_table) + at, &filler, sizeof(filler));
  use(the_table);
  the_table.struct_size = static_cast<uint32_t>(ZOO_TABLE_SIZE);
  the_table.abi_major = ZOO_TABLE_MAJOR;
  the_table.abi_minor = MK_ABI_MINOR;
  the_table.shutdown = [](void*) {
    tell("shutdown");
    visit("shutdown");
  };
#ifdef ZOO_NULL_SLOT
  the_table.supports = nullptr;
#endif
#ifdef ZOO_HALF_CALIBRATION
  the_table.calibrate = nullptr;
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
  visit("query");
  [[maybe_unused]] static const mk_plugin_header header = {ZOO_MAGIC,     static_cast<uint32_t>(ZOO_SIZE),
                                                           ZOO_MAJOR,     ZOO_MINOR,
                                                           ZOO_HASH,      ZOO_KIND,
                                                           ZOO_SANITIZER, ZOO_NAME,
                                                           "1.2.3",       ZOO_DESCRIPTION,
                                                           ZOO_START};
  return ZOO_HEADER;
}
