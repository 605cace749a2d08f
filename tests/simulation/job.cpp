#include "simulation/job.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "cluster/fixtures.hpp"
#include "cluster/run.hpp"
#include "journal/line.hpp"
#include "journal/read.hpp"
#include "simulation/disk.hpp"
#include "simulation/network.hpp"
#include "simulation/world.hpp"
#include "support/scratch.hpp"

namespace mokume::simulation {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJournals = "run/journal";
constexpr uint32_t kTroubledStarts = 6;  // the next start has no trouble and must finish
constexpr double kLongestStart = 6000;   // includes the half hour for devices that do not open
constexpr double kHangSeconds = 60;
constexpr uint32_t kRegroupMs = 60000;
constexpr double kLockSeconds = 120;

// Draws the properties of a job once, from the seed.
struct Shape {
  uint32_t fits = 0, bundle = 0, refits = 0;
  // An even fit and the next one are the fits of a candidate. They are in two rungs, or half of the candidates are
  // trials.
  bool rungs = false, trials = false;
  double fit_s = 0;

  explicit Shape(Random& random)
      : fits(1 + random.below(40)),
        bundle(1 + random.below(4)),
        refits(random.below(2)),
        fit_s(std::pow(10.0, random.between(-2, 0.7))) {
    rungs = random.chance(0.3);
    trials = !rungs && random.chance(0.4);
    if (decides()) fits += fits % 2;
  }
  bool decides() const { return rungs || trials; }
  uint32_t n_trials() const { return trials ? (fits / 2 + 1) / 2 : 0; }
  // Half of the fits in the second rung are dropped.
  bool drops(uint32_t fit) const { return rungs && fit < fits && fit % 4 == 3; }
  uint32_t bundle_of(uint32_t fit) const {
    if (fit >= fits) return fit;
    return rungs ? fit % 2 * fits + fit / 2 / bundle : trials ? fit / 2 : fit / bundle;
  }
  search::Plan plan() const {
    search::Plan plan = cluster::make_plan(decides() ? fits / 2 : fits);
    if (decides()) plan.folds = 2;
    if (rungs) plan.repeats = plan.factor = 2;
    plan.trials = n_trials();
    return plan;
  }
  using Records = std::vector<std::optional<journal::FitRecord>>;
  cluster::Decision decide(const Records& done) const {
    return rungs ? decide_rungs(done) : trials ? decide_trials(done) : cluster::Decision();
  }
  cluster::Decision decide_rungs(const Records& done) const {
    cluster::Decision decision;
    for (uint32_t fit = 0; fit < fits; fit += 2) decision.begin.push_back(fit);
    for (uint32_t fit = 1; fit < fits; fit += 2)
      if (done[fit - 1]) (drops(fit) ? decision.dropped : decision.begin).push_back(fit);
    return decision;
  }
  // Two trials are under way at once, and the results of the others choose the next one.
  cluster::Decision decide_trials(const Records& done) const {
    cluster::Decision decision;
    std::vector<uint32_t> trials_so_far;
    std::vector<bool> chosen(fits / 2);
    double sum = 0;
    for (uint32_t trial = 0; trial < n_trials(); ++trial) {
      if (trial >= 2) {
        const uint32_t known = 2 * trials_so_far[trial - 2];
        if (!done[known] || !done[known + 1]) return decision;
        sum += done[known]->values.empty() ? 1 : done[known]->values[0];
      }
      uint32_t next = (7 * trial + static_cast<uint32_t>(sum)) % (fits / 2);
      while (chosen[next]) next = (next + 1) % (fits / 2);
      chosen[next] = true;
      trials_so_far.push_back(next);
      decision.begin.insert(decision.begin.end(), {2 * next, 2 * next + 1});
    }
    for (uint32_t fit = 0; fit < fits; ++fit)
      if (!chosen[fit / 2]) decision.unneeded.push_back(fit);
    return decision;
  }
  // Returns which slots have a record in the end.
  std::vector<bool> recorded() const {
    std::vector<bool> found(slots(), true);
    Records all(fits);
    for (uint32_t fit = 0; fit < fits; ++fit) all[fit] = cluster::result_of(fit);
    for (const uint32_t fit : decide(all).unneeded) found[fit] = false;
    return found;
  }
  uint32_t slots() const { return fits + refits; }
  double trouble_s() const { return 3 + fits * fit_s; }  // trouble begins within this time after a start
};

// Runs one start of the job. Its ranks live until all of them have ended.
class Start;

struct Rank {
  std::unique_ptr<Process> process;
  std::unique_ptr<ProcessDisk> disk;
  std::unique_ptr<cluster::TestExecutor> executor;
  std::unique_ptr<journal::Journal> journal;
  cluster::TestRules rules;
  cluster::TestObserver observer;
  std::atomic<bool> stop{false};
  std::vector<bool> killed;  // whether the work of a device was killed
  uint32_t working = 0;      // number of attempts in progress
  bool abandoned = false;    // work hangs although the run has ended
  bool ended = false;
  double ended_at = 0;
  std::optional<cluster::Outcome> outcome;  // the last attempt has one, unless it threw
  int32_t code = MK_OK;
  std::string error;
};

class Job {
 public:
  Job(uint64_t seed, const Troubles& troubles)
      : troubles_(troubles), world_(seed), shape_(world_.random()), plan_(shape_.plan()), disk_(world_) {
    report_.seed = seed;
  }

