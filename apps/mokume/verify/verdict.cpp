#include "verify/verdict.hpp"

#include <fmt/format.h>

#include <bit>

#include "base/text.hpp"
#include "journal/agree.hpp"
#include "journal/line.hpp"
#include "results/format.hpp"

namespace mokume::app {
namespace {

// Compares bits, so that a NaN equals itself.
bool same_number(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

std::string numbers_text(const std::string& what, double again, double recorded) {
  return fmt::format("{} {}, recorded {}", what, base::shortest(again), base::shortest(recorded));
}

std::string value_name(const results::RunView& view, const journal::FitRecord& record, size_t place) {
  if (record.refit) return view.data_classes > 0 ? "test errors" : "test mse";
  return place < view.metrics.size() ? view.metrics[place].name : "another value";
}

std::string differing_value(const results::RunView& view, const journal::FitRecord& again,
                            const journal::FitRecord& recorded) {
  if (again.values.size() != recorded.values.size())
    return fmt::format("{} values, recorded {}", again.values.size(), recorded.values.size());
  for (size_t v = 0; v < again.values.size(); ++v)
    if (!same_number(again.values[v], recorded.values[v]))
      return numbers_text(value_name(view, again, v), again.values[v], recorded.values[v]);
  return "";
}

std::string differing_curve(const journal::FitRecord& again, const journal::FitRecord& recorded) {
  const auto names = [](const journal::FitRecord& record) {
    std::string text;
    for (const journal::Curve& curve : record.curves) text += (text.empty() ? "" : " ") + curve.name;
    return text;
  };
  if (names(again) != names(recorded)) return fmt::format("curves '{}', recorded '{}'", names(again), names(recorded));
  for (size_t c = 0; c < again.curves.size(); ++c) {
    const std::vector<double>&mine = again.curves[c].values, &theirs = recorded.curves[c].values;
    if (mine.size() != theirs.size())
      return fmt::format("{} epochs of {}, recorded {}", mine.size(), again.curves[c].name, theirs.size());
    for (size_t e = 0; e < mine.size(); ++e)
      if (!same_number(mine[e], theirs[e]))
        return numbers_text(fmt::format("{} of epoch {}", again.curves[c].name, e + 1), mine[e], theirs[e]);
  }
  return "";
}

}  // namespace

std::string difference_text(const results::RunView& view, const journal::FitRecord& again,
                            const journal::FitRecord& recorded) {
  if (again.status != recorded.status)
    return fmt::format("status {}, recorded {}{}", to_text(again.status), to_text(recorded.status),
                       again.status == journal::FitStatus::failed ? " (" + again.note + ")" : "");
  if (again.n != recorded.n) return fmt::format("{} validated rows, recorded {}", again.n, recorded.n);
  for (const std::string& text : {differing_value(view, again, recorded), differing_curve(again, recorded)})
    if (!text.empty()) return text;
  if (again.confusion != recorded.confusion) return "another confusion matrix";
  for (const auto& [name, value] : again.measures)
    if (const auto known = recorded.measures.find(name); known == recorded.measures.end() || known->second != value)
      return known == recorded.measures.end() ? name + " is not recorded" : numbers_text(name, value, known->second);
  if (again.measures.size() != recorded.measures.size()) return "fewer measures than recorded";
  constexpr size_t kShown = 40;
  return again.note == recorded.note ? ""
                                     : fmt::format("note '{}', recorded '{}'", results::elide(again.note, kShown),
                                                   results::elide(recorded.note, kShown));
}

Judged judge(const RecordedFits& fits, const journal::FitRecord& again) {
  const journal::FitRecord& recorded = *fits.find(again.fit);
  if (journal::same_result(again, recorded)) return {Verdict::equal, "equal"};
  const std::string difference = difference_text(fits.view(), again, recorded);
  if (!fits.must_be_equal(again, recorded) && journal::agree(again, recorded, fits.experiment().bounds()))
    return {Verdict::within, "within tolerance: " + difference};
  return {Verdict::differs, "differs: " + difference};
}

}  // namespace mokume::app
