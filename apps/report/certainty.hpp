// Describes the opinion of an ensemble's members on one row: vote, certainty and disagreement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "results/view.hpp"

namespace mokume::report {

inline constexpr size_t kTextWidth = 78;  // characters

// A member votes for the class of which it is most certain; in a tie, the first class wins. Entropies are in nats:
//   entropy             H(mean over members of p), the uncertainty of all members together
//   mutual_information  H(mean of p) - mean of H(p), the disagreement of the members; 0 for one member
// Houlsby, Huszar, Ghahramani, Lengyel, Bayesian active learning for classification and preference learning,
// arXiv:1112.5745, 2011; Smith, Gal, Understanding measures of uncertainty for adversarial example detection, UAI 2018.
struct EnsembleVote {
  size_t winner = 0;
  std::vector<uint32_t> votes;    // per class
  std::vector<double> mean, sd;   // per class; sd is the sample standard deviation over members, 0 for one
  double entropy = 0;             // in [0, log(classes)]
  double mutual_information = 0;  // in [0, entropy]
};
EnsembleVote take_vote(const results::Certainty& certainty);

// Returns three decimals, but ">0.999" and "<0.001" for certainties that would otherwise look like 1 or 0.
std::string certainty_digits(double certainty);

// Returns the share of measured values below `value`, from their ascending percentiles (at least one).
double share_below(std::span<const double> percentiles, double value);

// Returns a text with the vote, the mean certainty, the disagreement, and for each class an ASCII box plot of all
// members' certainty, in lines of at most `width` characters (at least 40). Cuts long class names, and shows at most 20
// classes, those with the highest mean certainty. `doubt` holds percentiles of the entropy over the test rows, for
// comparison; it is empty if they are unknown.
std::string certainty_text(const results::Certainty& certainty, size_t width = kTextWidth,
                           std::span<const double> doubt = {});

// Returns the classes to show in ascending order: all, or the `most` classes with the highest mean certainty.
std::vector<size_t> shown_classes(const EnsembleVote& vote, size_t most);
std::vector<double> of_class(const results::Certainty& certainty, size_t c);
// Returns text like "12 members" or "1 model".
std::string members_text(const results::Certainty& certainty);

}  // namespace mokume::report
