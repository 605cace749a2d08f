#include "kernel_store.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sdk/ops.hpp"

namespace mokume::svc {
namespace {

constexpr int64_t kShortestStrip = 512;  // in rows

std::string choice_word(KernelStore::Mode mode) {
  switch (mode) {
    case KernelStore::Mode::gram_kept:
      return "gram_kept";
    case KernelStore::Mode::in_place:
      return "in_place";
    case KernelStore::Mode::on_the_fly:
      return "on_the_fly";
    case KernelStore::Mode::given:
      return "given";
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

// Returns a bound on the absolute values of the kernel matrix. The diagonal bounds a positive definite kernel.
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

KernelStore::KernelStore(const sdk::Host& host, const sdk::Device& device, const mk_data& data, const RowOrder& order,
                         uint64_t reserve, int64_t solver_rows, bool given)
    : host_(host), device_(device), mirror_(host, device), distances_(host, device), order_(order) {
  const int64_t n = order.rows();
  if (given) {
    mode_ = Mode::given;
  } else if (data.starts != nullptr) {
    order_sparse_rows(data);
  } else {
    gathered_features_ = order.features();
    x_bytes_ = static_cast<uint64_t>(n) * static_cast<uint64_t>(gathered_features_) * sizeof(float);
  }
  plan_memory(reserve, solver_rows);
  diagonal_ = device.buffer<float>(static_cast<uint64_t>(order.stride()));
  slot_buffer_ = device.buffer<int32_t>(static_cast<uint64_t>(order.stride()));
  slot_.assign(static_cast<size_t>(order.stride()), -1);
  if (mode_ == Mode::given) {
    load_matrix(data);
  } else {
    load_rows(data);
    if (mode_ == Mode::on_the_fly) {
      make_cache();
    } else {
      kernel_ = make_panels(n);
      if (mode_ == Mode::gram_kept) gram_ = make_panels(n);
    }
  }
  if (mode_ != Mode::on_the_fly)
    for (int64_t r = 0; r < n; ++r) slot_[static_cast<size_t>(r)] = static_cast<int32_t>(r);
  send_slots();
}

// Copies the rows in order, because the rows of a bootstrap may repeat.
void KernelStore::order_sparse_rows(const mk_data& data) {
  SparseRows& rows = ordered_.emplace();
  for (int64_t r = 0; r < order_.rows(); ++r) rows.append(data, order_.original(r));
  used_.emplace(rows.column);
  x_bytes_ = DeviceRows::bytes(rows.rows(), rows.values()) + SparseProducts::tile_bytes(used_->count(), rows.values()) +
             static_cast<uint64_t>(rows.rows()) * sizeof(int32_t);
}

void KernelStore::plan_memory(uint64_t reserve, int64_t solver_rows) {
  const int64_t n = order_.rows();
  const bool given = mode_ == Mode::given;
  const auto row_bytes = static_cast<uint64_t>(order_.stride()) * sizeof(float);
  const uint64_t matrix = static_cast<uint64_t>(n) * row_bytes;
  const uint64_t fixed = reserve + x_bytes_ + 5 * row_bytes;
  const uint64_t budget = device_.budget_bytes();
  const uint64_t max_buffer = device_.info().max_buffer_bytes;

  const auto refuse = [&](uint64_t least, const std::string& what) {
    throw Error(MK_OUT_OF_MEMORY, "svc needs at least " + std::to_string(least >> 20) + " MiB for " +
                                      std::to_string(n) + " rows" + what + ", but " + device_.info().name +
                                      " has a budget of " + std::to_string(budget >> 20) +
                                      " MiB: raise [devices] memory or set data.limit");
  };
  panel_rows_ = std::min<int64_t>(n, static_cast<int64_t>(max_buffer / row_bytes));
  mode_ = given ? Mode::given : best_mode(fixed, matrix);
  if (mode_ == Mode::given && (panel_rows_ == 0 || n > kMaxPanels * panel_rows_ || fixed + matrix > budget))
    refuse(fixed + matrix, " of kernel values");
  if (mode_ != Mode::on_the_fly) return;
  scratch_rows_ = std::clamp<int64_t>(solver_rows, 16, 256);
  const uint64_t scratch =
      static_cast<uint64_t>(scratch_rows_) * (row_bytes + static_cast<uint64_t>(gathered_features_) * sizeof(float));
  const uint64_t least = fixed + scratch + 2 * static_cast<uint64_t>(solver_rows) * row_bytes;
  if (least > budget || row_bytes > max_buffer) refuse(least, " of " + std::to_string(order_.features()) + " features");
  panel_rows_ = std::max<int64_t>(1, panel_rows_);
  cached_rows_ = std::min<int64_t>(static_cast<int64_t>((budget - fixed - scratch) / row_bytes), n);
  cached_rows_ = std::min<int64_t>(cached_rows_, kMaxPanels * panel_rows_);
}

void KernelStore::load_sparse_rows() {
  const SparseRows& rows = *ordered_;
  sparse_x_.emplace(device_, rows, *used_);
  sparse_products_.emplace(host_, device_, used_->count(), rows.values());
  std::vector<int32_t> numbers(static_cast<size_t>(rows.rows()));
  std::iota(numbers.begin(), numbers.end(), 0);
  numbers_ = device_.upload(numbers);
  host_norms_ = squared_norms(rows);
  norms_ = device_.upload(order_.padded(host_norms_, 0));
  *ordered_ = {};  // the device has them
}

void KernelStore::load_rows(const mk_data& data) {
  if (sparse()) return load_sparse_rows();
  const int64_t n = order_.rows(), d = order_.features();
  std::vector<float> x(static_cast<size_t>(n * d));
  for (int64_t r = 0; r < n; ++r) std::copy_n(data.x + order_.original(r) * d, d, x.data() + r * d);
  x_ = device_.upload(x);
  norms_ = device_.buffer<float>(static_cast<uint64_t>(order_.stride()));
  zeros_ = device_.upload(std::vector<float>(static_cast<size_t>(order_.stride()), 0.0F));
  device_.submit(ops::row_norm2(sdk::matrix(x_.get(), n, d), sdk::vector(norms_.get(), n)));
  host_norms_.resize(static_cast<size_t>(n));
  device_.read(norms_, host_norms_.data(), static_cast<uint64_t>(n));
}

void KernelStore::load_matrix(const mk_data& data) {
  const int64_t n = order_.rows(), ld = order_.stride();
  kernel_ = make_panels(n);
  std::vector<float> row(static_cast<size_t>(ld), 0.0F);
  for (int64_t r = 0; r < n; ++r) {
    const float* const values = data.x + order_.original(r) * order_.features();
    for (int64_t c = 0; c < n; ++c) {
      row[static_cast<size_t>(c)] = values[order_.original(c)];
      largest_given_ = std::max(largest_given_, std::fabs(row[static_cast<size_t>(c)]));
    }
    host_norms_.push_back(row[static_cast<size_t>(r)]);
    device_.write(kernel_[static_cast<size_t>(r / panel_rows_)], row.data(), row.size(),
                  static_cast<uint64_t>(r % panel_rows_ * ld));
  }
}

void KernelStore::make_cache() {
  const int64_t ld = order_.stride();
  kernel_ = make_panels(cached_rows_);
  row_in_.assign(static_cast<size_t>(cached_rows_), -1);
  index_ = device_.buffer<int32_t>(static_cast<uint64_t>(scratch_rows_));
  gathered_ = device_.buffer<float>(static_cast<uint64_t>(scratch_rows_ * gathered_features_));
  gathered_norms_ = device_.buffer<float>(static_cast<uint64_t>(scratch_rows_));
  scratch_ = device_.buffer<float>(static_cast<uint64_t>(scratch_rows_ * ld));
  device_.submit(ops::fill(sdk::matrix(scratch_.get(), scratch_rows_, ld), 0.0F));
}

void KernelStore::send_slots() { device_.write(slot_buffer_, slot_.data(), slot_.size()); }

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
    case Mode::given:
      return "kernel matrix given by the data";
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
    // The solver reads the columns past the last row, so these columns must be finite.
    const int64_t n = order_.rows(), ld = order_.stride();
    if (ld > n) device_.submit(ops::fill(sdk::matrix(panels.back().get(), count, ld - n, ld, n), 0.0F));
  }
  return panels;
}

// Makes about 16 strips, so that few values are computed twice, but each strip is long enough for a fast product.
std::vector<KernelStore::Strip> KernelStore::strips() const {
  const int64_t n = order_.rows();
  const int64_t most = std::max(kShortestStrip, (n / 16 + kBlock - 1) / kBlock * kBlock);
  std::vector<Strip> list;
  for (int64_t first = 0; first < n;) {
    const int64_t panel = first / panel_rows_;
    const int64_t rows = std::min({most, n - first, (panel + 1) * panel_rows_ - first});
    list.push_back({first, rows, static_cast<size_t>(panel), (first - panel * panel_rows_) * order_.stride()});
    first += rows;
  }
  return list;
}

void KernelStore::gram_into(const std::vector<sdk::Buffer>& panels) {
  for (const Strip& s : strips())
    products(s.first, false, sdk::matrix(panels[s.panel].get(), s.rows, s.first + s.rows, order_.stride(), s.at));
}

void KernelStore::map_strip(const Strip& s, const std::vector<sdk::Buffer>& from) {
  const int64_t columns = s.first + s.rows, ld = order_.stride();
  device_.submit(ops::kernel_map(sdk::matrix(from[s.panel].get(), s.rows, columns, ld, s.at),
                                 sdk::vector(norms().get(), s.rows, s.first), sdk::vector(norms().get(), columns),
                                 sdk::matrix(kernel_[s.panel].get(), s.rows, columns, ld, s.at), function_));
}

// Copies the values left of the strip's diagonal square to the columns above the square.
void KernelStore::mirror_strip(const Strip& s) {
  for (size_t p = 0; p <= s.panel; ++p) {
    const int64_t above = static_cast<int64_t>(p) * panel_rows_, end = std::min(s.first, above + panel_rows_);
    if (end > above)
      mirror_.copy({kernel_[s.panel], s.at + above}, {kernel_[p], s.first}, s.rows, end - above, order_.stride());
  }
}

Kernel KernelStore::for_sums(const Kernel& kernel) const {
  if (kernel.pairs != Pairs::products) return kernel;  // the norms do not bound its distances
  const Kernel less{ops::without_one(kernel), kernel.pairs};
  return largest_value(less, host_norms_) < 1 ? less : kernel;
}

void KernelStore::select(const Kernel& function) {
  if (selected_ && function.pairs == function_.pairs && ops::same_values(function, function_)) return;
  const auto phase = device_.phase("kernel");
  function_ = function;
  selected_ = true;
  std::vector<float> values;
  for (const float norm : host_norms_) values.push_back(static_cast<float>(diagonal_value(function, double{norm})));
  const std::vector<float> diagonal = order_.padded(std::move(values), 0);
  device_.write(diagonal_, diagonal.data(), diagonal.size());
  largest_ = static_cast<float>(largest_value(function, host_norms_));

  if (mode_ == Mode::given) {
    largest_ = largest_given_;
    return;
  }
  if (mode_ == Mode::on_the_fly) {
    std::fill(slot_.begin(), slot_.end(), -1);
    std::fill(row_in_.begin(), row_in_.end(), -1);
    send_slots();
    return;
  }
  if (mode_ == Mode::in_place) gram_into(kernel_);
  if (mode_ == Mode::gram_kept && kept_ != function.pairs) {
    gram_into(gram_);
    kept_ = function.pairs;
  }
  for (const Strip& strip : strips()) {
    map_strip(strip, mode_ == Mode::in_place ? kernel_ : gram_);
    mirror_strip(strip);
  }
}

void KernelStore::products(int64_t first, bool gathered, const mk_tensor& out) {
  const int64_t d = order_.features();
  if (sparse())
    return sparse_products_->compute(*sparse_x_, gathered ? index_ : numbers_, gathered ? 0 : first, *sparse_x_, out);
  const mk_tensor x =
      gathered ? sdk::matrix(gathered_.get(), out.rows, d) : sdk::matrix(x_.get(), out.rows, d, 0, first * d);
  distances_.compute(function_.pairs, x, sdk::matrix(x_.get(), out.columns, d), out);
}

void KernelStore::compute_rows(int64_t first, bool gathered, const mk_tensor& norms, const mk_tensor& out) {
  products(first, gathered, out);
  device_.submit(ops::kernel_map(out, norms, sdk::vector(this->norms().get(), order_.rows()), out, function_));
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
    if (!sparse())
      device_.submit(ops::gather_rows(sdk::matrix(x_.get(), n, d), index, sdk::matrix(gathered_.get(), count, d)));
    device_.submit(
        ops::gather_rows(sdk::matrix(norms_.get(), n, 1), index, sdk::matrix(gathered_norms_.get(), count, 1)));
    const sdk::Buffer& gathered = function_.pairs == Pairs::products ? gathered_norms_ : zeros_;
    compute_rows(0, true, sdk::vector(gathered.get(), count), sdk::matrix(scratch_.get(), count, n, ld));
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
  send_slots();
}

void KernelStore::for_rows(int64_t first, int64_t count, const std::function<void(const mk_tensor&, int64_t)>& use) {
  const int64_t n = order_.rows(), ld = order_.stride();
  const int64_t step = mode_ == Mode::on_the_fly ? scratch_rows_ : panel_rows_;
  for (int64_t r = first; r < first + count;) {
    int64_t end = std::min(first + count, r + step);
    if (mode_ == Mode::on_the_fly) {
      const mk_tensor out = sdk::matrix(scratch_.get(), end - r, n, ld);
      compute_rows(r, false, sdk::vector(norms().get(), end - r, r), out);
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
