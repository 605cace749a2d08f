#include "device/device.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "registry/foreign.hpp"
#include "sdk/error.hpp"
#include "sdk/operands.hpp"

namespace mokume::device {
namespace {

template <size_t N>
std::string text_of(const char (&field)[N]) {
  return {field, ::strnlen(field, N)};
}

// Returns whether a choice fits into the fields of mk_choice. Backends and models make only choices that fit.
bool fits(const std::string& key, const std::string& value) {
  return !key.empty() && key.size() < sizeof(mk_choice::key) && value.size() < sizeof(mk_choice::value);
}

std::vector<mk_choice> to_table(const Choices& choices) {
  std::vector<mk_choice> table;
  for (const auto& [key, value] : choices) {
    if (!fits(key, value)) continue;
    mk_choice choice{};
    key.copy(choice.key, sizeof(choice.key) - 1);
    value.copy(choice.value, sizeof(choice.value) - 1);
    table.push_back(choice);
  }
  return table;
}

template <class Table>
const Table* extension(const mk_backend* backend, const char* name) {
  const auto* table = static_cast<const Table*>(backend->extension(backend->self, name));
  return table != nullptr && table->struct_size >= sizeof(Table) ? table : nullptr;
}

Device& device_of(void* self) { return *static_cast<Device*>(self); }

}  // namespace

std::string Listed::device_class() const {
  std::string text = backend;
  for (const char* part : {info.name, info.platform, info.driver, info.isa}) text += std::string(" / ") + part;
  return text;
}

std::unique_ptr<Device> Device::open(const Listed& listed, const Choices& choices, uint64_t budget_bytes,
                                     std::shared_ptr<Device> fallback) {
  std::unique_ptr<Device> device(new Device);
  device->listed_ = listed;
  device->budget_ = budget_bytes;
  device->fallback_ = std::move(fallback);
  device->choices_ = choices;
  const mk_backend* table = listed.table;
  const std::vector<mk_choice> fixed = to_table(choices);
  try {
    registry::call_foreign("open", table->open, table->self, listed.index, fixed.data(),
                           static_cast<uint32_t>(fixed.size()), &device->device_);
    device->read_choices();
    registry::call_foreign("queue_create", table->queue_create, device->device_, 0U, &device->queue_);
  } catch (const Error& e) {
    throw Error(e.status(),
                "device " + listed.id() + " (" + text_of(listed.info.name) + ") cannot be opened: " + e.what(),
                e.thrown_at());
  }
  device->kernel_source_ = extension<mk_kernel_source>(table, "kernel_source_v1");
  device->host_pointer_ = extension<mk_host_pointer>(table, "host_pointer_v1");
  device->group_ = extension<mk_group>(table, "group_v2");
  device->host_memory_ = extension<mk_host_memory>(table, "host_memory_v1");
  device->fill_services();
  return device;
}

Device::~Device() {
  if (device_ == nullptr) return;
  if (queue_ != nullptr) {
    mk_error ignored{};  // the device is closed even if it has failed
    listed_.table->finish(queue_, &ignored);
  }
  for (const auto& [buffer, bytes] : sizes_) listed_.table->buffer_destroy(device_, buffer);
  while (!host_blocks_.empty()) host_memory_destroy(host_blocks_.begin()->first);
  listed_.table->queue_destroy(queue_);
  listed_.table->close(device_);
}

void Device::read_choices() {
  constexpr uint32_t kMost = 1024;
  std::vector<mk_choice> made(32);
  uint32_t count = 0;
  const auto ask = [&] {
    registry::call_foreign("choices", listed_.table->choices, device_, made.data(), static_cast<uint32_t>(made.size()),
                           &count);
    if (count > kMost) throw Error(MK_DEVICE_ERROR, "its backend claims " + std::to_string(count) + " choices");
  };
  ask();
  if (count > made.size()) {
    made.resize(count);
    ask();
  }
  made.resize(std::min<size_t>(count, made.size()));
  // A backend that does not know the precision or the numerics ignores them.
  if (const auto precision = choices_.find("precision"); precision != choices_.end()) precision->second = "fp32";
  const auto numerics = choices_.find("numerics");
  const bool strict = numerics != choices_.end() && numerics->second == "strict";
  if (numerics != choices_.end()) numerics->second = "fast";
  for (const mk_choice& choice : made) choices_[text_of(choice.key)] = text_of(choice.value);
  if (strict && choices_["numerics"] != "strict")
    throw Error(MK_DEVICE_ERROR,
                "its backend does not offer strict numerics: leave the device out with --devices, or "
                "set devices.numerics to fast");
}

mk_buffer* Device::buffer_create(uint64_t bytes) {
  if (bytes == 0) throw Error(MK_INVALID_ARGUMENT, "a buffer of 0 bytes was requested on " + listed_.id());
  if (allocated_ > budget_ || bytes > budget_ - allocated_)
    throw Error(MK_OUT_OF_MEMORY, listed_.id() + ": a buffer of " + std::to_string(bytes) + " bytes does not fit, " +
                                      std::to_string(allocated_) + " of the budget of " + std::to_string(budget_) +
                                      " bytes are in use");
  mk_buffer* buffer = nullptr;
  registry::call_foreign("buffer_create", listed_.table->buffer_create, device_, bytes, &buffer);
  try {
    sizes_[buffer] = bytes;
  } catch (...) {
    listed_.table->buffer_destroy(device_, buffer);
    throw;
  }
  allocated_ += bytes;
  peak_ = std::max(peak_, allocated_);
  if (tracer_) clear(buffer, bytes);
  return buffer;
}

void Device::buffer_destroy(mk_buffer* buffer) noexcept {
  const auto at = sizes_.find(buffer);
  if (at == sizes_.end()) return;
  allocated_ -= at->second;
  sizes_.erase(at);
  if (tracer_) std::erase(tracer_->shared, buffer);
  listed_.table->buffer_destroy(device_, buffer);
}

// Limits locked memory, because it is unavailable to all other programs on the machine.
void* Device::host_memory_create(uint64_t bytes) {
  constexpr uint64_t kMostLocked = uint64_t{1} << 30;
  constexpr size_t kAlignment = 64;
  if (bytes == 0) throw Error(MK_INVALID_ARGUMENT, "host memory of 0 bytes was requested");
  uint64_t locked = bytes;
  for (const auto& [memory, block] : host_blocks_) locked += block.of_backend != nullptr ? block.bytes : 0;
  HostBlock block{nullptr, bytes};
  void* memory = nullptr;
  mk_error refused{};  // ignored, because other memory works, too
  if (host_memory_ == nullptr || locked > kMostLocked ||
      host_memory_->create(queue_, bytes, &block.of_backend, &memory, &refused) != MK_OK) {
    block.of_backend = nullptr;
    memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
    if (memory == nullptr) throw Error(MK_OUT_OF_MEMORY, "the host cannot provide " + std::to_string(bytes) + " bytes");
  }
  try {
    host_blocks_[memory] = block;
  } catch (...) {
    block.of_backend != nullptr ? host_memory_->destroy(block.of_backend) : std::free(memory);
    throw;
  }
  return memory;
}

void Device::host_memory_destroy(void* memory) noexcept {
  const auto at = host_blocks_.find(memory);
  if (at == host_blocks_.end()) return;
  if (at->second.of_backend != nullptr)
    host_memory_->destroy(at->second.of_backend);
  else
    std::free(memory);
  host_blocks_.erase(at);
}

uint64_t Device::size_of(mk_buffer* buffer) const {
  const auto at = sizes_.find(buffer);
  if (at == sizes_.end())
    throw Error(MK_INVALID_ARGUMENT, "a buffer was used on " + listed_.id() + " that is not its own");
  return at->second;
}

void Device::check_range(const char* what, mk_buffer* buffer, uint64_t offset, uint64_t bytes) const {
  const uint64_t size = size_of(buffer);
  if (offset > size || bytes > size - offset)
    throw Error(MK_INVALID_ARGUMENT, listed_.id() + ": " + what + " of " + std::to_string(bytes) + " bytes at " +
                                         std::to_string(offset) + " is outside its buffer of " + std::to_string(size));
}

void Device::write(mk_buffer* to, uint64_t offset, const void* from, uint64_t bytes) {
  check_range("a write", to, offset, bytes);
  if (bytes == 0) return;
  mk_copy copy{};
  copy.kind = MK_COPY_WRITE;
  copy.to = to;
  copy.to_offset = offset;
  copy.host = const_cast<void*>(from);
  copy.bytes = bytes;
  transfer("write", copy);
  if (tracer_) trace_transfer("write", to, offset, bytes);
}

void Device::read(mk_buffer* from, uint64_t offset, void* to, uint64_t bytes) {
  check_range("a read", from, offset, bytes);
  if (bytes == 0) return;
  mk_copy copy{};
  copy.kind = MK_COPY_READ;
  copy.from = from;
  copy.from_offset = offset;
  copy.host = to;
  copy.bytes = bytes;
  transfer("read", copy);
  if (tracer_) trace_transfer("read", from, offset, bytes);
}

void Device::transfer(const char* what, const mk_copy& copy) {
  if (profile_) {
    profile_->add_transfer(what, copy.bytes, timed([&] { enqueue(copy); }));
  } else {
    enqueue(copy);
    finish();
  }
}

void Device::enqueue(const mk_copy& copy) {
  registry::call_foreign("copy", listed_.table->copy, queue_, &copy, static_cast<mk_event**>(nullptr));
}

// Returns the time that `body` and its queued work take, except the time that the profile records meanwhile, for
// example for the copies of a fallback.
template <class Body>
double Device::timed(Body&& body) {
  finish();
  const double start = profile_->now(), counted = profile_->counted();
  body();
  finish();
  return (profile_->now() - start) - (profile_->counted() - counted);
}

void Device::copy(mk_buffer* from, uint64_t from_offset, mk_buffer* to, uint64_t to_offset, uint64_t bytes) {
  check_range("a copy", from, from_offset, bytes);
  check_range("a copy", to, to_offset, bytes);
  if (from == to && from_offset < to_offset + bytes && to_offset < from_offset + bytes && bytes != 0)
    throw Error(MK_INVALID_ARGUMENT, listed_.id() + ": a copy inside one buffer overlaps itself");
  if (bytes == 0) return;
  mk_copy copy{};
  copy.kind = MK_COPY_DEVICE;
  copy.from = from;
  copy.from_offset = from_offset;
  copy.to = to;
  copy.to_offset = to_offset;
  copy.bytes = bytes;
  if (profile_)
    profile_->add_transfer("copy", 2 * bytes, timed([&] { enqueue(copy); }));
  else
    enqueue(copy);
  if (tracer_) trace_transfer("copy", to, to_offset, bytes);
}

void Device::check(const mk_op& op) const {
  ops::check(op);
  ops::check_operands(op, [&](mk_buffer* buffer) { return size_of(buffer); });
}

void Device::submit(const mk_op& op) {
  check(op);
  if (tracer_) return submit_traced(op);
  if (!profile_) return dispatch(op);
  profile_->add_op(op, timed([&] { dispatch(op); }));
}

void Device::submit_group(std::span<const mk_op* const> members, size_t each) {
  bool grouped = group_ != nullptr;
  for (const mk_op* ops : members)
    for (size_t k = 0; k < each; ++k) {
      check(ops[k]);
      grouped = grouped && listed_.table->supports(device_, &ops[k]) != MK_SUPPORT_NO;
    }
  const auto run = [&](std::span<const mk_op* const> ops, size_t count) {
    registry::call_foreign("submit", group_->submit, queue_, ops.data(), static_cast<uint32_t>(ops.size()),
                           static_cast<uint32_t>(count), static_cast<mk_event**>(nullptr));
  };
  if (grouped && !profile_ && !tracer_) return run(members, each);
  // Runs the ops one after the other, because a profile or trace has each op and a fallback waits for each op.
  std::vector<const mk_op*> group(members.begin(), members.end());
  for (size_t k = 0; k < each; ++k) {
    if (tracer_) {
      for (const mk_op* op : group) submit_traced(*op);
    } else if (grouped) {
      const double seconds = timed([&] { run(group, 1); }) / static_cast<double>(group.size());
      for (const mk_op* op : group) profile_->add_op(*op, seconds);
    } else {
      for (const mk_op* op : group) profile_ ? profile_->add_op(*op, timed([&] { dispatch(*op); })) : dispatch(*op);
    }
    for (const mk_op*& op : group) ++op;
  }
}

void Device::dispatch(const mk_op& op) {
  if (listed_.table->supports(device_, &op) == MK_SUPPORT_NO) return submit_on_fallback(op);
  registry::call_foreign("submit", listed_.table->submit, queue_, &op, static_cast<mk_event**>(nullptr));
}

void Device::finish() { registry::call_foreign("finish", listed_.table->finish, queue_); }

void Device::profile() {
  profile_ = std::make_unique<Profile>();
  // The scopes ignore an error of the device, because the next op reports it.
  services_.scope_begin = [](void* self, int32_t kind, const char* name) {
    sdk::guard(nullptr, [&] {
      Device& d = device_of(self);
      if (kind == MK_SCOPE_KERNEL) d.finish();
      d.profile_->begin(static_cast<mk_scope>(kind), name);
    });
  };
  services_.scope_end = [](void* self) {
    sdk::guard(nullptr, [&] {
      Device& d = device_of(self);
      sdk::guard(nullptr, [&] {
        if (d.profile_->in_kernel()) d.finish();
      });
      d.profile_->end();
    });
  };
}

void Device::fill_services() {
  mk_device_services& s = services_;
  s.struct_size = sizeof(s);
  s.self = this;
  s.info = [](void* self) -> const mk_device_info* { return &device_of(self).listed_.info; };
  s.budget_bytes = [](void* self) { return device_of(self).budget_; };
  s.buffer_create = [](void* self, uint64_t bytes, mk_buffer** buffer, mk_error* error) {
    return sdk::guard(error, [&] { *buffer = device_of(self).buffer_create(bytes); });
  };
  s.buffer_destroy = [](void* self, mk_buffer* buffer) { device_of(self).buffer_destroy(buffer); };
  s.host_memory_create = [](void* self, uint64_t bytes, void** memory, mk_error* error) {
    return sdk::guard(error, [&] { *memory = device_of(self).host_memory_create(bytes); });
  };
  s.host_memory_destroy = [](void* self, void* memory) { device_of(self).host_memory_destroy(memory); };
  s.write = [](void* self, mk_buffer* to, uint64_t offset, const void* from, uint64_t bytes, mk_error* error) {
    return sdk::guard(error, [&] { device_of(self).write(to, offset, from, bytes); });
  };
  s.read = [](void* self, mk_buffer* from, uint64_t offset, void* to, uint64_t bytes, mk_error* error) {
    return sdk::guard(error, [&] { device_of(self).read(from, offset, to, bytes); });
  };
  s.copy = [](void* self, mk_buffer* from, uint64_t from_offset, mk_buffer* to, uint64_t to_offset, uint64_t bytes,
              mk_error* error) {
    return sdk::guard(error, [&] { device_of(self).copy(from, from_offset, to, to_offset, bytes); });
  };
  s.submit = [](void* self, const mk_op* op, mk_error* error) {
    return sdk::guard(error, [&] { device_of(self).submit(*op); });
  };
  s.submit_group = [](void* self, const mk_op* const* ops, uint32_t members, uint32_t each, mk_error* error) {
    return sdk::guard(error, [&] { device_of(self).submit_group({ops, members}, each); });
  };
  s.finish = [](void* self, mk_error* error) { return sdk::guard(error, [&] { device_of(self).finish(); }); };
  s.kernel_source = [](void* self, mk_device** device, mk_queue** queue) -> const mk_kernel_source* {
    Device& d = device_of(self);
    if (d.kernel_source_ != nullptr && d.tracer_) return d.traced_kernels(device, queue);
    if (d.kernel_source_ != nullptr) *device = d.device_, *queue = d.queue_;
    return d.kernel_source_;
  };
  s.host_pointer = [](void* self, mk_buffer* buffer) -> void* {
    Device& d = device_of(self);
    const bool known = d.host_pointer_ != nullptr && d.sizes_.count(buffer) != 0;
    if (known && d.tracer_) sdk::guard(nullptr, [&] { d.tracer_->share(buffer); });
    return known ? d.host_pointer_->pointer(buffer) : nullptr;
  };
  s.get_choice = [](void* self, const char* key, char value[80]) -> int32_t {
    int32_t found = 0;
    sdk::guard(nullptr, [&] {
      const Choices& choices = device_of(self).choices_;
      const auto at = choices.find(key);
      if (at == choices.end() || !fits(at->first, at->second)) return;
      std::memcpy(value, at->second.c_str(), at->second.size() + 1);
      found = 1;
    });
    return found;
  };
  s.set_choice = [](void* self, const char* key, const char* value) {
    sdk::guard(nullptr, [&] {
      if (fits(key, value)) device_of(self).choices_[key] = value;
    });
  };
}

}  // namespace mokume::device
