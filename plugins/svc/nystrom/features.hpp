// Computes the features of all rows for one kernel, fold and draw of landmarks, on one device.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "matrix/distances.hpp"
#include "nystrom/basis.hpp"
#include "rows.hpp"
#include "sdk/device.hpp"

namespace mokume::svc {

inline constexpr int kFeaturePanels = 8;  // must equal the number of panels in kernels/ascent.cl

// The features of a row have the dual solver's partial sums as unit, and zeros beyond the last landmark.
inline constexpr int64_t kFeatureUnit = 128;

class Features {
 public:
  // Allocates rows() x width() floats in row panels, none larger than the device's largest buffer, and blocks for the
  // products. Throws Error(MK_OUT_OF_MEMORY), with the memory that would suffice, unless `reserve` bytes stay free.
  Features(const sdk::Host& host, const sdk::Device& device, const mk_data& data, const RowOrder& order,
           int64_t landmarks, uint64_t reserve);

  // Returns the number of floats of a row, for at most this many landmarks.
  static int64_t width_of(int64_t landmarks) { return (landmarks + kFeatureUnit - 1) / kFeatureUnit * kFeatureUnit; }
  // Returns the bytes of device memory for this many rows, inputs and landmarks.
  static uint64_t bytes(int64_t rows, int64_t inputs, int64_t landmarks);

  // Draws landmarks from the rows that a fit of this fold trains on, and computes the features of all rows.
  void compute(const Kernel& kernel, int32_t fold, int64_t seed);

  const Basis& basis() const { return basis_; }
  int64_t landmark(int64_t k) const { return landmarks_[static_cast<size_t>(basis_.kept[static_cast<size_t>(k)])]; }
  int64_t most_landmarks() const { return most_landmarks_; }
  int64_t width() const { return width_; }
  const sdk::Buffer& norms() const { return norms_; }  // squared norms of the features of each row
  const sdk::Buffer& panel(int index) const {          // repeats the first panel beyond the last
    return panels_[static_cast<size_t>(index) < panels_.size() ? static_cast<size_t>(index) : 0];
  }
  int64_t panel_rows() const { return panel_rows_; }

  // Calls use(features, first_row) for consecutive pieces of rows [first, first + count), in matrices of width()
  // columns.
  void for_rows(int64_t first, int64_t count, const std::function<void(const mk_tensor&, int64_t)>& use) const;

 private:
  void load_landmarks(const Kernel& kernel, int32_t fold, int64_t seed);
  void compute_block(const Kernel& kernel, const mk_tensor& out, int64_t first);
  std::vector<float> inputs_of(const std::vector<int64_t>& rows) const;

  sdk::Host host_;
  const sdk::Device& device_;
  const mk_data& data_;
  const RowOrder& order_;
  Distances distances_;
  int64_t most_landmarks_, width_, block_, panel_rows_;
  std::vector<int64_t> landmarks_;
  Basis basis_;
  std::vector<sdk::Buffer> panels_;
  sdk::Buffer norms_;
  sdk::Buffer x_, x_norms_;        // inputs of a block of rows
  sdk::Buffer kept_, kept_norms_;  // inputs of the kept landmarks
  sdk::Buffer values_;             // kernel values of a block
  sdk::Buffer transform_;
};

}  // namespace mokume::svc
