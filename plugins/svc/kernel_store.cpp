#include "kernel_store.hpp"

#include <algorithm>
#include <cmath>

#include "sdk/ops.hpp"

namespace mokume::svc {
namespace {

bool equal(const ops::KernelFunction& a, const ops::KernelFunction& b) {
  return a.kind == b.kind && a.gamma == b.gamma && a.coef0 == b.coef0 && a.degree == b.degree;
}

std::string choice_word(KernelStore::Mode mode) {
  switch (mode) {
    case KernelStore::Mode::gram_kept:
      return "gram_kept";
    case KernelStore::Mode::in_place:
      return "in_place";
    case KernelStore::Mode::on_the_fly:
      return "on_the_fly";
  }
  return "";
}

double diagonal_value(const ops::KernelFunction& f, double norm) {
  switch (f.kind) {
    case ops::KernelKind::linear:
      return norm;
    case ops::KernelKind::polynomial:
      return std::pow(f.gamma * norm + f.coef0, f.degree);
    case ops::KernelKind::rbf:
      return 1.0;
    case ops::KernelKind::rbf_minus_one:
      return 0.0;
    case ops::KernelKind::sigmoid:
      return std::tanh(f.gamma * norm + f.coef0);
  }
  return 0;
}

// A bound on the size of the stored values: of those on the diagonal if the kernel is positive definite.
double largest_value(const ops::KernelFunction& f, const std::vector<float>& norms) {
  const auto most = static_cast<double>(*std::max_element(norms.begin(), norms.end()));
  switch (f.kind) {
    case ops::KernelKind::rbf:
      return 1;
    case ops::KernelKind::rbf_minus_one:
      return std::min(1.0, f.gamma * 4 * most + 0x1p-24);
    case ops::KernelKind::linear:
      return most;
    case ops::KernelKind::polynomial:
      return std::pow(f.gamma * most + std::fabs(f.coef0), f.degree);
    case ops::KernelKind::sigmoid:
      return 1;
  }
  return 1;
}

}  // namespace

KernelStore::KernelStore(const sdk::Device& device, const mk_data& data, const RowOrder& order, uint64_t reserve,
                         int64_t solver_rows)
    : device_(device), order_(order) {
  const int64_t n = order.rows(), d = order.features(), ld = order.stride();
  const auto row_bytes = static_cast<uint64_t>(ld) * sizeof(float);
  const uint64_t matrix = static_cast<uint64_t>(n) * row_bytes;
  const uint64_t x_bytes = static_cast<uint64_t>(n) * static_cast<uint64_t>(d) * sizeof(float);
  const uint64_t fixed = reserve + x_bytes + 4 * row_bytes;
  const uint64_t budget = device.budget_bytes();
  const uint64_t max_buffer = device.info().max_buffer_bytes;

  panel_rows_ = std::min<int64_t>(n, static_cast<int64_t>(max_buffer / row_bytes));
  mode_ = best_mode(fixed, matrix);
  if (mode_ == Mode::on_the_fly) {
    scratch_rows_ = std::clamp<int64_t>(solver_rows, 16, 256);
    const uint64_t scratch =
        static_cast<uint64_t>(scratch_rows_) * (row_bytes + static_cast<uint64_t>(d) * sizeof(float));
    const uint64_t least = fixed + scratch + 2 * static_cast<uint64_t>(solver_rows) * row_bytes;
    if (least > budget || row_bytes > max_buffer)
      throw Error(MK_OUT_OF_MEMORY, "svc needs at least " + std::to_string(least >> 20) + " MiB for " +
                                        std::to_string(n) + " rows of " + std::to_string(d) + " features, but " +
                                        device.info().name + " has a budget of " + std::to_string(budget >> 20) +
                                        " MiB: raise [devices] memory or set data.limit");
    panel_rows_ = std::max<int64_t>(1, panel_rows_);
    cached_rows_ = std::min<int64_t>(static_cast<int64_t>((budget - fixed - scratch) / row_bytes), n);
    cached_rows_ = std::min<int64_t>(cached_rows_, kMaxPanels * panel_rows_);
  }

  std::vector<float> x(static_cast<size_t>(n * d));
  for (int64_t r = 0; r < n; ++r) std::copy_n(data.x + order.original(r) * d, d, x.data() + r * d);
  x_ = device.upload(x);
  norms_ = device.buffer<float>(static_cast<uint64_t>(ld));
  device.submit(ops::row_norm2(sdk::matrix(x_.get(), n, d), sdk::vector(norms_.get(), n)));
  host_norms_.resize(static_cast<size_t>(n));
  device.read(norms_, host_norms_.data(), static_cast<uint64_t>(n));
  diagonal_ = device.buffer<float>(static_cast<uint64_t>(ld));

  slot_.assign(static_cast<size_t>(ld), -1);
  if (mode_ == Mode::on_the_fly) {
    kernel_ = make_panels(cached_rows_);
    row_in_.assign(static_cast<size_t>(cached_rows_), -1);
    index_ = device.buffer<int32_t>(static_cast<uint64_t>(scratch_rows_));
    gathered_ = device.buffer<float>(static_cast<uint64_t>(scratch_rows_ * d));
    gathered_norms_ = device.buffer<float>(static_cast<uint64_t>(scratch_rows_));
    scratch_ = device.buffer<float>(static_cast<uint64_t>(scratch_rows_ * ld));
    device.submit(ops::fill(sdk::matrix(scratch_.get(), scratch_rows_, ld), 0.0F));
  } else {
    kernel_ = make_panels(n);
    for (int64_t r = 0; r < n; ++r) slot_[static_cast<size_t>(r)] = static_cast<int32_t>(r);
    if (mode_ == Mode::gram_kept) {
      gram_ = make_panels(n);
      gram_into(gram_);
    }
  }
  slot_buffer_ = device.upload(slot_);
}

KernelStore::Mode KernelStore::best_mode(uint64_t fixed, uint64_t matrix) const {
  const bool panels_suffice = panel_rows_ > 0 && (order_.rows() + panel_rows_ - 1) / panel_rows_ <= kMaxPanels;
  const uint64_t budget = device_.budget_bytes();
  Mode mode = Mode::on_the_fly;
  if (panels_suffice && fixed + matrix <= budget) mode = Mode::in_place;
  if (panels_suffice && fixed + 2 * matrix <= budget) mode = Mode::gram_kept;
  const auto recorded = device_.choice("svc.kernel");
  for (const Mode earlier : {Mode::in_place, Mode::on_the_fly})
    if (recorded == choice_word(earlier) && earlier > mode) mode = earlier;
  device_.set_choice("svc.kernel", choice_word(mode));
  return mode;
}

const char* KernelStore::mode_name() const {
  switch (mode_) {
    case Mode::gram_kept:
      return "Gram and kernel matrix resident";
    case Mode::in_place:
      return "kernel matrix resident, Gram matrix computed per kernel";
    case Mode::on_the_fly:
      return "kernel rows on the fly";
  }
  return "";
}

const sdk::Buffer* KernelStore::panel(int index) const {
  return static_cast<size_t>(index) < kernel_.size() ? &kernel_[static_cast<size_t>(index)] : nullptr;
}

std::vector<sdk::Buffer> KernelStore::make_panels(int64_t rows) const {
  std::vector<sdk::Buffer> panels;
  for (int64_t at = 0; at < rows; at += panel_rows_) {
    const int64_t count = std::min(panel_rows_, rows - at);
    panels.push_back(device_.buffer<float>(static_cast<uint64_t>(count * order_.stride())));
    // The solver reads the columns past the last row, so they must be finite.
    device_.submit(ops::fill(sdk::matrix(panels.back().get(), count, order_.stride()), 0.0F));
  }
  return panels;
}

int64_t KernelStore::rows_in_panel(size_t p) const {
  return std::min(panel_rows_, order_.rows() - static_cast<int64_t>(p) * panel_rows_);
}

void KernelStore::gram_into(const std::vector<sdk::Buffer>& panels) {
  const int64_t n = order_.rows(), d = order_.features();
  for (size_t p = 0; p < panels.size(); ++p) {
    const int64_t count = rows_in_panel(p);
    device_.submit(ops::gemm(sdk::matrix(x_.get(), count, d, 0, static_cast<int64_t>(p) * panel_rows_ * d), false,
                             sdk::matrix(x_.get(), n, d), true,
                             sdk::matrix(panels[p].get(), count, n, order_.stride())));
  }
}

void KernelStore::map_panel(size_t p, const std::vector<sdk::Buffer>& from) {
  const int64_t n = order_.rows(), count = rows_in_panel(p);
  device_.submit(ops::kernel_map(sdk::matrix(from[p].get(), count, n, order_.stride()),
                                 sdk::vector(norms_.get(), count, static_cast<int64_t>(p) * panel_rows_),
                                 sdk::vector(norms_.get(), n), sdk::matrix(kernel_[p].get(), count, n, order_.stride()),
                                 function_));
}

ops::KernelFunction KernelStore::for_sums(const ops::KernelFunction& function) const {
  const ops::KernelFunction less = ops::without_one(function);
  return largest_value(less, host_norms_) < 1 ? less : function;
}

void KernelStore::select(const ops::KernelFunction& function) {
  if (selected_ && equal(function, function_)) return;
  const auto phase = device_.phase("kernel");
  function_ = function;
  selected_ = true;
  std::vector<float> diagonal(static_cast<size_t>(order_.stride()), 0.0F);
  for (size_t r = 0; r < host_norms_.size(); ++r)
    diagonal[r] = static_cast<float>(diagonal_value(function, static_cast<double>(host_norms_[r])));
  device_.write(diagonal_, diagonal.data(), diagonal.size());
  largest_ = static_cast<float>(largest_value(function, host_norms_));

  if (mode_ == Mode::on_the_fly) {
    std::fill(slot_.begin(), slot_.end(), -1);
    std::fill(row_in_.begin(), row_in_.end(), -1);
    device_.write(slot_buffer_, slot_.data(), slot_.size());
    return;
  }
  if (mode_ == Mode::in_place) gram_into(kernel_);
  for (size_t p = 0; p < kernel_.size(); ++p) map_panel(p, mode_ == Mode::in_place ? kernel_ : gram_);
}

void KernelStore::compute_rows(const mk_tensor& x, const mk_tensor& norms, const mk_tensor& out) {
  const int64_t n = order_.rows(), d = order_.features();
  device_.submit(ops::gemm(x, false, sdk::matrix(x_.get(), n, d), true, out));
  device_.submit(ops::kernel_map(out, norms, sdk::vector(norms_.get(), n), out, function_));
}

void KernelStore::fetch(const std::vector<int32_t>& rows, const std::vector<int32_t>& keep) {
  const auto phase = device_.phase("kernel");
  const int64_t n = order_.rows(), d = order_.features(), ld = order_.stride();
  std::vector<bool> kept(static_cast<size_t>(cached_rows_), false);
  const auto keep_row = [&](int32_t r) {
    if (slot_[static_cast<size_t>(r)] >= 0) kept[static_cast<size_t>(slot_[static_cast<size_t>(r)])] = true;
  };
  std::for_each(keep.begin(), keep.end(), keep_row);
  std::vector<int32_t> missing;
  for (const int32_t r : rows) {
    if (slot_[static_cast<size_t>(r)] >= 0)
      keep_row(r);
    else
      missing.push_back(r);
  }
  std::sort(missing.begin(), missing.end());
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());

