// Owns open devices: keeps their buffers within a memory budget, dispatches their ops and counts fallbacks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "abi/backend.h"
#include "abi/model.h"
#include "device/profile.hpp"
#include "device/trace.hpp"
#include "sdk/error.hpp"

namespace mokume::device {

// Describes a device that a backend lists.
struct Listed {
  std::string backend;  // name, such as "opencl"
  uint32_t index = 0;   // index within the backend
  const mk_backend* table = nullptr;
  mk_device_info info{};

  std::string id() const { return backend + ":" + std::to_string(index); }
  // Returns backend, device name, platform, driver and instruction set. Devices of one class compute identical bits.
  std::string device_class() const;
};

using Choices = std::map<std::string, std::string>;

// Owns an open device and its compute queue. Only one thread at a time may use the device.
class Device {
 public:
  // `fallback` is a host device for ops that this device does not support; a host device needs none. Devices of several
  // threads may share a fallback, because they take turns, but no thread may use it directly meanwhile. `budget_bytes`
  // limits the total size of the buffers. Throws the backend's error, which names the device.
  static std::unique_ptr<Device> open(const Listed& listed, const Choices& choices, uint64_t budget_bytes,
                                      std::shared_ptr<Device> fallback);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Listed& listed() const { return listed_; }
  uint64_t budget_bytes() const { return budget_; }
  uint64_t allocated_bytes() const { return allocated_; }
  uint64_t peak_bytes() const { return peak_; }

  mk_buffer* buffer_create(uint64_t bytes);  // throws Error(MK_OUT_OF_MEMORY) if the buffer exceeds the budget
  void buffer_destroy(mk_buffer* buffer) noexcept;
  void write(mk_buffer* to, uint64_t offset, const void* from, uint64_t bytes);  // blocks
  void read(mk_buffer* from, uint64_t offset, void* to, uint64_t bytes);         // blocks
  void copy(mk_buffer* from, uint64_t from_offset, mk_buffer* to, uint64_t to_offset, uint64_t bytes);
  void* host_memory_create(uint64_t bytes);  // see mk_device_services
  void host_memory_destroy(void* memory) noexcept;
  void submit(const mk_op& op);  // checks the op's shape rule; runs an unsupported op on the fallback
  void submit_group(std::span<const mk_op* const> members, size_t each);  // see mk_device_services
  void finish();

  // Synchronizes and times every later op, kernel and transfer, within the scopes of services(). This is slower but
  // does not change results. Time outside of ops counts only while a scope is open.
  void profile();
  const Profile* profiled() const { return profile_.get(); }  // null unless profile() was called

  // Records every later op, kernel and transfer in `trace`, which must outlive the device, and fills new buffers with
  // zeros. This is much slower but does not change results. Excludes profile().
  void trace(Trace& trace);

  // Returns the number of fallbacks since open(), by the name of the op.
  const std::map<std::string, uint64_t>& fallbacks() const { return fallbacks_; }
  // Returns all choices on which results depend: those of the backend and those that a model has recorded.
  const Choices& choices() const { return choices_; }

  // Sets the team for the model's next calls, or none if `team` is null. The team must outlive these calls.
  void join(const mk_team* team) { services_.team = team; }

  // Returns the C table for models, which is valid as long as this device.
  const mk_device_services* services() const { return &services_; }

 private:
  Device() = default;
  uint64_t size_of(mk_buffer* buffer) const;
  void check_range(const char* what, mk_buffer* buffer, uint64_t offset, uint64_t bytes) const;
  void check(const mk_op& op) const;
  void submit_on_fallback(const mk_op& op);
  void dispatch(const mk_op& op);
  void enqueue(const mk_copy& copy);
  template <class Body>
  double timed(Body&& body);
  void transfer(const char* what, const mk_copy& copy);
  void read_choices();
  void fill_services();

  // device_trace.cpp defines the functions for traces.
  class Untraced;
  void submit_traced(const mk_op& op);
  void trace_transfer(const char* what, mk_buffer* buffer, uint64_t offset, uint64_t bytes);
  void trace_launch(const char* kernel, std::span<const mk_argument> arguments);
  void trace_kernel(const std::string& kernel, const std::vector<mk_buffer*>& buffers);
  void end_traced_scope();
  const mk_kernel_source* traced_kernels(mk_device** device, mk_queue** queue);
  std::string digest_of(const mk_tensor& view);
  std::string digest_of(mk_buffer* buffer, uint64_t offset, uint64_t bytes);
  std::vector<uint32_t> words_of(mk_buffer* buffer, uint64_t offset, uint64_t bytes);
  void clear(mk_buffer* buffer, uint64_t bytes);

  Listed listed_;
  mk_device* device_ = nullptr;
  mk_queue* queue_ = nullptr;
  const mk_kernel_source* kernel_source_ = nullptr;
  const mk_host_pointer* host_pointer_ = nullptr;
  const mk_group* group_ = nullptr;
  const mk_host_memory* host_memory_ = nullptr;
  std::shared_ptr<Device> fallback_;
  std::mutex turn_;  // held while another device falls back to this one
  uint64_t budget_ = 0, allocated_ = 0, peak_ = 0;
  std::map<mk_buffer*, uint64_t> sizes_;
  struct HostBlock {
    mk_host_block* of_backend;  // null if the process allocated the memory
    uint64_t bytes;
  };
  std::map<void*, HostBlock> host_blocks_;
  std::map<std::string, uint64_t> fallbacks_;
  Choices choices_;
  std::unique_ptr<Profile> profile_;
  std::unique_ptr<Tracer> tracer_;
  mk_device_services services_{};
};

}  // namespace mokume::device
