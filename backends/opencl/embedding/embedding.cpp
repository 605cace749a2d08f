#include "embedding/embedding.hpp"

#include "common/grid.hpp"
#include "embedding/embedding.embed.hpp"
#include "embedding/embedding_args.h"
#include "sdk/ops.hpp"

namespace mokume::opencl {
namespace {

const LibraryKernel& embedding_kernel(mk_device& device, const char* name, int64_t columns) {
  return device.kernel(for_width("embedding", kEmbeddingEmbedding, run_width(device, columns)), name);
}

EmbeddingArgs embedding_args(const RunLaunch& launch, const mk_tensor& x, const mk_tensor& table,
                             const mk_tensor& vectors) {
  return {.grid = launch.grid,
          .x = view(x),
          .table = view(table),
          .vectors = view(vectors),
          .rows = x.rows,
          .inputs = x.columns,
          .codes = table.rows / x.columns};
}

}  // namespace

void embedding(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &table = op.inputs[1], &out = op.outputs[0];
  if (sdk::empty(out)) return;
  const RunLaunch l(launcher.device(), x.rows * x.columns, table.columns);
  launcher.run(embedding_kernel(launcher.device(), "embedding", table.columns), l.range,
               embedding_args(l, x, table, out), {memory(x), memory(table), memory(out)});
}

void embedding_grad(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &grad = op.inputs[1], &out = op.outputs[0];
  if (sdk::empty(out)) return;
  const RunLaunch l(launcher.device(), out.rows, out.columns);
  launcher.run(embedding_kernel(launcher.device(), "embedding_grad", out.columns), l.range,
               embedding_args(l, x, out, grad), {memory(x), memory(grad), memory(out)});
}

}  // namespace mokume::opencl