  for (size_t at = 0; at < missing.size(); at += static_cast<size_t>(scratch_rows_)) {
    const auto count = std::min<int64_t>(scratch_rows_, static_cast<int64_t>(missing.size() - at));
    device_.write(index_, missing.data() + at, static_cast<uint64_t>(count));
    const mk_tensor index = sdk::vector(index_.get(), count, 0, MK_I32);
    device_.submit(ops::gather_rows(sdk::matrix(x_.get(), n, d), index, sdk::matrix(gathered_.get(), count, d)));
    device_.submit(
        ops::gather_rows(sdk::matrix(norms_.get(), n, 1), index, sdk::matrix(gathered_norms_.get(), count, 1)));
    compute_rows(sdk::matrix(gathered_.get(), count, d), sdk::vector(gathered_norms_.get(), count),
                 sdk::matrix(scratch_.get(), count, n, ld));
    const auto row_bytes = static_cast<uint64_t>(ld) * sizeof(float);
    for (int64_t k = 0; k < count; ++k) {
      while (kept[static_cast<size_t>(next_slot_)]) next_slot_ = (next_slot_ + 1) % cached_rows_;
      const int64_t s = next_slot_;
      next_slot_ = (next_slot_ + 1) % cached_rows_;
      kept[static_cast<size_t>(s)] = true;
      if (row_in_[static_cast<size_t>(s)] >= 0) slot_[static_cast<size_t>(row_in_[static_cast<size_t>(s)])] = -1;
      const int32_t row = missing[at + static_cast<size_t>(k)];
      row_in_[static_cast<size_t>(s)] = row;
      slot_[static_cast<size_t>(row)] = static_cast<int32_t>(s);
      const auto to = static_cast<uint64_t>(s % panel_rows_) * row_bytes;
      sdk::call(device_.table()->copy, device_.table()->self, scratch_.get(), static_cast<uint64_t>(k) * row_bytes,
                kernel_[static_cast<size_t>(s / panel_rows_)].get(), to, row_bytes);
    }
  }
  device_.write(slot_buffer_, slot_.data(), slot_.size());
}

void KernelStore::for_rows(int64_t first, int64_t count, const std::function<void(const mk_tensor&, int64_t)>& use) {
  const int64_t n = order_.rows(), d = order_.features(), ld = order_.stride();
  const int64_t step = mode_ == Mode::on_the_fly ? scratch_rows_ : panel_rows_;
  for (int64_t r = first; r < first + count;) {
    int64_t end = std::min(first + count, r + step);
    if (mode_ == Mode::on_the_fly) {
      const mk_tensor out = sdk::matrix(scratch_.get(), end - r, n, ld);
      compute_rows(sdk::matrix(x_.get(), end - r, d, 0, r * d), sdk::vector(norms_.get(), end - r, r), out);
      use(out, r);
    } else {
      const int64_t p = r / panel_rows_;
      end = std::min(end, (p + 1) * panel_rows_);
      use(sdk::matrix(kernel_[static_cast<size_t>(p)].get(), end - r, n, ld, (r - p * panel_rows_) * ld), r);
    }
    r = end;
  }
}

}  // namespace mokume::svc
