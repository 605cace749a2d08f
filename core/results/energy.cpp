#include "results/energy.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "results/format.hpp"
#include "results/stats.hpp"

namespace mokume::results {

std::vector<std::optional<double>> energy_by_fit(const std::vector<journal::FitRecord>& records) {
  struct Attempt {
    double joules = 0;
    size_t fits = 0;
  };
  // A device works on one attempt at a time, so its start identifies an attempt.
  const auto key = [](const journal::FitRecord& record) {
    return std::tuple(record.node, record.device, record.start_s);
  };
  std::map<std::tuple<uint32_t, std::string, double>, Attempt> attempts;
  for (const journal::FitRecord& record : records) {
    if (!record.energy_j || !timed(record)) continue;
    Attempt& attempt = attempts[key(record)];
    attempt.joules = std::max(attempt.joules, *record.energy_j);
    ++attempt.fits;
  }
  std::vector<std::optional<double>> energy(records.size());
  for (size_t r = 0; r < records.size(); ++r) {
    if (!records[r].energy_j || !timed(records[r])) continue;
    const Attempt& attempt = attempts.at(key(records[r]));
    energy[r] = attempt.joules / static_cast<double>(attempt.fits);
  }
  return energy;
}

Energy energy_of(const RunView& view) {
  Energy sum;
  for (const auto& one : energy_by_fit(all_work(view))) {
    ++sum.all;
    if (!one) continue;
    sum.joules += *one;
    ++sum.counted;
  }
  return sum;
}

std::string energy_text(double joules) {
  const bool kilo = joules >= 1000, mega = joules >= 1e6;
  return pretty(joules / (mega ? 1e6 : kilo ? 1e3 : 1), 3) + (mega ? " MJ" : kilo ? " kJ" : " J");
}

}  // namespace mokume::results