  Report run();

 private:
  friend class Start;
  Random& random() { return world_.random(); }
  void fault(const std::string& text) { report_.faults.push_back(text); }
  void tell(const std::string& text) { report_.story.push_back(fmt::format("{:9.3f} {}", world_.now() - 1000, text)); }
  journal::FitRecord result(uint32_t fit) const;
  journal::Contents read();
  void check_journals(bool finished);

  const Troubles troubles_;
  World world_;
  const Shape shape_;
  const search::Plan plan_;
  SharedDisk disk_;
  test::Scratch scratch_;
  const Rank* holder_ = nullptr;  // the rank that locked the run directory
  std::set<uint32_t> failed_;     // bundles that have failed; each fails at most once, so no fit is given up
  std::set<uint32_t> durable_;    // fits that some node was told are on disk
  std::vector<std::unique_ptr<Start>> starts_;
  Report report_;
};

class Start {
 public:
  Start(Job& job, bool troubled);
  bool run();  // returns whether the job is done

 private:
  void open_rank(uint32_t rank);
  void live(uint32_t rank);
  bool take_part(Rank& self, cluster::Transport& transport);
  bool attempt(Rank& self, cluster::Transport& transport);
  void lock(const Rank& self);
  cluster::PlannedWork workload();
  void work(uint32_t rank, uint32_t device, const cluster::Attempt& attempt, cluster::Reporter& reporter);
  void compute(Rank& self, uint32_t device, uint32_t fit, cluster::Reporter& reporter);
  void hang(Rank& self, uint32_t device);
  void plan_trouble();
  void kill_rank(uint32_t rank, bool power);
  void kill_leader();
  std::function<void()> draw_trouble(uint32_t rank);
  bool may(bool trouble, double p) { return troubled_ && trouble && job_.random().chance(p); }

