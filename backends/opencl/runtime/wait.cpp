#include "runtime/wait.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/device.hpp"
#include "runtime/queue.hpp"

namespace mokume::opencl {
namespace {

// Wakes the waiting thread. The driver's thread shares it, since it may still be in the callback when wait() returns.
struct Signal {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
};

void CL_CALLBACK on_complete(cl_event, cl_int, void* data) {
  const std::unique_ptr<std::shared_ptr<Signal>> signal(static_cast<std::shared_ptr<Signal>*>(data));
  const std::lock_guard lock((*signal)->mutex);
  (*signal)->done = true;
  (*signal)->changed.notify_all();
}

void sleep_until_done(cl_event event) {
  const auto signal = std::make_shared<Signal>();
  auto data = std::make_unique<std::shared_ptr<Signal>>(signal);
  check(clSetEventCallback(event, CL_COMPLETE, on_complete, data.get()), "clSetEventCallback");
  static_cast<void>(data.release());  // on_complete frees it
  std::unique_lock lock(signal->mutex);
  signal->changed.wait(lock, [&] { return signal->done; });
}

void check_outcome(const mk_queue& queue, cl_event event) {
  cl_int status = CL_COMPLETE;
  check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr), "clGetEventInfo");
  if (status < 0) check(status, std::string("a command on ") + queue.device->info.name);
}

}  // namespace

void wait(const mk_queue& queue, cl_event event) {
  if (queue.device->info.kind == MK_DEVICE_CPU) {
    const cl_int code = clWaitForEvents(1, &event);
    if (code != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) check(code, "clWaitForEvents");
  } else {
    check(clFlush(queue.handle.get()), "clFlush");
    sleep_until_done(event);
  }
  check_outcome(queue, event);
}

void finish(const mk_queue& queue) {
  if (queue.device->info.kind == MK_DEVICE_CPU) return check(clFinish(queue.handle.get()), "clFinish");
  cl_event event = nullptr;
  check(clEnqueueMarkerWithWaitList(queue.handle.get(), 0, nullptr, &event), "clEnqueueMarkerWithWaitList");
  const EventHandle owner(event);
  wait(queue, event);
}

}  // namespace mokume::opencl
