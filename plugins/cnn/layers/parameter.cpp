#include "layers/parameter.hpp"

namespace mokume::cnn {
namespace {

// Calls each(index in the flat vector, index in PyTorch's rows).
template <class Each>
void for_each_element(const Parameter& p, int64_t first, int64_t count, const Each& each) {
  for (int64_t row = 0; row < p.rows(); ++row) {
    const int64_t here = p.offset + row * p.outputs + first, column = p.torch_column(row);
    for (int64_t k = 0; k < count; ++k) each(here + k, k * p.rows() + column);
  }
}

}  // namespace

std::string text(const Shape& s) {
  if (s.flat) return std::to_string(s.elements());
  return std::to_string(s.channels) + " x " + std::to_string(s.height) + " x " + std::to_string(s.width);
}

std::vector<int64_t> Parameter::torch_shape() const {
  if (kind == Kind::bias) return {outputs};
  if (kind == Kind::features && columns > 0) return {in.elements() / columns, columns};
  if (kind == Kind::features) return {in.elements()};
  if (kind == Kind::convolution) return {outputs, in.channels, in.height, in.width};
  return {outputs, in.elements()};
}

void to_torch(const Parameter& p, const std::vector<float>& all, int64_t first, int64_t count, float* values) {
  for_each_element(p, first, count, [&](int64_t here, int64_t there) { values[there] = all[here]; });
}

void from_torch(const Parameter& p, const float* values, int64_t first, int64_t count, std::vector<float>& all) {
  for_each_element(p, first, count, [&](int64_t here, int64_t there) { all[here] = values[there]; });
}

}  // namespace mokume::cnn
