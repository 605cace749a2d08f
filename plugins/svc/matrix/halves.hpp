// Converts rows of kernel values between floats and the halves in which kernel_storage = "fp16" stores them (ADR 63).
#pragma once

#include <cstdint>
#include <optional>

#include "matrix/mirror.hpp"

namespace mokume::svc {

class Halves {
 public:
  Halves(const sdk::Host& host, const sdk::Device& device);

  // Convert `rows` consecutive rows of `ld` values, a multiple of kBlock. Throw Error(MK_UNSUPPORTED) if the device
  // neither compiles kernels nor shares its memory.
  void narrow(const MatrixPart& floats, const MatrixPart& halves, int64_t rows, int64_t ld) const;
  void widen(const MatrixPart& halves, const MatrixPart& floats, int64_t rows, int64_t ld) const;

 private:
  // Calls `row_of` with each row.
  template <class From, class To>
  void convert(void (*row_of)(const From*, To*, int64_t) noexcept, const char* name, const MatrixPart& from,
               const MatrixPart& to, int64_t rows, int64_t ld) const;
  void launch(const char* kernel, const MatrixPart& from, const MatrixPart& to, int64_t count) const;

  sdk::Host host_;
  const sdk::Device& device_;
  std::optional<sdk::Program> program_;
};

// Throws Error(MK_INVALID_ARGUMENT) if `largest`, a bound on the absolute values of a kernel, exceeds the halves.
void check_range_of_halves(double largest);

}  // namespace mokume::svc
