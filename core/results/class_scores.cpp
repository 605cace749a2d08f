#include "results/class_scores.hpp"

#include <fmt/format.h>

#include "results/format.hpp"

namespace mokume::results {

std::vector<std::string> class_names(const RunView& view) {
  std::vector<std::string> names = view.class_names;
  for (auto label = static_cast<int64_t>(names.size()); label < view.data_classes; ++label)
    names.push_back(std::to_string(label));
  return names;
}

const char* ResultByClass::rows_text() const {
  return rows == Rows::test ? "test" : rows == Rows::outer ? "outer test" : "validated";
}

ResultByClass result_by_class(const RunView& view) {
  using Rows = ResultByClass::Rows;
  if (view.test && view.test->confusion) return {Rows::test, &*view.test};
  if (view.nested && view.nested->pooled.confusion) return {Rows::outer, &view.nested->pooled};
  if (view.validated && view.validated->confusion) return {Rows::validated, &*view.validated};
  return {};
}

std::vector<ClassScore> class_scores(const RunView& view, const TestResult& result) {
  std::vector<ClassScore> scores;
  if (!result.confusion) return scores;
  const data::Confusion& confusion = *result.confusion;
  const std::vector<std::string> names = class_names(view);
  for (size_t c = 0; c < confusion.classes; ++c)
    scores.push_back({names.at(c), confusion.rows_of(c), data::precision(confusion, c), data::recall(confusion, c),
                      data::f1(confusion, c)});
  return scores;
}

std::string measures_text(const TestResult& test) {
  std::string text;
  const auto add = [&](const char* name, const char* title, bool share) {
    const auto found = test.measures.find(name);
    if (found == test.measures.end()) return;
    const std::string value = share ? percent(found->second) : pretty(found->second);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", title, value);
  };
  add("balanced_error", "balanced error", true);
  add("f1", "macro F1", false);
  add("auc", "AUC", false);
  add("log_loss", "log loss", false);
  add("rmse", "RMSE", false);
  add("mae", "MAE", false);
  add("r2", "R2", false);
  add("explained_variance", "explained variance", false);
  return text;
}

}  // namespace mokume::results
