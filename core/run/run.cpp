#include "run/run.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "base/clock.hpp"
#include "base/plural.hpp"
#include "cluster/directory.hpp"
#include "cluster/run.hpp"
#include "config/resolved.hpp"
#include "journal/read.hpp"
#include "node/candidate_text.hpp"
#include "node/devices.hpp"
#include "node/machine.hpp"
#include "node/profile_files.hpp"
#include "run/finish.hpp"
#include "run/fit_times.hpp"
#include "run/out_of_fold.hpp"
#include "run/recorded_run.hpp"
#include "run/refit_rules.hpp"
#include "run/result.hpp"
#include "run/reuse.hpp"
#include "run/view.hpp"
#include "run/workload.hpp"
#include "sdk/error.hpp"
#include "team/team_node.hpp"

namespace mokume::run {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVersion = MOKUME_VERSION;

void note_fallbacks(const node::Devices& devices, base::Log& log) {
  const auto infos = devices.devices();
  const auto fallbacks = devices.fallbacks();
  for (size_t d = 0; d < infos.size(); ++d)
    for (const auto& [op, count] : fallbacks[d])
      log.warn("device", fmt::format("{}: {} ran on the host {}, since the device does not support it", infos[d].id, op,
                                     base::counted(count, "time")));
}

// Announces the refitted candidate if the run has a single refit.
class AnnouncedRefit : public BestCandidates {
 public:
  AnnouncedRefit(const node::Experiment& experiment, std::vector<scheduler::Bundle> bundles,
                 const cluster::Observers& observers)
      : BestCandidates(experiment, std::move(bundles)), experiment_(experiment), observers_(observers) {}

  cluster::Refit choose(uint32_t bootstrap, const std::vector<journal::FitRecord>& fits) override {
    const cluster::Refit refit = BestCandidates::choose(bootstrap, fits);
    if (refit.candidate && experiment_.plan().bootstraps == 1) {
      const std::string text = node::candidate_text(experiment_.plan(), *refit.candidate);
      cluster::notify(observers_, &cluster::Observer::phase,
                      fmt::format("refitting {}on {}", text.empty() ? "" : text + " ",
                                  base::counted(static_cast<uint64_t>(experiment_.data().train.rows), "row")));
    }
    return refit;
  }

 private:
  const node::Experiment& experiment_;
  const cluster::Observers& observers_;
};

class NodeRun {
 public:
  NodeRun(registry::Registry& registry, base::Log& log, cluster::Transport& transport, const RunRequest& request,
          Frontend& frontend, const std::atomic<bool>& stop)
      : registry_(registry), log_(log), transport_(transport), request_(request), frontend_(frontend), stop_(stop) {}

  RunResult run() {
    prepare();
    handshake_ = shake_hands();
    const cluster::Handshake& handshake = handshake_;
    if (handshake.finished) return with_rows(finished());
    const std::string& directory = handshake.run_directory;
    if (!leads()) locks_reach_ = is_held(directory);
    log_.open_file({directory, fmt::format("logs/node-{:04}.log", transport_.rank())});
    const journal::Writer writer(transport_.rank(), transport_.number());
    journal_ = std::make_unique<journal::Journal>(directory + "/journal", writer, experiment_->plan());
    devices_->begin(handshake.choices, directory, transport_.rank(), request_.profile);

    cluster::Handshake seen = handshake;  // the handshake as the scheduler sees it
    if (request_.config.team) form_team(seen);
    std::unique_ptr<cluster::Leading> leading;
    if (leads()) leading = lead(handshake.nodes, seen);
    cluster::LoopOptions options;
    options.limits.hang_s = request_.hang_s;
    options.bounds = experiment_->bounds();
    options.team = team_.get();
    options.stop_cause = [this] { return frontend_.stop_cause(); };
    cluster::Executor& executor = team_ ? static_cast<cluster::Executor&>(*team_) : *devices_;
    cluster::Outcome outcome;
    {
      const std::shared_ptr<void> team_ends(nullptr, [this](void*) {
        if (team_ && !abandoned()) team_abandoned_ = !team_->end();
      });
      outcome = cluster::run(transport_, seen, executor, leading.get(), *journal_, stop_, options);
    }
    frontend_.end_fits();
    note_fallbacks(*devices_, log_);
    if (leads()) return with_rows(conclude(outcome));
    RunResult result;
    result.directory = directory;
    result.state = outcome.finished ? "done" : "stopped";
    result.reason = outcome.reason;
    result.leader_lost = outcome.leader_lost && may_replace(outcome.leader_silent);
    journal_->close(result.state);
    return result;
  }

