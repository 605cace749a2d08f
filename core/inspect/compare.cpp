#include "inspect/compare.hpp"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "base/text.hpp"
#include "results/format.hpp"
#include "results/stats.hpp"

namespace mokume::inspect {
namespace {

using journal::FitRecord;

constexpr size_t kMaxSettings = 40;
constexpr std::string_view kFits = "fits", kRefits = "refits";

std::string line(std::string_view what, const std::string& text) { return fmt::format("{:<12} {}\n", what, text); }

std::string pair(const std::string& what, const std::string& a, const std::string& b) {
  return line(what, a == b ? a + " in both" : a + " | " + b);
}

// ---- settings -------------------------------------------------------------------------------------------------------

// Maps names such as "model_options.layers[2].type" to TOML values such as "\"relu\"".
using Settings = std::map<std::string, std::string>;

void flatten(const toml::node& node, const std::string& name, Settings& out) {
  if (const toml::table* table = node.as_table()) {
    for (const auto& [key, value] : *table)
      flatten(value, (name.empty() ? "" : name + ".") + std::string(key.str()), out);
  } else if (const toml::array* array = node.as_array(); array != nullptr && array->is_array_of_tables()) {
    for (size_t i = 0; i < array->size(); ++i) flatten((*array)[i], fmt::format("{}[{}]", name, i), out);
  } else {
    std::ostringstream text;
    node.visit([&](const auto& value) { text << value; });
    out[name] = text.str();
  }
}

Settings settings_of(const Inspection& run) {
  Settings settings;
  try {
    flatten(toml::parse(run.view.config_toml), "", settings);
  } catch (const toml::parse_error&) {
    settings["experiment file"] = "unreadable";
  }
  return settings;
}

std::string compare_settings(const Inspection& a, const Inspection& b) {
  const Settings of_a = settings_of(a), of_b = settings_of(b);
  std::set<std::string> names;
  for (const Settings* settings : {&of_a, &of_b})
    for (const auto& [name, value] : *settings) names.insert(name);
  const auto value_in = [](const Settings& settings, const std::string& name) {
    const auto found = settings.find(name);
    return found == settings.end() ? std::string("not set") : results::elide(found->second, 60);
  };
  std::vector<std::string> lines;
  names.erase("output.directory");  // does not change results
  for (const std::string& name : names) {
    const bool in_both = of_a.count(name) > 0 && of_b.count(name) > 0;
    if (in_both && of_a.at(name) == of_b.at(name)) continue;
    lines.push_back(fmt::format("  {}: {} | {}\n", name, value_in(of_a, name), value_in(of_b, name)));
  }
  if (lines.empty()) return line("settings", "the same");
  std::string text = line("settings", fmt::format("{} differ", lines.size()));
  for (size_t i = 0; i < std::min(lines.size(), kMaxSettings); ++i) text += lines[i];
  if (lines.size() > kMaxSettings) text += fmt::format("  and {} more\n", lines.size() - kMaxSettings);
  return text;
}

// ---- fits -----------------------------------------------------------------------------------------------------------

// Compares bits, so that a NaN equals itself.
bool same_values(const FitRecord& a, const FitRecord& b) {
  return a.n == b.n && a.values.size() == b.values.size() &&
         (a.values.empty() || std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(double)) == 0);
}

// Describes the largest difference between two fits in this metric. Returns "" if there is none.
std::string largest_difference(const results::RunView& view, size_t metric,
                               const std::vector<std::pair<const FitRecord*, const FitRecord*>>& differing) {
  double largest = 0;
  std::string text;
  for (const auto& [a, b] : differing) {
    const auto of_a = results::value_of(a, metric), of_b = results::value_of(b, metric);
    if (!of_a || !of_b || std::fabs(*of_a - *of_b) <= largest) continue;
    largest = std::fabs(*of_a - *of_b);
    text = fmt::format("  {} by up to {}: {} | {} ({})\n", view.metrics[metric].name, results::pretty(largest),
                       base::shortest(*of_a), base::shortest(*of_b), results::fit_name(view.plan, a->fit));
  }
  return text;
}

using Records = std::vector<const FitRecord*>;  // indexed by position in the plan; null if there is no record

struct FitsCompared {
  std::string text;
  bool same = false;
};

FitsCompared compare_records(std::string_view what, const results::RunView& view, const Records& of_a,
                             const Records& of_b) {
  std::vector<std::pair<const FitRecord*, const FitRecord*>> differing;
  size_t both = 0, ended_otherwise = 0, in_one = 0;
  for (size_t k = 0; k < of_a.size(); ++k) {
    if ((of_a[k] == nullptr) != (of_b[k] == nullptr)) ++in_one;
    if (of_a[k] == nullptr || of_b[k] == nullptr) continue;
    ++both;
    if (of_a[k]->status != of_b[k]->status || of_a[k]->refit != of_b[k]->refit) {
      ++ended_otherwise;
    } else if (!same_values(*of_a[k], *of_b[k])) {
      differing.emplace_back(of_a[k], of_b[k]);
    }
  }
  const std::string count = fmt::format("{} of {} in both", both, of_a.size());
  if (both == 0) return {line(what, count), in_one == 0};
  if (differing.empty() && ended_otherwise == 0)
    return {line(what, count + ", with the same values bit for bit"), in_one == 0};
  std::string text = line(what, fmt::format("{}, {} of them differ", count, differing.size() + ended_otherwise));
  for (size_t metric = 0; what == kFits && metric < view.metrics.size(); ++metric)
    text += largest_difference(view, metric, differing);
  if (ended_otherwise > 0) text += fmt::format("  {} with a different status or candidate\n", ended_otherwise);
  return {text, false};
}

Records refits_of(const results::RunView& view) {
  Records records(view.plan.bootstraps);
  for (const FitRecord& refit : view.refits)
    if (view.plan.is_refit(refit.fit)) records.at(refit.fit - view.plan.n_fits()) = &refit;
  return records;
}

FitsCompared compare_fits(const results::RunView& a, const results::RunView& b) {
  if (a.plan_hash != b.plan_hash)
    return {line(kFits, fmt::format("from different plans, not compared individually: {} of {} | {} of {}",
                                    a.records.size(), a.plan.n_recorded(), b.records.size(), b.plan.n_recorded())),
            false};
  const FitsCompared refits = compare_records(kRefits, a, refits_of(a), refits_of(b));
  if (a.plan.n_fits() == 0) return refits;
  const FitsCompared fits =
      compare_records(kFits, a, results::by_fit(a.plan, a.records), results::by_fit(b.plan, b.records));
  return {fits.text + refits.text, fits.same && refits.same};
}

// ---- outcomes -------------------------------------------------------------------------------------------------------

std::string best_of(const results::RunView& view) {
  if (!view.best) return "none yet";
  const std::string params = results::pretty_params(view.plan, *view.best);
  return params.empty() ? "the only candidate" : params;
}

std::string validation_of(const results::RunView& view) {
  const auto metric = results::selecting_metric(view.metrics);
  if (!view.best || !metric || view.plan.n_fits() == 0) return "none";
  const results::CandidateRow best = results::pool(view).at(*view.best);
  return best.complete ? results::unit_of(view.metrics[*metric]).text(best.mean) : "incomplete";
}

std::string test_of(const results::RunView& view) {
  const auto& test = view.vote ? std::optional(view.vote->test) : view.test;
  if (!test || test->n == 0) return "none";
  const std::string whose = view.vote ? fmt::format(", vote of {}", view.vote->members) : "";
  if (test->mse) return fmt::format("mean squared error {}{}", results::pretty(*test->mse, 6), whose);
  const results::Interval interval = results::wilson(test->errors, test->n);
  return fmt::format("{:.3f} % ({} of {}, 95 % interval {:.2f} to {:.2f} %{})",
                     100 * static_cast<double>(test->errors) / static_cast<double>(test->n), test->errors, test->n,
                     100 * interval.low, 100 * interval.high, whose);
}

std::string devices_of(const results::RunView& view) {
  std::map<std::string, int> names;
  for (const results::DeviceUse& device : view.devices) ++names[fmt::format("{} ({})", device.name, device.backend)];
  std::string text;
  for (const auto& [name, count] : names)
    text += (text.empty() ? "" : ", ") + (count > 1 ? fmt::format("{} x {}", count, name) : name);
  return text.empty() ? "none" : text;
}

std::string heading(const char* letter, const Inspection& run) {
  return fmt::format("{}: {}: {}, {}\n", letter, run.directory, state_of(run),
                     run.view.nodes == 1 ? "1 node" : fmt::format("{} nodes", run.view.nodes));
}

}  // namespace

