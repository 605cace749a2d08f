#include "inspect/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/plural.hpp"
#include "base/text.hpp"
#include "results/best.hpp"
#include "results/stats.hpp"
#include "run/run_directory.hpp"
#include "run/view.hpp"

namespace mokume::inspect {
namespace {

using Json = nlohmann::ordered_json;

const run::DeviceStatus* last_of(const Inspection& run, uint32_t node, const std::string& id) {
  if (!run.last) return nullptr;
  const auto& devices = run.last->devices;
  const auto found =
      std::find_if(devices.begin(), devices.end(), [&](const auto& d) { return d.node == node && d.id == id; });
  return found == devices.end() ? nullptr : &*found;
}

std::string ago(const Inspection& run, double time_s) { return base::human_seconds(std::max(0.0, run.now_s - time_s)); }

// Describes the current work of the device or, after the end, its last known work. Returns "" if it is unknown.
std::string doing(const Inspection& run, const run::DeviceStatus& device) {
  if (!run.live && (run.view.state == "done" || run.view.state == "failed fits")) return "";
  const std::string why = device.what.empty() ? "" : ": " + device.what;
  if (device.state == "retired" || device.state == "lost")
    return fmt::format("{} {} ago{}", device.state, ago(run, device.since_s), why);
  if (device.state != "working") return run.live ? "idle for " + ago(run, device.since_s) : "";
  const std::string share = fmt::format("{}, {:.0f} %", why, 100 * device.share);
  return run.live ? "working for " + ago(run, device.since_s) + share : "was working" + share;
}

// Returns a text such as "12 of 36 fits" or "no validation, one refit".
std::string progress(const Inspection& run) {
  const results::RunView& view = run.view;
  if (view.plan.n_fits() == 0)
    return view.plan.bootstraps == 1 ? "no validation, one refit"
                                     : fmt::format("no validation, {} of {}", view.refits.size(),
                                                   base::counted(view.plan.bootstraps, "refit"));
  const auto failed = std::count_if(view.records.begin(), view.records.end(),
                                    [](const auto& r) { return r.status == journal::FitStatus::failed; });
  const std::string refits = view.plan.bootstraps > 1 ? fmt::format(", {} of {}", view.refits.size(),
                                                                    base::counted(view.plan.bootstraps, "refit"))
                                                      : "";
  const size_t dropped = results::count_dropped(view);
  return fmt::format("{} of {}{}{}{}", view.records.size() - dropped, base::counted(view.plan.n_computed(), "fit"),
                     dropped > 0 ? fmt::format(", {} dropped", dropped) : "", refits,
                     failed > 0 ? fmt::format(", {} failed", failed) : "");
}

}  // namespace

Inspection inspect(registry::Registry& registry, const std::string& directory) {
  Inspection run;
  run.directory = directory;
  // Looks at the lock before it reads the files, so that a run that ends in between counts as live, not as dead.
  run.live = run::is_held(directory);
  run.last = run::read_live_status(directory);
  run.bundles = run::read_bundles(directory);
  run.view = run::read_view(registry, directory);
  run.exit_reason = run::read_run_record(directory).exit_reason;
  run.now_s = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return run;
}

std::string stop_text(const std::string& reason) {
  if (reason.empty()) return "stopped";
  return reason.starts_with("stopped") ? reason : "stopped (" + reason + ")";
}

std::string state_of(const Inspection& run) {
  if (run.live) return "live";
  return run.view.state == "running" ? "dead (killed)" : run.view.state;
}

std::string ended_state(const Inspection& run) {
  const std::string state = state_of(run);
  if (state == "stopped") return stop_text(run.exit_reason);
  return run.live || run.view.state == "running" || run.exit_reason.empty() ? state
                                                                            : state + " (" + run.exit_reason + ")";
}

std::string next_step(const Inspection& run) {
  if (run.live) return "";
  if (run.view.state == "running" || run.view.state == "stopped")
    return "mokume resume " + run.directory + " continues where it stopped";
  if (run.view.state == "failed fits") return "mokume explain " + run.directory + " shows what failed";
  return "";
}

namespace {

std::string live_text(const Inspection& run) {
  if (!run.last) return ", starting, " + progress(run) + "\n";
  std::string text = fmt::format(" on {} (process {}), {}", run.last->host, run.last->pid, progress(run));
  if (results::fits_left(run.view))
    text += run.last->eta_s ? ", ETA " + base::human_seconds(*run.last->eta_s) : ", ETA unknown";
  return text + (run.last->phase != "fits" ? "\n  " + run.last->phase + "\n" : "\n");
}

std::string ended_text(const Inspection& run) {
  const bool killed = run.view.state == "running";
  const std::string last =
      killed && run.last ? "  last heard from " + ago(run, run.last->time_s) + " ago\n" : std::string();
  return ", " + progress(run) + "\n" + last;
}

std::string best_text(const Inspection& run) {
  const std::string best = results::best_so_far(run.view).text();
  if (best.empty()) return "";
  return fmt::format("  best{}: {}\n", results::fits_left(run.view) ? " so far" : "", best);
}

Json best_json(const results::RunView& view) {
  const results::BestSoFar found = results::best_so_far(view);
  if (!found.best()) return nullptr;
  return {{"candidate", found.best()->candidate},
          {"params", results::params_json(view.plan, found.best()->candidate)},
          {"metric", found.metric()},
          {"mean", found.best()->mean}};
}

}  // namespace

std::string status_text(const Inspection& run) {
  std::string text = run.directory + ": " + ended_state(run) + (run.live ? live_text(run) : ended_text(run));
  text += best_text(run);
  for (const results::DeviceUse& d : run.view.devices) {
    const run::DeviceStatus* last = last_of(run, d.node, d.id);
    const std::string now = last == nullptr ? "" : doing(run, *last);
    text += fmt::format("  {}/{:<12} {:6} fits  busy {}  {}{}\n", d.node, d.id, d.fits, base::human_seconds(d.busy_s),
                        d.name, now.empty() ? "" : "  " + now);
  }
  if (const size_t n = run.view.events.size(); n > 0)
    text += fmt::format("  {} event{}: see mokume explain {}\n", n, n == 1 ? "" : "s", run.directory);
  for (const journal::Disagreement& one : run.view.disagreements) text += "  " + one.text + "\n";
  if (const std::string next = next_step(run); !next.empty()) text += "  next: " + next + "\n";
  return text;
}

Json status_json(const Inspection& run) {
  Json devices = Json::array();
  for (const results::DeviceUse& d : run.view.devices) {
    Json entry = {{"node", d.node}, {"id", d.id}, {"name", d.name}, {"fits", d.fits}, {"busy_s", d.busy_s}};
    if (const run::DeviceStatus* last = last_of(run, d.node, d.id)) {
      entry["state"] = last->state;
      entry["what"] = last->what;
      entry["share"] = last->share;
      entry["since_s"] = std::max(0.0, run.now_s - last->since_s);
    }
    devices.push_back(entry);
  }
  Json disagreements = Json::array();
  for (const journal::Disagreement& one : run.view.disagreements) disagreements.push_back(one.text);
  const auto last = [&](const auto& value) { return run.last ? Json(value(*run.last)) : Json(nullptr); };
  const auto failed = std::count_if(run.view.records.begin(), run.view.records.end(),
                                    [](const auto& r) { return r.status == journal::FitStatus::failed; });
  Json json = {{"run", run.directory},
               {"name", run.view.name},
               {"state", state_of(run)},
               {"live", run.live},
               {"reason", run.exit_reason},
               {"fits", run.view.records.size() - results::count_dropped(run.view)},
               {"fits_planned", run.view.plan.n_computed()},
               {"failed", failed},
               {"wall_s", run.view.wall_s},
               {"efficiency", run.view.efficiency},
               {"host", last([](const run::LiveStatus& s) { return s.host; })},
               {"phase", last([](const run::LiveStatus& s) { return s.phase; })},
               {"heard_s", last([&](const run::LiveStatus& s) { return std::max(0.0, run.now_s - s.time_s); })},
               {"eta_s", nullptr}};
  if (run.live && run.last && run.last->eta_s) json["eta_s"] = *run.last->eta_s;
  json["best"] = best_json(run.view);
  json["devices"] = devices;
  json["events"] = run.view.events.size();
  json["disagreements"] = disagreements;
  json["next"] = next_step(run);
  return json;
}

}  // namespace mokume::inspect
