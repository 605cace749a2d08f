#include "team/slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "sdk/error.hpp"

namespace mokume::team {
namespace {

// A process whose members have neighbouring shards of a tree with 2^k leaves has at most 2 k subtrees after merged().
constexpr uint64_t kMostBlocks = 40;
constexpr uint64_t kHead =
    1 + 2 * kMostBlocks;             // words before the floats: the number of blocks, then first and size of each
constexpr uint64_t kAlignment = 16;  // floats of a cache line

using Message = std::vector<float>;

float word(uint32_t value) {
  float f = 0;
  std::memcpy(&f, &value, sizeof(f));
  return f;
}

uint32_t number_in(float f) {
  uint32_t value = 0;
  std::memcpy(&value, &f, sizeof(value));
  return value;
}

// Returns slice `owner` of `owners`: whole cache lines, except at the end.
Slice slice_of(uint64_t count, size_t owner, size_t owners) {
  const uint64_t lines = (count + kAlignment - 1) / kAlignment;
  const auto bound = [&](size_t k) { return std::min(count, lines * k / owners * kAlignment); };
  return {bound(owner), bound(owner + 1) - bound(owner)};
}

base::Floats part_of(const base::Floats& all, const Slice& slice) {
  return base::Floats::view(all.span().subspan(slice.first, slice.count));
}

Message message_of(const std::vector<cluster::Block>& blocks, const Slice& slice) {
  Message message{word(static_cast<uint32_t>(blocks.size()))};
  message.reserve(1 + blocks.size() * (2 + slice.count));
  for (const cluster::Block& b : blocks) message.insert(message.end(), {word(b.first), word(b.size)});
  for (const cluster::Block& b : blocks) {
    const std::span<const float> part = b.values.span().subspan(slice.first, slice.count);
    message.insert(message.end(), part.begin(), part.end());
  }
  return message;
}

// Returns the blocks in a message, as views. Throws Error(MK_INTERNAL) if the message is not what message_of() makes.
std::vector<cluster::Block> blocks_in(std::span<float> message, uint64_t count) {
  const uint64_t n = message.empty() ? kMostBlocks + 1 : number_in(message[0]);
  if (n > kMostBlocks || message.size() != 1 + n * (2 + count))
    throw Error(MK_INTERNAL, "a message with a part of a team's sum has the wrong length");
  std::vector<cluster::Block> blocks;
  for (uint64_t k = 0; k < n; ++k)
    blocks.push_back({number_in(message[1 + 2 * k]), number_in(message[2 + 2 * k]),
                      base::Floats::view(message.subspan(1 + 2 * n + k * count, count))});
  return blocks;
}

}  // namespace

std::vector<cluster::Block> merged(std::vector<cluster::Block> blocks) {
  std::sort(blocks.begin(), blocks.end(),
            [](const cluster::Block& a, const cluster::Block& b) { return a.first < b.first; });
  std::vector<cluster::Block> result;
  for (cluster::Block& next : blocks) {
    result.push_back(std::move(next));
    while (result.size() >= 2) {
      cluster::Block& left = result[result.size() - 2];
      const cluster::Block& right = result.back();
      const bool halves =
          left.size == right.size && right.first == left.first + left.size && left.first % (2 * left.size) == 0;
      if (!halves) break;
      const std::span<float> sum = left.values.span(), more = right.values.span();
      std::transform(sum.begin(), sum.end(), more.begin(), sum.begin(), std::plus<float>());
      left.size *= 2;
      result.pop_back();
    }
  }
  return result;
}

// Holds what outlives the object, because messages of a start that broke up may arrive after its end.
struct SliceSums::Shared {
  Fabric& fabric;
  const std::vector<uint32_t> nodes;
  const size_t own;  // place of this process in `nodes`
  const uint64_t start;
  std::mutex mutex;
  // These need the lock.
  bool ended = false;  // whether the object is gone
  Results results;
  std::map<uint64_t, std::shared_ptr<OneSum>> open;  // unfinished sums
  uint64_t next = 0;                                 // number of the sum that begins next

  uint32_t tag(uint32_t phase) const { return static_cast<uint32_t>(start % kStarts * 2 + phase); }
  void begin_in_order();
  void publish_in_order();
};

// One sum on its way. The callbacks of the fabric share it. All members need the lock of Shared, unless they are const
// or only one thread can reach them.
class SliceSums::OneSum : public std::enable_shared_from_this<OneSum> {
 public:
  OneSum(std::shared_ptr<Shared> shared, uint64_t number, uint64_t count, std::vector<cluster::Block> blocks)
      : shared_(std::move(shared)),
        number_(number),
        own_(slice_of(count, shared_->own, shared_->nodes.size())),
        local_(merged(std::move(blocks))),
        result_(count) {
    if (local_.size() > kMostBlocks)
      throw Error(MK_INTERNAL, fmt::format("a process has {} subtrees of a team's sum", local_.size()));
    for (const cluster::Block& b : local_) parts_.push_back({b.first, b.size, part_of(b.values, own_)});
    for (size_t k = 0; k < shared_->nodes.size(); ++k)
      if (k != shared_->own) others_.emplace(k, std::make_shared<const Message>(message_of(local_, slice(k))));
    for (const auto& [k, message] : others_) absent_.insert(k);
    slices_left_ = others_.size() + 1;
  }

