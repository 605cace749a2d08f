#include "run/recorded_run.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "config/resolved.hpp"
#include "run/status_file.hpp"
#include "sdk/error.hpp"

namespace mokume::run {

RecordedRun::RecordedRun(const RunRequest& request, const node::Experiment& experiment)
    : directory_(request.directory ? RunDirectory::open(*request.directory)
                                   : RunDirectory::open_or_create(request.config.output, request.config.name,
                                                                  experiment.plan().hash, request.fresh)) {
  if (directory_.existed()) {
    remove_live_status(directory_.path());
    record_ = directory_.read_record();
    if (record_.plan_hash != experiment.plan().hash)
      throw Error(MK_INVALID_ARGUMENT,
                  directory_.path() + " holds another plan (config, seed or data have changed): start a new run");
    check_config_file(directory_.path(), record_);
    return;
  }
  base::write_file(directory_.path() + "/experiment.toml", request.source_text);
  const std::string resolved = config::to_toml(request.config);
  base::write_file(directory_.path() + "/config.resolved.toml", resolved);
  record_.config_sha256 = base::sha256(resolved);
  record_.plan_hash = experiment.plan().hash;
  const data::Dataset& d = experiment.data();
  record_.data = {{"name", d.name},
                  {"rows", d.train.rows},
                  {"features", d.train.features},
                  {"classes", d.class_names.size()},
                  {"test_rows", d.test.rows},
                  {"sha256", d.sha256}};
  if (!d.columns.empty()) record_.data["columns"] = columns_to_json(d.columns);
  record_.environment = {{"version", MOKUME_VERSION}, {"compiler", __VERSION__}, {"command", request.command}};
  std::filesystem::create_directories(directory_.path() + "/logs");
  write();
}

void RecordedRun::note_devices(const std::vector<std::vector<cluster::LocalDevice>>& nodes) {
  const double now = base::wall_s();
  std::set<std::string> classes(record_.device_classes.begin(), record_.device_classes.end());
  for (size_t node = 0; node < nodes.size(); ++node)
    for (const cluster::LocalDevice& d : nodes[node]) {
      classes.insert(d.device_class);
      const auto known = std::find_if(record_.devices.begin(), record_.devices.end(), [&](const auto& e) {
        return e.value("node", size_t{0}) == node && e.value("id", std::string()) == d.id;
      });
      nlohmann::ordered_json sessions = nlohmann::ordered_json::array();
      if (known != record_.devices.end()) sessions = known->value("sessions", sessions);
      sessions.push_back(now);
      if (known != record_.devices.end() && known->value("class", std::string()) == d.device_class) {
        (*known)["sessions"] = sessions;
        continue;
      }
      // The device is new, or the node is another machine than before.
      nlohmann::ordered_json entry = {{"node", node},
                                      {"id", d.id},
                                      {"backend", d.backend},
                                      {"name", d.name},
                                      {"vendor", d.vendor},
                                      {"class", d.device_class},
                                      {"budget_bytes", d.budget_bytes},
                                      {"speed", d.speed},
                                      {"sessions", sessions}};
      if (known != record_.devices.end())
        *known = std::move(entry);
      else
        record_.devices.push_back(std::move(entry));
    }
  record_.device_classes.assign(classes.begin(), classes.end());
}

void RecordedRun::recall_speeds(std::vector<std::vector<cluster::LocalDevice>>& nodes) const {
  for (const auto& known : record_.devices)
    for (size_t node = 0; node < nodes.size(); ++node)
      for (cluster::LocalDevice& d : nodes[node])
        if (known.value("node", size_t{0}) == node && known.value("id", std::string()) == d.id &&
            known.value("class", std::string()) == d.device_class && known.value("speed", 0.0) > 0)
          d.speed = known.value("speed", 0.0);
}

std::string RecordedRun::reproducibility(bool team) const {
  if (team && record_.device_classes.size() == 1)
    return "bit-identical on any number of devices of this class if the team sums gradients of global batches; "
           "otherwise on the same number of devices";
  return record_.device_classes.size() == 1
             ? "bit-identical on any number of devices of this class, nodes and restarts"
             : "same plan everywhere; results of mixed device classes agree within tolerance";
}

}  // namespace mokume::run
