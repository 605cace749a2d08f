// Runs the only parallel loop over TBB, through a plain function pointer. libtbb is not instrumented, so
// ThreadSanitizer cannot follow the hand-over of its tasks, and scripts/test excludes the tests of these loops from
// ThreadSanitizer.
#pragma once

#include <cstdint>
#include <memory>

namespace mokume::scheduler {

class LoopArena {
 public:
  using Bundle = void (*)(void* context, uint64_t begin, uint64_t end);

  LoopArena(uint32_t threads, uint32_t cores);  // threads include the calling thread
  ~LoopArena();
  LoopArena(const LoopArena&) = delete;
  LoopArena& operator=(const LoopArena&) = delete;

  // Splits [0, count) into bundles and returns when all have run. May be called from any thread, even from bundles.
  void run(uint64_t count, Bundle bundle, void* context);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mokume::scheduler
