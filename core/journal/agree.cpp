#include "journal/agree.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "journal/line.hpp"

namespace mokume::journal {
namespace {

// Returns `value` as a number of n rows, up to rounding, or nothing if it is not one.
std::optional<double> rows_of(double value, double n) {
  if (!(value >= 0) || value > n || std::abs(value - std::round(value)) > 1e-6 * value) return std::nullopt;
  return std::round(value);
}

bool close(double a, double b, double n, const Tolerance& tolerance) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  if (!std::isfinite(a) || !std::isfinite(b)) return false;
  for (const double unit : {1.0, n}) {
    const auto x = rows_of(a * unit, n), y = rows_of(b * unit, n);
    if (x && y) return std::abs(*x - *y) <= std::max(1.0, tolerance.rows * n);
  }
  return std::abs(a - b) <= tolerance.relative * std::max(std::abs(a), std::abs(b));
}

}  // namespace

bool agree(const FitRecord& a, const FitRecord& b, const Tolerance& tolerance) {
  const bool failed = a.status == FitStatus::failed;
  if (a.fit != b.fit || failed != (b.status == FitStatus::failed)) return false;
  if (failed) return true;
  const auto n = static_cast<double>(a.n);
  return a.n == b.n && std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
                                  [&](double x, double y) { return close(x, y, n, tolerance); });
}

bool consistent(const FitRecord& a, const FitRecord& b, const Tolerance& tolerance) {
  return a.device_class == b.device_class ? same_result(a, b) : agree(a, b, tolerance);
}

}  // namespace mokume::journal
