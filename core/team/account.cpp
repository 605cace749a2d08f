#include "team/account.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/missing.hpp"
#include "base/sealed.hpp"
#include "sdk/error.hpp"

namespace mokume::team {
namespace {

constexpr size_t kMostSplits = 10000;
constexpr uint64_t kMostBytes = uint64_t{1} << 26;

base::Below account_file(const std::string& run_directory) { return {run_directory, "logs/team.json"}; }

}  // namespace

void TeamAccount::keep_in(const std::string& run_directory) {
  run_directory_ = run_directory;
  account_ = read_team_account(run_directory);
}

std::vector<results::TeamSplit> splits_to_repeat(const std::string& run_directory) {
  const std::string setting = fmt::format("devices.repeat_splits is '{}'", run_directory);
  std::error_code ignored;
  if (!std::filesystem::is_directory(run_directory, ignored))
    throw Error(MK_INVALID_ARGUMENT,
                fmt::format("{}, and there is no such directory{}", setting, base::relative_to(run_directory)));
  results::TeamAccount other;
  try {
    other = read_team_account(run_directory);
  } catch (const Error& e) {
    throw Error(MK_INVALID_ARGUMENT, setting + ": " + e.what());
  }
  if (other.splits.empty())
    throw Error(MK_INVALID_ARGUMENT,
                setting + ", which is not a run of a team: name a run directory with logs/team.json");
  if (other.splits.size() >= kMostSplits)
    throw Error(MK_INVALID_ARGUMENT, setting + ", which had too many splits to record");
  return other.splits;
}

size_t devices_in(const results::TeamSplit& split) {
  return static_cast<size_t>(1 + std::count(split.shares.begin(), split.shares.end(), '+'));
}

void TeamAccount::repeat_splits(const std::string& run_directory, size_t devices) {
  std::vector<results::TeamSplit> splits = splits_to_repeat(run_directory);
  for (const results::TeamSplit& split : splits) {
    const size_t there = devices_in(split);
    if (there != devices)
      throw Error(MK_INVALID_ARGUMENT, fmt::format("devices.repeat_splits is '{}', where {} devices took part at {}, "
                                                   "but this run has {}",
                                                   run_directory, there, split.at, devices));
  }
  to_repeat_ = std::move(splits);
}

std::string TeamAccount::splits_of(uint32_t fit) const {
  std::string text;
  for (const results::TeamSplit& split : to_repeat_)
    if (split.fit == fit) text += fmt::format("{}: {}\n", split.at, split.shares);
  if (text.empty())
    throw Error(MK_INVALID_ARGUMENT, "the run named by devices.repeat_splits has recorded no splits for this fit");
  return text;
}

void TeamAccount::add(uint32_t fit, const std::vector<Seat>& members, double elapsed_s, std::span<const double> busy_s,
                      std::span<const double> units) {
  const double busiest = *std::max_element(busy_s.begin(), busy_s.end());
  for (size_t k = 0; k < members.size(); ++k) {
    const Seat& member = members[k];
    auto row = std::find_if(account_.shares.begin(), account_.shares.end(), [&](const results::TeamShare& s) {
      return s.fit == fit && s.node == member.node && s.device == member.device;
    });
    if (row == account_.shares.end())
      row = account_.shares.insert(row, {fit, member.node, member.device, member.name, 0, 0, 0, 0});
    row->units += units[k];
    row->busy_s += busy_s[k];
    row->idle_s += busiest - busy_s[k];
    row->reduce_s += std::max(0.0, elapsed_s - busiest);
  }
}

// Records an equal split again if a start begins, because the start resumes from a checkpoint that may precede the last
// recorded split. Writes a split to disk before anything depends on it.
void TeamAccount::add_split(uint32_t fit, const std::string& at, const std::string& shares, bool begins) {
  std::vector<results::TeamSplit>& splits = account_.splits;
  const bool same = !splits.empty() && splits.back().fit == fit && splits.back().shares == shares;
  if (shares.empty() || splits.size() >= kMostSplits || (same && !begins)) return;
  splits.push_back({fit, at, shares});
  write();
}

void TeamAccount::write() const {
  if (run_directory_.empty()) return;
  try {
    base::write_file(account_file(run_directory_), base::seal(base::to_json(account_)));
  } catch (const Error& e) {
    log_.warn("team", e.what());  // the account only informs; the journal detects a full disk
  }
}

results::TeamAccount read_team_account(const std::string& run_directory) {
  const base::Below file = account_file(run_directory);
  if (!base::exists(file)) return {};
  try {
    const auto text = base::unseal_file(base::read_file(file, kMostBytes));
    if (!text) throw Error(MK_BAD_DATA, "it is damaged: its checksum differs");
    return base::from_json<results::TeamAccount>(text->object);
  } catch (const Error& e) {
    throw Error(MK_BAD_DATA, file.path() + " is not the account of a team (" + e.what() + "): remove it");
  }
}

}  // namespace mokume::team