  // Returns whether another node may lead after node 0 was lost. One that is only silent may still work, unless the
  // lock of the run directory, which the next node 0 needs, shows that it does not.
  bool may_replace(bool silent) const { return !abandoned() && (!silent || locks_reach_); }

  // Returns the run directory, or "" before the handshake.
  const std::string& directory() const { return handshake_.run_directory; }

  // Returns whether hanging work still uses these objects, so that they must not be destroyed.
  bool abandoned() const { return team_abandoned_ || (devices_ != nullptr && devices_->abandoned()); }

  // Records that the run failed. The next run resumes from the files on disk.
  void failed(const std::string& reason) {
    if (recorded_ == nullptr) return;
    recorded_->record().state = "stopped";
    recorded_->record().exit_reason = reason;
    try {
      recorded_->write();
      const std::string directory = recorded_->directory().path();
      frontend_.draw(write_tables(registry_, directory, recorded_->record()), directory);  // draws the results so far
    } catch (const std::exception&) {
      // If a journal cannot be written, run.json cannot either. The original error is the one to show.
    }
  }

 private:
  bool leads() const { return transport_.rank() == 0; }

  RunResult with_rows(RunResult result) const {
    const uint32_t rungs = experiment_->config().folds > 0 ? experiment_->plan().rungs() : 0;
    for (uint32_t rung = 0; rung < rungs; ++rung) result.rung_rows.push_back(experiment_->splits().rows_in_rung(rung));
    result.rung_rows.push_back(experiment_->splits().rows_of_whole());
    return result;
  }

  RunResult finished() const {
    if (leads()) return earlier_result(registry_, *finished_);
    RunResult result;
    result.state = "done";
    return result;
  }

  // Loads the data, makes the plan, and opens the run directory and devices. If the run of this plan is already
  // finished, rank 0 opens neither.
  void prepare() {
    machine_ = std::make_unique<node::Machine>(registry_, log_, request_.config.devices);
    const cluster::HostShare share = share_host();
    frontend_.phase(fmt::format("loading {}", request_.config.data.source));
    experiment_ = std::make_unique<node::Experiment>(registry_, request_.config);
    if (leads()) tell_notes(experiment_->data());
    if (leads() && !request_.fresh && !request_.directory)
      finished_ = finished_run(request_.config.output, request_.config.name, experiment_->plan().hash);
    else if (leads() && request_.takeover && request_.directory && is_finished(*request_.directory))
      finished_ = request_.directory;
    if (finished_) return;
    if (leads()) recorded_ = std::make_unique<RecordedRun>(request_, *experiment_, stop_);
    if (leads() && !recorded_->directory().existed() && !request_.fresh) {
      reusable_ = find_reusable(registry_, *experiment_, request_.config.output, request_.version);
      if (reusable_) recorded_->record().choices = reusable_->choices;
    }
    const cluster::ClassChoices recorded = leads() ? recorded_->record().choices : cluster::ClassChoices();
    // Speeds affect only the order of work, so a single device needs none.
    devices_ = std::make_unique<node::Devices>(*machine_, *experiment_, log_, share.sharers, recorded,
                                               share.devices_of_run > 1);
    if (leads() && request_.profile) node::remove_profiles(recorded_->directory().path());
  }

  void tell_notes(const data::Dataset& data) {
    for (const std::string& note : data.notes) frontend_.phase(note);
    if (!data.storage_note.empty()) frontend_.phase(data.storage_note);
  }

  // Chooses the host cores and devices of this node, before any thread starts on them.
  cluster::HostShare share_host() {
    const cluster::Meeting meeting =
        cluster::meet(transport_, machine_->view(request_.config.devices), kVersion, stop_);
    for (const std::string& notice : meeting.notices) log_.warn("run", notice);
    machine_->take(meeting.share, request_.config.devices);
    frontend_.limit_loops(machine_->loop_threads());
    return meeting.share;
  }

