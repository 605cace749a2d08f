// Provides the kernel values of the training rows on one device, within its memory budget.
//
// There are three modes for kernel functions. The store uses the first mode that fits:
//   gram_kept   The Gram matrix (or the matrix of distances that a kernel has in its place) and the kernel matrix are
//   both resident (2 n^2 floats). A new gamma takes one
//               elementwise pass.
//   in_place    One matrix of n^2 floats is resident. For a new kernel function, the store computes the Gram matrix
//               again and turns it into kernel values in place.
//   on_the_fly  As many kernel rows as fit are resident. For a request, missing rows replace the oldest ones.
// With Storage::fp16, the kernel matrix or rows are halves, and a few rows of floats wait to become halves; in_place
// computes products there. Validation gets the halves as floats, so that it sees the kernel matrix of the solver.
//
// The fourth mode, given, applies to data whose inputs are kernel values, which the store uploads once.
//
// Both matrices are symmetric. The store computes one strip of rows at a time, up to and including its diagonal square,
// and mirrors kernel values across the diagonal. It divides matrices into row panels, none larger than the device's
// largest buffer. The bits of a row are the same in every mode if the backend's GEMM keeps one order of summation
// (opencl's own kernels do).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "matrix/distances.hpp"
#include "matrix/halves.hpp"
#include "matrix/kernel_plan.hpp"
#include "matrix/mirror.hpp"
#include "rows.hpp"
#include "sdk/device.hpp"
#include "sparse/sparse_products.hpp"

namespace mokume::svc {

// Returns a bound on the absolute values of the kernel matrix of rows whose largest squared norm is `most`. The
// diagonal bounds a positive definite kernel.
double largest_value(const ops::KernelFunction& f, double most);

class KernelStore {
 public:
  using Mode = KernelMode;

  // Uploads the rows in `order`, whose inputs are kernel values if the settings say so. Leaves `reserve` bytes of the
  // budget free. Solvers request at most `solver_rows` rows at a time. Throws Error(MK_OUT_OF_MEMORY), with the memory
  // that would suffice, if not even on_the_fly fits. Records the mode with the run (choice "svc.kernel") and keeps it
  // on resume if it still fits, because the host backend's GEMM may round a row differently when it computes the row
  // alone.
  KernelStore(const sdk::Host& host, const sdk::Device& device, const mk_data& data, const RowOrder& order,
              uint64_t reserve, int64_t solver_rows, const Settings& settings);

  // Returns a kernel function that preserves the digits of sums of many products. For an RBF kernel close to 1 for all
  // pairs of rows, this is the kernel minus 1. The multipliers of both classes have equal sums, so solutions are equal.
  Kernel for_sums(const Kernel& kernel) const;

  // Makes the values of this kernel function available. Throws Error(MK_INVALID_ARGUMENT) if halves cannot hold them.
  void select(const Kernel& kernel);

  Mode mode() const { return plan_.mode; }
  Storage storage() const { return storage_; }
  const char* mode_name() const;
  const sdk::Buffer* panel(int index) const;  // nullptr for an index past the last panel
  int64_t panel_rows() const { return plan_.panel_rows; }
  const sdk::Buffer& slots() const { return slot_buffer_; }  // stride() ints: panel row of each row, or -1
  const sdk::Buffer& diagonal() const { return diagonal_; }  // stride() floats

  // Returns a bound on the absolute values of all kernel values.
  float largest() const { return largest_; }

  // Returns how many rows fit at once in the mode on_the_fly: at least 2 * solver_rows, or all rows.
  int64_t capacity() const { return plan_.cached_rows; }
  // In the mode on_the_fly, makes `rows` available without evicting `keep`. Together, they must not exceed capacity().
  void fetch(const std::vector<int32_t>& rows, const std::vector<int32_t>& keep);

  // Calls use(values, first_row) for consecutive pieces of rows [first, first + count). `values` holds their kernel
  // values against all rows: (rows of the piece) x rows().
  void for_rows(int64_t first, int64_t count, const std::function<void(const mk_tensor&, int64_t)>& use);

 private:
  void plan_memory(uint64_t reserve, int64_t solver_rows);
  void load_rows(const mk_data& data);
  void order_sparse_rows(const mk_data& data);
  void load_sparse_rows();
  bool sparse() const { return ordered_.has_value(); }
  void load_matrix(const mk_data& data);
  void make_staging();
  void make_cache();
  void write_diagonal();
  // Describes a range of matrix rows that lies in one panel.
  struct Strip {
    int64_t first, rows;
    size_t panel;
    int64_t at;  // offset of the first element in the panel
  };
  std::vector<Strip> strips() const;
  void keep_gram();
  const sdk::Buffer& norms() const { return function_.pairs == Pairs::products ? norms_ : zeros_; }
  void fill_strip(const Strip& strip);
  // Sets `out` to the products of the rows [first, first + out.rows), or of those in index_ if `gathered`, with the
  // first out.columns rows.
  void products(int64_t first, bool gathered, const mk_tensor& out);
  void compute_rows(int64_t first, bool gathered, const mk_tensor& norms, const mk_tensor& out);
  void store_row(int64_t from, const MatrixPart& to) const;
  // Converts stored rows to floats in the scratch.
  mk_tensor widened(const MatrixPart& halves, int64_t rows) const;
  void send_slots();
  std::vector<sdk::Buffer> make_panels(int64_t rows, Storage storage) const;

  sdk::Host host_;
  const sdk::Device& device_;
  Storage storage_;
  Mirror mirror_;
  std::optional<Halves> halves_;  // only with Storage::fp16
  Distances distances_;
  const RowOrder& order_;
  Kernel function_;
  std::optional<Pairs> kept_;  // content of gram_
  bool selected_ = false;
  KernelPlan plan_{};
  float largest_ = 0;
  float largest_given_ = 0;  // largest absolute value in the mode given
  sdk::Buffer x_, norms_, zeros_, diagonal_, slot_buffer_;
  std::vector<sdk::Buffer> gram_, kernel_;
  std::vector<float> host_norms_;  // squared norms of the rows or, in the mode given, the diagonal
  uint64_t x_bytes_ = 0;           // size of the inputs on the device
  int64_t gathered_features_ = 0;  // features of a row in gathered_
  sdk::Buffer scratch_;            // plan_.staged_rows rows of floats
  // Only sparse rows use the following members.
  std::optional<SparseRows> ordered_;  // the rows in `order`
  std::optional<UsedColumns> used_;
  std::optional<DeviceRows> sparse_x_;
  std::optional<SparseProducts> sparse_products_;
  sdk::Buffer numbers_;  // 0, 1, ...
  // Only the mode on_the_fly uses the following members.
  sdk::Buffer index_, gathered_, gathered_norms_;
  sdk::Buffer rounded_;          // halves of rows that are not stored
  std::vector<int32_t> slot_;    // slot of each row, or -1
  std::vector<int32_t> row_in_;  // row of each slot, or -1
  int64_t next_slot_ = 0;
};

}  // namespace mokume::svc
