#include "augmented.hpp"

namespace mokume::host::reference {

void augment(const Call& call) {
  const View<const float> x = call.input(0);
  const View<const int32_t> index = call.indices(1);
  const View<float> out = call.output();
  const ops::Augment a = ops::augment_of(call.op);
  for (int64_t r = 0; r < out.rows; ++r) {
    const Augmented image(call.op, x.row(index.data[r]), r);
    for (int64_t y = 0; y < a.height; ++y) image.line(y, out.row(r) + y * a.width * a.channels);
  }
}

}  // namespace mokume::host::reference