  Job& job_;
  World& world_;
  const bool troubled_;
  double failure_rate_ = 0, hang_rate_ = 0;
  bool finished_ = false;  // a rank 0 has finished the run
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::unique_ptr<Network> network_;
};

// ---- Job

journal::FitRecord Job::result(uint32_t fit) const {
  journal::FitRecord record = cluster::result_of(fit);
  if (fit >= shape_.fits) record.refit = plan_.n_candidates() - 1;
  if (!shape_.drops(fit)) return record;
  journal::FitRecord dropped;
  dropped.fit = fit;
  dropped.status = journal::FitStatus::dropped;
  return dropped;
}

// Reads the journals as a new process would, after copying them from the simulated disk to a real directory.
journal::Contents Job::read() {
  const fs::path directory = fs::path(scratch_.path()) / "journal";
  fs::create_directories(directory);
  for (const auto& [path, text] : disk_.files)
    std::ofstream(directory / fs::path(path).filename(), std::ios::binary | std::ios::trunc) << text;
  return journal::read_all(directory.string(), plan_);
}

void Job::check_journals(bool finished) {
  try {
    const journal::Contents contents = read();
    std::set<uint32_t> there;
    for (const auto* records : {&contents.records, &contents.refits}) {
      for (const journal::FitRecord& record : *records) {
        there.insert(record.fit);
        if (!journal::same_result(record, result(record.fit)))
          fault(fmt::format("fit {} has another result in the journal: {}", record.fit, base::to_json(record)));
      }
    }
    if (!contents.disagreements.empty()) fault("records disagree: " + contents.disagreements[0].text);
    for (const uint32_t fit : durable_)
      if (there.count(fit) == 0) fault(fmt::format("fit {} was on disk, and is lost", fit));
    const std::vector<bool> wanted = shape_.recorded();
    for (const uint32_t fit : there)
      if (!wanted[fit]) fault(fmt::format("fit {} belongs to no trial, and was computed", fit));
    const auto slots = static_cast<size_t>(std::count(wanted.begin(), wanted.end(), true));
    if (finished && there.size() != slots)
      fault(fmt::format("the job is done with {} of {} fits in its journals", there.size(), slots));
  } catch (const Error& error) {
    fault(std::string("the journals cannot be read: ") + error.what());
  }
}

Report Job::run() {
  bool finished = false;
  while (!finished && report_.faults.empty() && report_.starts <= kTroubledStarts) {
    const bool troubled = report_.starts < kTroubledStarts;
    ++report_.starts;
    starts_.push_back(std::make_unique<Start>(*this, troubled));
    finished = starts_.back()->run();
    check_journals(finished);
    if (!finished && !troubled) fault("a start without trouble did not finish the job");
  }
  report_.switches = world_.switches();
  report_.bytes_hash = 14695981039346656037U;  // the hash is FNV-1a
  for (const auto& [path, text] : disk_.files)
    for (const char c : text)
      report_.bytes_hash = (report_.bytes_hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return report_;
}

// ---- Start

Start::Start(Job& job, bool troubled) : job_(job), world_(job.world_), troubled_(troubled) {
  Random& random = job.random();
  const uint32_t size = 1 + random.below(4) + (job.troubles_.leader_dies ? 1 : 0);
  std::vector<Process*> processes;
  for (uint32_t rank = 0; rank < size; ++rank) {
    open_rank(rank);
    processes.push_back(ranks_[rank]->process.get());
  }
  Network::Weather weather;
  weather.latency_s = std::pow(10.0, random.between(-5, -1));
  if (may(job.troubles_.loss, 0.5)) weather.loss = random.between(0, 0.2);
  if (may(job.troubles_.broken_devices, 0.3)) failure_rate_ = random.between(0, 0.3);
  if (may(job.troubles_.hanging_devices, 0.1)) hang_rate_ = random.between(0, 0.1);
  network_ = std::make_unique<Network>(world_, processes, weather);
  if (troubled) {
    plan_trouble();
  } else {
    job.disk_.full_until = job.disk_.slow_until = 0;
  }
}

void Start::open_rank(uint32_t rank) {
  auto self = std::make_unique<Rank>();
  const uint32_t devices = 1 + job_.random().below(3);
  self->process = std::make_unique<Process>(world_, fmt::format("rank {}", rank));
  self->disk = std::make_unique<ProcessDisk>(job_.disk_, *self->process);
  self->killed.resize(devices);
  self->executor = std::make_unique<cluster::TestExecutor>(
      rank, devices,
      [this](uint32_t node, uint32_t device, const cluster::Attempt& attempt, cluster::Reporter& reporter) {
        work(node, device, attempt, reporter);
      });
  self->executor->on_saved = [this](uint32_t fit) { job_.durable_.insert(fit); };
  self->executor->on_abandoned = [state = self.get()] { state->abandoned = true; };
  // Without isolation, nothing can end a device's work.
  const bool isolated = job_.random().chance(0.7);
  self->executor->on_kill = [this, state = self.get(), isolated](uint32_t device) {
    state->killed[device] = isolated;
    if (isolated) world_.wake_all(state->process.get());
    return isolated;
  };
  self->rules.decides = [this](const Shape::Records& done) { return job_.shape_.decide(done); };
  ranks_.push_back(std::move(self));
}

bool Start::run() {
  for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    const double delay = job_.random().about(0.1);
    world_.spawn(ranks_[rank]->process.get(), [this, rank, delay] {
      world_.sleep_until(world_.now() + delay);
      live(rank);
    });
  }
  const double cut_at = world_.now() + job_.troubles_.cut_off_s.value_or(kNever);
  const bool cut = ranks_.size() > 1 && job_.report_.starts == 1;
  if (cut) world_.at(cut_at, [this] { network_->cut(1, kNever); });
  if (job_.troubles_.leader_dies && job_.report_.starts == 1)
    world_.at(world_.now() + (0.1 + job_.shape_.fits * job_.shape_.fit_s / 6) * job_.random().share(),
              [this] { kill_leader(); });
  const auto over = [&] {
    return std::all_of(ranks_.begin(), ranks_.end(), [](const auto& rank) { return rank->ended; });
  };
  if (!world_.run(world_.now() + kLongestStart, over)) {
    std::string who;
    for (const auto& rank : ranks_)
      if (!rank->ended) who += (who.empty() ? "" : ", ") + rank->process->name();
    job_.fault(fmt::format("the start did not end within {} s: {}", kLongestStart, who));
    for (auto& rank : ranks_) static_cast<void>(rank.release());  // their threads still use them
    return false;
  }
  if (cut) job_.report_.cut_off_s = std::max(0.0, ranks_[1]->ended_at - cut_at);
  for (const auto& rank : ranks_)
    job_.tell(fmt::format("{} ended: {}", rank->process->name(),
                          rank->code != MK_OK       ? rank->error
                          : rank->outcome->finished ? "done"
                                                    : rank->outcome->reason));
  return finished_;
}

// Returns whether an error is the program's own fault, not a fault of its surroundings.
bool is_internal(int32_t code, const std::string& text) {
  if (code != MK_INTERNAL) return false;
  for (const char* expected : {"has not reported within", "has not answered within"})
    if (text.find(expected) != std::string::npos) return false;
  return true;
}

// Does the same as main().
void Start::live(uint32_t rank) {
  Rank& self = *ranks_[rank];
  cluster::Transport transport(network_->table(rank), *self.process);
  try {
    while (!take_part(self, transport)) {
    }
  } catch (const Error& error) {
    self.code = error.status();
    self.error = error.what();
    if (!self.process->dead() && is_internal(self.code, self.error))
      job_.fault(fmt::format("{} failed: {}", self.process->name(), self.error));
  } catch (const std::exception& error) {
    self.code = MK_INTERNAL;
    self.error = error.what();
    job_.fault(fmt::format("{} threw: {}", self.process->name(), self.error));
  }
  if (self.process->dead()) self.code = MK_CANCELLED, self.error = "died";
  if (!self.process->dead()) network_->died(rank);
  self.process->die();  // also ends hanging work
  while (self.working > 0) world_.park(kNever);
  self.journal.reset();
  self.ended = true;
  self.ended_at = world_.now();
}

// Returns false if this rank is to take part again, in a group with another rank 0.
bool Start::take_part(Rank& self, cluster::Transport& transport) {
  try {
    if (attempt(self, transport)) return true;
  } catch (const cluster::LeaderLost&) {
    if (self.outcome && !self.outcome->finished && !self.outcome->leader_lost) throw;
    if (self.abandoned || self.stop) throw;
  }
  self.journal.reset();
  self.outcome.reset();
  transport.regroup(kRegroupMs);
  if (transport.rank() == 0) ++job_.report_.takeovers, job_.tell(self.process->name() + " takes over");
  return false;
}

// Makes this process the only one that leads the run. The kernel keeps a lock until the last write of a dead process
// has ended.
void Start::lock(const Rank& self) {
  const double deadline = world_.now() + kLockSeconds;
  const auto held = [&] { return job_.holder_ != nullptr && job_.holder_ != &self && !job_.holder_->ended; };
  while (held() && world_.now() < deadline && !self.process->dead()) world_.sleep_until(world_.now() + 1);
  if (held()) throw Error(MK_CANCELLED, "another process works on this run");
  job_.holder_ = &self;
}

// Returns whether the run ended for this rank, with or without success.
bool Start::attempt(Rank& self, cluster::Transport& transport) {
  const bool leads = transport.rank() == 0;
  cluster::LoopOptions options;
  options.threads = self.process.get();
  options.limits.hang_s = kHangSeconds;
  options.longest_wait = std::chrono::milliseconds(500);
  options.stay_awake_s = 0;
  if (leads) lock(self);
  cluster::participate(transport, [&] {
    const cluster::Leader leader{"run", {}};
    const cluster::Handshake shaken = cluster::handshake(transport, {"0.1.0", "p", self.executor->devices(), {}},
                                                         leads ? &leader : nullptr, self.stop);
    std::optional<cluster::Leading> leading;
    if (leads) leading.emplace(cluster::Leading{workload(), self.rules, {&self.observer}});
    self.journal =
        std::make_unique<journal::Journal>(kJournals, journal::Writer(transport.rank(), transport.number()), job_.plan_,
                                           std::chrono::milliseconds(20), *self.disk, *self.process);
    self.outcome = cluster::run(transport, shaken, *self.executor, leading ? &*leading : nullptr, *self.journal,
                                self.stop, options);
    self.journal->close(self.outcome->finished ? "done" : self.outcome->reason);
    // Sometimes the report takes longer than the time after which the other nodes consider a silent node 0 lost.
    const double report_s = job_.random().chance(0.03) ? 70 : job_.random().about(0.1);
    if (leads)
      cluster::attend(
          transport, [&] { world_.sleep_until(world_.now() + report_s); }, *self.process);
  });
  if (leads) finished_ = finished_ || self.outcome->finished;
  return !self.outcome->leader_lost;
}

cluster::PlannedWork Start::workload() {
  cluster::PlannedWork work = cluster::make_work(job_.shape_.fits, job_.shape_.bundle);
  if (job_.shape_.decides()) {
    work.decides = true;
    std::map<uint32_t, scheduler::Bundle> bundles;
    for (uint32_t fit = 0; fit < job_.shape_.fits; ++fit) {
      bundles.try_emplace(job_.shape_.bundle_of(fit), scheduler::Bundle{{}, 1, 100, 0})
          .first->second.fits.push_back(fit);
    }
    work.bundles.bundles.clear();
    for (auto& [number, bundle] : bundles) work.bundles.bundles.push_back(std::move(bundle));
  }
  if (job_.shape_.refits > 0) {
    work.refit_after.emplace_back();
    for (uint32_t fit = 0; fit < job_.shape_.fits; ++fit) work.refit_after[0].push_back(fit);
  }
  journal::Contents contents = job_.read();
  work.done = std::move(contents.records);
  work.done.insert(work.done.end(), contents.refits.begin(), contents.refits.end());
  return work;
}

// ---- devices

void Start::work(uint32_t rank, uint32_t device, const cluster::Attempt& attempt, cluster::Reporter& reporter) {
  Rank& self = *ranks_[rank];
  ++self.working;
  self.killed[device] = false;
  const std::shared_ptr<void> end(nullptr, [&self](void*) { --self.working; });
  for (const uint32_t fit : attempt.fits) {
    const uint32_t bundle = job_.shape_.bundle_of(fit);
    const bool may_fail = job_.failed_.count(bundle) == 0;
    const bool fails = may_fail && job_.random().chance(failure_rate_);
    const bool hangs = may_fail && !fails && job_.random().chance(hang_rate_);
    if (fails || hangs) job_.failed_.insert(bundle);
    if (hangs) {
      ++job_.report_.hangs;
      hang(self, device);
    }
    compute(self, device, fit, reporter);
    if (fails) {
      ++job_.report_.failures;
      throw Error(MK_DEVICE_ERROR, "the device failed, as the seed says");
    }
    reporter.report(job_.result(fit));
  }
}

void Start::compute(Rank& self, uint32_t device, uint32_t fit, cluster::Reporter& reporter) {
  constexpr double kGlance = 0.5;
  const double duration = job_.random().about(job_.shape_.fit_s) * (fit >= job_.shape_.fits ? 4 : 1);
  const double begin = world_.now(), end = begin + duration;
  while (world_.now() < end) {
    world_.sleep_until(std::min(end, world_.now() + kGlance));
    if (self.process->dead() || self.killed[device]) throw Error(MK_DEVICE_ERROR, "the device's process is gone");
    if (reporter.cancelled()) throw Error(MK_CANCELLED, "cancelled");
    reporter.progress("computing", (world_.now() - begin) / duration);
  }
}

void Start::hang(Rank& self, uint32_t device) {
  while (!self.process->dead() && !self.killed[device]) world_.park(kNever);
  throw Error(MK_DEVICE_ERROR, "the device hung and was ended");
}

// ---- trouble

void Start::plan_trouble() {
  const uint32_t events = job_.random().below(4);
  for (uint32_t i = 0; i < events; ++i) {
    const uint32_t rank = job_.random().below(static_cast<uint32_t>(ranks_.size()));
    const double when = world_.now() + job_.shape_.trouble_s() * job_.random().share();
    if (auto trouble = draw_trouble(rank))
      world_.at(when, [this, rank, trouble = std::move(trouble)] {
        if (!ranks_[rank]->ended && !ranks_[rank]->process->dead()) trouble();
      });
  }
}

void Start::kill_rank(uint32_t rank, bool power) {
  if (power) network_->cut(rank, kNever);  // no connection of the host closes
  ranks_[rank]->process->die();
  if (!power) network_->died(rank);
}

void Start::kill_leader() {
  for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].get() != job_.holder_ || ranks_[rank]->ended) continue;
    ++job_.report_.deaths;
    job_.tell(ranks_[rank]->process->name() + ": killed");
    return kill_rank(rank, false);
  }
}

