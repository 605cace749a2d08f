// Decides which part of a network each member of a team keeps in memory (mk_team_split). The results are the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "network/network.hpp"
#include "network/part.hpp"
#include "sdk/device.hpp"
#include "sdk/team.hpp"
#include "train/shares.hpp"

namespace mokume::cnn {

// Holds what decides, with the network, whether a part fits into memory.
struct Memory {
  uint64_t inputs = 0, targets = 0;  // bytes of the rows of the experiment
  int64_t rows = 0;
};

// Holds the memory of a device, in bytes.
struct Room {
  uint64_t budget = 0, largest_buffer = UINT64_MAX;
};

struct Placement {
  mk_team_split split = MK_SPLIT_BATCH;
  std::vector<Part> parts;  // indexed by member
  // Member m owns elements [bounds[m], bounds[m + 1]) of the flat vector of all parameters: their states or, with
  // MK_SPLIT_LAYERS, all that belongs to them.
  std::vector<int64_t> bounds;

  // With MK_SPLIT_LAYERS, the cost of a shard for each member in multiply-adds, and what allows another cut.
  std::vector<double> costs = {};
  std::vector<Room> rooms = {};
  Memory memory = {};

  bool in_layers() const { return split == MK_SPLIT_LAYERS; }
  // Returns the members that have layers, in their order.
  std::vector<uint32_t> pipeline() const;
  Shares stages() const;  // each member's number of stages
  // Returns the text for the account of the team, such as "layers 3+5".
  std::string text() const;

  // Returns whether all members keep the whole of a vector of Engine::state().
  bool is_shared(const std::string& state) const {
    return !in_layers() && (split != MK_SPLIT_STATES || !state.starts_with("state"));
  }
  // Returns whether a member keeps what others do not.
  bool has_pieces(uint32_t member) const { return split != MK_SPLIT_BATCH && bounds[member] < bounds[member + 1]; }
  struct Piece {
    uint32_t member;
    int64_t first, count;
  };
  // Divides elements [first, first + count) of a vector of Engine::state() among the members that keep them, or gives
  // them to the leader if all members keep them.
  std::vector<Piece> pieces(const std::string& state, int64_t first, int64_t count) const;
};

// Tells how a team cuts a network into layers.
struct Cut {
  std::vector<double> speeds = {};  // by member; if empty, those that the team knows
  Shares stages = {};               // if not empty, each member's number of stages
  int64_t patience = 4;             // meetings of the team before the next look for a better cut
};

// Every member calls this function and gets the same result. Cuts the layers so that the slowest device takes as little
// time as possible, by the numbers of multiply-adds and parameters and the speeds of the devices; a pipeline has as
// many devices as shorten its time. Repeats a recorded split by layers. Throws Error(MK_OUT_OF_MEMORY) if no placement
// that the team allows fits.
Placement place(const sdk::Team& team, const sdk::Device& device, const Network& network, const Settings& settings,
                const Memory& memory, const Cut& cut = {});

// Does the same for devices with these budgets and largest buffers, in bytes.
Placement place(mk_team_split wanted, const std::vector<Room>& rooms, const std::vector<double>& speeds,
                const Network& network, const Settings& settings, const Memory& memory);

// Returns whether another cut into layers takes clearly less time than `now` on devices with these speeds.
bool has_better_cut(const Placement& now, const std::vector<double>& speeds, const Network& network,
                    const Settings& settings);

}  // namespace mokume::cnn
