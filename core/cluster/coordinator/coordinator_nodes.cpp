// Defines how the coordinator responds when nodes fall silent, return, or end work that was reassigned.
#include <fmt/format.h>

#include "cluster/coordinator/coordinator.hpp"

namespace mokume::cluster {
namespace {

using Kind = journal::EventRecord::Kind;

}  // namespace

void Coordinator::mark_alive(uint32_t from) {
  Node& node = nodes_.at(from);
  node.heard = listening_.seconds();
  if (!node.lost || node.said_bye) return;
  node.lost = false;
  note(Kind::returned, nullptr, from, -1, 0, fmt::format("node {} responded again", from));
  for (uint32_t device = 0; device < node.devices.size(); ++device)
    if (const RunDevice& one = units_[node.first_unit + device]; !one.retired && !one.orphan)
      policy_.readmit(node.first_unit + device);
  placement_changed_ = true;
}

// Gives the node's work to other nodes. Results that still arrive from the node count.
void Coordinator::lose(uint32_t index, const std::string& text) {
  Node& node = nodes_[index];
  node.lost = true;
  note(Kind::lost, nullptr, index, -1, 0, text);
  for (uint32_t device = 0; device < node.devices.size(); ++device) policy_.retire(node.first_unit + device);
  for (auto& [id, lease] : leases_) {
    if (units_[lease.unit].node != index) continue;
    for (const uint32_t fit : lease.coming) --coming_[fit];
    const std::vector<uint32_t> open = left(lease.fits);
    for (const uint32_t fit : open)
      if (lease.open || lease.coming.count(fit) > 0)
        note(Kind::moved, &units_[lease.unit], index, fit, lease.attempt, text);
    if (lease.open) {
      units_[lease.unit].orphan = id;
      close(lease, 0);
    } else {
      for (const uint32_t fit : lease.coming)
        if (!is_over(fit) && parts_[bundle_of_[fit]].may_wait()) policy_.wait(bundle_of_[fit]);
    }
    lease.coming.clear();
  }
  placement_changed_ = true;
}

// Lets the unit get work again. Until now, new work would have waited for the unit's old work to end.
void Coordinator::is_free(uint32_t index) {
  RunDevice& unit = units_[index];
  if (!unit.orphan) return;
  unit.orphan.reset();
  if (!unit.retired && !nodes_[unit.node].lost) policy_.readmit(index);
  placement_changed_ = true;
}

void Coordinator::cancel_orphans() {
  for (const RunDevice& one : units_)
    if (one.orphan && left(leases_.at(*one.orphan).fits).empty()) nodes_[one.node].cancel.insert(*one.orphan);
}

std::vector<uint32_t> Coordinator::lost() const {
  std::vector<uint32_t> nodes;
  for (uint32_t node = 0; node < nodes_.size(); ++node)
    if (nodes_[node].lost && !nodes_[node].said_bye) nodes.push_back(node);
  return nodes;
}

std::vector<uint32_t> Coordinator::retired(uint32_t node) const {
  std::vector<uint32_t> devices;
  for (const RunDevice& one : units_)
    if (one.node == node && one.retired) devices.push_back(one.device);
  return devices;
}

}  // namespace mokume::cluster
