#include "cluster/coordinator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "journal/line.hpp"
#include "sdk/error.hpp"

namespace mokume::cluster {
namespace {

constexpr uint32_t k_no_bundle = UINT32_MAX;

std::vector<scheduler::Load> loads_of(const std::vector<Bundle>& bundles) {
  std::vector<scheduler::Load> loads;
  for (const Bundle& one : bundles) loads.push_back({one.cost, one.bytes});
  return loads;
}

}  // namespace

Coordinator::Coordinator(CoordinatorSetup setup, std::vector<std::vector<LocalDevice>> nodes)
    : setup_(std::move(setup)),
      nodes_(std::move(nodes)),
      queue_(loads_of(setup_.bundles)),
      bundle_of_(setup_.n_fits, k_no_bundle),
      done_(setup_.n_fits),
      attempts_(setup_.bundles.size(), 0) {
  index_bundles();
  for (journal::FitRecord& record : setup_.done) {
    if (record.fit >= setup_.n_fits || done_[record.fit]) {
      throw Error(MK_INTERNAL, fmt::format("fit {} stands twice among the finished ones, or is unknown", record.fit));
    }
    uint32_t& attempt = attempts_[bundle_of_[record.fit]];
    attempt = std::max(attempt, record.attempt);
    const uint32_t fit = record.fit;
    done_[fit] = std::move(record);
    ++n_done_;
  }
  for (uint32_t i = 0; i < setup_.bundles.size(); ++i) {
    if (!item(i).fits.empty()) queue_.put(i);
  }
  check_placeable();
}

void Coordinator::index_bundles() {
  for (uint32_t i = 0; i < setup_.bundles.size(); ++i) {
    for (const uint32_t fit : setup_.bundles[i].fits) {
      if (fit >= setup_.n_fits || bundle_of_[fit] != k_no_bundle) {
        throw Error(MK_DEVICE_ERROR,
                    fmt::format("the model put fit {} into bundle {}, but it is in another one already or not in the "
                                "plan; the model library is faulty",
                                fit, i));
      }
      bundle_of_[fit] = i;
    }
  }
  const auto missing = std::find(bundle_of_.begin(), bundle_of_.end(), k_no_bundle);
  if (missing != bundle_of_.end()) {
    throw Error(MK_DEVICE_ERROR, fmt::format("the model put fit {} into no bundle; the model library is faulty",
                                             missing - bundle_of_.begin()));
  }
}

void Coordinator::check_placeable() const {
  if (queue_.empty()) return;
  std::vector<uint64_t> budgets;
  for (const auto& devices : nodes_) {
    for (const LocalDevice& one : devices) budgets.push_back(one.budget_bytes);
  }
  if (budgets.empty()) throw Error(MK_DEVICE_ERROR, "no node has a device for this run; see mokume devices");
  for (const uint32_t i : scheduler::unplaceable(loads_of(setup_.bundles), budgets)) {
    const WorkItem work = item(i);
    if (work.fits.empty()) continue;
    throw Error(MK_DEVICE_ERROR,
                fmt::format("fit {} and those it shares work with need {} of memory, but the largest budget of a "
                            "device is {}; raise devices.memory or use a device with more",
                            work.fits.front(), base::human_bytes(setup_.bundles[i].bytes),
                            base::human_bytes(*std::max_element(budgets.begin(), budgets.end()))));
  }
}

std::vector<Outgoing> Coordinator::start() {
  Out out;
  finish_if_done(out);
  return out;
}

std::vector<Outgoing> Coordinator::handle(uint32_t from, const Message& message) {
  Out out;
  try {
    std::visit([&](const auto& one) { take(from, one, out); }, message);
  } catch (const Error& error) {
    take(from, Stop{error.status(), error.what()}, out);
  }
  return out;
}

std::vector<Outgoing> Coordinator::stop(const Stop& why) { return handle(0, why); }

void Coordinator::take(uint32_t from, const Request& request, Out& out) {
  const LocalDevice& asks = device(from, request.device);
  if (ending_) return;  // FINISH or STOP is on its way
  const auto bundle = queue_.take(asks.budget_bytes);
  if (!bundle) {
    out.emplace_back(from, None{request.device});
    return;
  }
  const Lease granted{*bundle, from, request.device, ++attempts_[*bundle]};
  out.emplace_back(from, Grant{next_lease_, request.device, item(*bundle)});
  leases_.emplace(next_lease_++, granted);
}

void Coordinator::take(uint32_t from, const Done& done, Out& out) {
  const Lease& held = lease(from, done.lease);
  for (const journal::FitRecord& record : done.records) take_record(from, held, record);
  finish_if_done(out);
}

void Coordinator::take_record(uint32_t from, const Lease& held, journal::FitRecord record) {
  if (record.fit >= setup_.n_fits || bundle_of_[record.fit] != held.bundle) {
    throw Error(MK_INTERNAL, fmt::format("fit {} was reported, which is not in bundle {}", record.fit, held.bundle));
  }
  record.node = from;
  record.bundle = held.bundle;
  record.attempt = held.attempt;
  record.device = device(from, held.device).id;
  std::optional<journal::FitRecord>& known = done_[record.fit];
  if (known && !journal::same_result(*known, record)) {
    throw Error(MK_INTERNAL, fmt::format("fit {} gave another result on {} of node {} than on {} of node {}",
                                         record.fit, record.device, from, known->device, known->node));
  }
  if (known) return;
  known = std::move(record);
  ++n_done_;
  if (setup_.on_record) setup_.on_record(*known);
}

void Coordinator::take(uint32_t from, const BundleDone& bundle_done, Out& out) {
  const Lease held = lease(from, bundle_done.lease);
  const WorkItem left = item(held.bundle);
  if (!left.fits.empty()) {
    throw Error(MK_DEVICE_ERROR, fmt::format("{} ended bundle {} without a result for fit {}; the model library is "
                                             "faulty",
                                             device(from, held.device).id, held.bundle, left.fits.front()));
  }
  leases_.erase(bundle_done.lease);
  finish_if_done(out);
}

void Coordinator::take(uint32_t from, const Beat& beat, Out&) {
  for (const Beat::State& state : beat.states) {
    static_cast<void>(device(from, state.device));
    if (setup_.on_device_state) setup_.on_device_state(from, state.device, state.what, state.share);
  }
}

void Coordinator::take(uint32_t from, const Stop& why, Out& out) {
  if (ending_) return;  // the first reason counts
  const bool local = from == 0 || why.code == MK_CANCELLED;
  stopped_ = Stop{why.code, local ? why.reason : fmt::format("node {}: {}", from, why.reason)};
  end(*stopped_, out);
}

void Coordinator::take(uint32_t from, const Bye&, Out& out) {
  said_bye_.insert(from);
  if (!ending_) take(from, Stop{MK_INTERNAL, "left in the middle of the run"}, out);
}

template <class Unexpected>
void Coordinator::take(uint32_t, const Unexpected&, Out&) {
  throw Error(MK_INTERNAL, "it sent a message that only node 0 sends, or that is out of turn");
}

void Coordinator::finish_if_done(Out& out) {
  if (!ending_ && n_done_ == setup_.n_fits && leases_.empty()) end(Finish{}, out);
}

void Coordinator::end(const Message& message, Out& out) {
  ending_ = true;
  for (uint32_t to = 0; to < nodes_.size(); ++to) out.emplace_back(to, message);
}

const LocalDevice& Coordinator::device(uint32_t node, uint32_t index) const {
  if (node >= nodes_.size() || index >= nodes_[node].size()) {
    throw Error(MK_INTERNAL, fmt::format("there is no device {} on node {}", index, node));
  }
  return nodes_[node][index];
}

Coordinator::Lease& Coordinator::lease(uint32_t node, uint64_t id) {
  const auto found = leases_.find(id);
  if (found == leases_.end() || found->second.node != node) {
    throw Error(MK_INTERNAL, fmt::format("lease {} is not held by this node", id));
  }
  return found->second;
}

WorkItem Coordinator::item(uint32_t bundle) const {
  WorkItem work;
  work.bundle = bundle;
  work.attempt = attempts_[bundle];
  for (const uint32_t fit : setup_.bundles[bundle].fits) {
    if (!done_[fit]) {
      work.fits.push_back(fit);
    } else {
      work.done_fits.push_back(fit);
      work.done_notes.push_back(done_[fit]->note);
    }
  }
  return work;
}

std::vector<journal::FitRecord> Coordinator::records() const {
  std::vector<journal::FitRecord> records;
  for (const auto& one : done_) {
    if (one) records.push_back(*one);
  }
  return records;
}

}  // namespace mokume::cluster
