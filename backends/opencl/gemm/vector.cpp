#include "gemm/vector.hpp"

#include "common/grid.hpp"
#include "gemm/skinny.embed.hpp"
#include "gemm/vector.embed.hpp"
#include "gemm/vector_args.h"
#include "platforms/describe.hpp"

namespace mokume::opencl {
namespace {

Operand from(const Operand& x, int64_t row, int64_t k) {
  return {x.offset + row * x.row_step + k * x.k_step, x.row_step, x.k_step};
}

// Returns the size of the part of the output that one work-item computes: large enough to reuse the data that it brings
// into the cache, and small enough that every core gets several parts.
std::pair<int64_t, int64_t> packed_block(const VectorSizes& sizes, int64_t m, int64_t n, int64_t cores) {
  int64_t rows = 6 * sizes.mr, columns = 16 * sizes.nr;
  const auto items = [&] { return divide_up(m, rows) * divide_up(n, columns); };
  while (items() < 6 * cores && columns > 2 * sizes.nr) columns /= 2;
  while (items() < 6 * cores && rows > sizes.mr) rows = rows == 6 * sizes.mr ? 3 * sizes.mr : sizes.mr;
  return {rows, columns};
}

const LibraryKernel& packed_kernel(mk_device& device, bool chain) {
  if (!chain) return vector_kernel(device, "gemm_packed");
  return device.kernel(
      {"gemm_chain/" + std::to_string(device.vector_width), kGemmVector, vector_options(device) + " -DCHAIN"},
      "gemm_packed");
}

}  // namespace

int64_t rows_each(const mk_device& device, int64_t rows, int64_t side) {
  return side * std::clamp<int64_t>(rows / side / (16 * device.cores), 1, 16);
}

std::string vector_options(int width) { return "-DVW=" + std::to_string(width) + " -DKB=" + std::to_string(kBlock); }

std::string vector_options(const mk_device& device) { return vector_options(device.vector_width); }

const LibraryKernel& vector_kernel(mk_device& device, const char* name) {
  return device.kernel({"gemm_vector/" + std::to_string(device.vector_width), kGemmSkinny, vector_options(device)},
                       name);
}

void pack(Launcher& launcher, const char* kernel, cl_mem memory, const Operand& x, int64_t rows, int64_t k,
          int64_t width, cl_mem to) {
  const int64_t panels = divide_up(rows, width);
  launcher.run(vector_kernel(launcher.device(), kernel),
               {{divide_up(k, kBlock), divide_up(panels, VectorSizes::kPackPanels), 1}},
               PackArgs{.x = x, .rows = rows, .k = k}, {memory, to});
}

// Packs both operands in parts that fit into the workspaces. Parts along k are whole blocks and come in order.
void gemm_packed(Launcher& launcher, const Problem& p) {
  mk_device& device = launcher.device();
  const Product& q = p.product;
  const VectorSizes sizes(device.vector_width);
  const int64_t most = std::min<int64_t>(kWorkspaceFloats, static_cast<int64_t>(device.info.max_buffer_bytes) / kFloat);
  const int64_t part = std::min<int64_t>(q.k, 32 * kBlock);
  const int64_t m_part = std::min(round_up(q.m, sizes.mr), std::max<int64_t>(most / part / sizes.mr, 1) * sizes.mr);
  const int64_t n_part = std::min(round_up(q.n, sizes.nr), std::max<int64_t>(most / part / sizes.nr, 1) * sizes.nr);
  const cl_mem packed_a = launcher.queue().workspace(0, m_part * part);
  const cl_mem packed_b = launcher.queue().workspace(1, n_part * part);
  for (int64_t n0 = 0; n0 < q.n; n0 += n_part)
    for (int64_t k0 = 0; k0 < q.k; k0 += part) {
      const int64_t n = std::min(n_part, q.n - n0), k = std::min(part, q.k - k0);
      pack(launcher, "pack_b", p.b, from(q.b, n0, k0), n, k, sizes.nr, packed_b);
      for (int64_t m0 = 0; m0 < q.m; m0 += m_part) {
        const int64_t m = std::min(m_part, q.m - m0);
        pack(launcher, "pack_a", p.a, from(q.a, m0, k0), m, k, sizes.mr, packed_a);
        const auto [rows, columns] = packed_block(sizes, m, n, device.cores);
        GemmPackedArgs args{
            .product = q, .block_m = rows, .block_n = columns, .first = k0 == 0 ? 1 : 0, .last = k0 + k == q.k ? 1 : 0};
        args.product.m = m;
        args.product.n = n;
        args.product.k = k;
        args.product.out.offset += m0 * q.out.row_step + n0;
        args.product.bias_offset += n0;
        launcher.run(packed_kernel(device, p.chain), {{divide_up(m, rows), divide_up(n, columns), 1}}, args,
                     {packed_a, packed_b, p.out, p.bias});
      }
    }
}

}  // namespace mokume::opencl
