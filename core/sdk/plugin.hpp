// Serves authors of a backend, model or transport: defines the plugin query in a macro, and wraps the host's services.
//
//   static int32_t start(const mk_host* host, const void** table, mk_error* error);
//   MOKUME_PLUGIN(MK_PLUGIN_BACKEND, "null", "accepts everything, computes nothing", start)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "abi/abi_hash.h"
#include "abi/plugin.h"
#include "sdk/error.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define MOKUME_SANITIZER MK_SANITIZER_ADDRESS
#elif defined(__SANITIZE_THREAD__)
#define MOKUME_SANITIZER MK_SANITIZER_THREAD
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MOKUME_SANITIZER MK_SANITIZER_ADDRESS
#elif __has_feature(thread_sanitizer)
#define MOKUME_SANITIZER MK_SANITIZER_THREAD
#endif
#endif
#ifndef MOKUME_SANITIZER
#define MOKUME_SANITIZER MK_SANITIZER_NONE
#endif

#ifndef MOKUME_VERSION
#define MOKUME_VERSION "0"
#endif

namespace mokume::sdk {

// Wraps the host table in C++. Copies are valid while the program runs.
class Host {
 public:
  Host() = default;
  explicit Host(const mk_host* table) : table_(table) {}

  void log(mk_log_level level, const char* source, const std::string& text) const {
    table_->log(table_->self, level, source, text.c_str());
  }
  // Calls body(uint64_t index) for every index in [0, count). `body` must not throw.
  template <class Body>
  void parallel_for(uint64_t count, Body&& body) const {
    using Plain = std::remove_reference_t<Body>;
    table_->parallel_for(
        table_->self, count, [](void* context, uint64_t index) { (*static_cast<Plain*>(context))(index); },
        const_cast<void*>(static_cast<const void*>(&body)));
  }
  uint32_t concurrency() const { return table_->concurrency(table_->self); }
  std::string cache_directory() const { return table_->cache_directory(table_->self); }
  const mk_host* table() const { return table_; }

 private:
  const mk_host* table_ = nullptr;
};

// Copies text to a fixed-size field of an ABI struct, and truncates it if necessary.
template <size_t N>
void set_text(char (&field)[N], std::string_view text) {
  const size_t n = std::min(text.size(), N - 1);
  std::memcpy(field, text.data(), n);
  field[n] = '\0';
}

}  // namespace mokume::sdk

// Defines the one exported symbol. START has the signature of mk_plugin_header::start.
#define MOKUME_PLUGIN(KIND, NAME, DESCRIPTION, START)                                                              \
  extern "C" __attribute__((visibility("default"))) const mk_plugin_header* mokume_plugin_query_v1(uint32_t max) { \
    static const mk_plugin_header header = {MK_PLUGIN_MAGIC,                                                       \
                                            sizeof(mk_plugin_header),                                              \
                                            MK_ABI_MAJOR,                                                          \
                                            MK_ABI_MINOR,                                                          \
                                            MK_ABI_HASH,                                                           \
                                            KIND,                                                                  \
                                            MOKUME_SANITIZER,                                                      \
                                            NAME,                                                                  \
                                            MOKUME_VERSION,                                                        \
                                            DESCRIPTION,                                                           \
                                            START};                                                                \
    return max >= MK_ABI_MAJOR ? &header : nullptr;                                                                \
  }
