#include "report/charts/structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/charts/repeats.hpp"
#include "report/charts/svg.hpp"
#include "results/format.hpp"

namespace mokume::report {
namespace {

using results::Step;

// The picture fits the width of a phone unless many ways pass each other.
constexpr double kEdge = 12, kTop = 64, kBoxWidth = 244, kLane = 9, kGap = 13, kCorner = 4;
constexpr double kHeight = 34, kLowHeight = 21;  // The low height is that of a box without a second line.
constexpr size_t kMostSingly = 40, kMostRows = 600, kLongestText = 26;

// Places the rows from top to bottom. A way to the next row is a straight arrow; other ways take lanes at the left.
class Drawing {
 public:
  explicit Drawing(const std::vector<Step>& steps) : steps_(steps), rows_(step_rows(steps, kMostSingly)) {
    dropped_ = rows_.size() - std::min(rows_.size(), kMostRows);
    rows_.resize(rows_.size() - dropped_);
    find_lanes();
    left_ = kEdge + kLane * static_cast<double>(lane_ends_.size()) + (lane_ends_.empty() ? 0 : 6);
    double y = kTop;
    for (const StepRow& row : rows_) {
      tops_.push_back(y);
      y += height(row) + kGap;
    }
    bottom_ = y;
  }

  NamedFile file() const {
    int64_t parameters = 0;
    for (const Step& step : steps_) parameters += step.parameters;
    const std::string caption = fmt::format("{}, {}", results::counted(steps_.size() - 1, "layer"),
                                            results::counted(static_cast<uint64_t>(parameters), "parameter"));
    const bool repeats = std::any_of(rows_.begin(), rows_.end(), [](const StepRow& row) { return row.times > 1; });
    Svg svg(left_ + kBoxWidth + kEdge + (repeats ? 30 : 0), bottom_ + (dropped_ > 0 ? 16 : 0),
            "Layers of the network: " + caption, "Network", caption);
    for (size_t r = 0; r < rows_.size(); ++r) draw_ways_to(svg, r);
    for (size_t r = 0; r < rows_.size(); ++r) draw_box(svg, r);
    if (dropped_ > 0) svg.text(left_, bottom_ + 4, fmt::format("and {}", results::counted(dropped_, "more layer")));
    return {kStructurePlot, std::move(svg).finish()};
  }

 private:
  const Step& step(const StepRow& row) const { return steps_[row.step]; }
  double height(const StepRow& row) const {
    return step(row).parameters > 0 || is_named(step(row)) ? kHeight : kLowHeight;
  }
  // A layer without a name has its number as its name.
  static bool is_named(const Step& step) { return step.name.find_first_not_of("0123456789") != std::string::npos; }
  double middle(size_t row) const { return tops_[row] + height(rows_[row]) / 2; }
  double lane_x(size_t lane) const { return left_ - 10 - kLane * static_cast<double>(lane); }

  // Each output that a row other than the next one reads takes the nearest free lane up to its last reader.
  void find_lanes() {
    std::map<size_t, size_t> last;
    for (size_t r = 0; r < rows_.size(); ++r)
      for (const size_t input : rows_[r].inputs)
        if (input + 1 != r) last[input] = r;
    for (const auto& [from, to] : last) {
      const auto is_free = [&, start = from](size_t end) { return end <= start; };
      const auto found = std::find_if(lane_ends_.begin(), lane_ends_.end(), is_free);
      lanes_[from] = static_cast<size_t>(found - lane_ends_.begin());
      if (found == lane_ends_.end())
        lane_ends_.push_back(to);
      else
        *found = to;
    }
  }

  void draw_ways_to(Svg& svg, size_t row) const {
    for (const size_t from : rows_[row].inputs) {
      if (from + 1 == row)
        draw_straight(svg, row);
      else
        draw_lane(svg, from, row);
    }
  }

  void draw_straight(Svg& svg, size_t row) const {
    const double x = left_ + kBoxWidth / 2, y = tops_[row];
    svg.path(fmt::format("M{0} {1}V{2}M{3} {4}L{0} {2}L{5} {4}", coordinate(x), coordinate(y - kGap), coordinate(y - 1),
                         coordinate(x - 3), coordinate(y - 4), coordinate(x + 3)),
             "axis");
  }

  // The way leaves a box below its middle and enters one above it, so that both ends of a box can be told apart.
  void draw_lane(Svg& svg, size_t from, size_t to) const {
    const size_t lane = lanes_.at(from);
    const double x = lane_x(lane), y0 = middle(from) + 5, y1 = middle(to) - 5, end = left_ - 1;
    svg.open(fmt::format("curve k{}", lane % 12));
    svg.path(fmt::format("M{0} {1}H{2}Q{3} {1} {3} {4}V{5}Q{3} {6} {2} {6}H{0}M{7} {8}L{0} {6}L{7} {9}",
                         coordinate(end), coordinate(y0), coordinate(x + kCorner), coordinate(x),
                         coordinate(y0 + kCorner), coordinate(y1 - kCorner), coordinate(y1), coordinate(end - 4),
                         coordinate(y1 - 3), coordinate(y1 + 3)),
             "");
    svg.close();
  }

  void draw_box(Svg& svg, size_t r) const {
    const StepRow& row = rows_[r];
    const Step& one = step(row);
    const double y = tops_[r], right = left_ + kBoxWidth;
    const std::string parameters =
        one.parameters == 0 ? "" : results::counted(static_cast<uint64_t>(one.parameters), "parameter");
    const char* const classes = one.inputs.size() > 1 ? "layer top" : one.parameters > 0 ? "layer box" : "layer";
    svg.open(classes,
             fmt::format("{} {}: {}{}", one.kind, one.name, one.output, parameters.empty() ? "" : ", " + parameters));
    svg.rect(left_, y, kBoxWidth, height(row), {}, {}, {}, kCorner);
    svg.close();
    svg.text(left_ + 8, y + 14, results::elide(one.kind, kLongestText), "strong");
    svg.text(right - 8, y + 14, results::elide(one.output, kLongestText), "end");
    if (is_named(one)) svg.text(left_ + 8, y + 28, results::elide(one.name, kLongestText), "small");
    if (!parameters.empty()) svg.text(right - 8, y + 28, parameters, "end small");
    if (row.times > 1) draw_bracket(svg, r);
  }

  void draw_bracket(Svg& svg, size_t first) const {
    const size_t last = std::min(first + rows_[first].length, rows_.size()) - 1;
    const double x = left_ + kBoxWidth, top = tops_[first], end = tops_[last] + height(rows_[last]);
    svg.path(
        fmt::format("M{0} {1}H{2}V{3}H{0}", coordinate(x + 4), coordinate(top), coordinate(x + 9), coordinate(end)),
        "axis");
    svg.text(x + 13, (top + end) / 2 + 4, fmt::format("× {}", rows_[first].times), "strong");
  }

  const std::vector<Step>& steps_;
  std::vector<StepRow> rows_;
  size_t dropped_ = 0;
  std::vector<double> tops_;  // by row
  std::map<size_t, size_t> lanes_;
  std::vector<size_t> lane_ends_;  // the last row that each lane reaches
  double left_ = 0, bottom_ = 0;   // left edge of the boxes, and end of the last one
};

}  // namespace

std::vector<NamedFile> structure_plot(const results::RunView& view) {
  if (!view.structure || view.structure->steps.size() < 2) return {};
  return {Drawing(view.structure->steps).file()};
}

}  // namespace mokume::report
