#include "fit_report.hpp"

#include <cmath>
#include <utility>

#include "sdk/error.hpp"

namespace mokume::svc {
namespace {

// Reports a failed fit if there are no values.
void report(const mk_fit_sink& sink, const Settings& settings, mk_fit_result result, Ending ending,
            const double* values, uint32_t n_values) {
  if (n_values == 0) ending = {ending.fit, MK_FIT_FAILED, why_not_finite(settings.kind)};
  result.index = ending.fit;
  result.status = ending.status;
  result.n_values = n_values;
  result.values = n_values > 0 ? values : nullptr;
  result.note = ending.note.c_str();
  sdk::call(sink.report, sink.self, &result);
}

double mean_squared_error(const std::vector<float>& predicted, const float* targets) {
  double sum = 0;
  for (size_t r = 0; r < predicted.size(); ++r) {
    const double off = double{predicted[r]} - double{targets[r]};
    sum += off * off;
  }
  return predicted.empty() ? 0 : sum / static_cast<double>(predicted.size());
}

}  // namespace

Classes classify(const RowOrder& order, const Settings& settings, uint32_t fold,
                 const std::vector<const float*>& decisions) {
  const int64_t n = order.fold_rows(fold), begin = order.fold_begin(fold);
  const size_t each = decisions.size();
  Classes classes;
  classes.problems = static_cast<uint32_t>(each);
  classes.decisions.resize(static_cast<size_t>(n) * each);
  for (int64_t r = 0; r < n; ++r) {
    float* const row = classes.decisions.data() + static_cast<size_t>(r) * each;
    for (size_t k = 0; k < each; ++k) {
      row[k] = decisions[k][r];
      classes.finite = classes.finite && std::isfinite(row[k]);
    }
    classes.labels.push_back(order.label(begin + r));
    classes.predicted.push_back(predict_class(row, order.classes(), settings));
    classes.errors += classes.predicted.back() != classes.labels.back() ? 1 : 0;
    // The tolerance of a problem with nu is in another unit than its decision values.
    if (has_nu(settings.kind)) continue;
    classes.unsure += is_unsure(row, order.classes(), settings.multiclass, static_cast<float>(settings.tol)) ? 1 : 0;
  }
  return classes;
}

void report_classes(const mk_fit_sink& sink, const RowOrder& order, const Settings& settings, uint32_t fold,
                    const Classes& classes, Ending ending) {
  const auto n = static_cast<int64_t>(classes.labels.size());
  const auto errors = static_cast<double>(classes.errors);
  const double values[] = {errors, n == 0 ? 0.0 : errors / static_cast<double>(n)};
  const mk_validated validated{classes.labels.data(),
                               classes.predicted.data(),
                               classes.decisions.data(),
                               classes.problems,
                               score_kind(settings.multiclass, order.classes()),
                               order.originals(fold),
                               nullptr};
  mk_fit_result result{};
  result.n = n;
  result.validated = sink.wants_validated != 0 ? &validated : nullptr;
  report(sink, settings, result, std::move(ending), &values[0], classes.finite ? 2 : 0);
}

void report_numbers(const mk_fit_sink& sink, const RowOrder& order, const Settings& settings, uint32_t fold,
                    const std::vector<float>& predicted, Ending ending) {
  const double mse = mean_squared_error(predicted, order.targets().data() + order.fold_begin(fold));
  std::vector<float> numbers;
  for (const float value : predicted) numbers.push_back(static_cast<float>(double{value} + order.target_mean()));
  mk_validated validated{};
  validated.rows = order.originals(fold);
  validated.numbers = numbers.data();
  mk_fit_result result{};
  result.n = order.fold_rows(fold);
  result.validated = sink.wants_validated != 0 ? &validated : nullptr;
  report(sink, settings, result, std::move(ending), &mse, std::isfinite(mse) ? 1 : 0);
}

}  // namespace mokume::svc
