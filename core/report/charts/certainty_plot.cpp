// The members' certainty as SVG: a row per class with the box of all members.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/charts/svg.hpp"
#include "report/tables/certainty.hpp"
#include "report/tables/format.hpp"
#include "report/tables/stats.hpp"

namespace mokume::report {
namespace {

constexpr size_t kMaxRows = 40;
constexpr size_t kMaxPoints = 30;  // beyond, only the points outside the whiskers are drawn
constexpr double kTop = 68, kRow = 26, kAxis = 360, kPicture = 140;

std::string caption(const Certainty& certainty, const Verdict& verdict) {
  const size_t v = verdict.vote;
  const std::string name = elide(certainty.classes[v], 24);
  if (certainty.members.size() == 1)
    return fmt::format("vote: {}, certainty {:.3f}; entropy {:.3f}", name, verdict.mean[v], verdict.entropy);
  return fmt::format(
      "vote: {} ({} of {}), mean certainty {:.3f} (sd {:.3f}); entropy {:.3f}, mutual information {:.3f}", name,
      verdict.votes[v], members_text(certainty), verdict.mean[v], verdict.sd[v], verdict.entropy,
      verdict.mutual_information);
}

void draw_box(Svg& svg, const std::vector<double>& values, const Scale& scale, double y) {
  const Box box = box_of(values);
  const double low = scale.at(box.low), high = scale.at(box.high), q1 = scale.at(box.q1), q3 = scale.at(box.q3);
  svg.line(low, y, q1, y, "whisker");
  svg.line(q3, y, high, y, "whisker");
  svg.line(low, y - 4, low, y + 4, "whisker");
  svg.line(high, y - 4, high, y + 4, "whisker");
  svg.rect(q1, y - 8, q3 - q1, 16, {});
  svg.line(scale.at(box.median), y - 8, scale.at(box.median), y + 8, "median");
  const size_t n = values.size();
  const double step = n > 1 ? 10.0 / static_cast<double>(n - 1) : 0;
  for (size_t i = 0; i < n; ++i) {
    const bool outside = values[i] < box.low || values[i] > box.high;
    if (n > kMaxPoints && !outside) continue;
    svg.circle(scale.at(values[i]), y + (static_cast<double>(i) - static_cast<double>(n - 1) / 2) * step, 1.8, {});
  }
}

// Runs of equal pixels as rectangles; black is the ground.
void draw_picture(Svg& svg, const Thumbnail& picture, double x, double y) {
  const double side = kPicture / static_cast<double>(std::max(picture.width, picture.height));
  svg.rect(x, y, side * static_cast<double>(picture.width), side * static_cast<double>(picture.height), {}, {},
           "#000000");
  for (size_t r = 0; r < picture.height; ++r) {
    const uint8_t* row = picture.grey.data() + r * picture.width;
    for (size_t c = 0; c < picture.width;) {
      size_t end = c + 1;
      while (end < picture.width && row[end] == row[c]) ++end;
      // Slightly larger than its place, so that no seams show.
      if (row[c] > 0)
        svg.rect(x + side * static_cast<double>(c), y + side * static_cast<double>(r),
                 side * static_cast<double>(end - c) + 0.1, side + 0.1, {}, {}, Colour{row[c], row[c], row[c]}.hex());
      c = end;
    }
  }
}

}  // namespace

Thumbnail thumbnail(size_t width, size_t height, std::span<const double> grey) {
  const size_t step = std::max<size_t>(1, (std::max(width, height) + kThumbnailSide - 1) / kThumbnailSide);
  Thumbnail small{(width + step - 1) / step, (height + step - 1) / step, {}};
  for (size_t top = 0; top < height; top += step)
    for (size_t left = 0; left < width; left += step) {
      double sum = 0;
      size_t count = 0;
      for (size_t y = top; y < std::min(top + step, height); ++y)
        for (size_t x = left; x < std::min(left + step, width); ++x, ++count) sum += grey[y * width + x];
      const double mean = sum / static_cast<double>(count);
      small.grey.push_back(static_cast<uint8_t>(std::clamp(std::isfinite(mean) ? mean : 0.0, 0.0, 255.0) + 0.5));
    }
  return small;
}

std::string certainty_svg(const Certainty& certainty, std::string_view title, const Thumbnail& picture) {
  const Verdict verdict = judge(certainty);
  const std::vector<size_t> shown = shown_classes(verdict, kMaxRows);
  const bool several = certainty.members.size() > 1;
  const bool pictured = picture.width > 0;
  double labels = 48;
  for (const size_t c : shown) labels = std::max(labels, 32 + text_width(elide(certainty.classes[c], 24)));
  const double end = labels + kAxis, right = end + (several ? 120 : 72);
  const double rows = kRow * static_cast<double>(shown.size());
  const double bottom = kTop + std::max(rows, pictured ? kPicture : 0.0);
  const std::string said = caption(certainty, verdict);
  const double width = std::max(right + (pictured ? kPicture + 16 : 0), 32 + text_width(said));
  Svg svg(width, bottom + 56, fmt::format("Box plots of certainty for each class; {}; {}", title, said));
  svg.text(16, 22, elide(title, 72), "head");
  svg.text(16, 40, said, "");
  svg.text(end + 56, kTop - 6, "mean", "end");
  if (several) svg.text(end + 104, kTop - 6, "votes", "end");
  const Scale scale{false, 0, 1, labels, end};
  const std::vector<Tick> marks = ticks(scale, 5);
  for (const Tick& tick : marks) svg.line(scale.at(tick.value), kTop, scale.at(tick.value), bottom, "grid");
  bottom_axis(svg, scale, bottom, marks);
  std::string axis = several ? fmt::format("certainty of {}", members_text(certainty)) : std::string("certainty");
  if (shown.size() < certainty.classes.size())
    axis += fmt::format(", the {} most likely of {} classes", shown.size(), certainty.classes.size());
  svg.text((labels + end) / 2, bottom + 40, axis, "mid strong");
  for (size_t i = 0; i < shown.size(); ++i) {
    const size_t c = shown[i];
    const double y = kTop + kRow * (static_cast<double>(i) + 0.5);
    std::vector<double> values;
    for (const std::vector<double>& member : certainty.members) values.push_back(member[c]);
    svg.open(c == verdict.vote ? "top" : "box",
             fmt::format("{}\nmean {:.3f}, sd {:.3f}, votes {}", elide(certainty.classes[c], 60), verdict.mean[c],
                         verdict.sd[c], verdict.votes[c]));
    svg.text(labels - 10, y + 4, elide(certainty.classes[c], 24), "end strong");
    draw_box(svg, values, scale, y);
    svg.text(end + 56, y + 4, fmt::format("{:.3f}", verdict.mean[c]), "end strong");
    if (several) svg.text(end + 104, y + 4, fmt::format("{}", verdict.votes[c]), "end strong");
    svg.close();
  }
  if (pictured) draw_picture(svg, picture, right, kTop);
  return std::move(svg).finish();
}

}  // namespace mokume::report
