// Names spans of time for the profile of a device.
#pragma once

#include "abi/model.h"

namespace mokume::sdk {

// Marks a span of time for the profile, until the end of the block. Without a profile, it costs one comparison.
class [[nodiscard]] Scope {
 public:
  Scope(const mk_device_services* device, mk_scope kind, const char* name)
      : device_(device->scope_begin != nullptr ? device : nullptr) {
    if (device_ != nullptr) device_->scope_begin(device_->self, kind, name);
  }
  ~Scope() {
    if (device_ != nullptr) device_->scope_end(device_->self);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  const mk_device_services* device_;
};

}  // namespace mokume::sdk
