#include "scheduler/simulate.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "sdk/error.hpp"
#include "sdk/philox.hpp"

namespace mokume::scheduler {
namespace {

constexpr uint32_t kNoBundle = UINT32_MAX;

// Gives work to idle units by one rule. The bundles of the workload come first, then one bundle for each refit.
class Dealer {
 public:
  virtual ~Dealer() = default;
  virtual std::optional<Pick> next(uint32_t unit, double now) = 0;
  virtual void ready(uint32_t refit) = 0;  // notes that the refit may start now
  virtual void finished(uint32_t) {}       // called when a bundle finishes for the first time
  virtual void ended(uint32_t, const std::vector<uint32_t>&, double, double) {}
  virtual std::vector<uint32_t> superfluous() { return {}; }
};

class Ours : public Dealer {
 public:
  explicit Ours(const Scenario& scenario) : scenario_(scenario), policy_(with_refits(scenario), units_of(scenario)) {
    const auto bundles = static_cast<uint32_t>(scenario.workload.bundles.size());
    if (scenario.known)
      for (uint32_t fit = 0; fit < scenario.seconds.size(); ++fit)
        policy_.teach({scenario.units[0].unit.device_class, {fit}, scenario.seconds[fit] / scenario.units[0].speed});
    for (uint32_t r = 0; r < scenario.refits.size(); ++r)
      policy_.fill(bundles + r, scenario.refits[r].cost, 0, scenario.refits[r].like);
    for (uint32_t i = 0; i < bundles; ++i) policy_.wait(i);
    if (!policy_.unplaceable().empty())
      throw Error(MK_INVALID_ARGUMENT, "a bundle fits on none of the simulated units");
  }

  std::optional<Pick> next(uint32_t unit, double now) override { return policy_.next(unit, now); }
  void ready(uint32_t refit) override {
    policy_.wait(static_cast<uint32_t>(scenario_.workload.bundles.size()) + refit);
  }
  void finished(uint32_t bundle) override {
    policy_.finished(bundle);
    if (bundle >= scenario_.workload.bundles.size() || scenario_.losses.empty()) return;
    for (const uint32_t fit : policy_.bundle(bundle).fits) policy_.scored(fit, scenario_.losses.at(fit));
  }
  void ended(uint32_t unit, const std::vector<uint32_t>& done, double seconds, double now) override {
    policy_.ended(unit, done, seconds, now);
  }
  std::vector<uint32_t> superfluous() override { return policy_.superfluous(); }

 private:
  static Workload with_refits(const Scenario& scenario) {
    Workload workload = scenario.workload;
    auto fit = static_cast<uint32_t>(scenario.seconds.size());
    for (const SimulatedRefit& refit : scenario.refits) {
      workload.bundles.push_back({{fit++}, refit.cost, 0, kNoBundle});
      ++workload.refits;
    }
    return workload;
  }

  static std::vector<Unit> units_of(const Scenario& scenario) {
    std::vector<Unit> units;
    for (const SimulatedUnit& one : scenario.units) units.push_back(one.unit);
    return units;
  }

  const Scenario& scenario_;
  Policy policy_;
};

// Serves bundles from one queue for all units, or from one queue per unit.
class Queues : public Dealer {
 public:
  Queues(const Scenario& scenario, Rule rule)
      : queues_(rule == Rule::first_come ? 1 : scenario.units.size()), first_refit_(scenario.workload.bundles.size()) {
    const size_t bundles = first_refit_;
    std::vector<uint32_t> order(bundles);
    std::iota(order.begin(), order.end(), 0U);
    const sdk::Random random(scenario.seed, sdk::Purpose::schedule);
    if (rule == Rule::shuffled)
      for (size_t k = bundles; k > 1; --k) std::swap(order[k - 1], order[random.below(k, k)]);
    for (size_t k = 0; k < bundles; ++k) queues_[k * queues_.size() / bundles].push_back(order[k]);
    // The owner of the last bundle of a bootstrap also gets its refit.
    std::map<uint32_t, size_t> owner;
    for (size_t k = 0; k < bundles; ++k)
      for (const uint32_t fit : scenario.workload.bundles[order[k]].fits)
        if (fit < scenario.workload.positions.size())
          owner[scenario.workload.positions[fit].bootstrap] = k * queues_.size() / bundles;
    for (const SimulatedRefit& refit : scenario.refits) owner_.push_back(owner[refit.bootstrap]);
  }

  std::optional<Pick> next(uint32_t unit, double) override {
    std::deque<uint32_t>& queue = queues_[queues_.size() == 1 ? 0 : unit];
    if (queue.empty()) return std::nullopt;
    const uint32_t bundle = queue.front();
    queue.pop_front();
    return Pick{{bundle}, false};
  }
  void ready(uint32_t refit) override { queues_[owner_[refit]].push_back(static_cast<uint32_t>(first_refit_) + refit); }

