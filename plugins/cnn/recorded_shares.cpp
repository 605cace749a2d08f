#include "recorded_shares.hpp"

#include <array>
#include <cstdio>
#include <sstream>
#include <string>
#include <tuple>

namespace mokume::cnn {
namespace {

constexpr int64_t kMost = int64_t{1} << 24;  // what a float can hold: so the numbers travel

std::vector<int64_t> shares_of(const std::string& text) {
  std::vector<int64_t> shares;
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
std::vector<RecordedSplits::Place> RecordedSplits::parse(const char* text, uint32_t members) {
  std::vector<Place> places;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    long long epoch = 0, batch = 0;
    int behind = 0;
    const int found = std::sscanf(line.c_str(), "epoch %lld, batch %lld: %n", &epoch, &batch, &behind);
    Place place{epoch - 1, batch - 1,
                behind > 0 ? shares_of(line.substr(static_cast<size_t>(behind))) : std::vector<int64_t>()};
    if (found != 2 || epoch < 1 || batch < 1 || epoch >= kMost || batch >= kMost || place.shares.empty())
      throw Error(MK_INVALID_ARGUMENT, "'" + line + "' is no recorded split of work");
    if (place.shares.size() != members)
      throw Error(MK_INVALID_ARGUMENT,
                  "work was split as " + line + ", and this team has " + std::to_string(members) + " devices");
    while (!places.empty() && std::tie(places.back().epoch, places.back().batch) >= std::tie(place.epoch, place.batch))
      places.pop_back();
    places.push_back(std::move(place));
  }
  if (places.empty() || places.front().epoch != 0 || places.front().batch != 0)
    throw Error(MK_INVALID_ARGUMENT, "the recorded splits of work do not begin at epoch 1, batch 1");
  return places;
}

RecordedSplits::RecordedSplits(const sdk::Team& team) {
  if (team.leads() && team.splits() != nullptr) places_ = parse(team.splits(), team.members());
  std::array<float, 1> count = {static_cast<float>(places_.size())};
  team.from_leader(count);
  std::vector<float> all;
  for (const Place& place : places_) {
    all.push_back(static_cast<float>(place.epoch));
    all.push_back(static_cast<float>(place.batch));
    all.insert(all.end(), place.shares.begin(), place.shares.end());
  }
  const size_t width = size_t{2} + team.members();
  all.resize(static_cast<size_t>(count[0]) * width);
  team.from_leader(all);
  places_.clear();
  for (size_t at = 0; at < all.size(); at += width) {
    const auto* row = all.data() + at;
    places_.push_back({static_cast<int64_t>(row[0]), static_cast<int64_t>(row[1]), {row + 2, row + width}});
  }
}

const std::vector<int64_t>* RecordedSplits::at(int64_t epoch, int64_t batch) {
  while (next_ < places_.size() && std::tie(places_[next_].epoch, places_[next_].batch) <= std::tie(epoch, batch))
    ++next_;
  return next_ == 0 ? nullptr : &places_[next_ - 1].shares;
}

}  // namespace mokume::cnn
