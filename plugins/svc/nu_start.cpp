#include "nu_start.hpp"

#include <algorithm>
#include <cstdio>

namespace mokume::svc {
namespace {

// Returns the rows of this sign in the order of the data.
std::vector<int64_t> rows_of(const RowOrder& order, const std::vector<int8_t>& sign, int8_t wanted) {
  std::vector<int64_t> rows;
  for (int64_t r = 0; r < order.rows(); ++r)
    if (sign[static_cast<size_t>(r)] == wanted) rows.push_back(r);
  std::stable_sort(rows.begin(), rows.end(),
                   [&](int64_t a, int64_t b) { return order.original(a) < order.original(b); });
  return rows;
}

std::vector<int8_t> signs_of(const RowOrder& order, const BinaryProblem& problem) {
  std::vector<int8_t> sign(static_cast<size_t>(order.stride()));
  std::vector<int32_t> spans(2 * kMaxSpans);
  mark_rows(order, problem, sign.data(), spans.data());
  return sign;
}

double weight_of(const RowOrder& order, const std::vector<int64_t>& rows) {
  double sum = 0;
  for (const int64_t r : rows) sum += order.weight(r);
  return sum;
}

SideMultipliers fill_side(const RowOrder& order, const std::vector<int64_t>& rows, double sum, double c) {
  SideMultipliers side;
  side.high.assign(static_cast<size_t>(order.stride()), 0.0F);
  side.low = side.high;
  for (const int64_t row : rows) {
    const auto r = static_cast<size_t>(row);
    const float bound = static_cast<float>(c) * static_cast<float>(order.weight(row));  // as the solver computes it
    if (sum >= double{bound}) {
      side.high[r] = bound;
    } else {
      side.high[r] = static_cast<float>(sum);
      side.low[r] = static_cast<float>(sum - double{side.high[r]});
    }
    sum -= std::min(sum, double{bound});
  }
  return side;
}

}  // namespace

std::array<SideMultipliers, 2> nu_start(const RowOrder& order, const BinaryProblem& problem, Kind kind, double nu,
                                        double c) {
  const std::vector<int8_t> sign = signs_of(order, problem);
  const std::vector<int64_t> plus = rows_of(order, sign, 1);
  const std::vector<int64_t> minus = kind == Kind::nu_svr ? plus : rows_of(order, sign, -1);
  const double all = weight_of(order, plus) + (kind == Kind::nu_svc ? weight_of(order, minus) : 0);
  const double each = kind == Kind::one_class ? nu * all : nu * c * all / 2;
  return {fill_side(order, plus, each, c), fill_side(order, minus, each, c)};
}

std::string why_infeasible(const RowOrder& order, const BinaryProblem& problem, double nu) {
  const std::vector<int8_t> sign = signs_of(order, problem);
  const double plus = weight_of(order, rows_of(order, sign, 1)), minus = weight_of(order, rows_of(order, sign, -1));
  const double least = std::min(plus, minus), all = plus + minus;
  if (least > 0 && nu * all / 2 <= least) return "";
  char text[200];
  std::snprintf(&text[0], sizeof(text),
                "nu = %.6g is infeasible: the smaller side of a binary problem has %.6g of %.6g rows, so nu can be at "
                "most %.6g",
                nu, least, all, all > 0 ? 2 * least / all : 0);
  return &text[0];
}

std::string why_infeasible(const RowOrder& order, const Settings& settings, int32_t fold, double nu) {
  if (settings.kind != Kind::nu_svc) return "";
  for (const BinaryProblem& problem : weighted_problems(order.classes(), settings, fold))
    if (std::string why = why_infeasible(order, problem, nu); !why.empty()) return why;
  return "";
}

}  // namespace mokume::svc
