#include "run/run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "cluster/directory.hpp"
#include "cluster/handshake.hpp"
#include "cluster/run.hpp"
#include "config/resolved.hpp"
#include "journal/read.hpp"
#include "node/candidate_text.hpp"
#include "node/machine.hpp"
#include "node/prepared.hpp"
#include "node/refit.hpp"
#include "node/worker.hpp"
#include "report/pages/markup.hpp"
#include "run/fit_times.hpp"
#include "run/refit_choice.hpp"
#include "run/run_directory.hpp"
#include "run/status_file.hpp"
#include "run/vote.hpp"
#include "run/workload.hpp"
#include "sdk/error.hpp"
#include "team/team_site.hpp"

namespace mokume::run {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVersion = MOKUME_VERSION;

// Rank 0's side of a run directory: what is in it before, during and after the fits.
class Keeper {
 public:
  Keeper(const RunRequest& request, const node::Prepared& prepared)
      : directory_(request.directory ? RunDirectory::open(*request.directory)
                                     : RunDirectory::open_or_create(request.config.output, request.config.name,
                                                                    prepared.plan().hash, request.fresh)) {
    if (directory_.existed()) {
      remove_live_status(directory_.path());
      record_ = directory_.read_record();
      if (record_.plan_hash != prepared.plan().hash)
        throw Error(MK_INVALID_ARGUMENT,
                    directory_.path() + " holds another plan (config, seed or data have changed): start a new run");
      check_config_file(directory_.path(), record_);
      return;
    }
    base::write_file(directory_.path() + "/experiment.toml", request.source_text);
    const std::string resolved = config::to_toml(request.config);
    base::write_file(directory_.path() + "/config.resolved.toml", resolved);
    record_.config_sha256 = base::sha256(resolved);
    record_.plan_hash = prepared.plan().hash;
    const data::Dataset& d = prepared.data();
    record_.data = {{"name", d.name},
                    {"rows", d.train.rows},
                    {"features", d.train.features},
                    {"classes", d.class_names.size()},
                    {"test_rows", d.test.rows},
                    {"sha256", d.sha256}};
    if (!d.columns.empty()) record_.data["columns"] = columns_to_json(d.columns);
    record_.environment = {{"version", kVersion}, {"compiler", __VERSION__}, {"command", request.command}};
    fs::create_directories(directory_.path() + "/logs");
    write();
  }

  RunRecord& record() { return record_; }
  const RunDirectory& directory() const { return directory_; }
  void write() { directory_.write_record(record_); }

  // Devices and hosts that take part now beside those of earlier sessions.
  void note_devices(const std::vector<std::vector<cluster::LocalDevice>>& nodes) {
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
        // New; or the node is another machine than before.
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

  // A device is as fast as at its first start: shares of a team, and in local SGD its results, follow from it.
  void recall_speeds(std::vector<std::vector<cluster::LocalDevice>>& nodes) const {
    for (const auto& known : record_.devices)
      for (size_t node = 0; node < nodes.size(); ++node)
        for (cluster::LocalDevice& d : nodes[node])
          if (known.value("node", size_t{0}) == node && known.value("id", std::string()) == d.id &&
              known.value("class", std::string()) == d.device_class && known.value("speed", 0.0) > 0)
            d.speed = known.value("speed", 0.0);
  }

  std::string reproducibility(bool team) const {
    if (team && record_.device_classes.size() == 1)
      return "bit-identical on any number of devices of this class where a team sums gradients of global batches; else "
             "on "
             "as many devices";
    return record_.device_classes.size() == 1
               ? "bit-identical on any number of devices of this class, nodes and restarts"
               : "same plan everywhere; results of mixed device classes agree within tolerance";
  }

 private:
  RunDirectory directory_;
  RunRecord record_;
};

bool has_failed(const journal::FitRecord& record) { return record.status == journal::FitStatus::failed; }

void note_fallbacks(const node::Worker& worker, base::Log& log) {
  const auto devices = worker.devices();
  const auto fallbacks = worker.fallbacks();
  for (size_t d = 0; d < devices.size(); ++d)
    for (const auto& [op, count] : fallbacks[d])
      log.warn("device", fmt::format("{}: {} ran on the host {} times, since the device does not support it",
                                     devices[d].id, op, count));
}

// Everything between handshake and parting.
class Participant {
 public:
  Participant(registry::Registry& registry, base::Log& log, cluster::Transport& transport, const RunRequest& request,
              const Observer& observer, const std::atomic<bool>& stop)
      : registry_(registry), log_(log), transport_(transport), request_(request), observer_(observer), stop_(stop) {}

