#include "train/shares.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>
#include <tuple>
#include <utility>

namespace mokume::cnn {
namespace {

constexpr double kNew = 0.5;    // weight of the latest measurement
constexpr double kGain = 1.05;  // minimum speed-up for a change of shares

double time_of(const Shares& shares, const std::vector<double>& speeds) {
  double longest = 0;
  for (size_t k = 0; k < shares.size(); ++k) longest = std::max(longest, shares[k] / speeds[k]);
  return longest;
}

}  // namespace

Shares split(int64_t units, const std::vector<double>& speeds) {
  Shares shares(speeds.size());
  const auto end_with_one_more = [&](size_t k) { return (shares[k] + 1) / speeds[k]; };
  for (int64_t u = 0; u < units; ++u) {
    size_t best = 0;
    for (size_t k = 1; k < speeds.size(); ++k)
      if (end_with_one_more(k) < end_with_one_more(best)) best = k;
    ++shares[best];
  }
  return shares;
}

bool is_better(const Shares& next, const Shares& now, const std::vector<double>& speeds) {
  return time_of(next, speeds) * kGain < time_of(now, speeds);
}

std::string text_of(const Shares& shares) {
  std::string text;
  for (const int64_t s : shares) text += (text.empty() ? "" : "+") + std::to_string(s);
  return text;
}

Speeds::Speeds(std::vector<double> first) : now_(std::move(first)) {
  if (std::any_of(now_.begin(), now_.end(), [](double s) { return !(s > 0); })) now_.assign(now_.size(), 1);
}

void Speeds::measure(const std::vector<double>& units, const std::vector<double>& seconds) {
  if (!std::exchange(warm_, true)) return;
  // Earlier speeds have another unit, but still give the relative speed of members that had no work.
  double known = 0, shown = 0;
  std::vector<double> measured(now_.size());
  for (size_t k = 0; k < now_.size(); ++k) {
    if (units[k] <= 0 || !(seconds[k] > 0)) continue;
    measured[k] = units[k] / seconds[k];
    known += now_[k];
    shown += measured[k];
  }
  if (!(shown > 0)) return;
  for (size_t k = 0; k < now_.size(); ++k) {
    if (!measured_) now_[k] *= shown / known;
    if (measured[k] > 0) now_[k] = measured_ ? kNew * measured[k] + (1 - kNew) * now_[k] : measured[k];
  }
  measured_ = true;
}

std::optional<size_t> Backoff::next(const Shares& shares) {
  std::optional<size_t> tried;
  for (size_t k = 0; k < shares.size(); ++k) {
    if (shares[k] > 0)
      idle_[k] = 0;
    else if (++idle_[k] >= wait_[k] && !tried)
      tried = k;
  }
  if (tried) wait_[*tried] *= 2;
  return tried;
}

RecordedShares::RecordedShares(const sdk::Team& team) {
  const std::string text = team.leads() && team.splits() != nullptr ? team.splits() : "";
  if (team.leads()) parse(text, team.members());
  std::vector<float> characters(text.begin(), text.end());
  characters.resize(from_leader(team, characters.size()));
  team.from_leader(characters);
  if (!team.leads()) parse({characters.begin(), characters.end()}, team.members());
}

// The text has lines such as "epoch 2, batch 17: 5+3", in the order of the recorded run. A line that goes back in time
// means that the run resumed from a checkpoint and discarded everything after it.
void RecordedShares::parse(const std::string& text, uint32_t members) {
  static const std::regex kLine(R"(epoch ([1-9]\d{0,9}), batch ([1-9]\d{0,9}): (layers )?(\d{1,9}(?:\+\d{1,9})*))");
  const auto place = [](const Change& c) { return std::tie(c.epoch, c.batch); };
  std::istringstream lines(text);
  for (std::string line, share; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, kLine))
      throw Error(MK_INVALID_ARGUMENT, "'" + line + "' is not a recorded split of work");
    Change c{std::stoll(match[1]) - 1, std::stoll(match[2]) - 1, match[3].matched, {}};
    for (std::istringstream in(match[4]); std::getline(in, share, '+');) c.shares.push_back(std::stoll(share));
    if (c.shares.size() != members)
      throw Error(MK_INVALID_ARGUMENT,
                  "work was split as " + line + ", but this team has " + std::to_string(members) + " devices");
    while (any() && place(changes_.back()) >= place(c)) changes_.pop_back();
    changes_.push_back(std::move(c));
  }
  if (any() && (changes_.front().epoch > 0 || changes_.front().batch > 0))
    throw Error(MK_INVALID_ARGUMENT, "the recorded splits of work do not begin at epoch 1, batch 1");
  if (std::any_of(changes_.begin(), changes_.end(), [&](const Change& c) { return c.layers != changes_[0].layers; }))
    throw Error(MK_INVALID_ARGUMENT, "the recorded splits of work are partly by layers, partly by batch");
}

const Shares* RecordedShares::at(int64_t epoch, int64_t batch) {
  while (next_ < changes_.size() && std::tie(changes_[next_].epoch, changes_[next_].batch) <= std::tie(epoch, batch))
    ++next_;
  return next_ == 0 ? nullptr : &changes_[next_ - 1].shares;
}

int64_t from_leader(const sdk::Team& team, int64_t number) {
  constexpr int64_t kLow = int64_t{1} << 20;
  std::array<float, 2> halves = {float(number / kLow), float(number % kLow)};
  team.from_leader(halves);
  return int64_t(halves[0]) * kLow + int64_t(halves[1]);
}

}  // namespace mokume::cnn
