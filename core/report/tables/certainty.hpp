// What the members of an ensemble think of one row: vote, certainty, disagreement, as text and as a picture. One model
// is an ensemble of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mokume::report {

inline constexpr size_t kTextWidth = 78;  // characters

struct Certainty {
  std::vector<std::string> classes;
  std::vector<std::vector<double>> members;  // member x class; each row sums to 1
};

// A member votes for the class that it is most certain of, the first of equal ones. Entropies are in nats:
//   entropy             H(mean over members of p): how undecided all of them together are
//   mutual_information  H(mean of p) - mean of H(p): how much they contradict each other; 0 for one member.
// Houlsby, Huszar, Ghahramani, Lengyel, Bayesian active learning for classification and preference learning,
// arXiv:1112.5745, 2011; Smith, Gal, Understanding measures of uncertainty for adversarial example detection, UAI 2018.
struct Verdict {
  size_t vote = 0;
  std::vector<uint32_t> votes;    // per class
  std::vector<double> mean, sd;   // per class; sd: sample standard deviation over members, 0 for one
  double entropy = 0;             // in [0, log(classes)]
  double mutual_information = 0;  // in [0, entropy]
};
// Needs one member and one class at least.
Verdict judge(const Certainty& certainty);

// The class with most votes; of several the one with the higher certainty (mean or sum over members), of equal ones the
// first. Both have an entry per class.
size_t majority(std::span<const uint32_t> votes, std::span<const double> certainty);

// The part of what was measured that is below `value`, of its percentiles, ascending; one at least.
double share_below(std::span<const double> percentiles, double value);

// "vote: 7 (11 of 12 members)", mean certainty and disagreement, and a box plot of all members' certainty for each
// class in ASCII, lines of at most `width` characters (40 at least; class names are cut). Of more than 20 classes those
// with the highest mean certainty. `doubt`: percentiles of the entropy over the test rows, which say what is much; none
// if not known.
std::string certainty_text(const Certainty& certainty, size_t width = kTextWidth, std::span<const double> doubt = {});

// Grey values 0 to 255, row-major, no side longer than kThumbnailSide; drawn beside a plot. None: width 0.
struct Thumbnail {
  size_t width = 0, height = 0;
  std::vector<uint8_t> grey;
};
inline constexpr size_t kThumbnailSide = 64;

// Of a picture of width * height grey values: means of squares of its pixels, so large that it fits.
Thumbnail thumbnail(size_t width, size_t height, std::span<const double> grey);

// The same as SVG, light and dark, `title` above it; of more than 40 classes those with the highest mean certainty.
std::string certainty_svg(const Certainty& certainty, std::string_view title, const Thumbnail& picture = {});

// The classes that are shown, ascending: all, or the `most` with the highest mean certainty.
std::vector<size_t> shown_classes(const Verdict& verdict, size_t most);
// "12 members", "1 model".
std::string members_text(const Certainty& certainty);

}  // namespace mokume::report