  RunResult run() {
    const bool leads = transport_.rank() == 0;
    machine_ = std::make_unique<node::Machine>(registry_, log_);
    const cluster::Part part = share_host();
    observer_.phase(fmt::format("loading {}", request_.config.data.source));
    prepared_ = std::make_unique<node::Prepared>(registry_, request_.config);
    if (leads) keeper_ = std::make_unique<Keeper>(request_, *prepared_);
    worker_ = std::make_unique<node::Worker>(*machine_, *prepared_, log_, request_.config.devices, part.sharers,
                                             leads ? keeper_->record().choices : cluster::ClassChoices());
    if (part.devices_of_run > 1) worker_->measure();  // for the order of work only: one device needs none
    devices_ = worker_->devices();
    if (leads && request_.profile) node::remove_profiles(keeper_->directory().path());
    const cluster::Handshake handshake = greet(leads);
    worker_->agree(handshake.choices);
    result_.directory = handshake.run_directory;
    log_.open_file(fmt::format("{}/logs/node-{:04}.log", handshake.run_directory, transport_.rank()));

    journal_ =
        std::make_unique<journal::Journal>(handshake.run_directory + "/journal", transport_.rank(), prepared_->plan());
    journal::Journal& journal = *journal_;
    const node::Scratch scratch(handshake.run_directory);
    worker_->begin(handshake.run_directory, transport_.rank(), request_.profile);
    agent_.devices = devices_;
    agent_.work = [this](uint32_t d, const cluster::WorkItem& item, cluster::Reporter& r) {
      worker_->work(d, item, r);
    };
    cluster::Handshake seen = handshake;  // as the scheduler sees the devices
    if (request_.config.team) form_team(seen);
    agent_.on_durable = [scratch](uint32_t fit) { scratch.remove_fit(fit); };
    agent_.break_off = [this](uint32_t d) { return worker_->kill(d); };
    agent_.on_abandoned = [this] { abandoned_ = true; };
    agent_.hang_s = request_.hang_s;
    cluster::CoordinatorSetup coordinator;
    if (leads) coordinator = lead(handshake.nodes, seen, journal);
    const cluster::Outcome outcome = run_fits(seen, leads ? &coordinator : nullptr, journal);
    observer_.end_fits();
    result_.state = outcome.finished ? "done" : "stopped";
    result_.reason = outcome.reason;
    note_fallbacks(*worker_, log_);
    if (leads)  // tables and plots may take their time, in which the other nodes want to hear that this one lives
      cluster::attend(transport_, [&] { finish(outcome, journal); });
    else
      journal.close(result_.state);
    return result_;
  }

  // A device hangs in work that still uses all this: it must not be destroyed.
  bool abandoned() const { return abandoned_; }

  // The run failed: what is on disk stays, and the next run goes on from it.
  void failed(const std::string& reason) {
    if (keeper_ == nullptr) return;
    keeper_->record().state = "stopped";
    keeper_->record().exit_reason = reason;
    try {
      keeper_->write();
      write_report(registry_, keeper_->directory().path(), keeper_->record());  // of what there is
    } catch (const std::exception&) {
      // Where a journal cannot be written, run.json cannot either: the first sentence is the one to show.
    }
  }

 private:
  // Which cores and devices of its host this rank uses. Nothing has started a thread on them yet.
  cluster::Part share_host() {
    const cluster::Meeting meeting =
        cluster::meet(transport_, machine_->presence(request_.config.devices), kVersion, stop_);
    for (const std::string& notice : meeting.notices) log_.warn("run", notice);
    machine_->take(meeting.part, request_.config.devices);
    if (request_.limit_loops) request_.limit_loops(machine_->loop_threads());
    return meeting.part;
  }

