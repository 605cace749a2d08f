#include "run/recorded_run.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "config/resolved.hpp"
#include "run/status_file.hpp"
#include "sdk/error.hpp"

namespace mokume::run {
namespace {

std::vector<int64_t> rows_by_class(const data::Dataset& data) {
  std::vector<int64_t> rows(data.class_names.size());
  for (const int32_t label : data.train.labels) ++rows.at(static_cast<size_t>(label));
  return rows;
}

double guess_of(const data::Table& train) {
  const auto n = static_cast<double>(train.rows);
  if (!train.labels.empty()) {
    std::map<int32_t, int64_t> counts;
    for (const int32_t label : train.labels) ++counts[label];
    int64_t most = 0;
    for (const auto& [label, count] : counts) most = std::max(most, count);
    return 1 - static_cast<double>(most) / n;
  }
  double sum = 0, squares = 0;
  for (const float target : train.targets) sum += static_cast<double>(target);
  for (const float target : train.targets) squares += std::pow(static_cast<double>(target) - sum / n, 2);
  return squares / n;
}

}  // namespace

void check_files(const std::string& directory, const RunRecord& record, const config::Config& config) {
  for (const auto& [path, sum] : config.file_sums)
    if (const auto known = record.files.find(path); known != record.files.end() && known->second != sum)
      throw Error(MK_INVALID_ARGUMENT, directory + " was started with other contents of " + path +
                                           ": restore that file, or start a new run");
}

LockWait lock_wait(const RunRequest& request, const std::atomic<bool>& stop) {
  // A file server may keep the lock of a host without power for the time of a lease, by default 90 s in NFS 4.
  constexpr double kSeconds = 120;
  return {request.takeover ? kSeconds : 0, &stop};
}

RecordedRun::RecordedRun(const RunRequest& request, const node::Experiment& experiment, const std::atomic<bool>& stop)
    : directory_(request.directory
                     ? RunDirectory::open(*request.directory, lock_wait(request, stop))
                     : RunDirectory::open_or_create(request.config.output, request.config.name, experiment.plan().hash,
                                                    request.fresh, lock_wait(request, stop))) {
  if (directory_.existed()) {
    remove_live_status(directory_.path());
    record_ = directory_.read_record();
    check_files(directory_.path(), record_, experiment.config());
    if (record_.plan_hash != experiment.plan().hash)
      throw Error(MK_INVALID_ARGUMENT,
                  directory_.path() + " holds another plan (config, seed or data have changed): start a new run");
    check_config_file(directory_.path(), record_);
    return;
  }
  base::write_file(base::Below{directory_.path(), "experiment.toml"}, request.source_text);
  const std::string resolved = config::to_toml(experiment.config());
  base::write_file(base::Below{directory_.path(), "config.resolved.toml"}, resolved);
  record_.config_sha256 = base::sha256(resolved);
  record_.plan_hash = experiment.plan().hash;
  record_.files = experiment.config().file_sums;
  const data::Dataset& d = experiment.data();
  record_.data = {d.name,      d.train.rows, d.train.features, static_cast<int64_t>(d.class_names.size()),
                  d.test.rows, d.sha256,     d.columns,        guess_of(d.train)};
  record_.data.class_names = d.class_names;
  record_.data.class_rows = rows_by_class(d);
  if (request.config.data.source == "images") record_.data.shape = d.shape;
  record_.environment = {request.version, __VERSION__, request.command};
  base::make_directories({directory_.path(), "logs"});
  write();
}

void RecordedRun::note_devices(const std::vector<std::vector<cluster::LocalDevice>>& nodes) {
  const double now = base::wall_s();
  std::set<std::string> classes(record_.device_classes.begin(), record_.device_classes.end());
  for (uint32_t node = 0; node < nodes.size(); ++node)
    for (const cluster::LocalDevice& d : nodes[node]) {
      classes.insert(d.device_class);
      auto known = std::find_if(record_.devices.begin(), record_.devices.end(),
                                [&](const DeviceRecord& e) { return e.node == node && e.id == d.id; });
      const bool is_new = known == record_.devices.end();
      if (is_new) known = record_.devices.insert(known, DeviceRecord());
      std::vector<double> sessions = std::move(known->sessions);
      sessions.push_back(now);
      if (is_new || known->device_class != d.device_class)  // or the node is a different machine now
        *known = {node, d.id, d.backend, d.name, d.vendor, d.device_class, d.budget_bytes, d.speed, {}};
      known->sessions = std::move(sessions);
    }
  record_.device_classes.assign(classes.begin(), classes.end());
}

void RecordedRun::recall_speeds(std::vector<std::vector<cluster::LocalDevice>>& nodes) const {
  for (const DeviceRecord& known : record_.devices)
    if (known.node < nodes.size() && known.speed > 0)
      for (cluster::LocalDevice& d : nodes[known.node])
        if (known.id == d.id && known.device_class == d.device_class) d.speed = known.speed;
}

// Names run.json because a device without a cache directory measures anew for each run which kernels are the fastest,
// and a different choice may change the last bits.
std::string RecordedRun::reproducibility(bool team) const {
  std::string text = "same plan everywhere; results of mixed device classes agree within tolerance";
  if (strict())
    return team ? "bit-identical on any number of devices of all classes if the team sums gradients of global batches; "
                  "otherwise on the same number of devices (strict numerics)"
                : "bit-identical on any number of devices of all classes, nodes and restarts (strict numerics)";
  if (record_.device_classes.size() == 1)
    text =
        team ? "bit-identical on any number of devices of this class if the team sums gradients of global batches; "
               "otherwise on the same number of devices; with the kernels in run.json"
             : "bit-identical on any number of devices of this class, nodes and restarts, with the kernels in run.json";
  return text + precisions();
}

bool RecordedRun::strict() const {
  return std::any_of(record_.choices.begin(), record_.choices.end(), [](const auto& one) {
    const auto found = one.second.find("numerics");
    return found != one.second.end() && found->second == "strict";
  });
}

// Returns the precision of each device class that does not compute in fp32.
std::string RecordedRun::precisions() const {
  std::string text;
  for (const auto& [device_class, choices] : record_.choices)
    if (const auto found = choices.find("precision"); found != choices.end() && found->second != "fp32")
      text += "; operands of products in " + found->second + " on " + device_class;
  return text;
}

}  // namespace mokume::run
