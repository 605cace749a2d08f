// Holds objects that higher folders attach to a device or a queue for its lifetime, one per type.
#pragma once

#include <map>
#include <memory>
#include <typeindex>

namespace mokume::opencl {

class Attachments {
 public:
  // Returns the object of type T, and creates it on the first call.
  template <class T>
  T& get() {
    std::shared_ptr<void>& slot = objects_[typeid(T)];
    if (slot == nullptr) slot = std::make_shared<T>();
    return *static_cast<T*>(slot.get());
  }

 private:
  std::map<std::type_index, std::shared_ptr<void>> objects_;
};

}  // namespace mokume::opencl
