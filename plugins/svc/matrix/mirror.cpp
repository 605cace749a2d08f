#include "matrix/mirror.hpp"

#include <algorithm>

#include "matrix/halves_native.hpp"
#include "mirror.embed.hpp"
#include "native_loop.hpp"

namespace mokume::svc {
namespace {

constexpr int64_t kSide = 16;  // SIDE in kernels/mirror.cl

}  // namespace

Mirror::Mirror(const sdk::Host& host, const sdk::Device& device, Storage storage)
    : host_(host),
      device_(device),
      storage_(storage),
      program_(sdk::Program::build(device, "mirror", kMirror, storage == Storage::fp16 ? "-DFP16" : "")) {}

void Mirror::copy(const MatrixPart& from, const MatrixPart& to, int64_t rows, int64_t columns, int64_t ld) const {
  if (rows == 0 || columns == 0) return;
  if (!program_) return copy_on_host(from, to, rows, columns, ld);
  const auto tiles = static_cast<uint64_t>((rows + kSide - 1) / kSide * ((columns + kSide - 1) / kSide));
  constexpr auto kItems = static_cast<uint64_t>(kSide * kSide);
  program_->launch("mirror", tiles * kItems, kItems, from.buffer, from.at, to.buffer, to.at, ld, rows, columns);
}

void Mirror::copy_on_host(const MatrixPart& from, const MatrixPart& to, int64_t rows, int64_t columns,
                          int64_t ld) const {
  const float* const source = shared_memory<float>(device_, from);
  float* const floats = storage_ == Storage::fp32 ? shared_memory<float>(device_, to) : nullptr;
  uint16_t* const halves = storage_ == Storage::fp16 ? shared_memory<uint16_t>(device_, to) : nullptr;
  const HalvesFunctions convert = halves_native();
  native_loop(host_, device_, "mirror_native", static_cast<uint64_t>((columns + kSide - 1) / kSide), [&](uint64_t k) {
    const int64_t c0 = static_cast<int64_t>(k) * kSide, c1 = std::min(columns, c0 + kSide);
    for (int64_t r0 = 0; r0 < rows; r0 += kSide)
      for (int64_t c = c0; c < c1; ++c) {
        const int64_t count = std::min(kSide, rows - r0);
        float column[kSide] = {};
        for (int64_t r = 0; r < count; ++r) column[r] = source[(r0 + r) * ld + c];
        if (floats != nullptr) {
          std::copy_n(column, count, floats + c * ld + r0);
        } else {
          uint16_t rounded[kSide];
          convert.narrow(column, rounded, kSide);
          std::copy_n(rounded, count, halves + c * ld + r0);
        }
      }
  });
}

}  // namespace mokume::svc