  cluster::Handshake shake_hands() {
    cluster::Hello hello{kVersion, experiment_->plan().hash, {}, {}};
    if (devices_) hello.devices = devices_->devices(), hello.choices = devices_->choices();
    cluster::Leader leader;
    if (finished_)
      leader = {*finished_, {}, false, true};
    else if (leads())
      leader = {fs::absolute(recorded_->directory().path()).string(), recorded_->record().choices, true};
    return cluster::handshake(transport_, hello, leads() ? &leader : nullptr, stop_);
  }

  // Combines all devices into one device of node 0.
  void form_team(cluster::Handshake& seen) {
    if (leads()) recorded_->recall_speeds(seen.nodes);
    const team::TeamNode::Options options{request_.config.sums, team::split_of(request_.config.split),
                                          request_.hang_s / 2};
    team_ = std::make_unique<team::TeamNode>(*devices_, log_, transport_, seen.nodes, options);
    if (!leads()) return;
    team_->account().keep_in(seen.run_directory);
    if (const std::string& other = request_.config.repeat_splits; !other.empty()) {
      team_->account().repeat_splits(other, team_->members());
      check_same_plan(other, experiment_->plan().hash);
    }
    seen.nodes.assign(transport_.size(), {});
    seen.nodes[0] = team_->devices();
    frontend_.phase(fmt::format("a team of {}", seen.nodes[0].front().name));
  }

  // `nodes` holds the devices of each node; `handshake` holds them as the scheduler sees them.
  std::unique_ptr<cluster::Leading> lead(const std::vector<std::vector<cluster::LocalDevice>>& nodes,
                                         const cluster::Handshake& handshake) {
    record_start(nodes, handshake.choices);
    if (request_.takeover && !request_.takeover->text.empty())
      journal_->append(journal::EventRecord{request_.takeover->at_s, journal::EventRecord::Kind::lost, 0, "", -1, 0,
                                            request_.takeover->text});
    if (reusable_) take_over(*reusable_);
    const search::Plan& plan = experiment_->plan();
    const std::string& directory = recorded_->directory().path();
    size_t devices = 0;
    for (const auto& node : handshake.nodes) devices += node.size();
    cluster::PlannedWork work;
    work.n_fits = plan.n_fits();
    work.bounds = experiment_->bounds();
    work.bundles = workload_of(*experiment_, devices);
    work.refit_after = fits_by_bootstrap(plan);
    work.decides = plan.decides();
    journal::Contents contents = journal::read_all(recorded_->directory().journal_path(), plan, work.bounds);
    for (const std::string& notice : contents.notices) log_.warn("journal", notice);
    write_bundles(directory, work.bundles.bundles);
    work.timed = timed_work(contents.records);
    if (recorded_->directory().existed())
      frontend_.phase(fmt::format("resuming {}: {} of {} are done", directory, without_dropped(contents.records).size(),
                                  base::counted(plan.n_computed(), "fit")));
    Before earlier = done_before(*experiment_, directory, std::move(contents));
    for (const journal::FitRecord& refit : earlier.to_redo)
      journal_->append(journal::supersede(refit, base::wall_s(),
                                          "this refit is repeated, because it failed, its model or one of its fits is "
                                          "missing, or another candidate is now the best"));
    work.done = std::move(earlier.done);
    work.attempts = std::move(earlier.attempts);
    const std::vector<journal::FitRecord> computed = without_dropped(work.done);
    status_ = std::make_unique<StatusFile>(directory, handshake.nodes, plan.n_slots(), computed, base::wall_s,
                                           work.bundles, chances_of(plan));
    observers_ = {status_.get(), &frontend_};
    frontend_.begin_fits({directory, recorded_->directory().existed(), plan, experiment_->metrics(), handshake.nodes,
                          computed, *status_});
    rules_ = std::make_unique<AnnouncedRefit>(*experiment_, work.bundles.bundles, observers_);
    return std::make_unique<cluster::Leading>(cluster::Leading{std::move(work), *rules_, observers_});
  }