  cluster::Handshake greet(bool leads) {
    const cluster::Hello hello{kVersion, prepared_->plan().hash, devices_, worker_->choices()};
    cluster::Leader leader;
    if (leads) leader = {fs::absolute(keeper_->directory().path()).string(), keeper_->record().choices, true};
    return cluster::handshake(transport_, hello, leads ? &leader : nullptr, stop_);
  }

  cluster::Outcome run_fits(const cluster::Handshake& seen, const cluster::CoordinatorSetup* coordinator,
                            journal::Journal& journal) {
    const auto end_team = [&] {
      if (team_ && !abandoned_ && !team_->end()) abandoned_ = true;
    };
    try {
      cluster::Outcome outcome = cluster::run(transport_, seen, agent_, coordinator, journal, stop_);
      end_team();
      return outcome;
    } catch (...) {
      end_team();
      throw;
    }
  }

  // All devices become one of rank 0.
  void form_team(cluster::Handshake& seen) {
    const bool leads = transport_.rank() == 0;
    if (leads) keeper_->recall_speeds(seen.nodes);
    team_ = std::make_unique<team::TeamSite>(*worker_, log_, transport_.rank(), seen.nodes, request_.hang_s / 2);
    agent_.side = &team_->channel();
    agent_.devices.clear();
    if (!leads) return;
    team_->keep_account(seen.run_directory);
    if (const std::string& other = request_.config.repeat_splits; !other.empty()) {
      team_->repeat_splits(other);
      if (read_run_record(other).plan_hash != prepared_->plan().hash)
        throw Error(MK_INVALID_ARGUMENT, fmt::format("devices.repeat_splits is '{}', a run of another plan: config and "
                                                     "data must be the same",
                                                     other));
    }
    agent_.devices = {team_->device()};
    seen.nodes.assign(transport_.size(), {});
    seen.nodes[0] = agent_.devices;
    agent_.work = [this](uint32_t, const cluster::WorkItem& item, cluster::Reporter& r) { team_->work(item, r); };
    observer_.phase(fmt::format("a team of {}", agent_.devices.front().name));
  }

  // `nodes`: the devices of each rank; `handshake`: as the scheduler sees them.
  cluster::CoordinatorSetup lead(const std::vector<std::vector<cluster::LocalDevice>>& nodes,
                                 const cluster::Handshake& handshake, journal::Journal& journal) {
    RunRecord& record = keeper_->record();
    const bool resumed = keeper_->directory().existed();
    const std::vector<std::string> before = record.device_classes;
    keeper_->note_devices(nodes);
    if (resumed && record.device_classes != before)
      log_.warn("run", "the devices differ from those this run started on: results now agree within tolerance only");
    record.choices = handshake.choices;
    record.state = "running";
    record.exit_reason.clear();
    record.environment["host"] = cluster::host_name();
    record.environment["nodes"] = transport_.size();
    record.environment["reproducibility"] = keeper_->reproducibility(request_.config.team);
    keeper_->write();

    size_t devices = 0;
    for (const auto& node : handshake.nodes) devices += node.size();
    cluster::CoordinatorSetup setup;
    setup.hang_s = request_.hang_s;
    const search::Plan& plan = prepared_->plan();
    setup.n_fits = plan.n_fits();
    setup.workload = workload_of(*prepared_, devices);
    setup.refit_after = fits_by_bootstrap(plan);
    setup.choose_refit = [this, pieces = setup.workload.pieces](uint32_t bootstrap,
                                                                const std::vector<journal::FitRecord>& fits) {
      const cluster::Refit refit = choose_refit(*prepared_, pieces, bootstrap, fits);
      if (refit.candidate && prepared_->plan().bootstraps == 1)
        tell_phase(fmt::format("refitting {} on {} rows", node::candidate_text(prepared_->plan(), *refit.candidate),
                               prepared_->data().train.rows));
      return refit;
    };
    setup.loss = [this](const journal::FitRecord& fit) { return loss_of(*prepared_, fit); };
    journal::Contents contents = read_journals();
    for (const std::string& notice : contents.notices) log_.warn("journal", notice);
    write_pieces(result_.directory, setup.workload.pieces);
    setup.timed = timed_work(contents.records);
    if (resumed)
      observer_.phase(fmt::format("going on with {}: {} of {} fits are done", keeper_->directory().path(),
                                  contents.records.size(), plan.n_fits()));
    Before earlier = done_before(*prepared_, result_.directory, std::move(contents));
    for (const journal::FitRecord& refit : earlier.to_redo)
      journal.append(journal::supersede(
          refit, base::wall_s(),
          "it failed, its model or a fit before it is gone, or another candidate is the best: it is trained again"));
    setup.done = std::move(earlier.done);
    setup.attempts = std::move(earlier.attempts);
    status_ =
        std::make_unique<StatusFile>(result_.directory, handshake.nodes, plan.n_slots(), setup.done, base::wall_s);
    observer_.begin_fits(plan.n_slots(), setup.done.size());
    setup.on_record = [this](const journal::FitRecord& r) {
      status_->record(r);
      observer_.record(r);
    };
    setup.on_event = [this, &journal](const journal::EventRecord& event) {
      journal.append(event);
      status_->event(event);
    };
    nodes_ = handshake.nodes;
    setup.on_device_state = [this](uint32_t node, uint32_t device, const std::string& what, double share) {
      if (node >= nodes_.size() || device >= nodes_[node].size()) return;
      status_->device_state(node, device, what, share);
      observer_.device_state(node, nodes_[node][device].id, nodes_[node][device].name, what, share);
    };
    return setup;
  }