std::function<void()> Start::draw_trouble(uint32_t rank) {
  Random& random = job_.random();
  Report& count = job_.report_;
  const Troubles& allowed = job_.troubles_;
  const double duration = random.about(40), step = random.between(-4000, 4000);
  const auto tell = [this, rank](const std::string& what) { job_.tell(fmt::format("rank {}: {}", rank, what)); };
  switch (random.below(8)) {
    case 0:
      if (!allowed.deaths) return {};
      return [this, tell, &count, rank] { ++count.deaths, tell("killed"), kill_rank(rank, false); };
    case 1:
      if (!allowed.deaths) return {};
      return [this, tell, &count, rank] { ++count.deaths, tell("its host loses power"), kill_rank(rank, true); };
    case 2:
      if (!allowed.freezes) return {};
      return [this, tell, &count, rank, duration] {
        ++count.freezes, tell(fmt::format("frozen for {:.1f} s", duration));
        ranks_[rank]->process->freeze(world_.now() + duration);
      };
    case 3:
      if (!allowed.cuts || rank == 0) return {};
      return [this, tell, &count, rank, duration] {
        ++count.cuts, tell(fmt::format("cut off for {:.1f} s", duration));
        network_->cut(rank, world_.now() + duration);
      };
    case 4:
      if (!allowed.clock_steps) return {};
      return [this, tell, &count, rank, step] {
        ++count.steps, tell(fmt::format("its clock is set by {:.0f} s", step));
        ranks_[rank]->process->step_wall_clock(step);
      };
    case 5:
      if (!allowed.full_disk) return {};
      return [this, tell, &count, duration] {
        ++count.full_disks, tell("the disk is full");
        job_.disk_.full_until = world_.now() + duration;
      };
    case 6:
      if (!allowed.slow_disk) return {};
      return [this, tell, &count, duration] {
        ++count.slow_disks, tell("the disk is slow");
        job_.disk_.slow_until = world_.now() + duration;
      };
    default:
      if (!allowed.stops) return {};
      return [this, tell, &count, rank] { ++count.stops, tell("asked to stop"), ranks_[rank]->stop = true; };
  }
}

}  // namespace

Report simulate(uint64_t seed, const Troubles& troubles) { return Job(seed, troubles).run(); }

std::string Report::text() const {
  std::string all = fmt::format("seed {}, {} starts\n", seed, starts);
  for (const std::string& line : story) all += "  " + line + "\n";
  for (const std::string& line : faults) all += "  FAULT: " + line + "\n";
  return all;
}

}  // namespace mokume::simulation
