#include "rungs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/coordinator/coordinator.hpp"
#include "run/decisions.hpp"
#include "sdk/philox.hpp"

namespace mokume::bench {
namespace {

using scheduler::Scenario;

constexpr uint32_t kRungs = 3, kFactor = 4;
constexpr double kAskAgainSeconds = 0.05;
constexpr double kOverheadSeconds = 0.001;

// The fits of a search, in all rungs.
struct Search {
  search::Plan plan;
  cluster::PlannedWork work;
  std::vector<double> seconds;  // by fit, on a unit of speed 1

  explicit Search(const Scenario& whole) {
    std::map<std::pair<uint32_t, std::vector<double>>, uint32_t> candidates;
    uint32_t folds = 0;
    for (const scheduler::Position& at : whole.workload.positions) {
      candidates.try_emplace({at.bootstrap, at.point}, static_cast<uint32_t>(candidates.size()));
      folds = std::max(folds, at.fold + 1);
    }
    plan.candidates.resize(candidates.size());
    plan.repeats = kRungs;
    plan.factor = kFactor;
    plan.folds = folds * kRungs;
    work.n_fits = plan.n_fits();
    work.decides = true;
    work.bundles.positions.resize(plan.n_fits());
    seconds.resize(plan.n_fits());
    double scale = 1.0 / (kFactor * kFactor);
    for (uint32_t rung = 0; rung < kRungs; ++rung, scale *= kFactor)
      for (const scheduler::Bundle& bundle : whole.workload.bundles) {
        scheduler::Bundle& made = work.bundles.bundles.emplace_back(bundle);
        made.cost *= scale;
        for (uint32_t& fit : made.fits) {
          const scheduler::Position& at = whole.workload.positions[fit];
          const uint32_t id = plan.fit_id(candidates.at({at.bootstrap, at.point}), 0, rung * folds + at.fold);
          work.bundles.positions[id] = {0, rung * folds + at.fold, at.point};
          seconds[id] = scale * whole.seconds[fit];
          fit = id;
        }
        std::sort(made.fits.begin(), made.fits.end());
      }
  }
};

class Rules : public cluster::SearchRules {
 public:
  explicit Rules(const search::Plan& plan) : decisions_(plan, {{"loss", false, true}}, {}, 0, 1) {}

  cluster::Refit choose(uint32_t, const std::vector<journal::FitRecord>&) override { return {}; }
  std::optional<double> loss(const journal::FitRecord& fit) const override { return fit.values.at(0); }
  cluster::Decision decide(const std::vector<std::optional<journal::FitRecord>>& done) override {
    return decisions_.decide(done);
  }

 private:
  run::Decisions decisions_;
};

class Simulation {
 public:
  Simulation(const Scenario& scenario, uint64_t seed)
      : search_(scenario),
        units_(scenario.units),
        losses_(seed, sdk::Purpose::schedule, 6),
        rules_(search_.plan),
        coordinator_(search_.work, {devices()}, rules_, {}) {}

  double efficiency() {
    coordinator_.tick(0);
    for (uint32_t unit = 0; unit < units_.size(); ++unit) events_.insert({0, unit});
    double now = 0, end = 0, work = 0, speeds = 0;
    while (!events_.empty() && !over_) {
      const auto [when, unit] = *events_.begin();
      events_.erase(events_.begin());
      now = when;
      if (running_.count(unit) > 0) work += finish(unit, now), end = now;
      ask(unit, now);
    }
    for (const auto& unit : units_) speeds += unit.speed;
    return work / (end * speeds);
  }

 private:
  std::vector<cluster::LocalDevice> devices() const {
    std::vector<cluster::LocalDevice> made;
    for (const auto& [unit, speed] : units_)
      made.push_back({fmt::format("unit:{}", made.size()), "unit", "", "", unit.device_class, 1U << 30, unit.speed});
    return made;
  }

  void ask(uint32_t unit, double now) {
    for (const auto& [to, message] : coordinator_.handle(0, cluster::Request{unit}, now)) {
      over_ = over_ || std::holds_alternative<cluster::Finish>(message);
      const auto* grant = std::get_if<cluster::Grant>(&message);
      if (grant == nullptr) continue;
      running_[unit] = *grant;
      began_[unit] = now;
      double seconds = kOverheadSeconds;
      for (const uint32_t fit : grant->attempt.fits) seconds += search_.seconds[fit] / units_[unit].speed;
      events_.insert({now + seconds, unit});
      return;
    }
    events_.insert({now + kAskAgainSeconds, unit});
  }

  // Returns the work that no other unit did before.
  double finish(uint32_t unit, double now) {
    const cluster::Grant grant = std::move(running_.at(unit));
    running_.erase(unit);
    cluster::Done done{grant.lease, {}};
    double work = 0;
    for (const uint32_t fit : grant.attempt.fits) {
      journal::FitRecord& record = done.records.emplace_back();
      record.fit = fit;
      record.n = 1;
      record.values = {losses_.uniform(search_.plan.key(fit).candidate)};
      record.attempt = grant.attempt.number;
      if (done_.insert(fit).second) work += search_.seconds[fit];
    }
    coordinator_.handle(0, done, now);
    coordinator_.handle(0, cluster::LeaseEnd{grant.lease, MK_OK, "", now - began_.at(unit), {}}, now);
    cancel_copies(now);
    return work;
  }

  // Ends the leases whose fits other units have finished, which heartbeats do in a real run.
  void cancel_copies(double now) {
    for (auto it = running_.begin(); it != running_.end();) {
      const auto& fits = it->second.attempt.fits;
      if (!std::all_of(fits.begin(), fits.end(), [&](uint32_t fit) { return done_.count(fit) > 0; })) {
        ++it;
        continue;
      }
      const uint32_t unit = it->first;
      std::erase_if(events_, [&](const auto& event) { return event.second == unit; });
      coordinator_.handle(0, cluster::LeaseEnd{it->second.lease, MK_CANCELLED, "", 0, {}}, now);
      it = running_.erase(it);
      events_.insert({now, unit});
    }
  }

  Search search_;
  const std::vector<scheduler::SimulatedUnit> units_;
  const sdk::Random losses_;
  Rules rules_;
  cluster::Coordinator coordinator_;
  std::set<std::pair<double, uint32_t>> events_;  // time and unit
  std::map<uint32_t, cluster::Grant> running_;    // by unit
  std::map<uint32_t, double> began_;
  std::set<uint32_t> done_;
  bool over_ = false;
};

}  // namespace

double efficiency_in_rungs(const Scenario& search, uint64_t seed) { return Simulation(search, seed).efficiency(); }

}  // namespace mokume::bench
