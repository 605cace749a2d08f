#include "report/charts/plots.hpp"

#include <algorithm>
#include <iterator>

#include "report/charts/box_plots.hpp"
#include "report/charts/confusion.hpp"
#include "report/charts/curves.hpp"
#include "report/charts/heat_maps.hpp"
#include "report/charts/learning_curve.hpp"
#include "report/charts/members.hpp"
#include "report/charts/numbers.hpp"
#include "report/charts/structure.hpp"

namespace mokume::report {

std::vector<NamedFile> plots(const results::RunView& view) {
  const Figure figure(view);
  std::vector<NamedFile> files;
  const auto add = [&](std::vector<NamedFile> more) { std::move(more.begin(), more.end(), std::back_inserter(files)); };
  if (!figure.pooled.empty() && view.plan.folds > 0 && results::selecting_metric(view.metrics)) {
    if (figure.surface) add(heat_maps(figure));
    if (!figure.x) add({candidate_bars(figure)});
    add(box_plots(figure));
  }
  add(curve_plots(figure));
  add(member_plots(view));
  add(confusion_plot(view));
  add(number_plots(view));
  add(learning_curve(view));
  add(structure_plot(view));
  return files;
}

}  // namespace mokume::report
