#include "runtime/wait.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>
#include <thread>

#include "runtime/device.hpp"
#include "runtime/queue.hpp"

namespace mokume::opencl {
namespace {

// Returns CL_COMPLETE, a larger value if the command has not ended, or a smaller one if it failed.
cl_int status_of(cl_event event) {
  cl_int status = CL_COMPLETE;
  check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr), "clGetEventInfo");
  return status;
}

// Returns false on a timeout. The thread learns of the end of longer work after a sixteenth more than the work took.
bool poll_until_done(cl_event event, double longest_s) {
  using namespace std::chrono_literals;
  constexpr std::chrono::nanoseconds kWithoutSleep = 100us, kLongestPause = 2ms;  // a sleep takes 60 us at least
  const auto start = std::chrono::steady_clock::now();
  while (status_of(event) > CL_COMPLETE) {
    const std::chrono::nanoseconds waited = std::chrono::steady_clock::now() - start;
    if (std::chrono::duration<double>(waited).count() >= longest_s) return false;
    if (waited < kWithoutSleep)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::min(waited / 16, kLongestPause));
  }
  return true;
}

[[noreturn]] void give_up(const mk_queue& queue) {
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%g s", queue.device->longest_wait_s);
  throw Error(MK_DEVICE_ERROR, std::string(queue.device->info.name) + " has not finished its commands in " + seconds +
                                   ": its driver hangs, or MOKUME_WAIT_SECONDS must be larger for so slow a device");
}

void check_outcome(const mk_queue& queue, cl_event event) {
  const cl_int status = status_of(event);
  if (status < 0) check(status, std::string("a command on ") + queue.device->info.name);
}

void finish_in_time(mk_queue& queue) {
  if (queue.lost) give_up(queue);
  cl_event event = nullptr;
  check(clEnqueueMarkerWithWaitList(queue.handle.get(), 0, nullptr, &event), "clEnqueueMarkerWithWaitList");
  const EventHandle owner(event);
  check(clFlush(queue.handle.get()), "clFlush");
  queue.lost = !poll_until_done(
      event, queue.reads_directly ? std::numeric_limits<double>::infinity() : queue.device->longest_wait_s);
  if (queue.lost) give_up(queue);
  check_outcome(queue, event);
}

}  // namespace

bool has_patience_limit(const mk_queue& queue) { return queue.device->info.kind != MK_DEVICE_CPU; }

void wait(mk_queue& queue, cl_event event) {
  if (queue.lost) give_up(queue);
  if (queue.device->info.kind == MK_DEVICE_CPU) {
    const cl_int code = clWaitForEvents(1, &event);
    if (code != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) check(code, "clWaitForEvents");
  } else {
    check(clFlush(queue.handle.get()), "clFlush");
    poll_until_done(event, std::numeric_limits<double>::infinity());
  }
  check_outcome(queue, event);
}

void finish(mk_queue& queue) {
  if (queue.device->info.kind == MK_DEVICE_CPU) return check(clFinish(queue.handle.get()), "clFinish");
  try {
    finish_in_time(queue);
  } catch (...) {
    queue.reads.abandon();  // their targets may no longer exist at the next call
    throw;
  }
  queue.reads_directly = false;
  queue.reads.complete();
}

}  // namespace mokume::opencl
