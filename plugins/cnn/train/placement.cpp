#include "train/placement.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "train/shares.hpp"
#include "train/training.hpp"

namespace mokume::cnn {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// The time of moving one element and its gradient between two devices, as a number of multiply-adds.
constexpr double kMove = 100;
constexpr double kCutGain = 1.1;  // minimum speed-up for another cut

uint64_t bytes_of(const Part& part, const Network& network, const Settings& settings, const Memory& memory) {
  const bool inputs = part.first == 0, targets = part.end >= network.stages.size();
  return Training::bytes(network, settings, memory.rows, part) + (inputs ? memory.inputs : 0) +
         (targets ? memory.targets : 0);
}

// Cuts the learned parameters into slices of nearly equal size at the beginnings of rows.
std::vector<int64_t> equal_bounds(const Network& network, size_t members) {
  int64_t learned = 0;
  for (const Parameter& p : network.parameters) learned += p.learned() && !p.frozen ? p.size() : 0;
  std::vector<int64_t> bounds = {0};
  int64_t before = 0;
  for (const Parameter& p : network.parameters) {
    if (!p.learned() || p.frozen) continue;
    while (bounds.size() < members) {
      const int64_t target = learned * int64_t(bounds.size()) / int64_t(members);
      if (target >= before + p.size()) break;
      bounds.push_back(p.offset + (target - before) / p.outputs * p.outputs);
    }
    before += p.size();
  }
  bounds.resize(members, network.n_parameters);
  bounds.push_back(network.n_parameters);
  return bounds;
}

Placement whole(size_t members, const Network& network) {
  Placement all{
      MK_SPLIT_BATCH, std::vector<Part>(members), std::vector<int64_t>(members + 1, network.n_parameters), {}, {}, {}};
  all.bounds.front() = 0;
  return all;
}

Placement sliced_states(size_t members, const Network& network) {
  Placement all{MK_SPLIT_STATES, std::vector<Part>(members), equal_bounds(network, members), {}, {}, {}};
  for (size_t m = 0; m < members; ++m) {
    all.parts[m].states_first = all.bounds[m];
    all.parts[m].states_end = all.bounds[m + 1];
  }
  return all;
}

Placement in_layers(std::vector<Part> parts, const Network& network) {
  Placement all{MK_SPLIT_LAYERS, std::move(parts), {}, {}, {}, {}};
  for (const Part& p : all.parts) all.bounds.push_back(first_parameter(network, p.first));
  all.bounds.push_back(network.n_parameters);
  return all;
}

// Returns the parts that an earlier run had.
std::vector<Part> repeated(const Shares& stages, const Network& network, const Settings& settings) {
  const std::vector<size_t> points = cut_points(network);
  std::vector<Part> parts;
  size_t from = 0;
  int64_t later = std::count_if(stages.begin(), stages.end(), [](int64_t n) { return n > 0; });
  for (const int64_t n : stages) {
    const size_t to = from + size_t(n);
    if (!std::binary_search(points.begin(), points.end(), to)) break;
    later -= n > 0 ? 1 : 0;
    parts.push_back({from, to, std::min(later + 1, settings.parallel.shards)});
    from = to;
  }
  if (parts.size() != stages.size() || from != network.stages.size())
    throw Error(MK_INVALID_ARGUMENT, "the split to be repeated, layers " + text_of(stages) +
                                         ", is not one of this network: remove devices.repeat_splits");
  return parts;
}

[[noreturn]] void refuse(mk_team_split wanted, const std::vector<Room>& rooms, const Network& network,
                         const Settings& settings, const Memory& memory) {
  const auto mib = [](uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; };
  std::string each;
  for (const Room& room : rooms) each += (each.empty() ? "" : " + ") + mib(room.budget);
  const std::string cure = wanted == MK_SPLIT_AUTO ? "lower batch_size, make the layers smaller, or add devices"
                                                   : "set devices.split to \"auto\"";
  throw Error(MK_OUT_OF_MEMORY, "training needs " + mib(bytes_of({}, network, settings, memory)) + " (" +
                                    mib(4 * network.n_parameters) + " of parameters) at batch_size " +
                                    std::to_string(settings.batch_size) + ", which does not fit into the " + each +
                                    " of the team's devices: " + cure);
}

// Finds the best cuts of a network into consecutive parts for the members in their order, by dynamic programming over
// the last members, the cuts, and the number of members with layers.
class Cutter {
 public:
  Cutter(const std::vector<Room>& rooms, const std::vector<double>& speeds, const Network& network,
         const Settings& settings, const Memory& memory)
      : rooms_(rooms),
        speeds_(speeds),
        network_(network),
        settings_(settings),
        memory_(memory),
        points_(cut_points(network)),
        most_(std::min(rooms.size(), points_.size() - 1)) {
    // A pass has a forward and two backward products for each row, and stores and adds up a gradient of each parameter;
    // a step reads and writes every parameter and its states.
    const double rows = double(settings.batch_size) / double(settings.parallel.shards);
    const double each = 4 + 10.0 / double(settings.parallel.shards);
    costs_.push_back(0);
    for (const Layer* s : network.stages)
      costs_.push_back(costs_.back() + rows * (3 * s->products + double(s->out.elements())) +
                       each * double(s->n_parameters));
    move_ = kMove * rows;
  }

