// Enqueues kernels and keeps the first and the last event on request, or records the launches instead.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>

#include "common/args.hpp"
#include "runtime/launch.hpp"
#include "runtime/queue.hpp"
#include "runtime/recording.hpp"

// Holds the first and the last command that the event covers. `last` is empty if there is only one.
struct mk_event {
  mk_queue* queue = nullptr;
  mokume::opencl::EventHandle first, last;
};

namespace mokume::opencl {

class Launcher {
 public:
  Launcher(mk_queue& queue, bool want_event) : queue_(queue), want_event_(want_event) {}
  Launcher(mk_queue& queue, Recording& recording) : queue_(queue), want_event_(false), recording_(&recording) {}

  mk_queue& queue() { return queue_; }
  mk_device& device() { return *queue_.device; }

  // Runs the kernel over `range` and rounds each side up to a multiple of the group's side. Throws MK_INTERNAL if the
  // kernel does not take these arguments.
  template <class Args>
  void run(const LibraryKernel& kernel, const Range& range, const Args& args, std::initializer_list<cl_mem> buffers,
           int64_t local_floats = 0) {
    run(kernel, range,
        Arguments{ArgsName<Args>::kName,
                  std::as_bytes(std::span(&args, 1)),
                  {buffers.begin(), buffers.size()},
                  local_floats});
  }
  void run(const LibraryKernel& kernel, const Range& range, const Arguments& arguments);

  // Lets the driver choose the group size if `local` is nullptr. Otherwise, on any GPU, throws
  // Error(MK_INVALID_ARGUMENT) for more groups than kMostGroups, even if this GPU would accept them.
  void enqueue(cl_kernel kernel, const std::array<int64_t, 3>& global, const int64_t* local);

  // Enqueues commands of other code, which no recording can hold. `body` receives the location for its event, or NULL.
  template <class Body>
  void enqueue_foreign(Body&& body) {
    if (recording_ != nullptr) return recording_->refuse();
    cl_event event = nullptr;
    body(want_event_ ? &event : nullptr);
    keep(event);
  }

  // Returns the event of everything enqueued so far, or of a marker if nothing was enqueued.
  std::unique_ptr<mk_event> take_event();

 private:
  void keep(cl_event event);  // takes ownership

  mk_queue& queue_;
  bool want_event_;
  Recording* recording_ = nullptr;
  EventHandle first_, last_;
};

}  // namespace mokume::opencl
