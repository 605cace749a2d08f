#include "scheduler/host_services.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "abi/plugin.h"
#include "scheduler/loop.hpp"
#include "sdk/cores.hpp"

#if defined(__SANITIZE_THREAD__)
#define MOKUME_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MOKUME_TSAN
#endif
#endif
#ifdef MOKUME_TSAN
#include <sanitizer/tsan_interface.h>
// libtbb orders its allocations and frees in a way that ThreadSanitizer cannot see.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() {
  return "called_from_lib:libtbb.so\n";
}
#endif

namespace mokume::scheduler {

uint32_t allowed_cores() {
  const auto cores = static_cast<uint32_t>(sdk::allowed_cores().size());
  return cores > 0 ? cores : std::max(1U, std::thread::hardware_concurrency());
}

// Creates the arena at its first use, because launchers and ranks that share a host may reduce the cores until then.
struct HostServices::State {
  State(base::Log& to, uint32_t n_threads, std::string cache)
      : log(to), wanted(n_threads), cache_directory(std::move(cache)) {}

  uint32_t threads() {
    std::call_once(made, [this] {
      const uint32_t cores = allowed_cores();
      count = wanted.load() == 0 ? cores : wanted.load();
      if (count > 1) arena.emplace(count, cores);
    });
    return count;
  }

  base::Log& log;
  std::atomic<uint32_t> wanted;
  std::string cache_directory;
  std::once_flag made;
  uint32_t count = 0;
  std::optional<LoopArena> arena;
};

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;

// Tell ThreadSanitizer, which cannot look into libtbb, how a loop is ordered: its bundles run after the caller's
// earlier code and before its later code, but unordered among themselves. This takes two positions.
void publish([[maybe_unused]] void* place) {
#ifdef MOKUME_TSAN
  __tsan_release(place);
#endif
}
void observe([[maybe_unused]] void* place) {
#ifdef MOKUME_TSAN
  __tsan_acquire(place);
#endif
}

struct Loop {
  void (*body)(void*, uint64_t);
  void* context;
};

void run_bundle(void* self, uint64_t begin, uint64_t end) {
  Loop* loop = static_cast<Loop*>(self);
  observe(&loop->body);
  for (uint64_t i = begin; i != end; ++i) loop->body(loop->context, i);
  publish(&loop->context);
}

void run_loop(LoopArena& arena, uint64_t count, void (*body)(void*, uint64_t), void* context) {
  Loop loop{body, context};
  publish(&loop.body);
  arena.run(count, run_bundle, &loop);
  observe(&loop.context);
}

// Requests huge pages for large blocks: page walks otherwise take two thirds of the time of random access to rows.
void* allocate(void*, size_t bytes) {
  const size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
  if (bytes > PTRDIFF_MAX - alignment) return nullptr;
  const size_t rounded = std::max(alignment, (bytes + alignment - 1) / alignment * alignment);
  void* const memory = std::aligned_alloc(alignment, rounded);
  if (memory != nullptr && alignment == kHugePage) ::madvise(memory, rounded, MADV_HUGEPAGE);  // best effort
  return memory;
}

}  // namespace

HostServices::HostServices(base::Log& log, uint32_t threads, std::string cache_directory)
    : state_(std::make_unique<State>(log, threads, std::move(cache_directory))) {
  table_.struct_size = sizeof(mk_host);
  table_.abi_major = MK_ABI_MAJOR;
  table_.abi_minor = MK_ABI_MINOR;
  table_.self = state_.get();
  table_.log = [](void* self, int32_t level, const char* source, const char* text) noexcept {
    try {
      const int32_t known = std::clamp<int32_t>(level, MK_LOG_DEBUG, MK_LOG_ERROR);
      static_cast<State*>(self)->log.write(static_cast<mk_log_level>(known), source, text);
    } catch (...) {
      // An exception must not cross the boundary, so a line that cannot be logged is lost.
    }
  };
  table_.parallel_for = [](void* self, uint64_t count, void (*body)(void*, uint64_t), void* context) {
    State& state = *static_cast<State*>(self);
    if (count < 2 || state.threads() == 1) {
      for (uint64_t i = 0; i < count; ++i) body(context, i);
    } else {
      run_loop(*state.arena, count, body, context);
    }
  };
  table_.concurrency = [](void* self) { return static_cast<State*>(self)->threads(); };
  table_.allocate = allocate;
  table_.release = [](void*, void* memory) { std::free(memory); };
  table_.cache_directory = [](void* self) { return static_cast<State*>(self)->cache_directory.c_str(); };
}

HostServices::~HostServices() = default;

void HostServices::limit(uint32_t threads) { state_->wanted = threads; }

}  // namespace mokume::scheduler
