#include "report/certainty.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "results/format.hpp"
#include "results/stats.hpp"

namespace mokume::report {
namespace {

constexpr size_t kMaxLines = 20;
constexpr size_t kMinWidth = 40;
constexpr size_t kMaxName = 16;

double entropy_of(const std::vector<double>& p) {
  double sum = 0;
  for (const double x : p)
    if (x > 0) sum -= x * std::log(x);
  return sum;
}

// Draws outliers, whiskers, box and median of values in [0, 1] on a line of characters, in that order.
std::string box_line(const std::vector<double>& values, size_t width) {
  std::string line(width, ' ');
  const auto at = [&](double v) { return static_cast<size_t>(std::lround(std::clamp(v, 0.0, 1.0) * (width - 1))); };
  const auto bar = [&](double from, double to, char fill, const char* ends) {
    line.replace(at(from), at(to) - at(from) + 1, at(to) - at(from) + 1, fill);
    line[at(from)] = ends[0];
    line[at(to)] = ends[1];
  };
  const results::Box box = results::box_of(values);
  for (const double v : values)
    if (v < box.low || v > box.high) line[at(v)] = 'o';
  bar(box.low, box.high, '-', "||");
  bar(box.q1, box.q3, '=', "[]");
  line[at(box.median)] = '#';
  return line.erase(line.find_last_not_of(' ') + 1);
}

std::string axis_line(size_t width) {
  std::string line(width, ' ');
  line.front() = '0', line.back() = '1';
  if (width >= 9) line.replace(width / 2 - 1, 3, "0.5");
  return line;
}

// Counts characters rather than bytes, so that names in any script line up.
std::string padded(const std::string& text, size_t width) {
  return text + std::string(width - std::min(width, results::count_characters(text)), ' ');
}

}  // namespace

std::vector<double> of_class(const results::Certainty& certainty, size_t c) {
  std::vector<double> values;
  for (const std::vector<double>& member : certainty.members) values.push_back(member[c]);
  return values;
}

EnsembleVote take_vote(const results::Certainty& certainty) {
  EnsembleVote vote;
  vote.votes.assign(certainty.classes.size(), 0);
  double entropies = 0;
  for (const std::vector<double>& member : certainty.members) {
    ++vote.votes[static_cast<size_t>(std::max_element(member.begin(), member.end()) - member.begin())];
    entropies += entropy_of(member);
  }
  for (size_t c = 0; c < certainty.classes.size(); ++c) {
    const results::Moments m = results::moments(of_class(certainty, c));
    vote.mean.push_back(std::clamp(m.mean, m.min, m.max));  // rounding must not make the mean 1 if no member is certain
    vote.sd.push_back(m.sd);
  }
  vote.winner = results::majority(vote.votes, vote.mean);
  vote.entropy = entropy_of(vote.mean);
  // By Jensen's inequality, mutual information is not negative, but rounding may make it so.
  const double n = certainty.members.size();
  vote.mutual_information = certainty.members.size() == 1 ? 0 : std::max(0.0, vote.entropy - entropies / n);
  return vote;
}

std::vector<size_t> shown_classes(const EnsembleVote& vote, size_t most) {
  std::vector<size_t> order(vote.mean.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return vote.mean[a] > vote.mean[b]; });
  order.resize(std::min(order.size(), most));
  std::sort(order.begin(), order.end());
  return order;
}

std::string members_text(const results::Certainty& certainty) {
  const size_t n = certainty.members.size();
  return n == 1 ? "1 model" : fmt::format("{} members", n);
}

std::string certainty_digits(double certainty) {
  const std::string digits = fmt::format("{:.3f}", certainty);
  if (digits == "1.000" && certainty < 1) return ">0.999";
  if (digits == "0.000" && certainty > 0) return "<0.001";
  return digits;
}

double share_below(std::span<const double> percentiles, double value) {
  const auto below = std::lower_bound(percentiles.begin(), percentiles.end(), value) - percentiles.begin();
  return static_cast<double>(below) / percentiles.size();
}

std::string certainty_text(const results::Certainty& certainty, size_t width, std::span<const double> doubt) {
  const EnsembleVote vote = take_vote(certainty);
  if (!certainty.probable && certainty.members.size() == 1)
    return fmt::format(
        "vote: {}\nthe model gives no probabilities; validation.calibrate = true learns them in the run\n",
        results::elide(certainty.classes[vote.winner], 60));
  const std::vector<size_t> shown = shown_classes(vote, kMaxLines);
  size_t names = 5;
  for (const size_t c : shown)
    names = std::max(names, results::count_characters(results::elide(certainty.classes[c], kMaxName)));
  const bool several = certainty.members.size() > 1;
  // "> name  0.123  0.123  votes  box"
  const size_t left = 2 + names + 2 + 5 + (several ? 2 + 5 + 2 + 5 : 0) + 2;
  const size_t room = std::max(std::max(width, kMinWidth), left + 5) - left;
  std::string text = fmt::format(
      "vote: {}{}\nmean certainty: {}{}\nentropy of the mean: {:.3f} of at most {:.3f} nats\n",
      results::elide(certainty.classes[vote.winner], 60),
      several ? fmt::format(" ({} of {})", vote.votes[vote.winner], members_text(certainty)) : "",
      certainty_digits(vote.mean[vote.winner]), several ? fmt::format(" (sd {:.3f})", vote.sd[vote.winner]) : "",
      vote.entropy, std::log(certainty.classes.size()));
  if (!doubt.empty())
    text += fmt::format("  {:.0f} % of the test rows have less (median {:.3f})\n",
                        100 * share_below(doubt, vote.entropy), doubt[doubt.size() / 2]);
  if (several) text += fmt::format("mutual information: {:.3f} nats\n", vote.mutual_information);
  text +=
      fmt::format("\n  {}   mean{}  {}\n", padded("class", names), several ? "     sd  votes" : "", axis_line(room));
  for (const size_t c : shown) {
    text += fmt::format("{} {} {:>6}", c == vote.winner ? '>' : ' ',
                        padded(results::elide(certainty.classes[c], kMaxName), names), certainty_digits(vote.mean[c]));
    if (several) text += fmt::format("  {:.3f}  {:>5}", vote.sd[c], vote.votes[c]);
    text += "  " + box_line(of_class(certainty, c), room) + "\n";
  }
  if (shown.size() < certainty.classes.size())
    text += fmt::format("  and {} classes with lower mean certainty\n", certainty.classes.size() - shown.size());
  return text;
}

}  // namespace mokume::report
