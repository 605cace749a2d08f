// Adds up the sums of a team by owner slices. Each of R processes owns one slice of every long sum. It sends each other
// owner its subtree sums of that owner's slice, adds up its own slice in the order of the tree (add_up()), and sends
// the result to all others. Every process thus sends and receives about 2 (R - 1) / R times the floats of its subtrees,
// whatever R is; in the star, process 0 carries R - 1 times that.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/transport/transport.hpp"
#include "team/sums.hpp"

namespace mokume::team {

// Moves floats between two processes. Any thread may call both functions. `done` runs at most once, on any thread but
// not within the call, and not at all if a process of the run dies first; the floats must stay valid until then. `done`
// must not throw. The n-th take() from a process with a tag receives the n-th give() to this process with that tag.
class Fabric {
 public:
  virtual ~Fabric() = default;
  virtual void give(uint32_t to, uint32_t tag, std::span<const float> floats, std::function<void()> done) = 0;
  // Receives at most floats.size() floats. `done` gets their number.
  virtual void take(uint32_t from, uint32_t tag, std::span<float> floats, std::function<void(uint64_t)> done) = 0;
};

// The fabric of a transport.
class TransportFabric : public Fabric {
 public:
  // The transport must outlive this object.
  explicit TransportFabric(cluster::Transport& transport) : transport_(transport) {}
  void give(uint32_t to, uint32_t tag, std::span<const float> floats, std::function<void()> done) override {
    transport_.give(to, tag, floats, [done = std::move(done)](uint64_t) { done(); });
  }
  void take(uint32_t from, uint32_t tag, std::span<float> floats, std::function<void(uint64_t)> done) override {
    transport_.take(from, tag, floats, std::move(done));
  }

 private:
  cluster::Transport& transport_;
};

// Returns the blocks with neighbours added up: two subtrees that are the halves of one become that one. The blocks must
// own their floats, which the result reuses.
std::vector<cluster::Block> merged(std::vector<cluster::Block> blocks);

// Floats of a sum that one process adds up.
struct Slice {
  uint64_t first = 0, count = 0;
};

// The class is thread-safe.
class SliceSums {
 public:
  static constexpr uint32_t kStarts = 10'000;  // the tags of starts repeat after so many
  static constexpr uint32_t kTags = 3 * kStarts;

  struct Results {
    std::function<void(uint64_t number, const base::Floats& sum)> made;  // receives each finished sum
    std::function<void(const std::string& why)> failed;                  // reports a message that is not one of a sum
  };
  // `nodes` are the processes of the team in ascending order, and the same on each; `node` is this one. `start` tells
  // this start of the team from earlier ones, whose messages may still be on their way. `results` may run on a thread
  // of the fabric, must not call this object, and does not run after its end.
  SliceSums(Fabric& fabric, std::vector<uint32_t> nodes, uint32_t node, uint64_t start, Results results);
  ~SliceSums();
  SliceSums(const SliceSums&) = delete;
  SliceSums& operator=(const SliceSums&) = delete;

  // Contributes the blocks of all members in this process, once for each number from 0. The blocks must own their
  // floats.
  void add(uint64_t number, uint64_t count, std::vector<cluster::Block> blocks);

 private:
  struct Shared;
  class OneSum;

  std::shared_ptr<Shared> shared_;
};

}  // namespace mokume::team