  journal::Contents read_journals() const {
    return journal::read_all(keeper_->directory().journal_path(), prepared_->plan());
  }

  // What counts: as results.csv has it, from the files.
  journal::Contents counted(const cluster::Outcome& outcome, journal::Journal& journal) {
    journal.flush();
    journal::Contents contents = read_journals();
    // Of a node that was thought lost, and came to the disk unseen.
    const std::vector<journal::FitRecord> rivals = journal::rivals(outcome.records, contents);
    for (const journal::FitRecord& one : rivals)
      journal.append(journal::supersede(one, base::wall_s(), "another one was counted before it came"));
    if (!rivals.empty()) {
      journal.flush();
      contents = read_journals();
    }
    for (const journal::Disagreement& one : contents.disagreements) log_.warn("journal", one.text);
    const size_t found = contents.records.size() + contents.refits.size();
    if (found >= outcome.records.size()) return contents;
    log_.warn("journal",
              fmt::format("{} holds {} of {} finished fits: let every node see the same directory, and run again",
                          keeper_->directory().journal_path(), found, outcome.records.size()));
    contents.records = outcome.records;
    contents.refits.clear();
    const auto refits = std::partition_point(contents.records.begin(), contents.records.end(),
                                             [&](const auto& r) { return !prepared_->plan().is_refit(r.fit); });
    contents.refits.assign(refits, contents.records.end());
    contents.records.erase(refits, contents.records.end());
    return contents;
  }

  void finish(const cluster::Outcome& outcome, journal::Journal& journal) {
    RunRecord& record = keeper_->record();
    const journal::Contents contents = counted(outcome, journal);
    result_.failed = static_cast<uint64_t>(std::count_if(contents.records.begin(), contents.records.end(), has_failed));
    result_.reproducibility = keeper_->reproducibility(request_.config.team);
    if (outcome.finished) {
      if (const auto best = best_row(*prepared_, contents.records, 0); best && prepared_->plan().bootstraps == 1)
        tell_best(*best);
      node::adopt_models(result_.directory, prepared_->plan(), contents);
      if (prepared_->plan().bootstraps > 1) write_vote(result_.directory, *prepared_, contents.refits);
      tell_failed_refits(contents.refits);
      if (result_.failed > 0 || result_.refit_failed) result_.state = "failed fits";
    } else {
      adopt_those_there_are(contents);
    }
    for (auto& [name, choices] : worker_->choices()) record.choices[name].insert(choices.begin(), choices.end());
    record.state = result_.state;
    record.exit_reason = result_.reason;
    journal.close(result_.state);
    // Every fit and refit is on the disk now.
    if (result_.state != "stopped") node::Scratch(result_.directory).remove_all();
    remember_run(*prepared_, record, contents.records);
    tell_phase("writing the report");
    const report::RunView view = write_report(registry_, result_.directory, record);
    keeper_->write();  // last: a run that was killed before is not done, and the next one goes on from it
    result_.test = view.test;
    tell_members(view);
    if (!request_.profile) return;
    for (const report::DeviceProfile& profile : view.profiles) result_.profile += report::profile_text(profile);
  }

