#include "inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "sdk/error.hpp"
#include "sdk/philox.hpp"

namespace mokume::bench {
namespace {

using scheduler::Scenario;

constexpr double kBandwidth = 1.3e12;  // in bytes per second; scales all times
constexpr double kBytesPerWeight = 20;
constexpr double kFoldSpread = 0.3;  // spread of a candidate's losses, relative to the spread over all candidates
constexpr uint32_t kFolds = 5, kMostEpochs = 20, kBatch = 10, kRows = 60000;

// Reads rows of numbers below a header.
std::vector<std::vector<double>> table(const std::string& path, const std::string& header) {
  std::vector<std::vector<double>> rows;
  bool first = true;
  for (const std::string& line : base::split(base::read_file(path), '\n')) {
    const std::string text = base::trim(line);
    if (text.empty() || text[0] == '#') continue;
    if (first && text != header) throw Error(MK_BAD_DATA, path + " does not start with the columns " + header);
    if (!first) {
      rows.emplace_back();
      for (const std::string& cell : base::split(text, ',')) rows.back().push_back(std::stod(cell));
    }
    first = false;
  }
  return rows;
}

// Returns the position of each value between the smallest and the largest on a log scale.
std::map<double, double> scaled(const std::set<double>& values) {
  std::map<double, double> positions;
  const double low = std::log(*values.begin()), high = std::log(*values.rbegin());
  for (const double value : values) positions[value] = high > low ? (std::log(value) - low) / (high - low) : 0;
  return positions;
}

}  // namespace

std::vector<scheduler::SimulatedUnit> devices(size_t count, const std::vector<double>& speeds) {
  std::vector<scheduler::SimulatedUnit> made;
  for (size_t k = 0; k < count; ++k) {
    const size_t kind = k % speeds.size();
    const double probed = speeds.size() == 1 ? 0 : speeds[kind] * (kind % 2 == 0 ? 1.3 : 0.7);
    made.push_back({{fmt::format("class {}", kind), 0, probed}, speeds[kind]});
  }
  return made;
}

Scenario svc_grid(const std::string& csv, bool whole_gammas, uint32_t parts) {
  const auto rows = table(csv, "gamma,C,fold,seconds");
  std::set<double> gammas, cs;
  for (const auto& row : rows) {
    gammas.insert(row.at(0));
    cs.insert(row.at(1));
  }
  const auto gamma_place = scaled(gammas), c_place = scaled(cs);
  Scenario made;
  std::map<std::pair<double, double>, scheduler::Bundle> bundles;  // keyed by gamma and fold
  uint32_t affinity = 0;
  std::map<double, uint32_t> affinities;
  for (const double gamma : gammas) affinities[gamma] = affinity++;
  for (const auto& row : rows) {
    const double gamma = row[0], fold = row[2];
    const double narrowness = gamma * 784;  // for standardised pixels
    scheduler::Bundle& bundle = bundles[{gamma, whole_gammas ? 0 : fold}];
    bundle.affinity = affinities[gamma];
    bundle.cost += 1 / std::cbrt(narrowness) + narrowness / 2;
    bundle.fits.push_back(static_cast<uint32_t>(made.seconds.size()));
    made.workload.positions.push_back({0, static_cast<uint32_t>(fold), {gamma_place.at(gamma), c_place.at(row[1])}});
    made.seconds.push_back(row.at(3));
  }
  if (parts > 1) {
    const std::vector<double> seconds = made.seconds;
    const auto positions = made.workload.positions;
    for (uint32_t part = 1; part < parts; ++part) {
      made.seconds.insert(made.seconds.end(), seconds.begin(), seconds.end());
      made.workload.positions.insert(made.workload.positions.end(), positions.begin(), positions.end());
    }
    for (double& one : made.seconds) one /= parts;
  }
  for (const auto& [at, bundle] : bundles)
    for (uint32_t part = 0; part < parts; ++part) {
      scheduler::Bundle cut = bundle;
      for (uint32_t& fit : cut.fits) fit += part * static_cast<uint32_t>(rows.size());
      cut.cost /= parts;
      made.workload.bundles.push_back(std::move(cut));
    }
  return made;
}

Scenario networks(const std::string& csv, bool refits, uint64_t seed) {
  const auto rows = table(csv, "bootstrap,candidate,weights");
  const sdk::Random epochs(seed, sdk::Purpose::schedule, 1), turns(seed, sdk::Purpose::schedule, 2),
      losses(seed, sdk::Purpose::schedule, 3), folds(seed, sdk::Purpose::schedule, 4);
  Scenario made;
  made.workload.refit_share = refits ? static_cast<double>(kFolds) / (kFolds - 1) : 0;
  double most = 0;
  for (const auto& row : rows) most = std::max(most, row.at(2));
  const double fold_steps = static_cast<double>(kRows) / kBatch * (kFolds - 1) / kFolds;
  std::map<uint32_t, std::vector<uint32_t>> candidates;  // rows of each bootstrap
  for (uint32_t r = 0; r < rows.size(); ++r) candidates[static_cast<uint32_t>(rows[r][0])].push_back(r);
  std::vector<uint32_t> drawn;
  // A fit stops slightly earlier or later than other fits of its candidate.
  const auto epochs_of = [&](uint32_t row, uint32_t fold) {
    const auto turn = static_cast<int>(turns.below(row * (kFolds + 1) + fold, 3)) - 1;
    return std::clamp(static_cast<int>(drawn[row]) + turn, 2, static_cast<int>(kMostEpochs));
  };
  for (uint32_t r = 0; r < rows.size(); ++r) {
    drawn.push_back(3 + static_cast<uint32_t>(epochs.below(r, kMostEpochs - 2)));
    const double epoch_s = rows[r][2] * kBytesPerWeight * fold_steps / kBandwidth;
    for (uint32_t fold = 0; fold < kFolds; ++fold) {
      const auto fit = static_cast<uint32_t>(made.seconds.size());
      made.seconds.push_back(epoch_s * epochs_of(r, fold));
      // The point is the number of weights, which distinguishes candidates and best predicts their times.
      made.workload.positions.push_back({static_cast<uint32_t>(rows[r][0]), fold, {rows[r][2] / most}});
      made.workload.bundles.push_back({{fit}, rows[r][2] * kMostEpochs, 0, fit});
    }
  }
  if (!refits) return made;
  std::vector<double> total(rows.size());
  for (uint32_t fit = 0; fit < made.seconds.size(); ++fit) {
    const uint32_t row = fit / kFolds;
    made.losses.push_back(losses.uniform(fit - fit % kFolds) + kFoldSpread * folds.uniform(fit));
    total[row] += made.losses.back();
  }
  for (const auto& [bootstrap, of_it] : candidates) {
    const uint32_t row =
        *std::min_element(of_it.begin(), of_it.end(), [&](uint32_t a, uint32_t b) { return total[a] < total[b]; });
    const double share = made.workload.refit_share;
    const double epoch_s = rows[row][2] * kBytesPerWeight * fold_steps * share / kBandwidth;
    made.refits.push_back(
        {bootstrap, row * kFolds, rows[row][2] * kMostEpochs * share, epoch_s * epochs_of(row, kFolds)});
  }
  return made;
}

}  // namespace mokume::bench