  // Takes the part of this process's slice from each other process, and that process's finished slice. Gives each other
  // process the part of its slice. Requires the lock.
  void begin() {
    for (const auto& [k, message] : others_) expect(k);
    for (auto& [k, message] : others_) {
      const std::shared_ptr<const Message> sent = std::move(message);
      shared_->fabric.give(shared_->nodes[k], shared_->tag(0), *sent, [sent] {});
    }
  }

  bool own_slice_done() const { return absent_.empty() && added_up_; }
  bool published() const { return published_; }
  bool complete() const { return slices_left_ == 0; }

  void publish() {
    published_ = true;
    const std::span<const float> slice = result_.span().subspan(own_.first, own_.count);
    for (const auto& [k, message] : others_)
      shared_->fabric.give(shared_->nodes[k], shared_->tag(1), slice, [self = shared_from_this()] {});
  }

  std::vector<uint32_t> absent() const {
    std::vector<uint32_t> nodes;
    for (const size_t k : absent_) nodes.push_back(shared_->nodes[k]);
    return nodes;
  }

 private:
  Slice slice(size_t owner) const { return slice_of(result_.size(), owner, shared_->nodes.size()); }

  void expect(size_t from) {
    const uint32_t node = shared_->nodes[from];
    const uint64_t most = kHead + kMostBlocks * own_.count;
    const auto inbox = std::shared_ptr<float[]>(new float[most]);
    const auto self = shared_from_this();
    shared_->fabric.take(node, shared_->tag(0), {inbox.get(), most},
                         [self, from, inbox](uint64_t n) { self->part_arrived(from, inbox, n); });
    const Slice theirs = slice(from);
    shared_->fabric.take(node, shared_->tag(1), result_.span().subspan(theirs.first, theirs.count),
                         [self](uint64_t) { self->slice_arrived(); });
  }

  void part_arrived(size_t from, const std::shared_ptr<float[]>& inbox, uint64_t n) try {
    std::vector<cluster::Block> blocks = blocks_in({inbox.get(), n}, own_.count);
    {
      const std::lock_guard lock(shared_->mutex);
      std::move(blocks.begin(), blocks.end(), std::back_inserter(parts_));
      inboxes_.push_back(inbox);
      absent_.erase(from);
      if (!absent_.empty()) return;
    }
    const base::Floats sum = add_up(std::move(parts_), own_.count);
    std::copy(sum.span().begin(), sum.span().end(), result_.span().begin() + static_cast<ptrdiff_t>(own_.first));
    {
      const std::lock_guard lock(shared_->mutex);
      added_up_ = true;
      inboxes_.clear();
      shared_->publish_in_order();
    }
    slice_arrived();
  } catch (const std::exception& e) {
    const std::lock_guard lock(shared_->mutex);
    if (!shared_->ended) shared_->results.failed(e.what());
  }

  // Counts a finished slice of the result, which may be the own one.
  void slice_arrived() {
    const std::lock_guard lock(shared_->mutex);
    if (--slices_left_ > 0) return;
    if (!shared_->ended) shared_->results.made(number_, result_);
    if (published_) shared_->open.erase(number_);
  }

  const std::shared_ptr<Shared> shared_;
  const uint64_t number_;
  const Slice own_;
  const std::vector<cluster::Block> local_;  // subtrees of this process; parts_ has views of them
  const base::Floats result_;
  std::map<size_t, std::shared_ptr<const Message>> others_;  // places of the other processes; messages before begin()
  std::vector<cluster::Block> parts_;                        // subtrees of the own slice
  std::vector<std::shared_ptr<float[]>> inboxes_;
  std::set<size_t> absent_;  // places of processes whose part has not arrived
  size_t slices_left_ = 0;
  bool added_up_ = false, published_ = false;
};

// Messages of two processes with one tag keep their order, so all processes must begin and publish sums in one order.
void SliceSums::Shared::begin_in_order() {
  for (auto sum = open.find(next); sum != open.end() && sum->first == next; ++sum, ++next) sum->second->begin();
}

void SliceSums::Shared::publish_in_order() {
  for (auto sum = open.begin(); sum != open.end() && sum->second->own_slice_done();) {
    if (!sum->second->published()) sum->second->publish();
    sum = sum->second->complete() ? open.erase(sum) : std::next(sum);
  }
}

SliceSums::SliceSums(Fabric& fabric, std::vector<uint32_t> nodes, uint32_t node, uint64_t start, Results results) {
  const auto own = static_cast<size_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
  if (own == nodes.size() || nodes.size() < 2) throw Error(MK_INTERNAL, "slices need this process and another one");
  shared_ =
      std::shared_ptr<Shared>(new Shared{fabric, std::move(nodes), own, start, {}, false, std::move(results), {}, 0});
}

SliceSums::~SliceSums() {
  const std::lock_guard lock(shared_->mutex);
  shared_->ended = true;
  shared_->open.clear();
}

void SliceSums::add(uint64_t number, uint64_t count, std::vector<cluster::Block> blocks) {
  const auto sum = std::make_shared<OneSum>(shared_, number, count, std::move(blocks));
  const std::lock_guard lock(shared_->mutex);
  shared_->open.emplace(number, sum);
  shared_->begin_in_order();
}

std::vector<uint32_t> SliceSums::absent(uint64_t number) const {
  const std::lock_guard lock(shared_->mutex);
  const auto found = shared_->open.find(number);
  return found == shared_->open.end() ? std::vector<uint32_t>() : found->second->absent();
}

}  // namespace mokume::team