  // The members that a stopped run has can predict. Those whose models were lost are trained again; and where nothing
  // can be written, the next session names what there is.
  void adopt_those_there_are(journal::Contents contents) const {
    const search::Plan& plan = prepared_->plan();
    std::erase_if(contents.refits, [&](const auto& refit) { return !node::has_model(result_.directory, plan, refit); });
    try {
      node::adopt_models(result_.directory, plan, contents);
    } catch (const std::exception&) {
    }
  }

  // The fits stand all the same. Where fits failed, they say all of a single refit without a candidate.
  void tell_failed_refits(const std::vector<journal::FitRecord>& refits) {
    const bool bagging = prepared_->plan().bootstraps > 1;
    uint32_t failed = 0;
    for (const journal::FitRecord& refit : refits) {
      if (!has_failed(refit) || (!refit.refit && !bagging && result_.failed > 0)) continue;
      if (failed++ == 0)
        result_.reason = fmt::format("{} failed: {}", report::fit_name(prepared_->plan(), refit.fit), refit.note);
    }
    if (failed > 1) result_.reason += fmt::format(" (and {} more)", failed - 1);
    result_.refit_failed = failed > 0;
  }

  void tell_members(const report::RunView& view) {
    if (view.plan.bootstraps == 1) return;
    result_.members = view.plan.bootstraps;
    for (const journal::FitRecord& refit : view.refits)
      if (const auto test = report::test_of(refit, view.data_classes > 0)) result_.member_tests.push_back(*test);
  }

  void tell_best(const report::CandidateRow& best) {
    result_.best = node::candidate_text(prepared_->plan(), best.candidate);
    result_.folds = prepared_->plan().folds;
    for (const report::Metric& metric : prepared_->metrics())
      if (best.complete && metric.selects && result_.metric.empty()) result_.metric = metric.name;
    result_.best_mean = best.mean;
    result_.best_sd = best.sd;
  }

  void tell_phase(const std::string& text) {
    status_->phase(text);
    observer_.phase(text);
  }

  registry::Registry& registry_;
  base::Log& log_;
  cluster::Transport& transport_;
  const RunRequest& request_;
  const Observer& observer_;
  const std::atomic<bool>& stop_;
  std::unique_ptr<node::Prepared> prepared_;
  std::unique_ptr<Keeper> keeper_;
  std::unique_ptr<StatusFile> status_;  // rank 0 only, from the first fit on
  std::unique_ptr<node::Machine> machine_;
  std::unique_ptr<node::Worker> worker_;
  std::unique_ptr<journal::Journal> journal_;
  std::unique_ptr<team::TeamSite> team_;  // with [devices] team
  cluster::AgentSetup agent_;
  bool abandoned_ = false;
  std::vector<cluster::LocalDevice> devices_;  // of this rank
  std::vector<std::vector<cluster::LocalDevice>> nodes_;
  RunResult result_;
};

}  // namespace

RunResult run(registry::Registry& registry, base::Log& log, cluster::Transport& transport, const RunRequest& request,
              const Observer& observer, const std::atomic<bool>& stop) {
  auto participant = std::make_unique<Participant>(registry, log, transport, request, observer, stop);
  const auto leave_what_hangs = [&] {
    if (!participant->abandoned()) return;
    static_cast<void>(participant.release());
    if (observer.abandoned) observer.abandoned();
  };
  RunResult result;
  try {
    cluster::participate(transport, [&] { result = participant->run(); });
  } catch (const std::exception& e) {
    participant->failed(e.what());
    leave_what_hangs();
    throw;
  }
  leave_what_hangs();
  return result;
}

}  // namespace mokume::run
