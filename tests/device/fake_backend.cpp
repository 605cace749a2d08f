#include "device/fake_backend.hpp"

#include <cmath>
#include <cstring>

#include "sdk/ops.hpp"
#include "sdk/plugin.hpp"

using mokume::device::FakeBackend;

struct mk_device {
  FakeBackend* owner;
};
struct mk_queue {
  mk_device* device;
};
struct mk_host_block {
  mokume::device::FakeBackend* owner;
  std::vector<char> bytes;
};

namespace mokume::device {
namespace {

float& at(const mk_tensor& t, int64_t r, int64_t c) {
  return t.buffer->data.at(static_cast<size_t>(t.offset + r * t.row_stride + c));
}

void run_gemm(const mk_op& op) {
  const auto [m, n, k] = ops::gemm_shape(op);
  const mk_tensor &a = op.inputs[0], &b = op.inputs[1], &out = op.outputs[0];
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += static_cast<double>(op.gemm.transpose_a != 0 ? at(a, p, i) : at(a, i, p)) *
               static_cast<double>(op.gemm.transpose_b != 0 ? at(b, j, p) : at(b, p, j));
      const double old = op.gemm.beta == 0 ? 0 : op.gemm.beta * static_cast<double>(at(out, i, j));
      at(out, i, j) = static_cast<float>(op.gemm.alpha * sum + old);
    }
}

// Implements only the parts of each op that the tests need. For example, kernel_map is the linear kernel times gamma.
void run(const mk_op& op) {
  const mk_tensor& out = op.outputs[0];
  if (op.code == MK_OP_GEMM) return run_gemm(op);
  for (int64_t r = 0; r < out.rows; ++r)
    for (int64_t c = 0; c < out.columns; ++c) {
      if (op.code == MK_OP_FILL) at(out, r, c) = static_cast<float>(op.fill.value);
      if (op.code == MK_OP_KERNEL_MAP) at(out, r, c) = static_cast<float>(op.kernel_map.gamma) * at(op.inputs[0], r, c);
    }
}

FakeBackend& backend_of(void* self) { return *static_cast<FakeBackend*>(self); }

int32_t open(void* self, uint32_t, const mk_choice* choices, uint32_t n, mk_device** device, mk_error* error) {
  return sdk::guard(error, [&] {
    FakeBackend& backend = backend_of(self);
    if (!backend.fail_open.empty()) throw Error(MK_DEVICE_ERROR, backend.fail_open);
    for (uint32_t i = 0; i < n; ++i) backend.choices_given[choices[i].key] = choices[i].value;
    *device = new mk_device{&backend};
    ++backend.devices;
  });
}

int32_t choices(mk_device* device, mk_choice* out, uint32_t capacity, uint32_t* count, mk_error*) {
  const std::vector<mk_choice>& own = device->owner->own_choices;
  for (uint32_t i = 0; i < capacity && i < own.size(); ++i) out[i] = own[i];
  *count = static_cast<uint32_t>(own.size());
  return MK_OK;
}

int32_t copy(mk_queue* queue, const mk_copy* c, mk_event**, mk_error*) {
  queue->device->owner->copied_bytes += c->bytes;
  const auto bytes = [](mk_buffer* b, uint64_t offset) { return reinterpret_cast<char*>(b->data.data()) + offset; };
  if (c->kind == MK_COPY_WRITE) std::memcpy(bytes(c->to, c->to_offset), c->host, c->bytes);
  if (c->kind == MK_COPY_READ) std::memcpy(c->host, bytes(c->from, c->from_offset), c->bytes);
  if (c->kind == MK_COPY_DEVICE) std::memcpy(bytes(c->to, c->to_offset), bytes(c->from, c->from_offset), c->bytes);
  return MK_OK;
}

void fill_table(mk_backend& t) {
  t.open = open;
  t.choices = choices;
  t.copy = copy;
  t.close = [](mk_device* device) {
    --device->owner->devices;
    delete device;
  };
  t.buffer_create = [](mk_device* device, uint64_t bytes, mk_buffer** buffer, mk_error* error) {
    return sdk::guard(error, [&] {
      *buffer = new mk_buffer{device->owner, std::vector<float>((bytes + 3) / 4, NAN)};
      ++device->owner->buffers;
    });
  };
  t.buffer_destroy = [](mk_device*, mk_buffer* buffer) {
    if (buffer == nullptr) return;
    --buffer->owner->buffers;
    delete buffer;
  };
  t.queue_create = [](mk_device* device, uint32_t, mk_queue** queue, mk_error* error) {
    return sdk::guard(error, [&] {
      if (device->owner->fail_queue) throw Error(MK_DEVICE_ERROR, "no queue today");
      *queue = new mk_queue{device};
      ++device->owner->queues;
    });
  };
  t.queue_destroy = [](mk_queue* queue) {
    if (queue == nullptr) return;
    --queue->device->owner->queues;
    delete queue;
  };
  t.submit = [](mk_queue* queue, const mk_op* op, mk_event**, mk_error* error) {
    return sdk::guard(error, [&] {
      const FakeBackend& backend = *queue->device->owner;
      if (backend.compute) run(*op);
      if (backend.on_submit) backend.on_submit(*op);
      queue->device->owner->submitted.push_back(op->code);
    });
  };
  t.supports = [](mk_device* device, const mk_op* op) -> int32_t {
    return device->owner->unsupported.count(op->code) != 0 ? MK_SUPPORT_NO : MK_SUPPORT_YES;
  };
  t.finish = [](mk_queue* queue, mk_error*) -> int32_t {
    ++queue->device->owner->finishes;
    return MK_OK;
  };
  t.extension = [](void* self, const char* extension) -> const void* {
    const FakeBackend& backend = backend_of(self);
    if (backend.has_kernel_source && std::string(extension) == "kernel_source_v1") return &backend.kernel_source;
    if (backend.has_host_pointer && std::string(extension) == "host_pointer_v1") return &backend.host_pointer;
    if (backend.may_lock > 0 && std::string(extension) == "host_memory_v1") return &backend.host_memory;
    return nullptr;
  };
}

void fill_host_memory(mk_host_memory& table) {
  table.struct_size = sizeof(table);
  table.create = [](mk_queue* queue, uint64_t bytes, mk_host_block** block, void** memory, mk_error* error) {
    return sdk::guard(error, [&] {
      FakeBackend& backend = *queue->device->owner;
      if (bytes > backend.may_lock) throw Error(MK_OUT_OF_MEMORY, "that much cannot be locked");
      *block = new mk_host_block{&backend, std::vector<char>(bytes)};
      *memory = (*block)->bytes.data();
      ++backend.locked;
    });
  };
  table.destroy = [](mk_host_block* block) {
    --block->owner->locked;
    delete block;
  };
}

}  // namespace

FakeBackend::FakeBackend(const std::string& backend_name) : name(backend_name) {
  table.struct_size = sizeof(table);
  table.abi_major = MK_ABI_MAJOR;
  table.abi_minor = MK_ABI_MINOR;
  table.self = this;
  fill_table(table);
  kernel_source.struct_size = sizeof(kernel_source);
  host_pointer.struct_size = sizeof(host_pointer);
  fill_host_memory(host_memory);
  host_pointer.pointer = [](mk_buffer* buffer) -> void* { return buffer->data.data(); };
}

Listed FakeBackend::listed(uint32_t index) const {
  Listed device;
  device.backend = name;
  device.index = index;
  device.table = &table;
  device.info.struct_size = sizeof(mk_device_info);
  device.info.kind = MK_DEVICE_CPU;
  sdk::set_text(device.info.name, "Fake One");
  return device;
}

std::vector<float>& contents(mk_buffer* buffer) { return buffer->data; }

}  // namespace mokume::device
