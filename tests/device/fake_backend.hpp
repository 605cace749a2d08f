// Implements a backend for tests: buffers are host memory, and tests can observe every call or make it fail.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "abi/backend.h"
#include "device/device.hpp"

namespace mokume::device {

struct FakeBackend {
  explicit FakeBackend(const std::string& backend_name = "fake");

  Listed listed(uint32_t index = 0) const;

  std::string name;
  mk_backend table{};
  mk_kernel_source kernel_source{};
  mk_host_pointer host_pointer{};

  // Tests set this behaviour.
  std::set<int32_t> unsupported;  // op codes
  bool has_kernel_source = false;
  bool has_host_pointer = false;
  mk_host_memory host_memory{};
  uint64_t may_lock = 0;  // limit in bytes; if it is 0, the extension is missing
  int locked = 0;         // number of locked blocks
  std::string fail_open;  // error of open(), or ""
  bool fail_queue = false;
  std::vector<mk_choice> own_choices;
  bool compute = true;                            // if false, ops leave their output unchanged
  std::function<void(const mk_op&)> on_submit{};  // called for every op

  // Tests read these observations.
  std::map<std::string, std::string> choices_given;
  std::vector<int32_t> submitted;  // op codes
  uint64_t copied_bytes = 0;
  int devices = 0, queues = 0, buffers = 0, finishes = 0;  // numbers of live objects, and number of calls of finish()
};

// Returns the contents of a buffer of a fake device.
std::vector<float>& contents(mk_buffer* buffer);

}  // namespace mokume::device

struct mk_buffer {
  mokume::device::FakeBackend* owner;
  std::vector<float> data;
};
