#include "strict/strict.hpp"

#include <memory>
#include <string>
#include <vector>

#include "common/grid.hpp"
#include "runtime/copy.hpp"
#include "runtime/launcher.hpp"
#include "runtime/wait.hpp"
#include "strict/strict.embed.hpp"
#include "strict/strict_args.h"
#include "strict/values.hpp"

namespace mokume::opencl {
namespace {

void copy(mk_queue& queue, mk_copy_kind kind, mk_buffer& buffer, std::vector<float>& host) {
  mk_copy copy{};
  copy.kind = kind;
  (kind == MK_COPY_WRITE ? copy.to : copy.from) = &buffer;
  copy.host = host.data();
  copy.bytes = host.size() * sizeof(float);
  enqueue_copy(queue, copy, nullptr);
}

std::string fault_of(mk_device& device, mk_queue& queue, int width) {
  std::vector<float> in = strict_operands(), out(4 * kStrictCount);
  mk_buffer from = create_buffer(device, in.size() * sizeof(float)),
            to = create_buffer(device, out.size() * sizeof(float));
  copy(queue, MK_COPY_WRITE, from, in);
  Launcher launcher(queue, false);
  launcher.run(device.kernel(for_width("strict", kStrictStrict, width), "strict_values"),
               {{static_cast<int64_t>(kStrictCount) / width, 1, 1}, {1, 1, 1}}, StrictArgs{.count = kStrictCount},
               {from.memory.get(), to.memory.get()});
  copy(queue, MK_COPY_READ, to, out);
  finish(queue);
  return strict_fault(in, out);
}

}  // namespace

void require_strict(mk_device& device) {
  const std::unique_ptr<mk_queue> queue = create_queue(device, false);
  std::string wrong = (device.info.flags & MK_DEVICE_FUSES) != 0 ? kFuses : fault_of(device, *queue, 1);
  if (wrong.empty()) wrong = fault_of(device, *queue, 4);
  if (!wrong.empty())
    throw Error(MK_DEVICE_ERROR, std::string(device.info.name) + " cannot compute with strict numerics, because " +
                                     wrong + ": leave it out with --devices, or set devices.numerics to fast");
}

}  // namespace mokume::opencl
