#include "report/charts/certainty_plot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/certainty.hpp"
#include "report/charts/axes.hpp"
#include "report/charts/style.hpp"
#include "results/format.hpp"

namespace mokume::report {
namespace {

constexpr size_t kCertaintyMaxRows = 40;
constexpr double kCertaintyTop = 68, kCertaintyRow = 26, kCertaintyAxis = 360, kCertaintyPicture = 140;

std::string caption_of(const results::Certainty& certainty, const EnsembleVote& vote) {
  const size_t v = vote.winner;
  const std::string name = results::elide(certainty.classes[v], 24);
  if (certainty.members.size() == 1 && !certainty.probable)
    return fmt::format("vote: {}; the model gives no probabilities", name);
  if (certainty.members.size() == 1)
    return fmt::format("vote: {}, certainty {}; entropy {:.3f}", name, certainty_digits(vote.mean[v]), vote.entropy);
  return fmt::format("vote: {} ({} of {}), mean certainty {} (sd {:.3f}); entropy {:.3f}, mutual information {:.3f}",
                     name, vote.votes[v], members_text(certainty), certainty_digits(vote.mean[v]), vote.sd[v],
                     vote.entropy, vote.mutual_information);
}

// Draws runs of equal pixels as rectangles on a black background.
void draw_picture(Svg& svg, const results::Thumbnail& picture, double x, double y) {
  const double side = kCertaintyPicture / std::max(picture.width, picture.height);
  const auto px = [&](size_t pixels) { return side * pixels; };
  svg.rect(x, y, px(picture.width), px(picture.height), {}, {}, Colour{}.hex());
  for (size_t r = 0; r < picture.height; ++r) {
    const uint8_t* row = picture.grey.data() + r * picture.width;
    for (size_t c = 0, end = 0; c < picture.width; c = end) {
      while (end < picture.width && row[end] == row[c]) ++end;
      // Each rectangle is slightly larger than its pixels, which hides seams.
      if (row[c] > 0)
        svg.rect(x + px(c), y + px(r), px(end - c) + 0.1, side + 0.1, {}, {}, Colour{row[c], row[c], row[c]}.hex());
    }
  }
}

}  // namespace

std::string certainty_svg(const results::Certainty& certainty, std::string_view title,
                          const results::Thumbnail& picture) {
  const EnsembleVote vote = take_vote(certainty);
  const std::vector<size_t> shown = shown_classes(vote, kCertaintyMaxRows);
  const bool several = certainty.members.size() > 1;
  const double beside = picture.width > 0 ? kCertaintyPicture : 0;
  double labels = 48;
  for (const size_t c : shown) labels = std::max(labels, 32 + text_width(results::elide(certainty.classes[c], 24)));
  const double end = labels + kCertaintyAxis, right = end + (several ? 120 : 72);
  const double bottom = kCertaintyTop + std::max(kCertaintyRow * shown.size(), beside);
  const std::string caption = caption_of(certainty, vote);
  Svg svg(right + (beside > 0 ? beside + 16 : 0), bottom + 56,
          fmt::format("Box plots of certainty for each class; {}; {}", title, caption), title, caption);
  svg.text(end + 56, kCertaintyTop - 6, "mean", "end");
  if (several) svg.text(end + 104, kCertaintyTop - 6, "votes", "end");
  std::string axis = several ? fmt::format("certainty of {}", members_text(certainty)) : "certainty";
  if (shown.size() < certainty.classes.size())
    axis += fmt::format(", the {} most likely of {} classes", shown.size(), certainty.classes.size());
  const Scale scale{false, 0, 1, labels, end};
  bottom_axis(svg, scale, bottom, kCertaintyTop, ticks(scale, 5), axis);
  for (size_t i = 0; i < shown.size(); ++i) {
    const size_t c = shown[i];
    const double y = kCertaintyTop + kCertaintyRow * (i + 0.5);
    const std::vector<double> values = of_class(certainty, c);
    svg.open(c == vote.winner ? "top" : "box",
             fmt::format("{}\nmean {}, sd {:.3f}, votes {}", results::elide(certainty.classes[c], 60),
                         certainty_digits(vote.mean[c]), vote.sd[c], vote.votes[c]));
    svg.text(labels - 10, y + 4, results::elide(certainty.classes[c], 24), "end strong");
    draw_box(svg, results::box_of(values), scale, y, 16, false);
    draw_points(svg, values, scale, y, 16, false);
    svg.text(end + 56, y + 4, certainty_digits(vote.mean[c]), "end strong");
    if (several) svg.text(end + 104, y + 4, fmt::format("{}", vote.votes[c]), "end strong");
    svg.close();
  }
  if (beside > 0) draw_picture(svg, picture, right, kCertaintyTop);
  return std::move(svg).finish();
}

}  // namespace mokume::report
