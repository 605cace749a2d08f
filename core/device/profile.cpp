#include "device/profile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.hpp"
#include "sdk/ops.hpp"

namespace mokume::device {
namespace {

template <class Row>
void sort_by_time(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.seconds > b.seconds; });
}

}  // namespace

Profile::Profile() : Profile(base::steady_s) {}
Profile::Profile(Clock clock) : clock_(std::move(clock)) {}

const std::string& Profile::phase() const {
  static const std::string other = kOtherPhase;
  const auto inner =
      std::find_if(scopes_.rbegin(), scopes_.rend(), [](const Scope& s) { return s.kind == MK_SCOPE_PHASE; });
  return inner == scopes_.rend() ? other : inner->name;
}

ProfileRow& Profile::row(const std::string& what) {
  ProfileRow& row = rows_[{phase(), what}];
  row.phase = phase();
  row.what = what;
  return row;
}

void Profile::add(const std::string& what, double seconds, double flops, double bytes) {
  ProfileRow& to = row(what);
  ++to.calls;
  to.seconds += seconds;
  to.flops += flops;
  to.bytes += bytes;
  counted_ += seconds;
}

// Assigns the time outside of ops since the last settle() to the current phase.
void Profile::settle() {
  const double now = clock_();
  if (!scopes_.empty()) {
    const double outside = (now - settled_at_) - (counted_ - settled_counted_);
    row(kOutsideOps).seconds += std::max(0.0, outside);
  }
  settled_at_ = now;
  settled_counted_ = counted_;
}

void Profile::begin(mk_scope kind, const std::string& name) {
  if (kind == MK_SCOPE_PHASE) settle();
  scopes_.push_back({kind, name, clock_(), counted_});
  if (kind == MK_SCOPE_PHASE) ++row(kOutsideOps).calls;
}

void Profile::end() {
  if (scopes_.empty()) return;
  if (scopes_.back().kind == MK_SCOPE_PHASE) {
    settle();
  } else {
    const Scope& kernel = scopes_.back();
    add(kernel.name, (clock_() - kernel.start) - (counted_ - kernel.counted), 0, 0);
  }
  scopes_.pop_back();
}

void Profile::add_op(const mk_op& op, double seconds) {
  const ops::OpRule& rule = ops::rule(op.code);
  const mk_tensor& out = op.outputs[0];
  std::string what = fmt::format("{} {}x{}", rule.name, out.rows, out.columns);
  if (op.code == MK_OP_GEMM) {
    what += fmt::format("x{}", ops::gemm_shape(op).k);
    if (op.gemm.transpose_a != 0) what += " a'";
    if (op.gemm.transpose_b != 0) what += " b'";
  }
  const sdk::Cost cost = rule.cost(op);
  add(what, seconds, cost.flops, cost.bytes);
}

void Profile::add_transfer(const char* what, uint64_t bytes, double seconds) {
  add(what, seconds, 0, static_cast<double>(bytes));
}

std::vector<ProfileRow> Profile::rows() const {
  std::vector<ProfileRow> sorted;
  for (const auto& [key, row] : rows_) sorted.push_back(row);
  sort_by_time(sorted);
  return sorted;
}

std::vector<ProfilePhase> phases_of(const std::vector<ProfileRow>& rows) {
  std::map<std::string, ProfilePhase> by_name;
  for (const ProfileRow& row : rows) {
    ProfilePhase& phase = by_name[row.phase];
    phase.name = row.phase;
    if (row.what == kOutsideOps) phase.calls += row.calls;
    phase.seconds += row.seconds;
    phase.flops += row.flops;
    phase.bytes += row.bytes;
  }
  std::vector<ProfilePhase> phases;
  for (const auto& [name, phase] : by_name) phases.push_back(phase);
  sort_by_time(phases);
  return phases;
}

}  // namespace mokume::device
