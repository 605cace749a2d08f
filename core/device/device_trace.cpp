// Traces the steps of a device: reads back the values that each step has written, or may have written.
#include <algorithm>
#include <map>

#include "device/device.hpp"
#include "registry/foreign.hpp"
#include "sdk/ops.hpp"

namespace mokume::device {
namespace {

constexpr uint64_t kBlock = uint64_t{16} << 20;  // bytes that are copied at once

// The handles that a model gets while it is traced stand for the Device, so that its launches can be followed.
Device& device_behind(void* handle) { return *static_cast<Device*>(handle); }

}  // namespace

// Stops tracing for a while, for example for the transfers of a fallback.
class Device::Untraced {
 public:
  explicit Untraced(Device& device) : device_(device), tracer_(std::move(device.tracer_)) {}
  ~Untraced() { device_.tracer_ = std::move(tracer_); }
  Untraced(const Untraced&) = delete;
  Untraced& operator=(const Untraced&) = delete;

 private:
  Device& device_;
  std::unique_ptr<Tracer> tracer_;
};

void Device::trace(Trace& trace) {
  tracer_ = std::make_unique<Tracer>(Tracer{trace});
  services_.scope_begin = [](void* self, int32_t kind, const char* name) {
    sdk::guard(nullptr, [&] {
      Device& d = device_behind(self);
      d.tracer_->scopes.emplace_back(static_cast<mk_scope>(kind), name);
      d.tracer_->launched = false;
    });
  };
  services_.scope_end = [](void* self) { sdk::guard(nullptr, [&] { device_behind(self).end_traced_scope(); }); };
  if (kernel_source_ == nullptr) return;
  tracer_->kernels = *kernel_source_;
  tracer_->kernels.build = [](mk_device* device, const char* name, const char* source, const char* options,
                              mk_program** program, mk_error* error) {
    const Device& d = device_behind(device);
    return d.kernel_source_->build(d.device_, name, source, options, program, error);
  };
  tracer_->kernels.launch = [](mk_queue* queue, mk_program* program, const char* kernel, const mk_argument* arguments,
                               uint32_t n_arguments, const uint64_t global[3], const uint64_t local[3],
                               mk_event** event, mk_error* error) {
    Device& d = device_behind(queue);
    const int32_t status =
        d.kernel_source_->launch(d.queue_, program, kernel, arguments, n_arguments, global, local, event, error);
    return status != MK_OK ? status : sdk::guard(error, [&] { d.trace_launch(kernel, {arguments, n_arguments}); });
  };
}

const mk_kernel_source* Device::traced_kernels(mk_device** device, mk_queue** queue) {
  *device = reinterpret_cast<mk_device*>(this);
  *queue = reinterpret_cast<mk_queue*>(this);
  return &tracer_->kernels;
}

void Device::submit_traced(const mk_op& op) {
  {
    const Untraced transfers(*this);
    dispatch(op);
  }
  if (tracer_->trace.full()) return;
  std::vector<std::string> digests;
  for (uint32_t o = 0; o < op.n_outputs; ++o)
    digests.push_back(sdk::empty(op.outputs[o]) ? "none" : digest_of(op.outputs[o]));
  tracer_->trace.add(tracer_->phase() + ops::text(op), digests);
}

// Leaves out the gaps between the rows of a view.
std::string Device::digest_of(const mk_tensor& view) {
  Digest digest(view.dtype == MK_I32 ? Digest::Kind::words : Digest::Kind::floats);
  const auto columns = static_cast<uint64_t>(view.columns), all_rows = static_cast<uint64_t>(view.rows);
  const uint64_t stride = all_rows == 1 ? columns : static_cast<uint64_t>(view.row_stride);
  const uint64_t at_once = std::max<uint64_t>(1, kBlock / sdk::kElementBytes / stride);
  for (uint64_t first = 0; first < all_rows; first += at_once) {
    const uint64_t rows = std::min(at_once, all_rows - first);
    const uint64_t from = static_cast<uint64_t>(view.offset) + first * stride, count = (rows - 1) * stride + columns;
    std::vector<uint32_t> words = words_of(view.buffer, from * sdk::kElementBytes, count * sdk::kElementBytes);
    for (uint64_t r = 0; r < rows; ++r) digest.add(std::span(words).subspan(r * stride, columns));
  }
  return digest.hex();
}

std::string Device::digest_of(mk_buffer* buffer, uint64_t offset, uint64_t bytes) {
  Digest digest(Digest::Kind::words);
  for (uint64_t done = 0; done < bytes; done += kBlock) {
    std::vector<uint32_t> words = words_of(buffer, offset + done, std::min(kBlock, bytes - done));
    digest.add(words);
  }
  return digest.hex();
}

std::vector<uint32_t> Device::words_of(mk_buffer* buffer, uint64_t offset, uint64_t bytes) {
  std::vector<uint32_t> words((bytes + sizeof(uint32_t) - 1) / sizeof(uint32_t));
  mk_copy copy{};
  copy.kind = MK_COPY_READ;
  copy.from = buffer;
  copy.from_offset = offset;
  copy.host = words.data();
  copy.bytes = bytes;
  enqueue(copy);
  finish();
  return words;
}

void Device::trace_transfer(const char* what, mk_buffer* buffer, uint64_t offset, uint64_t bytes) {
  if (tracer_->trace.full()) return;
  tracer_->trace.add(tracer_->phase() + what + " of " + std::to_string(bytes) + " bytes",
                     {digest_of(buffer, offset, bytes)});
}

// Nobody says which buffers a kernel writes, so the trace has them all.
void Device::trace_launch(const char* kernel, std::span<const mk_argument> arguments) {
  std::vector<mk_buffer*> buffers;
  for (const mk_argument& one : arguments)
    if (one.kind == MK_ARG_BUFFER && one.buffer != nullptr) buffers.push_back(one.buffer);
  trace_kernel(kernel, buffers);
  tracer_->launched = true;
}

void Device::trace_kernel(const std::string& kernel, const std::vector<mk_buffer*>& buffers) {
  if (tracer_->trace.full()) return;
  std::map<mk_buffer*, std::string> known;  // a kernel may get a buffer several times
  std::vector<std::string> digests;
  for (mk_buffer* const buffer : buffers) {
    std::string& digest = known[buffer];
    if (digest.empty()) digest = digest_of(buffer, 0, size_of(buffer));
    digests.push_back(digest);
  }
  tracer_->trace.add(tracer_->phase() + "kernel " + kernel, digests);
}

void Device::end_traced_scope() {
  if (tracer_->scopes.empty()) return;
  const auto [kind, name] = tracer_->scopes.back();
  tracer_->scopes.pop_back();
  if (kind != MK_SCOPE_KERNEL) return;
  if (!tracer_->launched) {
    trace_kernel(name, tracer_->shared);
    tracer_->shared_used = true;
  }
  tracer_->launched = false;
}

// The bytes of a new buffer are undefined, and a model need not write all of them.
void Device::clear(mk_buffer* buffer, uint64_t bytes) {
  std::vector<std::byte> zeros(std::min(kBlock, bytes));
  for (uint64_t done = 0; done < bytes; done += zeros.size()) {
    mk_copy copy{};
    copy.kind = MK_COPY_WRITE;
    copy.to = buffer;
    copy.to_offset = done;
    copy.host = zeros.data();
    copy.bytes = std::min<uint64_t>(zeros.size(), bytes - done);
    enqueue(copy);
    finish();
  }
}

}  // namespace mokume::device
