#include "row_norm2/row_norm2.hpp"

#include <algorithm>

#include "common/grid.hpp"
#include "row_norm2/row_norm2.embed.hpp"
#include "row_norm2/row_norm2_args.h"
#include "sdk/ops.hpp"

namespace mokume::opencl {

void row_norm2(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &out = op.outputs[0];
  if (sdk::empty(out)) return;
  mk_device& device = launcher.device();
  const BuiltIn program{"row_norm2", kRowNorm2RowNorm2, ""};
  const cl_mem from = memory(x.columns > 0 ? x : out);
  RowNorm2Args args{.x = view(x), .rows = x.rows, .columns = x.columns, .out_offset = out.offset, .rows_each = 1};
  if (uses_vectors(device)) {
    args.rows_each = std::clamp<int64_t>(16384 / std::max<int64_t>(x.columns, 1), 1, x.rows);
    launcher.run(device.kernel(program, "row_norm2_vector"), {{divide_up(x.rows, args.rows_each), 1, 1}}, args,
                 {from, memory(out)});
  } else {
    launcher.run(device.kernel(program, "row_norm2_scalar"), {{divide_up(x.rows, 4) * 16, 4, 1}, {16, 4, 1}}, args,
                 {from, memory(out)}, 4 * 16);
  }
}

}  // namespace mokume::opencl
