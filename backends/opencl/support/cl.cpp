#include "support/cl.hpp"

#include <vector>

namespace mokume::opencl {
namespace {

struct Name {
  cl_int code;
  const char* text;
};

#define MOKUME_CL_NAME(code) \
  { code, #code }
constexpr Name kNames[] = {
    MOKUME_CL_NAME(CL_DEVICE_NOT_FOUND),
    MOKUME_CL_NAME(CL_DEVICE_NOT_AVAILABLE),
    MOKUME_CL_NAME(CL_COMPILER_NOT_AVAILABLE),
    MOKUME_CL_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    MOKUME_CL_NAME(CL_OUT_OF_RESOURCES),
    MOKUME_CL_NAME(CL_OUT_OF_HOST_MEMORY),
    MOKUME_CL_NAME(CL_PROFILING_INFO_NOT_AVAILABLE),
    MOKUME_CL_NAME(CL_BUILD_PROGRAM_FAILURE),
    MOKUME_CL_NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    MOKUME_CL_NAME(CL_COMPILE_PROGRAM_FAILURE),
    MOKUME_CL_NAME(CL_LINKER_NOT_AVAILABLE),
    MOKUME_CL_NAME(CL_LINK_PROGRAM_FAILURE),
    MOKUME_CL_NAME(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    MOKUME_CL_NAME(CL_INVALID_VALUE),
    MOKUME_CL_NAME(CL_INVALID_DEVICE_TYPE),
    MOKUME_CL_NAME(CL_INVALID_PLATFORM),
    MOKUME_CL_NAME(CL_INVALID_DEVICE),
    MOKUME_CL_NAME(CL_INVALID_CONTEXT),
    MOKUME_CL_NAME(CL_INVALID_QUEUE_PROPERTIES),
    MOKUME_CL_NAME(CL_INVALID_COMMAND_QUEUE),
    MOKUME_CL_NAME(CL_INVALID_MEM_OBJECT),
    MOKUME_CL_NAME(CL_INVALID_BINARY),
    MOKUME_CL_NAME(CL_INVALID_BUILD_OPTIONS),
    MOKUME_CL_NAME(CL_INVALID_PROGRAM),
    MOKUME_CL_NAME(CL_INVALID_PROGRAM_EXECUTABLE),
    MOKUME_CL_NAME(CL_INVALID_KERNEL_NAME),
    MOKUME_CL_NAME(CL_INVALID_KERNEL_DEFINITION),
    MOKUME_CL_NAME(CL_INVALID_KERNEL),
    MOKUME_CL_NAME(CL_INVALID_ARG_INDEX),
    MOKUME_CL_NAME(CL_INVALID_ARG_VALUE),
    MOKUME_CL_NAME(CL_INVALID_ARG_SIZE),
    MOKUME_CL_NAME(CL_INVALID_KERNEL_ARGS),
    MOKUME_CL_NAME(CL_INVALID_WORK_DIMENSION),
    MOKUME_CL_NAME(CL_INVALID_WORK_GROUP_SIZE),
    MOKUME_CL_NAME(CL_INVALID_WORK_ITEM_SIZE),
    MOKUME_CL_NAME(CL_INVALID_GLOBAL_OFFSET),
    MOKUME_CL_NAME(CL_INVALID_EVENT_WAIT_LIST),
    MOKUME_CL_NAME(CL_INVALID_EVENT),
    MOKUME_CL_NAME(CL_INVALID_OPERATION),
    MOKUME_CL_NAME(CL_INVALID_BUFFER_SIZE),
    MOKUME_CL_NAME(CL_INVALID_GLOBAL_WORK_SIZE),
    MOKUME_CL_NAME(CL_INVALID_PROPERTY),
    MOKUME_CL_NAME(CL_PLATFORM_NOT_FOUND_KHR),
};
#undef MOKUME_CL_NAME

std::string clean(const std::vector<char>& raw) {
  std::string text;
  for (const char c : raw) {
    if (c == '\0') break;
    text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// `query(size, value, size_out)` is one of the clGet...Info calls.
template <class Query>
std::string text_of(Query query) {
  constexpr size_t kMost = size_t{1} << 20;
  size_t bytes = 0;
  if (query(size_t{0}, nullptr, &bytes) != CL_SUCCESS || bytes == 0 || bytes > kMost) return "";
  std::vector<char> raw(bytes);
  return query(bytes, raw.data(), nullptr) == CL_SUCCESS ? clean(raw) : "";
}

}  // namespace

std::string error_name(cl_int code) {
  for (const Name& name : kNames)
    if (name.code == code) return name.text;
  return "OpenCL error " + std::to_string(code);
}

void check(cl_int code, const std::string& what) {
  if (code == CL_SUCCESS) return;
  const bool memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY;
  throw Error(memory ? MK_OUT_OF_MEMORY : MK_DEVICE_ERROR, what + ": " + error_name(code));
}

std::string platform_text(cl_platform_id platform, cl_platform_info what) {
  return text_of(
      [&](size_t bytes, void* value, size_t* out) { return clGetPlatformInfo(platform, what, bytes, value, out); });
}

std::string device_text(cl_device_id device, cl_device_info what) {
  return text_of(
      [&](size_t bytes, void* value, size_t* out) { return clGetDeviceInfo(device, what, bytes, value, out); });
}

std::string build_log(cl_program program, cl_device_id device) {
  size_t size = 0;
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) != CL_SUCCESS || size == 0)
    return "";
  std::string log(size, '\0');
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr) != CL_SUCCESS) return "";
  log.resize(log.find('\0') == std::string::npos ? size : log.find('\0'));
  while (!log.empty() && (log.back() == '\n' || log.back() == ' ')) log.pop_back();
  return log;
}

std::string first_lines(const std::string& log) {
  std::string lines;
  int count = 0;
  for (const char c : log) {
    if (c == '\n' && ++count == 4) break;
    lines += c == '\n' ? ' ' : c;
  }
  return lines.substr(0, 400);
}

}  // namespace mokume::opencl