  // Returns the part of each member, or nothing if no cuts fit into the memory.
  std::vector<Part> cut() {
    const size_t members = rooms_.size(), cuts = points_.size();
    best_.assign(members + 1, std::vector<std::vector<Choice>>(cuts, std::vector<Choice>(most_ + 1)));
    best_[members][cuts - 1][0].slowest = 0;
    for (size_t m = members; m-- > 0;)
      for (size_t from = 0; from < cuts; ++from)
        for (size_t n = 0; n <= most_; ++n) choose(m, from, n);
    size_t stages = 0;
    for (size_t n = 1; n <= most_; ++n)
      if (time(n) < time(stages)) stages = n;
    return stages == 0 ? std::vector<Part>{} : parts(stages);
  }

  // Returns the cost of a part in multiply-adds.
  double cost(const Part& part) const { return cost(index(part.first), index(part.end)); }

  // Returns the time of a batch with these parts.
  double time(const std::vector<Part>& parts) const {
    double slowest = 0;
    int64_t stages = 0;
    for (size_t m = 0; m < parts.size(); ++m) {
      if (parts[m].first == parts[m].end) continue;
      slowest = std::max(slowest, cost(parts[m]) / speeds_[m]);
      ++stages;
    }
    return time(slowest, stages);
  }

 private:
  struct Choice {
    double slowest = kNever;  // time of the slowest member from this one on
    size_t to = 0;            // cut at which the next member begins
  };

  size_t index(size_t point) const { return std::find(points_.begin(), points_.end(), point) - points_.begin(); }

  // Returns the time of a batch in a pipeline of n members: the slowest member works on every shard, and the first and
  // the last shard leave the others idle.
  double time(double slowest, int64_t n) const { return slowest * double(settings_.parallel.shards + n - 1); }
  double time(size_t n) const { return n == 0 ? kNever : time(best_[0][0][n].slowest, int64_t(n)); }

  Part part(size_t from, size_t to, size_t followers) const {
    const int64_t in_flight = std::min<int64_t>(int64_t(followers) + 1, settings_.parallel.shards);
    return {points_[from], points_[to], in_flight};
  }

  double cost(size_t from, size_t to) const {
    double cost = costs_[points_[to]] - costs_[points_[from]];
    if (from > 0) cost += move_ * double(network_.shape_of(points_[from]).elements());
    if (to + 1 < points_.size()) cost += move_ * double(network_.shape_of(points_[to]).elements());
    return cost;
  }

  // Chooses the part of member m if it begins at cut `from`, and n members from m on have layers.
  void choose(size_t m, size_t from, size_t n) {
    Choice& best = best_[m][from][n];
    for (size_t to = from + 1; n > 0 && to < points_.size(); ++to) {
      const double slowest = std::max(cost(from, to) / speeds_[m], best_[m + 1][to][n - 1].slowest);
      if (slowest < best.slowest && fits(m, from, to, n - 1)) best = {slowest, to};
    }
    if (const double without = best_[m + 1][from][n].slowest; without < best.slowest) best = {without, from};
  }

  bool fits(size_t m, size_t from, size_t to, size_t followers) {
    const Part wanted = part(from, to, followers);
    const auto [bytes, unknown] = bytes_.try_emplace({from, to, wanted.in_flight});
    if (unknown) bytes->second = bytes_of(wanted, network_, settings_, memory_);
    // The norm of the gradients needs them in one piece.
    const int64_t gradients = settings_.optimizer.clip > 0
                                  ? first_parameter(network_, wanted.end) - first_parameter(network_, wanted.first)
                                  : 0;
    const uint64_t largest = std::max(uint64_t(4 * gradients), Training::largest_buffer(network_, settings_, wanted));
    return bytes->second <= rooms_[m].budget && largest <= rooms_[m].largest_buffer;
  }

  std::vector<Part> parts(size_t n) const {
    std::vector<Part> all;
    for (size_t m = 0, from = 0; m < rooms_.size(); ++m) {
      const size_t to = best_[m][from][n].to;
      if (to > from) --n;
      all.push_back(part(from, to, n));
      from = to;
    }
    return all;
  }

