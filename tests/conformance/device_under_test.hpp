// Wraps the C table of each device in the suite, with owners for its handles.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "abi/backend.h"
#include "registry/registry.hpp"
#include "support/test_host.hpp"

namespace mokume::conformance {

using Words = std::vector<uint32_t>;  // contents of a buffer

// Represents one device and opens it at its first use. Every function throws Error, which fails the test.
class DeviceUnderTest {
 public:
  DeviceUnderTest(std::string backend, uint32_t index, const mk_backend* table, const mk_device_info& info);
  ~DeviceUnderTest();
  DeviceUnderTest(const DeviceUnderTest&) = delete;
  DeviceUnderTest& operator=(const DeviceUnderTest&) = delete;

  const std::string& backend() const { return backend_; }
  uint32_t index() const { return index_; }
  const mk_device_info& info() const { return info_; }
  const mk_backend& table() const { return *table_; }
  // Returns backend, index and platform, such as "opencl0_Portable_Computing_Language".
  const std::string& label() const { return label_; }
  bool has(mk_device_flags flag) const { return (info_.flags & static_cast<uint64_t>(flag)) != 0; }

  mk_device* device();
  mk_queue* queue();  // this queue measures commands

  // Buffers report their sizes. bytes_of() throws for a buffer of another device.
  void add(mk_buffer* buffer, uint64_t bytes) { buffers_[buffer] = bytes; }
  void remove(mk_buffer* buffer) { buffers_.erase(buffer); }
  uint64_t bytes_of(mk_buffer* buffer) const;

 private:
  void open();

  std::string backend_;
  uint32_t index_;
  const mk_backend* table_;
  mk_device_info info_;
  std::string label_;
  mk_device* device_ = nullptr;
  mk_queue* queue_ = nullptr;
  std::map<mk_buffer*, uint64_t> buffers_;
};

class Buffer {
 public:
  Buffer(DeviceUnderTest& dut, uint64_t bytes);
  Buffer(DeviceUnderTest& dut, const Words& content) : Buffer(dut, content.size() * 4) { write(content); }
  ~Buffer() {
    dut_.remove(handle_);
    dut_.table().buffer_destroy(dut_.device(), handle_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  mk_buffer* handle() const { return handle_; }
  uint64_t bytes() const { return bytes_; }
  void write(const Words& content);
  Words read() const;

 private:
  DeviceUnderTest& dut_;
  uint64_t bytes_;
  mk_buffer* handle_ = nullptr;
};

// Holds the outcome of one call: its status and its error message.
struct Outcome {
  int32_t status;
  mk_error error;
};
bool all_supported(DeviceUnderTest& dut, const std::vector<mk_op>& ops);
// Checks the op and its operands as core/device does (backends rely on these checks), then submits it.
Outcome submit(DeviceUnderTest& dut, const mk_op& op);
Outcome copy(DeviceUnderTest& dut, const mk_copy& what);
void must(const Outcome& outcome);  // throws unless the status is MK_OK
void finish(DeviceUnderTest& dut);

// Holds every device of every backend that is built. main() owns this object.
class Machine {
 public:
  Machine();

  std::vector<std::unique_ptr<DeviceUnderTest>>& devices() { return devices_; }
  // Returns null if there is no such device.
  DeviceUnderTest* find(const std::string& backend, uint32_t index);
  // Returns the reference device of the host backend. Throws if it is missing.
  DeviceUnderTest& oracle();
  test::TestHost& host() { return host_; }
  registry::Registry& registry() { return registry_; }

 private:
  test::TestHost host_;
  registry::Registry registry_;
  std::vector<std::unique_ptr<DeviceUnderTest>> devices_;
};

}  // namespace mokume::conformance
