#include "scheduler/loop.hpp"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

namespace mokume::scheduler {

// Raises the limit of TBB, which by default starts no more workers than there are cores.
struct LoopArena::State {
  State(uint32_t threads, uint32_t cores)
      : limit(tbb::global_control::max_allowed_parallelism, std::max(threads, cores)),
        arena(static_cast<int>(threads), 1) {}

  tbb::global_control limit;
  tbb::task_arena arena;
};

LoopArena::LoopArena(uint32_t threads, uint32_t cores) : state_(std::make_unique<State>(threads, cores)) {}
LoopArena::~LoopArena() = default;

void LoopArena::run(uint64_t count, Bundle bundle, void* context) {
  // Isolates the loop: a thread that waits for its loop must not start an iteration of another loop, which may need
  // locks that this thread holds and may take arbitrarily long.
  state_->arena.execute([&] {
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(tbb::blocked_range<uint64_t>(0, count, 1), [&](const tbb::blocked_range<uint64_t>& range) {
        bundle(context, range.begin(), range.end());
      });
    });
  });
}

}  // namespace mokume::scheduler
