#include "frontends.hpp"

#include <algorithm>
#include <cstdio>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/sealed.hpp"
#include "results/stats.hpp"
#include "sdk/error.hpp"
#include "sdk/json.hpp"

namespace mokume::app {
namespace {

using Json = nlohmann::ordered_json;

// Returns the fields of summary.json, or none if the file is unreadable. Older versions wrote it without a checksum.
Json stored_summary(const std::string& directory, Json& warnings) {
  std::string text;
  try {
    text = base::read_file(base::Below{directory, "summary.json"}, 64U << 20);
    const auto unsealed = base::unseal_file(text);
    if (!unsealed) throw Error(MK_BAD_DATA, "its checksum differs");
    Json summary = sdk::parse_json<Json>(unsealed->object);
    if (summary.is_object()) return summary;
  } catch (const std::exception&) {
  }
  if (!text.empty())
    warnings.push_back(directory + "/summary.json is damaged: `mokume report " + directory + "` writes it again");
  return Json::object();
}

}  // namespace

void ProcessFrontend::begin_fits(const run::FitsStart& start) {
  directory_ = start.directory;
  plan_ = start.plan;
  metrics_ = start.metrics;
  nodes_ = start.nodes;
  best_.emplace(plan_, metrics_);
  for (const journal::FitRecord& one : start.done) best_->add(one);
}

void Events::put(const char* event, const Json& fields) {
  Json line = {{"event", event}, {"time", base::wall_s()}};
  line.update(fields);
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const std::lock_guard lock(mutex_);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void Events::begin_fits(const run::FitsStart& start) {
  ProcessFrontend::begin_fits(start);
  const auto refits = std::count_if(start.done.begin(), start.done.end(),
                                    [&](const journal::FitRecord& one) { return plan_.is_refit(one.fit); });
  put("started", {{"run", start.directory},
                  {"resumed", start.resumed},
                  {"candidates", plan_.candidates.size()},
                  {"folds", plan_.folds_in_rung()},
                  {"rungs", plan_.rungs()},
                  {"bootstraps", plan_.bootstraps},
                  {"fits", plan_.n_computed()},
                  {"refits", plan_.n_slots() - plan_.n_fits()},
                  {"fits_done", static_cast<int64_t>(start.done.size()) - refits},
                  {"refits_done", refits}});
  for (uint32_t node = 0; node < nodes_.size(); ++node)
    for (uint32_t device = 0; device < nodes_[node].size(); ++device) device_state(node, device, "ready", 0);
  if (best_->best()) put_best();
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
  put_fit(record);
  if (best_->add(record)) put_best();
}

void Events::put_fit(const journal::FitRecord& record) {
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

void Events::put_best() {
  put("best", {{"candidate", best_->best()->candidate},
               {"params", results::params_json(plan_, best_->best()->candidate)},
               {"metric", best_->metric()},
               {"mean", best_->best()->mean}});
}

// Heartbeats repeat the state twice a second, so only a change is an event.
void Events::device_state(uint32_t node, uint32_t device, const std::string& what, double share) {
  const auto [known, added] = doing_.try_emplace({node, device}, what);
  if (!added && known->second == what) return;
  known->second = what;
  const cluster::LocalDevice& info = nodes_.at(node).at(device);
  put("device", {{"node", node}, {"device", info.id}, {"name", info.name}, {"what", what}, {"share", share}});
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
  fields.update(stored_summary(result.directory, fields["warnings"]));
  fields["state"] = result.state;
  if (!resume.empty()) fields["resume"] = resume;
  put("summary", fields);
}

}  // namespace mokume::app
