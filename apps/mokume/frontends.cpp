#include "frontends.hpp"

#include <cstdio>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "results/stats.hpp"
#include "sdk/error.hpp"
#include "sdk/json.hpp"

namespace mokume::app {
namespace {

using Json = nlohmann::ordered_json;

// The fields of summary.json; none if it cannot be read.
Json stored_summary(const std::string& directory) {
  try {
    Json summary = sdk::parse_json<Json>(base::read_file(base::Below{directory, "summary.json"}, 64U << 20));
    return summary.is_object() ? summary : Json::object();
  } catch (const std::exception&) {
    return Json::object();
  }
}

}  // namespace

void Terminal::fit_done(const journal::FitRecord& record) {
  progress_.fit_done(record);
  progress_.tick();
}

void Terminal::device_state(uint32_t node, const std::string& id, const std::string& name, const std::string& what,
                            double share) {
  progress_.device(node, id, name, what, share);
  progress_.tick();
}

void Events::put(const char* event, const Json& fields) {
  Json line = {{"event", event}, {"time", base::wall_s()}};
  line.update(fields);
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const std::lock_guard lock(mutex_);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void Events::begin_fits(const run::SessionStart& start) {
  ProcessFrontend::begin_fits(start);
  plan_ = start.plan;
  metrics_ = start.metrics;
  put("started", {{"run", start.directory},
                  {"resumed", start.resumed},
                  {"candidates", plan_.candidates.size()},
                  {"folds", plan_.folds},
                  {"bootstraps", plan_.bootstraps},
                  {"fits", start.total.fits},
                  {"refits", start.total.refits},
                  {"fits_done", start.done.fits},
                  {"refits_done", start.done.refits}});
  for (uint32_t node = 0; node < start.nodes.size(); ++node)
    for (const cluster::LocalDevice& device : start.nodes[node]) device_state(node, device.id, device.name, "ready", 0);
}

Json Events::where(const journal::FitRecord& record) {
  return {{"status", journal::to_text(record.status)},
          {"n", record.n},
          {"note", record.note},
          {"node", record.node},
          {"device", record.device},
          {"attempt", record.attempt},
          {"seconds", record.end_s - record.start_s}};
}

void Events::fit_done(const journal::FitRecord& record) {
  if (plan_.is_refit(record.fit)) {
    Json fields = {{"bootstrap", record.fit - plan_.n_fits()}, {"candidate", nullptr}, {"params", nullptr}};
    if (record.refit && *record.refit < plan_.candidates.size()) {
      fields["candidate"] = *record.refit;
      fields["params"] = results::params_json(plan_, *record.refit);
    }
    fields.update(where(record));
    return put("refit", fields);
  }
  const search::FitKey key = plan_.key(record.fit);
  Json fields = {{"fit", record.fit},
                 {"candidate", key.candidate},
                 {"bootstrap", key.bootstrap},
                 {"fold", key.fold},
                 {"params", results::params_json(plan_, key.candidate)}};
  fields.update(where(record));
  Json values = Json::object();
  for (size_t m = 0; m < metrics_.size(); ++m) {
    const auto value = results::value_of(&record, m);
    values[metrics_[m].name] = value ? Json(*value) : Json(nullptr);
  }
  fields["values"] = values;
  put("fit", fields);
}

void Events::best_so_far(const results::BestSoFar& best) {
  put("best", {{"candidate", best.best()->candidate},
               {"params", results::params_json(plan_, best.best()->candidate)},
               {"metric", best.metric()},
               {"mean", best.best()->mean}});
}

// Heartbeats repeat the state twice a second: only a change is an event.
void Events::device_state(uint32_t node, const std::string& id, const std::string& name, const std::string& what,
                          double share) {
  const auto [known, added] = doing_.try_emplace({node, id}, what);
  if (!added && known->second == what) return;
  known->second = what;
  put("device", {{"node", node}, {"device", id}, {"name", name}, {"what", what}, {"share", share}});
}

void Events::logged(mk_log_level level, const std::string& line) {
  put(level == MK_LOG_ERROR ? "error" : level == MK_LOG_WARNING ? "warning" : "note", {{"text", line}});
}

void Events::summary(const run::RunResult& result, int exit_code, const std::string& resume) {
  Json fields = {{"exit_code", exit_code},
                 {"run", result.directory},
                 {"report", result.directory + "/report.html"},
                 {"earlier", result.earlier_end_s.has_value()},
                 {"reason", result.reason},
                 {"warnings", result.cautions},
                 {"reproducible", result.reproducibility}};
  fields.update(stored_summary(result.directory));
  fields["state"] = result.state;
  if (!resume.empty()) fields["resume"] = resume;
  put("summary", fields);
}

}  // namespace mokume::app
