#include "journal/agree.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "data/measures.hpp"
#include "journal/line.hpp"

namespace mokume::journal {
namespace {

enum class Unit { rows, share_of_rows, mean_over_classes, number };

Unit unit_of(const FitRecord& record, size_t place, const Bounds& bounds) {
  const bool classes = bounds.classes.value_or(0) > 0;
  if (record.refit) return classes ? Unit::rows : Unit::number;
  if (!classes || !bounds.metrics || place >= bounds.metrics->size()) return Unit::number;
  const std::string_view name = (*bounds.metrics)[place].name;
  if (name == "errors") return Unit::rows;
  if (name == "error") return Unit::share_of_rows;
  const data::MeasureInfo* const known = data::find_measure(name);
  return known != nullptr && known->measure != data::Measure::log_loss ? Unit::mean_over_classes : Unit::number;
}

bool close(double a, double b, Unit unit, double n, const Tolerance& tolerance) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  if (!std::isfinite(a) || !std::isfinite(b)) return false;
  const double rows = std::max(1.0, tolerance.rows * n), difference = std::abs(a - b);
  constexpr double kRounding = 1 + 1e-6;  // models may compute a share in float32
  switch (unit) {
    case Unit::rows:
      return difference <= rows;
    case Unit::share_of_rows:
      return difference * n <= rows * kRounding;
    case Unit::mean_over_classes:
      return difference * n <= rows * tolerance.rarity * kRounding;
    case Unit::number:
      return difference <= tolerance.relative * std::max(std::abs(a), std::abs(b));
  }
  return false;
}

}  // namespace

bool agree(const FitRecord& a, const FitRecord& b, const Bounds& bounds, const Tolerance& tolerance) {
  const bool failed = !has_result(a.status);
  if (a.fit != b.fit || failed != !has_result(b.status)) return false;
  if (failed) return true;
  if (a.n != b.n || a.values.size() != b.values.size()) return false;
  for (size_t m = 0; m < a.values.size(); ++m)
    if (!close(a.values[m], b.values[m], unit_of(a, m, bounds), static_cast<double>(a.n), tolerance)) return false;
  return true;
}

bool must_be_equal(const FitRecord& a, const FitRecord& b, const Bounds& bounds) {
  return bounds.strict || a.device_class == b.device_class;
}

bool consistent(const FitRecord& a, const FitRecord& b, const Bounds& bounds) {
  return must_be_equal(a, b, bounds) ? same_result(a, b) : agree(a, b, bounds);
}

}  // namespace mokume::journal
