#include "verify/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/plural.hpp"
#include "commands.hpp"
#include "results/format.hpp"

namespace mokume::app {
namespace {

constexpr size_t kWidestParameters = 40;

std::array<std::string, 4> titles() { return {"result", "parameters", "device", "recorded on"}; }

}  // namespace

ResultTable::ResultTable(const RecordedFits& fits, const std::vector<Site>& sites, const std::vector<uint32_t>& slots)
    : fits_(fits) {
  const auto widen = [&](const Cells& cells) {
    for (size_t c = 0; c < kColumns; ++c) widths_[c] = std::max(widths_[c], results::count_characters(cells[c]));
  };
  widen(titles());
  for (const Site& site : sites) {
    introduction_ += fmt::format("{} is {}\n", site.listed.id(), site.listed.device_class());
    for (const uint32_t slot : slots) widen(cells_of(slot, site));
  }
  introduction_ +=
      fmt::format("{} of {}, with {} numerics\n\n", slots.size(), base::counted(fits.slots().size(), "recorded result"),
                  fits.experiment().config().numerics);
}

void ResultTable::print_header() const {
  show(stdout, introduction_);
  print_line(titles(), "verdict");
}

void ResultTable::print(uint32_t slot, const Site& site, const std::string& verdict) const {
  print_line(cells_of(slot, site), verdict);
}

ResultTable::Cells ResultTable::cells_of(uint32_t slot, const Site& site) const {
  return {results::fit_name(fits_.view().plan, slot), candidate_of(slot), site.listed.id(), recorded_on(slot, site)};
}

std::string ResultTable::candidate_of(uint32_t slot) const {
  const search::Plan& plan = fits_.view().plan;
  const uint32_t candidate = plan.is_refit(slot) ? fits_.find(slot)->refit.value_or(0) : plan.key(slot).candidate;
  if (candidate >= plan.n_candidates()) return "";
  return results::elide(results::pretty_params(plan, candidate), kWidestParameters);
}

std::string ResultTable::recorded_on(uint32_t slot, const Site& site) const {
  const journal::FitRecord& recorded = *fits_.find(slot);
  if (recorded.device_class.empty()) return recorded.device + ", unknown class";
  return recorded.device + (recorded.device_class == site.listed.device_class() ? "" : ", another class");
}

// Shows each line at once, because the next one may take long.
void ResultTable::print_line(const Cells& cells, const std::string& last) const {
  std::string line;
  for (size_t c = 0; c < kColumns; ++c)
    line += cells[c] + std::string(widths_[c] - results::count_characters(cells[c]) + 2, ' ');
  say(stdout, "{}{}\n", line, last);
  std::fflush(stdout);
}

}  // namespace mokume::app
