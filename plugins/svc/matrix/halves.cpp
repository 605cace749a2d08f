#include "matrix/halves.hpp"

#include <cstdio>
#include <string>

#include "halves.embed.hpp"
#include "matrix/halves_native.hpp"
#include "native_loop.hpp"

namespace mokume::svc {
namespace {

constexpr double kLargestHalf = 65504;

}  // namespace

Halves::Halves(const sdk::Host& host, const sdk::Device& device)
    : host_(host), device_(device), program_(sdk::Program::build(device, "halves", kHalves, "")) {}

void Halves::launch(const char* kernel, const MatrixPart& from, const MatrixPart& to, int64_t count) const {
  constexpr uint64_t kItems = 64;
  const uint64_t items = (static_cast<uint64_t>(count) + kItems - 1) / kItems * kItems;
  program_->launch(kernel, items, kItems, from.buffer, from.at, to.buffer, to.at, count);
}

template <class From, class To>
void Halves::convert(void (*row_of)(const From*, To*, int64_t) noexcept, const char* name, const MatrixPart& from,
                     const MatrixPart& to, int64_t rows, int64_t ld) const {
  const From* const source = shared_memory<From>(device_, from);
  To* const target = shared_memory<To>(device_, to);
  native_loop(host_, device_, name, static_cast<uint64_t>(rows), [&](uint64_t row) {
    const auto at = static_cast<int64_t>(row) * ld;
    row_of(source + at, target + at, ld);
  });
}

void Halves::narrow(const MatrixPart& floats, const MatrixPart& halves, int64_t rows, int64_t ld) const {
  if (program_) return launch("narrow", floats, halves, rows * ld);
  convert(halves_native().narrow, "narrow_native", floats, halves, rows, ld);
}

void Halves::widen(const MatrixPart& halves, const MatrixPart& floats, int64_t rows, int64_t ld) const {
  if (program_) return launch("widen", halves, floats, rows * ld);
  convert(halves_native().widen, "widen_native", halves, floats, rows, ld);
}

void check_range_of_halves(double largest) {
  if (largest <= kLargestHalf) return;
  char text[32];
  std::snprintf(&text[0], sizeof(text), "%.3g", largest);
  throw Error(MK_INVALID_ARGUMENT, std::string("kernel_storage is fp16, which holds values up to 65504, but values of "
                                               "the kernel may reach ") +
                                       &text[0] + ": scale the data, or set kernel_storage to \"fp32\"");
}

}  // namespace mokume::svc
