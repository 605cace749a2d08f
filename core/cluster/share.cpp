#include "cluster/share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace mokume::cluster {
namespace {

using Ranks = std::vector<size_t>;

bool has(const std::vector<uint32_t>& cores, uint32_t core) {
  return std::find(cores.begin(), cores.end(), core) != cores.end();
}

bool same_cores(const HostView& a, const HostView& b) {
  return std::is_permutation(a.cores.begin(), a.cores.end(), b.cores.begin(), b.cores.end());
}

class HostDivision {
 public:
  HostDivision(const std::vector<HostView>& ranks, Ranks here, Shares& shares)
      : ranks_(ranks), here_(std::move(here)), shares_(shares) {}

  void run() {
    for (const size_t r : here_) shares_.shares[r].sharers = static_cast<uint32_t>(here_.size());
    const bool equal =
        std::all_of(here_.begin(), here_.end(), [&](size_t r) { return same_cores(ranks_[r], ranks_[here_.front()]); });
    equal ? cut_evenly() : deal_cores();
    share_cores();
    deal_devices();
  }

 private:
  // Keeps consecutive cores together, because they are hyper-threads of one core or share a cache.
  void cut_evenly() {
    const std::vector<uint32_t>& cores = ranks_[here_.front()].cores;
    const size_t n = here_.size();
    for (size_t k = 0; k < n; ++k)
      shares_.shares[here_[k]].cores.assign(cores.begin() + static_cast<ptrdiff_t>(k * cores.size() / n),
                                            cores.begin() + static_cast<ptrdiff_t>((k + 1) * cores.size() / n));
  }

  Ranks allowed_on(uint32_t core) const {
    Ranks allowed;
    for (const size_t r : here_)
      if (has(ranks_[r].cores, core)) allowed.push_back(r);
    return allowed;
  }

  // Deals the cores with the fewest eligible ranks first, each to the eligible rank with the fewest cores.
  void deal_cores() {
    std::set<uint32_t> all;
    for (const size_t r : here_) all.insert(ranks_[r].cores.begin(), ranks_[r].cores.end());
    std::vector<uint32_t> order(all.begin(), all.end());
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return allowed_on(a).size() < allowed_on(b).size(); });
    for (const uint32_t core : order) {
      const Ranks allowed = allowed_on(core);
      const size_t to = *std::min_element(allowed.begin(), allowed.end(), [&](size_t a, size_t b) {
        return shares_.shares[a].cores.size() < shares_.shares[b].cores.size();
      });
      shares_.shares[to].cores.push_back(core);
    }
    for (const size_t r : here_) std::sort(shares_.shares[r].cores.begin(), shares_.shares[r].cores.end());
  }

  // Gives each rank without a core the one of its own cores that the fewest ranks use.
  void share_cores() {
    bool shared = false;
    for (const size_t r : here_) {
      const std::vector<uint32_t>& own = ranks_[r].cores;
      if (!shares_.shares[r].cores.empty() || own.empty()) continue;
      const auto users = [&](uint32_t core) {
        return std::count_if(here_.begin(), here_.end(), [&](size_t o) { return has(shares_.shares[o].cores, core); });
      };
      const uint32_t core =
          *std::min_element(own.begin(), own.end(), [&](uint32_t a, uint32_t b) { return users(a) < users(b); });
      shares_.shares[r].cores = {core};
      shared = true;
    }
    if (shared)
      shares_.notices.push_back(
          fmt::format("{} ranks on {} compete for too few cores: start at most one rank per core, or one for the whole "
                      "machine",
                      here_.size(), name()));
  }

  // Treats equal ids as the same device if the driver does not identify the device.
  static std::string identity(const HostDevice& device) {
    return device.physical_id.empty() ? "id " + device.id : device.physical_id;
  }

  Ranks naming(const std::string& device) const {
    Ranks naming;
    for (const size_t r : here_) {
      const std::vector<HostDevice>& list = ranks_[r].devices;
      if (std::any_of(list.begin(), list.end(),
                      [&](const HostDevice& d) { return !d.on_cores && identity(d) == device; }))
        naming.push_back(r);
    }
    return naming;
  }

  // Deals the devices that the fewest ranks name first, each to the naming rank with the fewest devices.
  void deal_devices() {
    std::vector<std::string> order;
    for (const size_t r : here_)
      for (const HostDevice& device : ranks_[r].devices)
        if (!device.on_cores && std::find(order.begin(), order.end(), identity(device)) == order.end())
          order.push_back(identity(device));
    std::stable_sort(order.begin(), order.end(),
                     [&](const std::string& a, const std::string& b) { return naming(a).size() < naming(b).size(); });
    std::map<std::string, size_t> owner;
    std::map<size_t, size_t> dealt;
    for (const std::string& device : order) {
      const Ranks wanting = naming(device);
      const size_t to =
          *std::min_element(wanting.begin(), wanting.end(), [&](size_t a, size_t b) { return dealt[a] < dealt[b]; });
      owner[device] = to;
      ++dealt[to];
    }
    for (const size_t r : here_) {
      for (const HostDevice& device : ranks_[r].devices)
        if (device.on_cores || owner[identity(device)] == r) shares_.shares[r].devices.push_back(device.id);
      if (shares_.shares[r].devices.empty())
        shares_.notices.push_back(
            fmt::format("rank {} gets no device: the ranks of {} outnumber its devices; start "
                        "fewer ranks, or name more devices",
                        r, name()));
    }
  }

  std::string name() const {
    const std::string& host = ranks_[here_.front()].host;
    return host.substr(0, host.find(' '));
  }

  const std::vector<HostView>& ranks_;
  const Ranks here_;
  Shares& shares_;
};

}  // namespace

Shares share(const std::vector<HostView>& ranks) {
  Shares shares;
  shares.shares.resize(ranks.size());
  std::vector<std::string> hosts;  // in rank order
  for (const HostView& rank : ranks)
    if (!rank.host.empty() && std::find(hosts.begin(), hosts.end(), rank.host) == hosts.end())
      hosts.push_back(rank.host);
  for (const std::string& host : hosts) {
    Ranks here;
    for (size_t r = 0; r < ranks.size(); ++r)
      if (ranks[r].host == host) here.push_back(r);
    HostDivision(ranks, here, shares).run();
  }
  uint32_t total = 0;
  for (const HostShare& one : shares.shares) total += static_cast<uint32_t>(one.devices.size());
  for (HostShare& one : shares.shares) one.devices_of_run = total;
  return shares;
}

}  // namespace mokume::cluster