  const std::vector<Room>& rooms_;
  const std::vector<double>& speeds_;
  const Network& network_;
  const Settings& settings_;
  const Memory& memory_;
  const std::vector<size_t> points_;
  const size_t most_;
  std::vector<double> costs_;  // costs of all stages before each stage, for one shard
  double move_ = 0;            // cost of an element that passes from one device to another
  std::vector<std::vector<std::vector<Choice>>> best_;
  std::map<std::tuple<size_t, size_t, int64_t>, uint64_t>
      bytes_;  // bytes of parts, by their ends and batches in flight
};

}  // namespace

std::vector<uint32_t> Placement::pipeline() const {
  std::vector<uint32_t> members;
  for (uint32_t m = 0; m < parts.size(); ++m)
    if (parts[m].first < parts[m].end) members.push_back(m);
  return members;
}

Shares Placement::stages() const {
  Shares stages;
  for (const Part& p : parts) stages.push_back(int64_t(p.end - p.first));
  return stages;
}

std::string Placement::text() const { return "layers " + text_of(stages()); }

std::vector<Placement::Piece> Placement::pieces(const std::string& state, int64_t first, int64_t count) const {
  if (is_shared(state)) return {{0, first, count}};
  std::vector<Piece> all;
  for (uint32_t m = 0; m + 1 < bounds.size(); ++m) {
    const int64_t begin = std::max(first, bounds[m]), end = std::min(first + count, bounds[m + 1]);
    if (begin < end) all.push_back({m, begin, end - begin});
  }
  return all;
}

Placement place(mk_team_split wanted, const std::vector<Room>& rooms, const std::vector<double>& speeds,
                const Network& network, const Settings& settings, const Memory& memory) {
  const size_t members = rooms.size();
  if (members == 1 || settings.parallel.kind != Parallel::Kind::synchronous) return whole(members, network);
  const auto fits = [&](const Placement& placement) {
    for (size_t m = 0; m < members; ++m)
      if (bytes_of(placement.parts[m], network, settings, memory) > rooms[m].budget) return false;
    return true;
  };
  const auto may = [&](mk_team_split split) { return wanted == MK_SPLIT_AUTO || wanted == split; };
  if (may(MK_SPLIT_BATCH))
    if (Placement all = whole(members, network); fits(all)) return all;
  if (may(MK_SPLIT_STATES) && !settings.muon.used())
    if (Placement states = sliced_states(members, network); fits(states)) return states;
  if (may(MK_SPLIT_LAYERS)) {
    Cutter cutter(rooms, speeds, network, settings, memory);
    Placement layers = in_layers(cutter.cut(), network);
    for (const Part& part : layers.parts) layers.costs.push_back(part.first < part.end ? cutter.cost(part) : 0);
    layers.rooms = rooms;
    layers.memory = memory;
    if (!layers.parts.empty()) return layers;
  }
  refuse(wanted, rooms, network, settings, memory);
}

Placement place(const sdk::Team& team, const sdk::Device& device, const Network& network, const Settings& settings,
                const Memory& memory, const Cut& cut) {
  constexpr uint64_t kUnit = uint64_t{1} << 20;  // floats hold numbers of mebibytes exactly
  if (team.alone()) return whole(1, network);
  const RecordedShares recorded(team);
  const Shares* const stages = cut.stages.empty() ? recorded.layers() : &cut.stages;
  if (stages != nullptr) return in_layers(repeated(*stages, network, settings), network);
  const auto units = [](uint64_t bytes) { return float(std::min<uint64_t>(bytes / kUnit, 1 << 24)); };
  std::vector<float> mebibytes(2 * team.members());
  mebibytes[2 * team.member()] = units(device.budget_bytes());
  mebibytes[2 * team.member() + 1] = units(device.info().max_buffer_bytes);
  team.sum(mebibytes);
  std::vector<double> speeds = cut.speeds;
  for (uint32_t m = 0; cut.speeds.empty() && m < team.members(); ++m) speeds.push_back(team.speed(m));
  std::vector<Room> rooms;
  for (uint32_t m = 0; m < team.members(); ++m)
    rooms.push_back({uint64_t(mebibytes[2 * m]) * kUnit, uint64_t(mebibytes[2 * m + 1]) * kUnit});
  Placement placement = place(team.split(), rooms, Speeds(speeds).now(), network, settings, memory);
  if (recorded.any() && placement.in_layers())
    throw Error(MK_INVALID_ARGUMENT,
                "the run to be repeated was split by batch, for which this network is too large: remove "
                "devices.repeat_splits");
  return placement;
}

bool has_better_cut(const Placement& now, const std::vector<double>& speeds, const Network& network,
                    const Settings& settings) {
  Cutter cutter(now.rooms, speeds, network, settings, now.memory);
  const std::vector<Part> parts = cutter.cut();
  return !parts.empty() && cutter.time(parts) * kCutGain < cutter.time(now.parts);
}

}  // namespace mokume::cnn
