#include "recorded_shares.hpp"

#include <cstdio>
#include <sstream>
#include <string>
#include <tuple>

namespace mokume::cnn {
namespace {

constexpr int64_t kMost = int64_t{1} << 24;  // what a float can hold: so the numbers travel

Shares shares_of(const std::string& text) {
  Shares shares;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, '+');) {
    std::istringstream number(one);
    int64_t value = -1;
    number >> value;
    if (!number || !number.eof() || value < 0 || value >= kMost) return {};
    shares.push_back(value);
  }
  return shares;
}

}  // namespace

// Lines "epoch 2, batch 17: 5+3" in the order of the other training. Where one goes back, the training went back to a
// checkpoint, and what had been done from there on came to nothing.
std::vector<RecordedShares::Change> RecordedShares::parse(const char* text, uint32_t members) {
  std::vector<Change> changes;
  const auto at = [](const Change& c) { return std::tie(c.epoch, c.batch); };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    int end = 0;
    Change c{0, 0, {}};
    const int found = std::sscanf(line.c_str(), "epoch %ld, batch %ld: %n", &c.epoch, &c.batch, &end);
    if (end > 0) c.shares = shares_of(line.substr(end));
    if (found != 2 || c.epoch < 1 || c.batch < 1 || c.epoch >= kMost || c.batch >= kMost || c.shares.empty())
      throw Error(MK_INVALID_ARGUMENT, "'" + line + "' is no recorded split of work");
    if (c.shares.size() != members)
      throw Error(MK_INVALID_ARGUMENT,
                  "work was split as " + line + ", and this team has " + std::to_string(members) + " devices");
    --c.epoch, --c.batch;
    while (!changes.empty() && at(changes.back()) >= at(c)) changes.pop_back();
    changes.push_back(std::move(c));
  }
  if (changes.empty() || changes.front().epoch != 0 || changes.front().batch != 0)
    throw Error(MK_INVALID_ARGUMENT, "the recorded splits of work do not begin at epoch 1, batch 1");
  return changes;
}

RecordedShares::RecordedShares(const sdk::Team& team) {
  if (team.leads() && team.splits() != nullptr) changes_ = parse(team.splits(), team.members());
  std::vector<int64_t> count = {int64_t(changes_.size())};
  from_leader(team, count);
  changes_.resize(count[0]);
  std::vector<int64_t> all;
  for (const Change& c : changes_) {
    all.insert(all.end(), {c.epoch, c.batch});
    all.insert(all.end(), c.shares.begin(), c.shares.end());
  }
  const size_t width = 2 + team.members();
  all.resize(changes_.size() * width);
  from_leader(team, all);
  for (size_t k = 0; k < changes_.size(); ++k) {
    const auto row = all.begin() + k * width;
    changes_[k] = {row[0], row[1], {row + 2, row + width}};
  }
}

const Shares* RecordedShares::at(int64_t epoch, int64_t batch) {
  while (next_ < changes_.size() && std::tie(changes_[next_].epoch, changes_[next_].batch) <= std::tie(epoch, batch))
    ++next_;
  return next_ == 0 ? nullptr : &changes_[next_ - 1].shares;
}

void from_leader(const sdk::Team& team, std::span<int64_t> numbers) {
  constexpr int64_t kLow = int64_t{1} << 20;
  std::vector<float> halves;
  for (const int64_t n : numbers) halves.insert(halves.end(), {float(n / kLow), float(n % kLow)});
  team.from_leader(halves);
  for (size_t k = 0; k < numbers.size(); ++k) numbers[k] = int64_t(halves[2 * k]) * kLow + int64_t(halves[2 * k + 1]);
}

}  // namespace mokume::cnn
