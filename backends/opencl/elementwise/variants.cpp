#include "elementwise/variants.hpp"

#include "elementwise/elementwise.embed.hpp"
#include "row_norm2/row_norm2.embed.hpp"
#include "runtime/buffer.hpp"
#include "sdk/ops.hpp"
#include "variants/race.hpp"

namespace mokume::opencl {
namespace {

constexpr const char* kElementwiseSources[] = {kElementwiseElementwise, kRowNorm2RowNorm2};

std::vector<std::string> elementwise_candidates(const mk_device& device) {
  if (device.info.kind == MK_DEVICE_GPU || is_emulated(device)) return {"scalar"};
  return {"vector", "scalar"};
}

// On a CPU, the race ends with the first map that reaches 50 million elements per second and core.
void race_map(mk_device& device, mk_queue& queue) {
  constexpr int64_t kRows = 256;
  const int64_t columns = race_size(device.info).columns;
  mk_buffer memory = create_buffer(device, static_cast<uint64_t>(kRows * columns) * 4);
  const mk_tensor matrix = sdk::matrix(&memory, kRows, columns);
  run_unmeasured(queue, ops::fill(matrix, 0.25F));
  race(device, queue, kMapVariants, ops::kernel_map(matrix, {}, {}, matrix, {ops::KernelKind::sigmoid, 1, 0, 0}),
       static_cast<double>(kRows * columns), 5e7);
}

}  // namespace

const VariantSet kMapVariants{
    "map", &Choices::map, {"vector", "scalar", ""}, kElementwiseSources, elementwise_candidates, race_map};

}  // namespace mokume::opencl
