#include "matrix/kernel_store.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "matrix/halves_native.hpp"
#include "sdk/ops.hpp"
#include "sdk/portable.hpp"

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

double largest_of(const std::vector<float>& norms) {
  return static_cast<double>(*std::max_element(norms.begin(), norms.end()));
}

double diagonal_value(const ops::KernelFunction& f, double norm) {
  switch (f.kind) {
    case ops::KernelKind::linear:
      return norm;
    case ops::KernelKind::polynomial:
      return sdk::portable::power(f.gamma * norm + f.coef0, f.degree);
    case ops::KernelKind::rbf:
      return 1.0;
    case ops::KernelKind::rbf_minus_one:
      return 0.0;
    case ops::KernelKind::sigmoid:
      return sdk::portable::tanh(f.gamma * norm + f.coef0);
  }
  return 0;
}

}  // namespace

double largest_value(const ops::KernelFunction& f, double most) {
  switch (f.kind) {
    case ops::KernelKind::rbf:
      return 1;
    case ops::KernelKind::rbf_minus_one:
      return std::min(1.0, f.gamma * 4 * most + 0x1p-24);
    case ops::KernelKind::linear:
      return most;
    case ops::KernelKind::polynomial:
      return sdk::portable::power(f.gamma * most + std::fabs(f.coef0), f.degree);
    case ops::KernelKind::sigmoid:
      return 1;
  }
  return 1;
}