Comparison compare(const Inspection& a, const Inspection& b) {
  const results::RunView &of_a = a.view, &of_b = b.view;
  const FitsCompared fits = compare_fits(of_a, of_b);
  std::string text = heading("A", a) + heading("B", b);
  text += pair("model", of_a.model, of_b.model);
  text += line("data", of_a.data_sha256 == of_b.data_sha256
                           ? "the same"
                           : fmt::format("{}, {} rows | {}, {} rows: errors on different data", of_a.data_name,
                                         of_a.data_rows, of_b.data_name, of_b.data_rows));
  text += compare_settings(a, b) + fits.text;
  text += pair("best", best_of(of_a), best_of(of_b));
  text += pair("validation", validation_of(of_a), validation_of(of_b));
  text += pair("test", test_of(of_a), test_of(of_b));
  text +=
      line("wall time", fmt::format("{} | {}{}", results::seconds_text(of_a.wall_s), results::seconds_text(of_b.wall_s),
                                    of_a.wall_s > 0 ? fmt::format(": {:.2f} of A", of_b.wall_s / of_a.wall_s) : ""));
  text +=
      line("efficiency", fmt::format("{} | {}", results::percent(of_a.efficiency), results::percent(of_b.efficiency)));
  return {text + pair("devices", devices_of(of_a), devices_of(of_b)), fits.same};
}

}  // namespace mokume::inspect
