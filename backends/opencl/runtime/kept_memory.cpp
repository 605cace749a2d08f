#include "runtime/kept_memory.hpp"

namespace mokume::opencl {

namespace {

std::string key_of(const mk_tensor& of, const char* what) {
  std::string key = what;
  for (const int64_t number : {of.offset, of.rows, of.columns, of.row_stride}) key += ' ' + std::to_string(number);
  return key;
}

}  // namespace

KeptMemory::Derived* KeptMemory::found(const std::string& key, uint64_t version) {
  for (Derived& d : derived_) {
    if (d.version != version || d.key != key) continue;
    d.used = ++uses_;
    return &d;
  }
  return nullptr;
}

cl_mem KeptMemory::find(const mk_tensor& of, const char* what) {
  const Derived* const kept = found(key_of(of, what), of.buffer->version);
  return kept == nullptr ? nullptr : kept->memory.memory.get();
}

cl_mem KeptMemory::get(mk_device& device, const mk_tensor& of, const char* what, uint64_t bytes,
                       const std::function<void(cl_mem)>& make) {
  std::string key = key_of(of, what);
  const uint64_t version = of.buffer->version;
  if (const Derived* const kept = found(key, version)) return kept->memory.memory.get();
  ++changes_;
  Derived* const entry = entry_for(device, key, bytes);
  if (entry == nullptr) return nullptr;
  entry->key = std::move(key);
  entry->version = 0;  // matches no buffer, in case make() throws
  entry->used = ++uses_;
  make(entry->memory.memory.get());
  entry->version = version;
  return entry->memory.memory.get();
}

// Returns the memory of an older version under the same key, new memory while there is room, or the least recently used
// memory that is large enough. The queue is in order, so pending commands read the old contents first.
KeptMemory::Derived* KeptMemory::entry_for(mk_device& device, const std::string& key, uint64_t bytes) {
  constexpr uint64_t kMostBytes = uint64_t{128} << 20;
  uint64_t total = bytes;
  Derived *same = nullptr, *oldest = nullptr;
  for (Derived& d : derived_) {
    total += d.memory.bytes;
    if (d.memory.bytes < bytes) continue;
    if (d.key == key && (same == nullptr || d.used < same->used)) same = &d;
    if (oldest == nullptr || d.used < oldest->used) oldest = &d;
  }
  if (same != nullptr) return same;
  if (total > kMostBytes) return oldest;
  derived_.push_back({"", 0, 0, create_buffer(device, bytes)});
  return &derived_.back();
}

}  // namespace mokume::opencl
