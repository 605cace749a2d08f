#include "inspect/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "base/below.hpp"
#include "base/plural.hpp"
#include "base/text.hpp"
#include "node/models.hpp"
#include "results/format.hpp"
#include "results/stats.hpp"
#include "sdk/error.hpp"

namespace mokume::inspect {
namespace {

using Kind = journal::EventRecord::Kind;
using journal::EventRecord;
using journal::FitRecord;

constexpr size_t kMaxLines = 50;  // limit for each kind of line

template <class Lines>
std::string first_of(const Lines& lines, const std::string& rest) {
  std::string text;
  size_t count = 0;
  for (const std::string& line : lines)
    if (++count <= kMaxLines) text += "  " + line + "\n";
  return lines.size() > kMaxLines ? text + fmt::format("  and {} more {}\n", lines.size() - kMaxLines, rest) : text;
}

// Formats the time since the run's first fit or refit started.
std::string when(const Inspection& run, double time_s) {
  double zero = time_s;
  for (const FitRecord& r : results::all_work(run.view))
    if (results::timed(r)) zero = std::min(zero, r.start_s);
  return "after " + base::human_seconds(time_s - zero);
}

std::string where(uint32_t node, const std::string& device) {
  return fmt::format("node {}{}", node, device.empty() ? "" : ", " + device);
}

std::string name_of(const Inspection& run, uint32_t fit) { return results::fit_name(run.view.plan, fit); }

std::string event_line(const Inspection& run, const EventRecord& event, bool name_fit) {
  std::string text = when(run, event.time_s) + ": ";
  if (name_fit && event.fit >= 0) text += name_of(run, static_cast<uint32_t>(event.fit)) + ": ";
  const std::string attempt = event.attempt > 0 ? fmt::format("attempt {} ", event.attempt) : "";
  switch (event.kind) {
    case Kind::failed:
      text += fmt::format("{}failed on {}", attempt, where(event.node, event.device));
      break;
    case Kind::moved:
      text += fmt::format("{}was taken from {}", attempt, where(event.node, event.device));
      break;
    case Kind::retired:
      text += fmt::format("{} was retired", where(event.node, event.device));
      break;
    case Kind::lost:
      text += fmt::format("{} was lost", where(event.node, event.device));
      break;
    case Kind::returned:
      text += fmt::format("{} returned", where(event.node, event.device));
      break;
    case Kind::superseded:
      text += fmt::format("{}on {} does not count", attempt, where(event.node, event.device));
      break;
  }
  return text + (event.text.empty() ? "" : ": " + event.text);
}

const FitRecord* record_of(const Inspection& run, uint32_t fit) {
  const auto& records = run.view.plan.is_refit(fit) ? run.view.refits : run.view.records;
  const auto found = std::find_if(records.begin(), records.end(), [&](const auto& r) { return r.fit == fit; });
  return found == records.end() ? nullptr : &*found;
}

std::string refit_result_text(const Inspection& run, const FitRecord& record) {
  std::string text = journal::to_text(record.status);
  if (record.status == journal::FitStatus::failed) return text;
  const auto test = results::test_of(record, run.view.data_classes);
  if (!test) return text + ", there are no test rows";
  if (test->mse) return text + fmt::format(", test mse {} on {} rows", results::pretty(*test->mse), test->n);
  return text + fmt::format(", {} of {} test rows wrong", test->errors, test->n);
}

std::string result_text(const Inspection& run, const FitRecord& record) {
  if (run.view.plan.is_refit(record.fit)) return refit_result_text(run, record);
  std::string text = journal::to_text(record.status);
  for (size_t m = 0; m < std::min(record.values.size(), run.view.metrics.size()); ++m)
    text += fmt::format(", {} {}", run.view.metrics[m].name, results::pretty(record.values[m], 6));
  return text + (journal::has_result(record.status) ? fmt::format(", on {} rows", record.n) : "");
}

std::string place_text(const FitRecord& record) {
  const std::string of = record.device_class.empty() ? "" : " (" + record.device_class + ")";
  return where(record.node, record.device) + of + fmt::format(", bundle {}, attempt {}", record.bundle, record.attempt);
}

// Names the place of the model that a refit trained, or the command that trains the model again.
std::string model_text(const Inspection& run, const FitRecord& refit) {
  if (refit.status == journal::FitStatus::failed)
    return run.live || !refit.refit ? "" : "  `mokume resume " + run.directory + "` tries it again\n";
  const base::Below model = node::model_place(run.directory, run.view.plan, refit.fit);
  if (base::exists(model)) return "  its model: " + model.path() + "\n";
  if (node::has_model(run.directory, run.view.plan, refit)) return "";  // the model gets its name when the run ends
  return "  its model is gone: `mokume resume " + run.directory + "` trains it again\n";
}

std::string done_text(const Inspection& run, const FitRecord& record) {
  const search::Plan& plan = run.view.plan;
  if (record.status == journal::FitStatus::dropped)
    return fmt::format("  dropped: its candidate is not among the {} that reached rung {}\n",
                       plan.candidates_in(plan.rung_of(record.fit)), plan.rung_of(record.fit));
  std::string text = "  " + result_text(run, record) + "\n";
  if (record.device.empty())
    return text + fmt::format("  given up {}: {}\n", when(run, record.end_s), record.note) +
           (run.view.plan.is_refit(record.fit) ? model_text(run, record) : "");
  if (record.device == journal::kReused)
    return text + fmt::format("  taken over from {}, where it has equal inputs\n", run.view.reused_from);
  text += fmt::format("  computed by {}, started {}, finished {} later\n", place_text(record),
                      when(run, record.start_s), base::human_seconds(std::max(0.0, record.end_s - record.start_s)));
  if (!record.note.empty()) text += "  note of the model: " + record.note + "\n";
  return run.view.plan.is_refit(record.fit) ? text + model_text(run, record) : text;
}

// ---- fits that are not done

// Returns the bundle that contains a fit, or null if the bundles of this session are unknown.
const scheduler::Bundle* bundle_of(const Inspection& run, uint32_t fit) {
  for (const scheduler::Bundle& b : run.bundles)
    if (std::find(b.fits.begin(), b.fits.end(), fit) != b.fits.end()) return &b;
  return nullptr;
}

// Returns the bundle's rank among the bundles with fits left (from 1, longest first by the model's estimate), and the
// number of these bundles.
std::pair<size_t, size_t> position(const Inspection& run, const scheduler::Bundle& bundle) {
  std::set<uint32_t> done;
  for (const FitRecord& r : run.view.records) done.insert(r.fit);
  std::pair<size_t, size_t> at{1, 0};
  for (const scheduler::Bundle& b : run.bundles) {
    if (std::all_of(b.fits.begin(), b.fits.end(), [&](uint32_t f) { return done.count(f) > 0; })) continue;
    ++at.second;
    if (b.cost > bundle.cost || (b.cost == bundle.cost && &b < &bundle)) ++at.first;
  }
  return at;
}

std::string memory_text(const Inspection& run, uint64_t bytes) {
  size_t large_enough = 0, left = 0;
  uint64_t largest = 0;
  for (const run::DeviceStatus& d : run.last->devices) {
    if (d.state == "retired" || d.state == "lost") continue;
    ++left;
    large_enough += d.budget_bytes >= bytes ? 1 : 0;
    largest = std::max(largest, d.budget_bytes);
  }
  std::string text = "  it needs " + base::human_bytes(bytes) + " of a device's memory; ";
  if (left == 0) return text + "no device remains\n";
  if (large_enough == 0)
    return text + fmt::format(
                      "no remaining device can hold that, the largest budget is {}: raise devices.memory or "
                      "use a device with more\n",
                      base::human_bytes(largest));
  return text + fmt::format("{} of {} devices can hold that\n", large_enough, left);
}

std::string nobody_text(const Inspection& run) {
  const std::string next = next_step(run);
  return fmt::format("  not finished, and no device is working on it: the run is {}\n{}", state_of(run),
                     next.empty() ? "" : "  next: " + next + "\n");
}

std::string busy_text(const Inspection& run) {
  std::vector<std::string> busy;
  for (const run::DeviceStatus& d : run.last->devices)
    if (d.state == "working")
      busy.push_back(fmt::format("{} has been working for {}: {}, {:.0f} %", where(d.node, d.id),
                                 base::human_seconds(std::max(0.0, run.now_s - d.since_s)), d.what, 100 * d.share));
  return first_of(busy, "devices are working");
}

bool is_rung_done(const Inspection& run, uint32_t rung) {
  const search::Plan& plan = run.view.plan;
  const auto in_rung = [&](const FitRecord& record) { return plan.rung_of(record.fit) == rung; };
  const auto done = std::count_if(run.view.records.begin(), run.view.records.end(), in_rung);
  return static_cast<uint32_t>(done) == plan.n_candidates() * plan.folds_each();
}

// Returns whether any fit of the same candidate and bootstrap has a record.
bool has_results(const Inspection& run, uint32_t fit) {
  const search::Plan& plan = run.view.plan;
  const auto& records = run.view.records;
  return std::any_of(records.begin(), records.end(),
                     [&](const FitRecord& one) { return one.fit / plan.folds == fit / plan.folds; });
}

std::string waiting_text(const Inspection& run, uint32_t fit) {
  if (run.view.plan.trials > 0 && !has_results(run, fit)) {
    const std::string trials = base::counted(run.view.plan.trials, "trial");
    if (!results::fits_left(run.view))
      return fmt::format("  not computed: its candidate is not one of the {}\n", trials);
    return fmt::format("  not computed so far: its candidate has no results yet, and may become one of the {}\n",
                       trials) +
           (run.live ? "" : nobody_text(run));
  }
  if (!run.live) return nobody_text(run);
  if (const uint32_t rung = run.view.plan.rung_of(fit); rung > 0 && !is_rung_done(run, rung - 1))
    return fmt::format("  not finished yet: it is in rung {}, which begins when rung {} is done\n", rung, rung - 1);
  std::string text = "  not finished yet: it is waiting, or a device is working on it\n";
  const scheduler::Bundle* bundle = bundle_of(run, fit);
  if (bundle == nullptr || !run.last) return text;
  const auto [place, of] = position(run, *bundle);
  text += fmt::format("  its bundle of {} is number {} of {} with fits left, longest first by the model's estimate\n",
                      results::counted(bundle->fits.size(), "fit"), place, of);
  return text + memory_text(run, bundle->bytes) + busy_text(run);
}

// ---- refits that are not done

// Returns the candidate that the refit of a bootstrap trains, if the fits already determine it.
std::optional<uint32_t> chosen_candidate(const Inspection& run, uint32_t bootstrap) {
  const search::Plan& plan = run.view.plan;
  if (plan.folds == 0) return bootstrap * plan.own_candidates;
  for (const results::CandidateRow& row : results::summarise(plan, run.view.metrics, run.view.records))
    if (row.bootstrap == bootstrap && row.complete && row.rank == 1) return row.candidate;
  return std::nullopt;
}

// Returns the memory that a refit of the candidate needs (that of its fits), or 0 if the bundles are unknown.
uint64_t bytes_of(const Inspection& run, uint32_t candidate, uint32_t bootstrap) {
  uint64_t bytes = 0;
  for (const scheduler::Bundle& bundle : run.bundles)
    for (const uint32_t fit : bundle.fits) {
      if (run.view.plan.is_refit(fit)) continue;
      const search::FitKey key = run.view.plan.key(fit);
      if (key.candidate == candidate && key.bootstrap == bootstrap) bytes = std::max(bytes, bundle.bytes);
    }
  return bytes;
}

std::string waiting_refit_text(const Inspection& run, uint32_t slot) {
  const search::Plan& plan = run.view.plan;
  const uint32_t bootstrap = slot - plan.n_fits();
  std::string text = run.live ? "" : nobody_text(run);
  std::set<uint32_t> done;
  for (const FitRecord& r : run.view.records) done.insert(r.fit);
  std::vector<std::string> before;
  size_t fits = 0, n_done = 0;
  for (uint32_t fit = 0; fit < plan.n_fits(); ++fit) {
    if (plan.key(fit).bootstrap != bootstrap) continue;
    ++fits;
    n_done += done.count(fit);
    if (done.count(fit) == 0 && plan.trials == 0) before.push_back(name_of(run, fit));
  }
  if (plan.trials > 0 && n_done < size_t{plan.trials} * plan.folds)
    return text + fmt::format("  it waits for {} trials{}: {} of their {} are done\n", plan.trials,
                              plan.bootstraps > 1 ? " of its bootstrap" : "", n_done,
                              results::counted(size_t{plan.trials} * plan.folds, "fit"));
  if (!before.empty())
    return text +
           fmt::format("  it waits for {} of the {}{} that decide on its candidate:\n", before.size(),
                       results::counted(fits, "fit"), plan.bootstraps > 1 ? " of its bootstrap" : "") +
           first_of(before, "are not done");
  const auto candidate = chosen_candidate(run, bootstrap);
  if (!candidate) return text + "  no candidate has a result in every fold: there is nothing to train\n";
  const std::string params = results::pretty_params(plan, *candidate);
  text += fmt::format("  its fits are done: it trains candidate {}{} on every row\n", *candidate,
                      params.empty() ? "" : " (" + params + ")");
  if (!run.live) return text;
  text += "  not finished yet: it is waiting for a device, or one is working on it\n";
  if (!run.last) return text;
  const uint64_t bytes = bytes_of(run, *candidate, bootstrap);
  return text + (bytes > 0 ? memory_text(run, bytes) : "") + busy_text(run);
}

// ---- the whole run

// Returns a paragraph that lists the events of these kinds, or "" if there are none.
std::string events_text(const Inspection& run, const std::string& title, const std::set<Kind>& kinds) {
  std::vector<std::string> lines;
  for (const EventRecord& event : run.view.events)
    if (kinds.count(event.kind) > 0) lines.push_back(event_line(run, event, true));
  return lines.empty() ? "" : title + "\n" + first_of(lines, "are in the journal");
}

std::string failed_text(const Inspection& run) {
  std::vector<std::string> lines;
  for (const FitRecord& r : results::all_work(run.view))
    if (r.status == journal::FitStatus::failed)
      lines.push_back(name_of(run, r.fit) + (r.note.empty() ? "" : ": " + r.note));
  return lines.empty() ? "" : "failed for good:\n" + first_of(lines, "are in results.csv");
}

std::string repeats_text(const Inspection& run) {
  if (run.view.repeats.empty()) return "";
  std::string text = fmt::format("{} computed more than once; `mokume explain RUN FIT` shows which counts\n",
                                 results::counted(run.view.repeats.size(), "result"));
  std::vector<std::string> lines;
  for (const journal::Disagreement& one : run.view.disagreements) lines.push_back(one.text);
  return text + first_of(lines, "disagree");
}

// Lists the ids of fits and refits that `mokume explain` accepts.
std::string ids_text(const search::Plan& plan) {
  const bool bagging = plan.bootstraps > 1;
  const std::string last = bagging ? fmt::format(" to {}", plan.n_slots() - 1) : "";
  const std::string refits =
      bagging ? fmt::format("refit,bootstrap (refit,0 to refit,{})", plan.bootstraps - 1) : "refit";
  if (plan.n_fits() == 0) return fmt::format("{}, or an id (0{}); there are only refits", refits, last);
  return fmt::format("its id (0 to {}, {}{} for refits), {} (0 to {}, {}0 to {}) or {}", plan.n_fits() - 1,
                     plan.n_fits(), last, bagging ? "candidate,bootstrap,fold" : "candidate,fold",
                     plan.n_candidates() - 1, bagging ? fmt::format("0 to {}, ", plan.bootstraps - 1) : "",
                     plan.folds - 1, refits);
}

uint32_t whole_number(const std::string& text, uint32_t end, const std::string& wanted) {
  uint32_t value = 0;
  const std::string word = base::trim(text);
  const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
  if (read.ec != std::errc() || read.ptr != word.data() + word.size() || value >= end)
    throw Error(MK_INVALID_ARGUMENT, wanted);
  return value;
}

}  // namespace

uint32_t parse_fit(const search::Plan& plan, const std::string& text) {
  const std::vector<std::string> parts = base::split(text, ',');
  const std::string wanted = fmt::format("'{}' is not a fit of this run: write {}", text, ids_text(plan));
  if (plan.whole && base::trim(parts[0]) == "refit" && parts.size() == (plan.bootstraps > 1 ? 2 : 1))
    return plan.refit_slot(parts.size() == 1 ? 0 : whole_number(parts[1], plan.bootstraps, wanted));
  if (parts.size() == 1) return whole_number(parts[0], plan.n_slots(), wanted);
  const bool short_form = parts.size() == 2 && plan.bootstraps == 1;
  if (!short_form && parts.size() != 3) throw Error(MK_INVALID_ARGUMENT, wanted);
  const uint32_t candidate = whole_number(parts[0], plan.n_candidates(), wanted);
  const uint32_t bootstrap = short_form ? 0 : whole_number(parts[1], plan.bootstraps, wanted);
  const uint32_t fold = whole_number(parts.back(), plan.folds, wanted);
  if (!plan.has(candidate, bootstrap)) throw Error(MK_INVALID_ARGUMENT, wanted);
  return plan.fit_id(candidate, bootstrap, fold);
}

std::string explain_fit(const Inspection& run, uint32_t fit) {
  const results::RunView& view = run.view;
  const bool refit = view.plan.is_refit(fit);
  const FitRecord* record = record_of(run, fit);
  const std::optional<uint32_t> candidate = !refit              ? std::optional(view.plan.key(fit).candidate)
                                            : record != nullptr ? record->refit
                                                                : std::nullopt;
  const std::string params = candidate ? results::pretty_params(view.plan, *candidate) : "";
  std::string text = refit ? fmt::format("slot {}: ", fit) : "";
  text += name_of(run, fit);
  if (refit && candidate && view.plan.n_candidates() > 1) text += fmt::format(": candidate {}", *candidate);
  text += (params.empty() ? "" : " (" + params + ")") + "\n";
  if (record != nullptr)
    text += done_text(run, *record);
  else
    text += refit ? waiting_refit_text(run, fit) : waiting_text(run, fit);
  for (const EventRecord& event : view.events)
    if (event.fit == int64_t{fit}) text += "  " + event_line(run, event, false) + "\n";
  for (const FitRecord& repeat : view.repeats)
    if (repeat.fit == fit)
      text += fmt::format("  also computed by {}, which does not count: {}\n", place_text(repeat),
                          result_text(run, repeat));
  for (const journal::Disagreement& one : view.disagreements)
    if (one.fit == fit) text += "  " + one.text + "\n";
  return text;
}

std::string explain_run(const Inspection& run) {
  const search::Plan& plan = run.view.plan;
  std::string text = fmt::format("{}: {}, ", run.directory, ended_state(run));
  if (plan.n_fits() > 0)
    text += fmt::format("{} of {}, ", run.view.records.size() - results::count_dropped(run.view),
                        base::counted(plan.n_computed(), "fit"));
  if (const size_t dropped = results::count_dropped(run.view); dropped > 0)
    text += fmt::format("{} dropped, ", dropped);
  text += plan.whole ? fmt::format("{} of {}\n", run.view.refits.size(), base::counted(plan.bootstraps, "refit"))
                     : "without a refit\n";
  const std::string trouble = events_text(run, "retired devices:", {Kind::retired}) +
                              events_text(run, "lost nodes:", {Kind::lost, Kind::returned}) + failed_text(run) +
                              events_text(run, "attempts that failed or moved:", {Kind::failed, Kind::moved}) +
                              repeats_text(run);
  text += trouble.empty() ? "no device was retired, no node lost, no fit failed or moved\n" : trouble;
  if (const std::string next = next_step(run); !next.empty() && run.view.state != "failed fits")
    text += "next: " + next + "\n";
  return text;
}

}  // namespace mokume::inspect
