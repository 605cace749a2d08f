#include "augmented.hpp"

namespace mokume::host::fast {

void augment(const Call& call) {
  const View<const float> x = call.input(0);
  const View<const int32_t> index = call.indices(1);
  const View<float> out = call.output();
  const ops::Augment a = ops::augment_of(call.op);
  const bool moves = a.degrees == 0 && !a.recolours();
  call.for_rows(out.rows, 8 * out.columns, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) {
      const Augmented image(call.op, x.row(index.data[r]), r);
      for (int64_t y = 0; y < a.height; ++y) {
        float* line = out.row(r) + y * a.width * a.channels;
        if (moves)
          image.moved_line(y, line);
        else
          image.line(y, line);
      }
    }
  });
}

}  // namespace mokume::host::fast
