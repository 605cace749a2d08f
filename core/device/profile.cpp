#include "device/profile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sdk/ops.hpp"

namespace mokume::device {
namespace {

void add(ProfileRow& row, const std::string& what, double seconds, double flops, double bytes) {
  row.what = what;
  ++row.calls;
  row.seconds += seconds;
  row.flops += flops;
  row.bytes += bytes;
}

std::string rate(double amount, double seconds) {
  return amount > 0 && seconds > 0 ? fmt::format("{:.1f}", amount / seconds / 1e9) : "";
}

}  // namespace

void Profile::add_op(const mk_op& op, double seconds) {
  const ops::OpRule& rule = ops::rule(op.code);
  const mk_tensor& out = op.outputs[0];
  std::string what = fmt::format("{} {}x{}", rule.name, out.rows, out.columns);
  if (op.code == MK_OP_GEMM) {
    what += fmt::format("x{}", ops::gemm_shape(op).k);
    if (op.integers[0] != 0) what += " a'";
    if (op.integers[1] != 0) what += " b'";
  }
  const sdk::Cost cost = rule.cost(op);
  add(rows_[what], what, seconds, cost.flops, cost.bytes);
}

void Profile::add_transfer(const char* what, uint64_t bytes, double seconds) {
  add(rows_[what], what, seconds, 0, static_cast<double>(bytes));
}

std::vector<ProfileRow> Profile::rows() const {
  std::vector<ProfileRow> sorted;
  for (const auto& [what, row] : rows_) sorted.push_back(row);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return sorted;
}

std::string to_text(const std::string& device, const std::vector<ProfileRow>& rows) {
  double total = 0;
  for (const ProfileRow& row : rows) total += row.seconds;
  std::string text = fmt::format("{}: {:.3f} s in ops and transfers\n{:<34} {:>9} {:>10} {:>7} {:>9} {:>8}\n", device,
                                 total, "what", "calls", "seconds", "share", "GFLOP/s", "GB/s");
  for (const ProfileRow& row : rows)
    text += fmt::format("{:<34} {:>9} {:>10.3f} {:>6.1f}% {:>9} {:>8}\n", row.what, row.calls, row.seconds,
                        total > 0 ? 100 * row.seconds / total : 0, rate(row.flops, row.seconds),
                        rate(row.bytes, row.seconds));
  return text;
}

}  // namespace mokume::device
