// The only parallel loop over TBB, called through a plain function pointer. ThreadSanitizer cannot follow how TBB hands
// over its tasks, because libtbb is not instrumented, so scripts/test leaves the tests of these loops out there.
#pragma once

#include <cstdint>
#include <memory>

namespace mokume::scheduler {

class LoopArena {
 public:
  using Bundle = void (*)(void* context, uint64_t begin, uint64_t end);

  LoopArena(uint32_t threads, uint32_t cores);  // including the calling thread
  ~LoopArena();
  LoopArena(const LoopArena&) = delete;
  LoopArena& operator=(const LoopArena&) = delete;

  // Splits [0, count) into bundles and returns when all have run. May be called from any thread, including from
  // bundles.
  void run(uint64_t count, Bundle bundle, void* context);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mokume::scheduler
