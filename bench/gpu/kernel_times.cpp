// Adds up, as an OpenCL layer, the time that each kernel takes on the device while the program runs as usual:
//
//   OPENCL_LAYERS=/path/kernel_times.so KERNEL_TIMES=/path/directory PROGRAM...
//
// On exit, PID.json holds an object for each kernel and range, with calls, seconds on the device, seconds that the
// device was idle before it, and seconds of the host in the call. Time in which the host builds programs and commands
// other than launches count as idle. The last launches are missing if the program does not ask for the status of an
// event after them.
#include <CL/cl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "gpu/pose/loader.hpp"

namespace {

cl_icd_dispatch below{};

struct Times {
  long calls = 0;
  double seconds = 0, idle = 0, host = 0;
};

struct Launch {
  cl_event event;
  cl_command_queue queue;
  Times* times;
  double host;
};

struct Recorder {
  std::mutex mutex;
  std::map<std::string, Times> kernels;
  std::deque<Launch> launches;
  std::map<cl_command_queue, cl_ulong> ends;  // when the last launch of each queue ended
};
Recorder* recorder = nullptr;  // lives until the process exits, because destructors make the last calls

cl_ulong at(cl_event event, cl_profiling_info what) {
  cl_ulong ns = 0;
  below.clGetEventProfilingInfo(event, what, sizeof(ns), &ns, nullptr);
  return ns;
}

void add_up(const Launch& launch) {
  const cl_ulong start = at(launch.event, CL_PROFILING_COMMAND_START), end = at(launch.event, CL_PROFILING_COMMAND_END);
  cl_ulong& before = recorder->ends[launch.queue];
  if (before != 0 && start > before) launch.times->idle += 1e-9 * static_cast<double>(start - before);
  before = end;
  ++launch.times->calls;
  launch.times->seconds += 1e-9 * static_cast<double>(end - start);
  launch.times->host += launch.host;
}

// Adds up the launches that have ended. The caller holds the lock.
void collect() {
  while (!recorder->launches.empty()) {
    const Launch launch = recorder->launches.front();
    cl_int status = CL_QUEUED;
    below.clGetEventInfo(launch.event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr);
    if (status > CL_COMPLETE) return;
    if (status == CL_COMPLETE) add_up(launch);
    below.clReleaseEvent(launch.event);
    recorder->launches.pop_front();
  }
}

void write_down() {
  const char* directory = std::getenv("KERNEL_TIMES");
  if (directory == nullptr) return;
  const std::lock_guard lock(recorder->mutex);
  const std::string path = std::string(directory) + "/" + std::to_string(getpid()) + ".json";
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return;
  for (const auto& [name, times] : recorder->kernels)
    if (times.calls > 0)
      std::fprintf(file, "{\"kernel\": \"%s\", \"calls\": %ld, \"seconds\": %.9f, \"idle\": %.9f, \"host\": %.9f}\n",
                   name.c_str(), times.calls, times.seconds, times.idle, times.host);
  std::fclose(file);
}

std::string name_of(cl_kernel kernel, cl_uint dimensions, const size_t* global, const size_t* local) {
  char name[128] = "";
  below.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name), static_cast<void*>(name), nullptr);
  std::string text = name;
  for (cl_uint d = 0; d < dimensions; ++d) text += (d == 0 ? " " : "x") + std::to_string(global[d]);
  for (cl_uint d = 0; local != nullptr && d < dimensions; ++d) text += (d == 0 ? "/" : "x") + std::to_string(local[d]);
  return text;
}

cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                          cl_command_queue_properties properties, cl_int* error) {
  return below.clCreateCommandQueue(context, device, properties | CL_QUEUE_PROFILING_ENABLE, error);
}

cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                                  const size_t* global, const size_t* local, cl_uint n_events, const cl_event* events,
                                  cl_event* event) {
  cl_event own = nullptr;
  const auto start = std::chrono::steady_clock::now();
  const cl_int code =
      below.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, n_events, events, &own);
  const std::chrono::duration<double> host = std::chrono::steady_clock::now() - start;
  if (code != CL_SUCCESS) return code;
  if (event != nullptr) {
    below.clRetainEvent(own);
    *event = own;
  }
  const std::lock_guard lock(recorder->mutex);
  Times& times = recorder->kernels[name_of(kernel, dimensions, global, local)];
  recorder->launches.push_back({own, queue, &times, host.count()});
  if (recorder->launches.size() % 512 == 0) collect();
  return code;
}

cl_int CL_API_CALL release_queue(cl_command_queue queue) {
  const cl_int code = below.clReleaseCommandQueue(queue);
  const std::lock_guard lock(recorder->mutex);
  recorder->ends.erase(queue);  // the next queue may get the same handle
  return code;
}

cl_int CL_API_CALL get_event_info(cl_event event, cl_event_info what, size_t size, void* value, size_t* size_ret) {
  const cl_int code = below.clGetEventInfo(event, what, size, value, size_ret);
  const std::lock_guard lock(recorder->mutex);
  collect();
  return code;
}

}  // namespace

const char* const mokume::layer::kName = "mokume's kernel times";

void mokume::layer::put_in_front(cl_icd_dispatch& table) {
  below = table;
  recorder = new Recorder;
  std::atexit(write_down);
  table.clCreateCommandQueue = create_queue;
  table.clReleaseCommandQueue = release_queue;
  table.clEnqueueNDRangeKernel = enqueue_kernel;
  table.clGetEventInfo = get_event_info;
}
