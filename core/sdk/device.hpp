// Wraps mk_device_services in C++, for models. Every failure is an Error.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "abi/model.h"
#include "sdk/error.hpp"
#include "sdk/scope.hpp"

namespace mokume::sdk {

// Owns a device buffer, which must not outlive the device. Can be moved, but not copied.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const mk_device_services* device, uint64_t bytes) : device_(device), bytes_(bytes) {
    call(device->buffer_create, device->self, bytes, &buffer_);
  }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Buffer() {
    if (buffer_ != nullptr) device_->buffer_destroy(device_->self, buffer_);
  }

  mk_buffer* get() const { return buffer_; }
  uint64_t bytes() const { return bytes_; }
  explicit operator bool() const { return buffer_ != nullptr; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(buffer_, other.buffer_);
    std::swap(bytes_, other.bytes_);
  }
  const mk_device_services* device_ = nullptr;
  mk_buffer* buffer_ = nullptr;
  uint64_t bytes_ = 0;
};

// Owns host memory for floats with fast copies to and from the device, which it must not outlive.
class HostFloats {
 public:
  HostFloats() = default;
  HostFloats(HostFloats&& other) noexcept { swap(other); }
  HostFloats& operator=(HostFloats&& other) noexcept {
    HostFloats moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~HostFloats() {
    if (memory_ != nullptr) device_->host_memory_destroy(device_->self, memory_);
  }

  // Returns storage for at least `count` floats. Growth discards the content.
  std::span<float> room(const mk_device_services* device, uint64_t count) {
    if (count > count_) {
      HostFloats larger;
      larger.device_ = device;
      void* memory = nullptr;
      *this = HostFloats();  // frees the old block first, because both may be large
      call(device->host_memory_create, device->self, count * sizeof(float), &memory);
      larger.memory_ = static_cast<float*>(memory);
      larger.count_ = count;
      swap(larger);
    }
    return {memory_, count};
  }
  float* data() const { return memory_; }

 private:
  void swap(HostFloats& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(memory_, other.memory_);
    std::swap(count_, other.count_);
  }
  const mk_device_services* device_ = nullptr;
  float* memory_ = nullptr;
  uint64_t count_ = 0;
};

class Device {
 public:
  explicit Device(const mk_device_services* table) : table_(table) {}

  const mk_device_info& info() const { return *table_->info(table_->self); }
  uint64_t budget_bytes() const { return table_->budget_bytes(table_->self); }

  // Creates a buffer for `count` elements of T with undefined contents. If `count` is 0, the buffer holds one element.
  template <class T>
  Buffer buffer(uint64_t count) const {
    return Buffer(table_, (count == 0 ? 1 : count) * sizeof(T));
  }
  // Write and read `count` elements of T, from element `offset` of the buffer on. Both functions block.
  template <class T>
  void write(const Buffer& to, const T* from, uint64_t count, uint64_t offset = 0) const {
    if (count != 0) call(table_->write, table_->self, to.get(), offset * sizeof(T), from, count * sizeof(T));
  }
  template <class T>
  void read(const Buffer& from, T* to, uint64_t count, uint64_t offset = 0) const {
    if (count != 0) call(table_->read, table_->self, from.get(), offset * sizeof(T), to, count * sizeof(T));
  }
  template <class T>
  Buffer upload(const std::vector<T>& values) const {
    Buffer b = buffer<T>(values.size());
    write(b, values.data(), values.size());
    return b;
  }
  void submit(const mk_op& op) const { call(table_->submit, table_->self, &op); }
  // Submits `each` ops of every member; see mk_device_services.
  void submit_group(std::span<const mk_op* const> members, size_t each) const {
    call(table_->submit_group, table_->self, members.data(), static_cast<uint32_t>(members.size()),
         static_cast<uint32_t>(each));
  }
  void finish() const { call(table_->finish, table_->self); }

  // Returns the memory of a buffer, for use after finish(), or nullptr unless host and device share memory.
  template <class T>
  T* host_pointer(const Buffer& b) const {
    return static_cast<T*>(table_->host_pointer(table_->self, b.get()));
  }
  std::optional<std::string> choice(const char* key) const {
    char value[80] = {};
    if (table_->get_choice(table_->self, key, value) == 0) return std::nullopt;
    return std::string(value);
  }
  void set_choice(const char* key, const std::string& value) const {
    table_->set_choice(table_->self, key, value.c_str());
  }
  // Names the phase to which the time until the end of the block counts: const auto phase = device.phase("forward");
  Scope phase(const char* name) const { return {table_, MK_SCOPE_PHASE, name}; }
  // Names work that the program cannot see, such as a model's own code. Program::launch() does so itself.
  Scope kernel(const char* name) const { return {table_, MK_SCOPE_KERNEL, name}; }
  // Returns whether the run is profiled.
  bool profiled() const { return table_->scope_begin != nullptr; }
  // Returns whether Program::build() compiles kernels for this device.
  bool compiles() const {
    mk_device* device = nullptr;
    mk_queue* queue = nullptr;
    return table_->kernel_source(table_->self, &device, &queue) != nullptr;
  }
  const mk_device_services* table() const { return table_; }

 private:
  const mk_device_services* table_;
};

// Owns a program that is built from a model's own OpenCL C source.
class Program {
 public:
  // Returns nothing if the device's backend cannot compile kernels.
  static std::optional<Program> build(const Device& device, const char* name, const char* source,
                                      const std::string& options) {
    Program p;
    p.services_ = device.table();
    p.table_ = device.table()->kernel_source(device.table()->self, &p.device_, &p.queue_);
    if (p.table_ == nullptr) return std::nullopt;
    call(p.table_->build, p.device_, name, source, options.c_str(), &p.program_);
    return std::optional<Program>(std::move(p));
  }
  Program(Program&& other) noexcept
      : services_(other.services_),
        table_(other.table_),
        device_(other.device_),
        queue_(other.queue_),
        program_(std::exchange(other.program_, nullptr)) {}
  Program& operator=(Program&&) = delete;
  ~Program() {
    if (program_ != nullptr) table_->release(program_);
  }

  // Launches a kernel. Arguments are Buffers, mk_buffer pointers, or values (copied before the call returns).
  template <class... Arguments>
  void launch(const char* kernel, uint64_t global, uint64_t local, const Arguments&... arguments) const {
    const mk_argument list[] = {argument(arguments)...};
    const uint64_t g[3] = {global, 1, 1};
    const uint64_t l[3] = {local, 1, 1};
    const Scope scope(services_, MK_SCOPE_KERNEL, kernel);
    call(table_->launch, queue_, program_, kernel, &list[0], static_cast<uint32_t>(sizeof...(arguments)), &g[0], &l[0],
         static_cast<mk_event**>(nullptr));
  }

 private:
  Program() = default;
  static mk_argument argument(const Buffer& b) { return {MK_ARG_BUFFER, 0, b.get(), nullptr, 0}; }
  static mk_argument argument(mk_buffer* b) { return {MK_ARG_BUFFER, 0, b, nullptr, 0}; }
  template <class T>
  static mk_argument argument(const T& value) {
    static_assert(std::is_arithmetic_v<T>);
    return {MK_ARG_VALUE, 0, nullptr, &value, sizeof(T)};
  }
  const mk_device_services* services_ = nullptr;
  const mk_kernel_source* table_ = nullptr;
  mk_device* device_ = nullptr;
  mk_queue* queue_ = nullptr;
  mk_program* program_ = nullptr;
};

}  // namespace mokume::sdk
