#include "run/status_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/sealed.hpp"
#include "cluster/directory.hpp"
#include "sdk/error.hpp"

namespace mokume::run {
namespace {

constexpr double kPause = 2;  // seconds between two writes
constexpr double kQuiet = 5;  // seconds without a report after which a device counts as idle
constexpr const char* kStatus = "logs/status.json";
constexpr const char* kBundles = "logs/pieces.json";

// A failed write, for example on a full disk, is no error: the next write replaces the file.
void replace_file(const base::Below& file, const std::string& text) {
  try {
    base::write_file(file, text, base::Durable::no);
  } catch (const Error& e) {
    if (e.status() != MK_STORAGE && e.status() != MK_INVALID_ARGUMENT) throw;
  }
}

// Returns nothing for a file of another version.
template <class T>
std::optional<T> read_json(const base::Below& file) {
  if (!base::exists(file)) return std::nullopt;
  auto text = base::unseal_file(base::read_file(file, 1U << 28));
  if (text && text->object.starts_with('[')) text->object = "{\"bundles\":" + text->object + "}";  // an older version
  try {
    if (text) return base::from_json<T>(text->object);
  } catch (const Error&) {
    if (text->checked) return std::nullopt;
  }
  throw Error(MK_BAD_DATA, file.path() + " is damaged: remove it, and the next run writes it again");
}

struct BundleFile {
  std::vector<scheduler::Bundle> bundles;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("bundles", self.bundles);
  }
};

bool failed(const journal::FitRecord& record) { return record.status == journal::FitStatus::failed; }

}  // namespace

StatusFile::StatusFile(std::string run_directory, const std::vector<std::vector<cluster::LocalDevice>>& nodes,
                       uint64_t fits, const std::vector<journal::FitRecord>& done, std::function<double()> now,
                       const scheduler::Workload& workload, const std::vector<double>& chances)
    : file_{std::move(run_directory), kStatus}, now_(std::move(now)), eta_(workload, fits, done, now_(), chances) {
  const double start_s = now_();
  status_.host = cluster::host_name();
  status_.pid = ::getpid();
  status_.phase = "fits";
  double expected = static_cast<double>(fits);
  for (const double chance : chances) expected += chance - 1;
  status_.fits = static_cast<uint64_t>(std::llround(expected));
  status_.done = done.size();
  status_.failed = static_cast<uint64_t>(std::count_if(done.begin(), done.end(), failed));
  for (uint32_t node = 0; node < nodes.size(); ++node) {
    lanes_.emplace_back();
    for (const cluster::LocalDevice& d : nodes[node])
      lanes_.back().push_back(
          {{node, d.id, d.name, d.budget_bytes, "idle", "", 0, start_s}, d.device_class, d.spare, start_s, -1});
  }
  write();
}

void StatusFile::device_state(uint32_t node, uint32_t device, const std::string& what, double share) {
  if (node >= lanes_.size() || device >= lanes_[node].size()) return;
  Lane& lane = lanes_[node][device];
  DeviceStatus& status = lane.status;
  const double now_s = now_();
  if (status.state == "retired" || status.state == "lost") return;
  const bool fresh = status.state != "working" || now_s - lane.heard_s > kQuiet || share < status.share;
  if (fresh) status.since_s = now_s;
  // An earlier session can only have begun the first work of a device.
  if (lane.before < 0) lane.before = share;
  if (share < status.share) lane.before = 0;
  status.state = "working";
  status.what = what;
  status.share = share;
  lane.heard_s = now_s;
  eta_.settle(now_s);
  write_if_due();
}

void StatusFile::fit_done(const journal::FitRecord& record) {
  ++status_.done;
  // The share of a fit that has ended is no share of the next one.
  if (record.node < lanes_.size())
    for (Lane& lane : lanes_[record.node])
      if (lane.status.id == record.device && lane.status.share >= 1) lane.status.share = 0;
  eta_.done(record);
  eta_.settle(now_());
  if (failed(record)) ++status_.failed;
  write_if_due();
}

void StatusFile::event(const journal::EventRecord& event) {
  using Kind = journal::EventRecord::Kind;
  if (event.node >= lanes_.size()) return;
  for (Lane& lane : lanes_[event.node]) {
    DeviceStatus& status = lane.status;
    const bool lost = event.kind == Kind::lost && status.state != "retired";
    const bool retired = event.kind == Kind::retired && event.device == status.id;
    const bool returned = event.kind == Kind::returned && status.state == "lost";
    if (!lost && !retired && !returned) continue;
    status.state = lost ? "lost" : retired ? "retired" : "idle";
    status.what = returned ? "" : event.text;
    status.share = 0;
    status.since_s = event.time_s;
  }
  write_if_due();
}

void StatusFile::phase(const std::string& text) {
  status_.phase = text;
  write();
}

LiveStatus StatusFile::snapshot() const {
  LiveStatus status = status_;
  status.time_s = now_();
  for (const auto& node : lanes_)
    for (const Lane& lane : node) {
      status.devices.push_back(lane.status);
      if (lane.status.state != "working" || status.time_s - lane.heard_s <= kQuiet) continue;
      DeviceStatus& idle = status.devices.back();
      idle.state = "idle";
      idle.what.clear();
      idle.share = 0;
      idle.since_s = lane.heard_s;
    }
  status.eta_s = seconds_left();
  return status;
}

std::optional<double> StatusFile::seconds_left() const {
  const double now_s = now_();
  double running = 0, gained = 0;
  std::vector<std::string> classes;
  for (const auto& node : lanes_)
    for (const Lane& lane : node) {
      const bool lost = lane.status.state == "retired" || lane.status.state == "lost";
      if (!lost && !lane.spare) classes.push_back(lane.device_class);
      if (lane.status.state != "working" || now_s - lane.heard_s > kQuiet) continue;
      running += lane.status.share;
      gained += lane.status.share - std::max(0.0, lane.before);
    }
  return eta_.seconds_left(now_s, classes, running, gained);
}

void StatusFile::write_if_due() {
  if (now_() - written_s_ >= kPause) write();
}

void StatusFile::write() {
  const LiveStatus status = snapshot();
  replace_file(file_, base::seal(base::indented(base::to_json(status))));
  written_s_ = status.time_s;
}

std::optional<LiveStatus> read_live_status(const std::string& run_directory) {
  return read_json<LiveStatus>({run_directory, kStatus});
}

void remove_live_status(const std::string& run_directory) { base::remove({run_directory, kStatus}); }

void write_bundles(const std::string& run_directory, const std::vector<scheduler::Bundle>& bundles) {
  replace_file({run_directory, kBundles}, base::seal(base::to_json(BundleFile{bundles})));
}

std::vector<scheduler::Bundle> read_bundles(const std::string& run_directory) {
  return read_json<BundleFile>({run_directory, kBundles}).value_or(BundleFile()).bundles;
}

std::vector<double> cost_by_fit(const std::vector<scheduler::Bundle>& bundles, uint32_t n_fits) {
  if (bundles.empty()) return {};
  std::vector<double> costs(n_fits, 0);
  for (const scheduler::Bundle& b : bundles)
    for (const uint32_t fit : b.fits)
      if (fit < n_fits) costs[fit] = b.cost / static_cast<double>(b.fits.size());
  return costs;
}

}  // namespace mokume::run