  // Adds fits of an earlier run to the journal, as if an earlier session had computed them.
  void take_over(const Reusable& reusable) {
    RunRecord& record = recorded_->record();
    const auto fits = taken_over(reusable.records, record.device_classes, base::wall_s());
    if (fits.empty()) return;
    for (const journal::FitRecord& fit : fits) journal_->append(fit);
    journal_->flush();
    take_over_out_of_fold(reusable.directory, reusable.earlier, *experiment_, recorded_->directory().path());
    record.reused_from = reusable.directory;
    recorded_->write();
    frontend_.phase(fmt::format("taking over {} of {} fits from {}; --fresh computes them again", fits.size(),
                                experiment_->plan().n_fits(), reusable.directory));
  }

  void record_start(const std::vector<std::vector<cluster::LocalDevice>>& nodes, const cluster::ClassChoices& choices) {
    RunRecord& record = recorded_->record();
    const std::vector<std::string> before = record.device_classes;
    recorded_->note_devices(nodes);
    if (recorded_->directory().existed() && record.device_classes != before)
      log_.warn("run", "the devices differ from those this run started on: results now agree within tolerance only");
    record.choices = choices;
    record.state = "running";
    record.exit_reason.clear();
    record.environment.host = cluster::host_name();
    record.environment.nodes = 0;
    for (uint32_t node = 0; node < transport_.size(); ++node)
      record.environment.nodes += transport_.absent(node) ? 0 : 1;
    record.environment.sums = team_ ? team_->sums_road() : "";
    record.environment.reproducibility = recorded_->reproducibility(request_.config.team);
    recorded_->write();
  }

  // Writing tables and plots may take a while; meanwhile, attend() answers the heartbeats of the other nodes.
  RunResult conclude(const cluster::Outcome& outcome) {
    const Finishing all{registry_, log_, request_, *experiment_, *recorded_, *journal_, observers_, frontend_};
    RunResult result;
    if (team_) recorded_->record().environment.sums = team_->sums_road();
    cluster::attend(transport_, [&] { result = finish(all, outcome, devices_->choices()); });
    return result;
  }

  registry::Registry& registry_;
  base::Log& log_;
  cluster::Transport& transport_;
  const RunRequest& request_;
  Frontend& frontend_;
  const std::atomic<bool>& stop_;
  cluster::Handshake handshake_;
  bool locks_reach_ = false;  // set on nodes other than 0 that see node 0's lock of the run directory
  std::unique_ptr<node::Experiment> experiment_;
  // This member and the next five are set only on node 0.
  std::optional<std::string> finished_;  // directory of an earlier, finished run
  std::unique_ptr<RecordedRun> recorded_;
  std::optional<Reusable> reusable_;
  std::unique_ptr<StatusFile> status_;
  cluster::Observers observers_;
  std::unique_ptr<BestCandidates> rules_;
  std::unique_ptr<node::Machine> machine_;
  std::unique_ptr<node::Devices> devices_;
  std::unique_ptr<journal::Journal> journal_;
  std::unique_ptr<team::TeamNode> team_;  // set if [devices] team is true
  bool team_abandoned_ = false;
};

}  // namespace

RunResult run(registry::Registry& registry, base::Log& log, cluster::Transport& transport, const RunRequest& request,
              Frontend& frontend, const std::atomic<bool>& stop) {
  auto node_run = std::make_unique<NodeRun>(registry, log, transport, request, frontend, stop);
  const auto leave_what_hangs = [&] {
    if (!node_run->abandoned()) return;
    static_cast<void>(node_run.release());
    frontend.leave_threads();
  };
  RunResult result;
  try {
    cluster::participate(transport, [&] { result = node_run->run(); });
    result.leader_lost = false;  // node 0 has said goodbye after all
  } catch (const cluster::LeaderLost& lost) {
    const bool stopped = result.state == "stopped" && !result.leader_lost;  // for another reason: nobody resumes it now
    const bool replaceable = !stopped && node_run->may_replace(lost.silent());
    if (!result.leader_lost) result.reason = lost.what();
    result.directory = node_run->directory();
    result.state = "stopped";
    result.leader_lost = result.leader_lost || replaceable;
    leave_what_hangs();
    if (!result.leader_lost) throw;
    return result;
  } catch (const std::exception& e) {
    node_run->failed(e.what());
    leave_what_hangs();
    throw;
  }
  leave_what_hangs();
  return result;
}

}  // namespace mokume::run
