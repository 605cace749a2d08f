#include "runtime/launcher.hpp"

#include <string>
#include <string_view>

#include "runtime/device.hpp"

namespace mokume::opencl {
namespace {

std::string name_of(cl_kernel kernel) {
  std::array<char, 128> name{};
  clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, name.size() - 1, name.data(), nullptr);
  return name.data();
}

template <class T>
T argument_info(cl_kernel kernel, cl_uint index, cl_kernel_arg_info what) {
  T value{};
  clGetKernelArgInfo(kernel, index, what, sizeof(value), &value, nullptr);
  return value;
}

[[noreturn]] void refuse(const LibraryKernel& kernel, const std::string& why) {
  throw Error(MK_INTERNAL, "kernel " + kernel.name + " " + why);
}

// Checks the kinds of the arguments, except on drivers that keep no information about arguments.
void check_kinds(const LibraryKernel& kernel, const Arguments& arguments) {
  cl_kernel const handle = kernel.handle.get();
  const auto type = argument_info<std::array<char, 128>>(handle, 0, CL_KERNEL_ARG_TYPE_NAME);
  const std::string_view name = type.data();  // some drivers put "struct" before the name
  if (name.empty()) return;
  if (name.ends_with("Args") && !name.ends_with(arguments.type))
    refuse(kernel, "takes a " + std::string(name) + " but receives a " + arguments.type);
  for (cl_uint i = 1; i < kernel.n_arguments; ++i) {
    const bool local = i > arguments.buffers.size();
    const cl_kernel_arg_address_qualifier wanted = local ? CL_KERNEL_ARG_ADDRESS_LOCAL : CL_KERNEL_ARG_ADDRESS_GLOBAL;
    if (argument_info<cl_kernel_arg_address_qualifier>(handle, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER) != wanted)
      refuse(kernel,
             "takes no " + std::string(local ? "local memory" : "buffer") + " as argument " + std::to_string(i));
  }
}

// Checks the number of arguments at every launch, and their kinds at the first one, because neither compiler sees the
// other side.
void check_arguments(const LibraryKernel& kernel, const Arguments& arguments) {
  const size_t given = 1 + arguments.buffers.size() + (arguments.local_floats > 0 ? 1 : 0);
  if (given != kernel.n_arguments)
    refuse(kernel, "takes " + std::to_string(kernel.n_arguments) + " arguments but receives " + std::to_string(given));
  if (kernel.checked_type == arguments.type) return;
  check_kinds(kernel, arguments);
  kernel.checked_type = arguments.type;
}

}  // namespace

void Launcher::run(const LibraryKernel& kernel, const Range& range, const Arguments& arguments) {
  check_arguments(kernel, arguments);
  if (recording_ != nullptr) return recording_->add(kernel, range, arguments);
  cl_uint index = 0;
  const auto set = [&](size_t bytes, const void* value) {
    const cl_int code = clSetKernelArg(kernel.handle.get(), index, bytes, value);
    if (code != CL_SUCCESS) check(code, "argument " + std::to_string(index) + " of kernel " + kernel.name);
    ++index;
  };
  set(arguments.values.size(), arguments.values.data());
  for (const cl_mem& buffer : arguments.buffers) set(sizeof(buffer), &buffer);
  if (arguments.local_floats > 0) set(static_cast<size_t>(arguments.local_floats) * sizeof(float), nullptr);
  enqueue(kernel.handle.get(), range.global, range.local.data());
}

void Launcher::enqueue(cl_kernel kernel, const std::array<int64_t, 3>& global, const int64_t* local) {
  std::array<size_t, 3> sizes{}, group{};
  for (size_t i = 0; i < 3; ++i) {
    group[i] = local != nullptr ? static_cast<size_t>(local[i]) : 1;
    sizes[i] = (static_cast<size_t>(global[i]) + group[i] - 1) / group[i] * group[i];
    if (sizes[i] == 0) return;
    const auto groups = static_cast<int64_t>(sizes[i] / group[i]);
    if (local != nullptr && groups > kMostGroups[i] && queue_.device->info.kind != MK_DEVICE_CPU)
      throw Error(MK_INVALID_ARGUMENT, "kernel " + name_of(kernel) + ": " + std::to_string(groups) +
                                           " work-groups in dimension " + std::to_string(i) +
                                           "; GPUs support at most " + std::to_string(kMostGroups[i]));
  }
  cl_event event = nullptr;
  const cl_int code =
      clEnqueueNDRangeKernel(queue_.handle.get(), kernel, 3, nullptr, sizes.data(),
                             local != nullptr ? group.data() : nullptr, 0, nullptr, want_event_ ? &event : nullptr);
  check(code, std::string("a kernel on ") + queue_.device->info.name);
  keep(event);
}

void Launcher::keep(cl_event event) {
  if (event != nullptr) (first_ ? last_ : first_).reset(event);
}

std::unique_ptr<mk_event> Launcher::take_event() {
  auto event = std::make_unique<mk_event>();
  event->queue = &queue_;
  if (!first_) {
    cl_event marker = nullptr;
    check(clEnqueueMarkerWithWaitList(queue_.handle.get(), 0, nullptr, &marker), "clEnqueueMarkerWithWaitList");
    first_.reset(marker);
  }
  event->first = std::move(first_);
  event->last = std::move(last_);
  return event;
}

}  // namespace mokume::opencl
