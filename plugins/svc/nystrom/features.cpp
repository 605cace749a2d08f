#include "nystrom/features.hpp"

#include <algorithm>
#include <string>

#include "nystrom/landmarks.hpp"
#include "sdk/ops.hpp"

namespace mokume::svc {
namespace {

constexpr int64_t kBlockRows = 4096;  // rows whose kernel values are in memory at a time

}  // namespace

uint64_t Features::bytes(int64_t rows, int64_t inputs, int64_t landmarks) {
  const int64_t block = std::min(rows, kBlockRows);
  const int64_t floats =
      rows * (width_of(landmarks) + 1) + block * (inputs + landmarks + 1) + landmarks * (inputs + landmarks + 1);
  return static_cast<uint64_t>(floats) * sizeof(float);
}

Features::Features(const sdk::Host& host, const sdk::Device& device, const mk_data& data, const RowOrder& order,
                   int64_t landmarks, uint64_t reserve)
    : host_(host),
      device_(device),
      data_(data),
      order_(order),
      distances_(host, device),
      most_landmarks_(landmarks),
      width_(width_of(landmarks)),
      block_(std::min(order.rows(), kBlockRows)),
      panel_rows_(0) {
  const int64_t n = order.rows(), d = order.features();
  const uint64_t needed = bytes(n, d, landmarks) + reserve;
  const uint64_t row_bytes = static_cast<uint64_t>(width_) * sizeof(float);
  panel_rows_ = std::min<int64_t>(n, static_cast<int64_t>(device.info().max_buffer_bytes / row_bytes));
  if (needed > device.budget_bytes() || n > kFeaturePanels * panel_rows_)
    throw Error(MK_OUT_OF_MEMORY,
                "svc needs at least " + std::to_string(needed >> 20) + " MiB for " + std::to_string(n) + " rows and " +
                    std::to_string(landmarks) + " landmarks, but " + device.info().name + " has a budget of " +
                    std::to_string(device.budget_bytes() >> 20) + " MiB: raise [devices] memory, or lower landmarks");
  // A block lies in one panel, and starts at a multiple of kGemmCut, so the panels change no bit of a product.
  if (panel_rows_ < n && panel_rows_ > ops::kGemmCut) panel_rows_ = panel_rows_ / ops::kGemmCut * ops::kGemmCut;
  block_ = std::min(block_, panel_rows_);
  for (int64_t at = 0; at < n; at += panel_rows_)
    panels_.push_back(device.buffer<float>(static_cast<uint64_t>(std::min(panel_rows_, n - at) * width_)));
  norms_ = device.buffer<float>(static_cast<uint64_t>(n));
  x_ = device.buffer<float>(static_cast<uint64_t>(block_ * d));
  x_norms_ = device.buffer<float>(static_cast<uint64_t>(block_));
  values_ = device.buffer<float>(static_cast<uint64_t>(block_ * landmarks));
  kept_ = device.buffer<float>(static_cast<uint64_t>(landmarks * d));
  kept_norms_ = device.buffer<float>(static_cast<uint64_t>(landmarks));
  transform_ = device.buffer<float>(static_cast<uint64_t>(landmarks * landmarks));
}

std::vector<float> Features::inputs_of(const std::vector<int64_t>& rows) const {
  const int64_t d = order_.features();
  std::vector<float> x(rows.size() * static_cast<size_t>(d));
  host_.parallel_for(rows.size(), [&](uint64_t k) {
    std::copy_n(data_.x + order_.original(rows[k]) * d, d, x.data() + k * static_cast<uint64_t>(d));
  });
  return x;
}

void Features::load_landmarks(const Kernel& kernel, int32_t fold, int64_t seed) {
  const int64_t d = order_.features();
  landmarks_ = draw_landmarks(order_, fold, most_landmarks_, seed);
  basis_ = make_basis(host_, kernel, inputs_of(landmarks_), static_cast<int64_t>(landmarks_.size()), d);
  const int64_t size = basis_.size();
  if (size == 0) return;
  std::vector<int64_t> rows;
  for (int64_t k = 0; k < size; ++k) rows.push_back(landmark(k));
  const std::vector<float> kept = inputs_of(rows);
  device_.write(kept_, kept.data(), kept.size());
  const std::vector<float> transform(basis_.transform.begin(), basis_.transform.end());
  device_.write(transform_, transform.data(), transform.size());
  const mk_tensor norms = sdk::vector(kept_norms_.get(), size);
  device_.submit(kernel.pairs == Pairs::products ? ops::row_norm2(sdk::matrix(kept_.get(), size, d), norms)
                                                 : ops::fill(norms, 0.0F));
}

void Features::compute(const Kernel& kernel, int32_t fold, int64_t seed) {
  const auto phase = device_.phase("features");
  load_landmarks(kernel, fold, seed);
  const int64_t n = order_.rows();
  for (int64_t panel = 0; panel * panel_rows_ < n; ++panel) {
    const int64_t first = panel * panel_rows_, rows = std::min(panel_rows_, n - first);
    mk_buffer* const to = panels_[static_cast<size_t>(panel)].get();
    if (basis_.size() < width_)
      device_.submit(ops::fill(sdk::matrix(to, rows, width_ - basis_.size(), width_, basis_.size()), 0.0F));
    for (int64_t at = 0; at < rows && basis_.size() > 0; at += block_)
      compute_block(kernel, sdk::matrix(to, std::min(block_, rows - at), basis_.size(), width_, at * width_),
                    first + at);
    device_.submit(ops::row_norm2(sdk::matrix(to, rows, width_), sdk::vector(norms_.get(), rows, first)));
  }
}

void Features::compute_block(const Kernel& kernel, const mk_tensor& out, int64_t first) {
  const int64_t d = order_.features(), size = basis_.size();
  std::vector<int64_t> rows;
  for (int64_t r = first; r < first + out.rows; ++r) rows.push_back(r);
  const std::vector<float> inputs = inputs_of(rows);
  device_.write(x_, inputs.data(), inputs.size());
  const mk_tensor x = sdk::matrix(x_.get(), out.rows, d), kept = sdk::matrix(kept_.get(), size, d);
  const mk_tensor values = sdk::matrix(values_.get(), out.rows, size);
  const mk_tensor norms = sdk::vector(x_norms_.get(), out.rows);
  device_.submit(kernel.pairs == Pairs::products ? ops::row_norm2(x, norms) : ops::fill(norms, 0.0F));
  distances_.compute(kernel.pairs, x, kept, values);
  device_.submit(ops::kernel_map(values, norms, sdk::vector(kept_norms_.get(), size), values, kernel));
  device_.submit(ops::gemm(values, false, sdk::matrix(transform_.get(), size, size), true, out));
}

void Features::for_rows(int64_t first, int64_t count, const std::function<void(const mk_tensor&, int64_t)>& use) const {
  for (int64_t r = first; r < first + count;) {
    const int64_t panel = r / panel_rows_, rows = std::min(first + count, (panel + 1) * panel_rows_) - r;
    use(sdk::matrix(panels_[static_cast<size_t>(panel)].get(), rows, width_, 0, (r - panel * panel_rows_) * width_), r);
    r += rows;
  }
}

}  // namespace mokume::svc