 private:
  std::vector<std::deque<uint32_t>> queues_;
  size_t first_refit_;
  std::vector<size_t> owner_;  // indexed by refit
};

class Simulation {
 public:
  Simulation(const Scenario& scenario, Rule rule)
      : scenario_(scenario), ours_(rule == Rule::ours), running_(scenario.units.size()) {
    if (running_.empty()) throw Error(MK_INVALID_ARGUMENT, "nothing can be simulated without units");
    if (ours_)
      dealer_ = std::make_unique<Ours>(scenario);
    else
      dealer_ = std::make_unique<Queues>(scenario, rule);
    for (const Bundle& bundle : scenario.workload.bundles) {
      double seconds = 0;
      for (const uint32_t fit : bundle.fits) {
        seconds += scenario.seconds.at(fit);
        if (const auto bootstrap = bootstrap_of(fit)) ++fits_left_[*bootstrap];
      }
      seconds_.push_back(seconds);
    }
    for (const SimulatedRefit& refit : scenario.refits) seconds_.push_back(refit.seconds);
    done_.assign(seconds_.size(), false);
    left_ = seconds_.size();
    for (uint32_t unit = 0; unit < running_.size(); ++unit) idle_.push_back(unit);
  }

  Simulated run() {
    double now = 0;
    while (left_ > 0) {
      give(now);
      if (events_.empty()) throw Error(MK_INTERNAL, "a simulated run makes no progress");
      now = ours_ && !idle_.empty() ? std::min(events_.top().time, now + scenario_.ask_again_s) : events_.top().time;
      while (!events_.empty() && events_.top().time <= now) {
        const Event event = events_.top();
        events_.pop();
        if (event.turn == running_[event.unit].turn) bundle_ends(event.unit, now);
      }
      for (const uint32_t unit : dealer_->superfluous()) end(unit, 0, now);
    }
    double speeds = 0;
    for (const SimulatedUnit& unit : scenario_.units) speeds += unit.speed;
    result_.makespan_s = now;
    const double work = std::accumulate(seconds_.begin(), seconds_.end(), 0.0);
    result_.efficiency = now > 0 ? work / (now * speeds) : 1;
    return result_;
  }

 private:
  struct Running {
    std::vector<uint32_t> bundles;
    size_t at = 0;      // index of the current bundle
    uint64_t turn = 0;  // counts assignments; events of earlier assignments are void
    double since = 0;
  };
  struct Event {
    double time;
    uint32_t unit;
    uint64_t turn;
    bool operator<(const Event& other) const {  // the earliest event is on top of the queue
      return std::tie(time, unit) > std::tie(other.time, other.unit);
    }
  };

  std::optional<uint32_t> bootstrap_of(uint32_t fit) const {
    const std::vector<Position>& positions = scenario_.workload.positions;
    return fit < positions.size() ? std::optional(positions[fit].bootstrap) : std::nullopt;
  }

  void start_bundle(uint32_t unit, double now) {
    const Running& run = running_[unit];
    events_.push({now + seconds_[run.bundles[run.at]] / scenario_.units[unit].speed, unit, run.turn});
  }

  void give(double now) {
    std::set<std::pair<std::string, uint64_t>> refused;  // kinds of units for which the policy has no work
    std::vector<uint32_t> still;
    for (const uint32_t unit : idle_) {
      const std::pair like(scenario_.units[unit].unit.device_class, scenario_.units[unit].unit.budget);
      const auto given = ours_ && refused.count(like) != 0 ? std::nullopt : dealer_->next(unit, now);
      if (!given) {
        refused.insert(like);
        still.push_back(unit);
        continue;
      }
      result_.backups += given->backup ? 1 : 0;
      running_[unit] = {given->bundles, 0, running_[unit].turn + 1, now};
      start_bundle(unit, now + scenario_.lease_s);
    }
    idle_ = std::move(still);
  }

  void bundle_ends(uint32_t unit, double now) {
    Running& run = running_[unit];
    const uint32_t bundle = run.bundles[run.at++];
    if (!done_[bundle]) {
      done_[bundle] = true;
      --left_;
      dealer_->finished(bundle);
      count_down(bundle);
    }
    if (run.at < run.bundles.size())
      start_bundle(unit, now);
    else
      end(unit, now - run.since, now);
  }

  // Releases the refits of a bootstrap after its last fit.
  void count_down(uint32_t bundle) {
    if (bundle >= scenario_.workload.bundles.size()) return;
    for (const uint32_t fit : scenario_.workload.bundles[bundle].fits) {
      const auto bootstrap = bootstrap_of(fit);
      if (!bootstrap || --fits_left_[*bootstrap] > 0) continue;
      for (uint32_t r = 0; r < scenario_.refits.size(); ++r)
        if (scenario_.refits[r].bootstrap == *bootstrap) dealer_->ready(r);
    }
  }

  void end(uint32_t unit, double seconds, double now) {
    Running& run = running_[unit];
    dealer_->ended(unit, run.bundles, seconds, now);
    ++run.turn;
    idle_.push_back(unit);
  }

  const Scenario& scenario_;
  const bool ours_;
  std::unique_ptr<Dealer> dealer_;
  std::vector<double> seconds_;  // time of each bundle of the workload, then of each refit
  std::vector<bool> done_;
  size_t left_ = 0;
  std::map<uint32_t, size_t> fits_left_;  // indexed by bootstrap
  std::vector<Running> running_;
  std::vector<uint32_t> idle_;
  std::priority_queue<Event> events_;
  Simulated result_;
};

}  // namespace

Simulated simulate(const Scenario& scenario, Rule rule) { return Simulation(scenario, rule).run(); }

}  // namespace mokume::scheduler
