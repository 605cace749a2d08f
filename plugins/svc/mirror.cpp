#include "mirror.hpp"

#include <algorithm>
#include <string>

#include "mirror.embed.hpp"
#include "sdk/error.hpp"

namespace mokume::svc {
namespace {

constexpr int64_t kSide = 16;  // SIDE in kernels/mirror.cl

}  // namespace

Mirror::Mirror(const sdk::Host& host, const sdk::Device& device)
    : host_(host), device_(device), program_(sdk::Program::build(device, "mirror", kMirror, "")) {}

void Mirror::copy(const MatrixPart& from, const MatrixPart& to, int64_t rows, int64_t columns, int64_t ld) const {
  if (rows == 0 || columns == 0) return;
  if (!program_) return copy_on_host(from, to, rows, columns, ld);
  const auto tiles = static_cast<uint64_t>((rows + kSide - 1) / kSide * ((columns + kSide - 1) / kSide));
  constexpr auto kItems = static_cast<uint64_t>(kSide * kSide);
  program_->launch("mirror", tiles * kItems, kItems, from.buffer, from.at, to.buffer, to.at, ld, rows, columns);
}

void Mirror::copy_on_host(const MatrixPart& from, const MatrixPart& to, int64_t rows, int64_t columns,
                          int64_t ld) const {
  device_.finish();
  const float* const source = device_.host_pointer<float>(from.buffer);
  float* const target = device_.host_pointer<float>(to.buffer);
  if (source == nullptr || target == nullptr)
    throw Error(MK_UNSUPPORTED, std::string(device_.info().name) +
                                    " neither compiles kernels nor shares its memory with the host, but svc needs one "
                                    "of these: name another device");
  const auto kernel = device_.kernel("mirror_native");
  host_.parallel_for(static_cast<uint64_t>((columns + kSide - 1) / kSide), [&](uint64_t k) {
    const int64_t c0 = static_cast<int64_t>(k) * kSide, c1 = std::min(columns, c0 + kSide);
    for (int64_t r0 = 0; r0 < rows; r0 += kSide)
      for (int64_t c = c0; c < c1; ++c)
        for (int64_t r = r0; r < std::min(rows, r0 + kSide); ++r)
          target[to.at + c * ld + r] = source[from.at + r * ld + c];
  });
}

}  // namespace mokume::svc