KernelStore::KernelStore(const sdk::Host& host, const sdk::Device& device, const mk_data& data, const RowOrder& order,
                         uint64_t reserve, int64_t solver_rows, const Settings& settings)
    : host_(host),
      device_(device),
      storage_(settings.storage),
      mirror_(host, device, settings.storage),
      distances_(host, device),
      order_(order) {
  const int64_t n = order.rows();
  if (storage_ == Storage::fp16) halves_.emplace(host, device);
  if (settings.precomputed) {
    plan_.mode = Mode::given;
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
  if (plan_.staged_rows > 0) make_staging();
  if (plan_.mode == Mode::given) {
    load_matrix(data);
  } else {
    load_rows(data);
    if (plan_.mode == Mode::on_the_fly) {
      make_cache();
    } else {
      kernel_ = make_panels(n, storage_);
      if (plan_.mode == Mode::gram_kept) gram_ = make_panels(n, Storage::fp32);
    }
  }
  if (plan_.mode != Mode::on_the_fly)
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
  const bool given = plan_.mode == Mode::given;
  const auto row_bytes = static_cast<uint64_t>(order_.stride()) * sizeof(float);
  const KernelNeeds needs{order_.rows(),
                          order_.stride(),
                          storage_,
                          reserve + x_bytes_ + 5 * row_bytes,
                          static_cast<uint64_t>(gathered_features_) * sizeof(float),
                          solver_rows,
                          device_.budget_bytes(),
                          device_.info().max_buffer_bytes};
  Mode first = Mode::gram_kept;
  const auto recorded = device_.choice("svc.kernel");
  for (const Mode earlier : {Mode::in_place, Mode::on_the_fly})
    if (recorded == choice_word(earlier)) first = earlier;
  plan_ = given ? plan_of(needs, Mode::given) : best_plan(needs, first);
  if (!plan_.fits)
    throw Error(MK_OUT_OF_MEMORY, "svc needs at least " + std::to_string(plan_.least >> 20) + " MiB for " +
                                      std::to_string(order_.rows()) + " rows of " +
                                      (given ? "kernel values" : std::to_string(order_.features()) + " features") +
                                      ", but " + device_.info().name + " has a budget of " +
                                      std::to_string(needs.budget >> 20) +
                                      " MiB: raise [devices] memory or set data.limit");
  if (!given) device_.set_choice("svc.kernel", choice_word(plan_.mode));
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
  kernel_ = make_panels(n, storage_);
  std::vector<float> row(static_cast<size_t>(ld), 0.0F);
  for (int64_t r = 0; r < n; ++r) {
    const float* const values = data.x + order_.original(r) * order_.features();
    for (int64_t c = 0; c < n; ++c) {
      row[static_cast<size_t>(c)] = values[order_.original(c)];
      largest_given_ = std::max(largest_given_, std::fabs(row[static_cast<size_t>(c)]));
    }
    host_norms_.push_back(row[static_cast<size_t>(r)]);
    const MatrixPart to{kernel_[static_cast<size_t>(r / panel_rows())], r % panel_rows() * ld};
    device_.write(halves_ ? scratch_ : to.buffer, row.data(), row.size(), halves_ ? 0 : static_cast<uint64_t>(to.at));
    if (halves_) halves_->narrow({scratch_, 0}, to, 1, ld);
  }
}

void KernelStore::make_staging() {
  const int64_t ld = order_.stride();
  scratch_ = device_.buffer<float>(static_cast<uint64_t>(plan_.staged_rows * ld));
  device_.submit(ops::fill(sdk::matrix(scratch_.get(), plan_.staged_rows, ld), 0.0F));
}

void KernelStore::make_cache() {
  const auto rows = static_cast<uint64_t>(plan_.staged_rows);
  kernel_ = make_panels(capacity(), storage_);
  row_in_.assign(static_cast<size_t>(capacity()), -1);
  index_ = device_.buffer<int32_t>(rows);
  gathered_ = device_.buffer<float>(rows * static_cast<uint64_t>(gathered_features_));
  gathered_norms_ = device_.buffer<float>(rows);
  if (halves_) rounded_ = device_.buffer<uint16_t>(rows * static_cast<uint64_t>(order_.stride()));
}

void KernelStore::send_slots() { device_.write(slot_buffer_, slot_.data(), slot_.size()); }

const char* KernelStore::mode_name() const {
  switch (plan_.mode) {
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

std::vector<sdk::Buffer> KernelStore::make_panels(int64_t rows, Storage storage) const {
  std::vector<sdk::Buffer> panels;
  const int64_t n = order_.rows(), ld = order_.stride();
  for (int64_t at = 0; at < rows; at += panel_rows()) {
    const int64_t count = std::min(panel_rows(), rows - at);
    panels.emplace_back(device_.table(), static_cast<uint64_t>(count * ld) * bytes_of(storage));
    // The solver reads the columns past the last row, so these columns must be finite. Halves get theirs with each row.
    if (ld > n && storage == Storage::fp32)
      device_.submit(ops::fill(sdk::matrix(panels.back().get(), count, ld - n, ld, n), 0.0F));
  }
  return panels;
}

// Makes about 16 strips, so that few values are computed twice, but each strip is long enough for a fast product. A
// strip of halves is no longer than the rows that wait to become halves.
std::vector<KernelStore::Strip> KernelStore::strips() const {
  const int64_t n = order_.rows();
  const int64_t most = halves_ ? plan_.staged_rows : std::max(kShortestStrip, (n / 16 + kBlock - 1) / kBlock * kBlock);
  std::vector<Strip> list;
  for (int64_t first = 0; first < n;) {
    const int64_t panel = first / panel_rows();
    const int64_t rows = std::min({most, n - first, (panel + 1) * panel_rows() - first});
    list.push_back({first, rows, static_cast<size_t>(panel), (first - panel * panel_rows()) * order_.stride()});
    first += rows;
  }
  return list;
}

void KernelStore::keep_gram() {
  if (kept_ == function_.pairs) return;
  for (const Strip& s : strips())
    products(s.first, false, sdk::matrix(gram_[s.panel].get(), s.rows, s.first + s.rows, order_.stride(), s.at));
  kept_ = function_.pairs;
}

// Computes the values of a strip up to and including its diagonal square, and copies those left of the square to the
// columns above it. Halves get whole rows, whose values right of the square later strips replace.
void KernelStore::fill_strip(const Strip& s) {
  const int64_t columns = s.first + s.rows, ld = order_.stride();
  const MatrixPart stored{kernel_[s.panel], s.at}, floats = halves_ ? MatrixPart{scratch_, 0} : stored;
  const mk_tensor values = sdk::matrix(floats.buffer.get(), s.rows, columns, ld, floats.at);
  if (plan_.mode == Mode::in_place) products(s.first, false, values);
  const mk_tensor from =
      plan_.mode == Mode::gram_kept ? sdk::matrix(gram_[s.panel].get(), s.rows, columns, ld, s.at) : values;
  device_.submit(ops::kernel_map(from, sdk::vector(norms().get(), s.rows, s.first), sdk::vector(norms().get(), columns),
                                 values, function_));
  if (halves_) halves_->narrow(floats, stored, s.rows, ld);
  for (size_t p = 0; p <= s.panel; ++p) {
    const int64_t above = static_cast<int64_t>(p) * panel_rows(), end = std::min(s.first, above + panel_rows());
    if (end > above) mirror_.copy({floats.buffer, floats.at + above}, {kernel_[p], s.first}, s.rows, end - above, ld);
  }
}

Kernel KernelStore::for_sums(const Kernel& kernel) const {
  if (kernel.pairs != Pairs::products) return kernel;  // the norms do not bound its distances
  const Kernel less{ops::without_one(kernel), kernel.pairs};
  return largest_value(less, largest_of(host_norms_)) < 1 ? less : kernel;
}

void KernelStore::select(const Kernel& function) {
  if (selected_ && function.pairs == function_.pairs && ops::same_values(function, function_)) return;
  const auto phase = device_.phase("kernel");
  const double bound = plan_.mode == Mode::given ? largest_given_ : largest_value(function, largest_of(host_norms_));
  if (halves_) check_range_of_halves(bound);
  function_ = function;
  selected_ = true;
  largest_ = static_cast<float>(bound);
  write_diagonal();
  if (plan_.mode == Mode::given) return;
  if (plan_.mode == Mode::on_the_fly) {
    std::fill(slot_.begin(), slot_.end(), -1);
    std::fill(row_in_.begin(), row_in_.end(), -1);
    send_slots();
    return;
  }
  if (plan_.mode == Mode::gram_kept) keep_gram();
  for (const Strip& strip : strips()) fill_strip(strip);
}

void KernelStore::write_diagonal() {
  std::vector<float> values;
  for (const float norm : host_norms_) values.push_back(static_cast<float>(diagonal_value(function_, double{norm})));
  values = order_.padded(std::move(values), 0);
  if (halves_) {
    const HalvesFunctions convert = halves_native();
    std::vector<uint16_t> rounded(values.size());
    const auto count = static_cast<int64_t>(values.size());
    convert.narrow(values.data(), rounded.data(), count);
    convert.widen(rounded.data(), values.data(), count);
  }
  device_.write(diagonal_, values.data(), values.size());
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

// Stores the row of floats at this element of the scratch.
void KernelStore::store_row(int64_t from, const MatrixPart& to) const {
  const int64_t ld = order_.stride();
  if (halves_) return halves_->narrow({scratch_, from}, to, 1, ld);
  sdk::call(device_.table()->copy, device_.table()->self, scratch_.get(), static_cast<uint64_t>(from) * sizeof(float),
            to.buffer.get(), static_cast<uint64_t>(to.at) * sizeof(float), static_cast<uint64_t>(ld) * sizeof(float));
}

void KernelStore::fetch(const std::vector<int32_t>& rows, const std::vector<int32_t>& keep) {
  const auto phase = device_.phase("kernel");
  const int64_t n = order_.rows(), d = order_.features(), ld = order_.stride();
  std::vector<bool> kept(static_cast<size_t>(capacity()), false);
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

  for (size_t at = 0; at < missing.size(); at += static_cast<size_t>(plan_.staged_rows)) {
    const auto count = std::min<int64_t>(plan_.staged_rows, static_cast<int64_t>(missing.size() - at));
    device_.write(index_, missing.data() + at, static_cast<uint64_t>(count));
    const mk_tensor index = sdk::vector(index_.get(), count, 0, MK_I32);
    if (!sparse())
      device_.submit(ops::gather_rows(sdk::matrix(x_.get(), n, d), index, sdk::matrix(gathered_.get(), count, d)));
    device_.submit(
        ops::gather_rows(sdk::matrix(norms_.get(), n, 1), index, sdk::matrix(gathered_norms_.get(), count, 1)));
    const sdk::Buffer& gathered = function_.pairs == Pairs::products ? gathered_norms_ : zeros_;
    compute_rows(0, true, sdk::vector(gathered.get(), count), sdk::matrix(scratch_.get(), count, n, ld));
    for (int64_t k = 0; k < count; ++k) {
      while (kept[static_cast<size_t>(next_slot_)]) next_slot_ = (next_slot_ + 1) % capacity();
      const int64_t s = next_slot_;
      next_slot_ = (next_slot_ + 1) % capacity();
      kept[static_cast<size_t>(s)] = true;
      if (row_in_[static_cast<size_t>(s)] >= 0) slot_[static_cast<size_t>(row_in_[static_cast<size_t>(s)])] = -1;
      const int32_t row = missing[at + static_cast<size_t>(k)];
      row_in_[static_cast<size_t>(s)] = row;
      slot_[static_cast<size_t>(row)] = static_cast<int32_t>(s);
      store_row(k * ld, {kernel_[static_cast<size_t>(s / panel_rows())], s % panel_rows() * ld});
    }
  }
  send_slots();
}

void KernelStore::for_rows(int64_t first, int64_t count, const std::function<void(const mk_tensor&, int64_t)>& use) {
  const int64_t n = order_.rows(), ld = order_.stride();
  const int64_t step = plan_.staged_rows > 0 ? plan_.staged_rows : panel_rows();
  for (int64_t r = first; r < first + count;) {
    int64_t end = std::min(first + count, r + step);
    if (plan_.mode == Mode::on_the_fly) {
      const mk_tensor out = sdk::matrix(scratch_.get(), end - r, n, ld);
      compute_rows(r, false, sdk::vector(norms().get(), end - r, r), out);
      if (halves_) halves_->narrow({scratch_, 0}, {rounded_, 0}, end - r, ld);
      use(halves_ ? widened({rounded_, 0}, end - r) : out, r);
    } else {
      const int64_t p = r / panel_rows();
      end = std::min(end, (p + 1) * panel_rows());
      const MatrixPart stored{kernel_[static_cast<size_t>(p)], (r - p * panel_rows()) * ld};
      use(halves_ ? widened(stored, end - r) : sdk::matrix(stored.buffer.get(), end - r, n, ld, stored.at), r);
    }
    r = end;
  }
}

mk_tensor KernelStore::widened(const MatrixPart& halves, int64_t rows) const {
  halves_->widen(halves, {scratch_, 0}, rows, order_.stride());
  return sdk::matrix(scratch_.get(), rows, order_.rows(), order_.stride());
}

}  // namespace mokume::svc
