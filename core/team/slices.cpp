#include "team/slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "sdk/error.hpp"

namespace mokume::team {
namespace {

// A process whose members have neighbouring shards of a tree with 2^k leaves has at most 2 k subtrees after merged().
constexpr uint64_t kMostBlocks = 40;
constexpr uint64_t kHead = 1 + 2 * kMostBlocks;  // words before the floats: the number of blocks, then first and size of each
constexpr uint64_t kAlignment = 16;              // floats of a cache line

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

std::vector<float> message_of(const std::vector<cluster::Block>& blocks, const Slice& slice) {
  std::vector<float> message{word(static_cast<uint32_t>(blocks.size()))};
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

// What outlives the object, because messages of a start that broke up may arrive after its end.
struct SliceSums::Shared {
  Fabric& fabric;
  const std::vector<uint32_t> nodes;
  const size_t own;  // place of this process in `nodes`
  const uint64_t start;
  std::mutex mutex;
  std::function<void(uint64_t number, const base::Floats& sum)> made;  // empty after the object's end; needs the lock

  uint32_t tag(uint64_t number, uint32_t phase) const {
    return static_cast<uint32_t>((start % kStarts * kSums + number % kSums) * 2 + phase);
  }
  void report(uint64_t number, const base::Floats& sum) {
    const std::lock_guard lock(mutex);
    if (made) made(number, sum);
  }
};

// One sum on its way. The callbacks of the fabric share it.
class SliceSums::OneSum : public std::enable_shared_from_this<OneSum> {
 public:
  OneSum(std::shared_ptr<Shared> shared, uint64_t number, uint64_t count, std::vector<cluster::Block> blocks)
      : shared_(std::move(shared)), number_(number), own_(slice_of(count, shared_->own, owners())), result_(count) {
    local_ = merged(std::move(blocks));
    if (local_.size() > kMostBlocks)
      throw Error(MK_INTERNAL, fmt::format("a process has {} subtrees of a team's sum", local_.size()));
    for (const cluster::Block& b : local_) parts_.push_back({b.first, b.size, part_of(b.values, own_)});
    parts_left_ = slices_left_ = owners() - 1;
  }

  void begin() {
    for (size_t k = 0; k < owners(); ++k)
      if (k != shared_->own) expect(k);
    for (size_t k = 0; k < owners(); ++k)
      if (k != shared_->own) give_part(k);
  }

 private:
  size_t owners() const { return shared_->nodes.size(); }
  Slice slice(size_t owner) const { return slice_of(result_.size(), owner, owners()); }

  // Takes the part of this process's slice from another process, and that process's finished slice.
  void expect(size_t from) {
    const uint32_t node = shared_->nodes[from];
    const auto inbox = std::shared_ptr<float[]>(new float[kHead + kMostBlocks * own_.count]);
    const auto self = shared_from_this();
    shared_->fabric.take(node, shared_->tag(number_, 0), {inbox.get(), kHead + kMostBlocks * own_.count},
                         [self, inbox](uint64_t n) { self->part_arrived(inbox, n); });
    const Slice theirs = slice(from);
    shared_->fabric.take(node, shared_->tag(number_, 1), result_.span().subspan(theirs.first, theirs.count),
                         [self](uint64_t) { self->slice_arrived(); });
  }

  void give_part(size_t to) {
    const auto message = std::make_shared<const std::vector<float>>(message_of(local_, slice(to)));
    shared_->fabric.give(shared_->nodes[to], shared_->tag(number_, 0), *message, [message] {});
  }

  void part_arrived(const std::shared_ptr<float[]>& inbox, uint64_t n) {
    std::vector<cluster::Block> blocks = blocks_in({inbox.get(), n}, own_.count);
    {
      const std::lock_guard lock(mutex_);
      std::move(blocks.begin(), blocks.end(), std::back_inserter(parts_));
      inboxes_.push_back(inbox);
      if (--parts_left_ > 0) return;
    }
    finish_own_slice();
  }

  void finish_own_slice() {
    const base::Floats sum = add_up(std::move(parts_), own_.count);
    const std::span<float> to = result_.span().subspan(own_.first, own_.count);
    std::copy(sum.span().begin(), sum.span().end(), to.begin());
    inboxes_.clear();
    const auto self = shared_from_this();
    for (size_t k = 0; k < owners(); ++k)
      if (k != shared_->own) shared_->fabric.give(shared_->nodes[k], shared_->tag(number_, 1), to, [self] {});
    own_done_or_slice_arrived(true);
  }

  void slice_arrived() { own_done_or_slice_arrived(false); }

  void own_done_or_slice_arrived(bool own) {
    {
      const std::lock_guard lock(mutex_);
      if (own)
        own_done_ = true;
      else
        --slices_left_;
      if (!own_done_ || slices_left_ > 0) return;
    }
    shared_->report(number_, result_);
  }

  const std::shared_ptr<Shared> shared_;
  const uint64_t number_;
  const Slice own_;
  const base::Floats result_;
  std::vector<cluster::Block> local_;  // subtrees of this process; parts_ has views of them
  std::mutex mutex_;
  std::vector<cluster::Block> parts_;  // subtrees of the own slice
  std::vector<std::shared_ptr<float[]>> inboxes_;
  size_t parts_left_ = 0, slices_left_ = 0;
  bool own_done_ = false;
};

SliceSums::SliceSums(Fabric& fabric, std::vector<uint32_t> nodes, uint32_t node, uint64_t start,
                     std::function<void(uint64_t number, const base::Floats& sum)> made) {
  const auto own = static_cast<size_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
  if (own == nodes.size() || nodes.size() < 2)
    throw Error(MK_INTERNAL, "slices need this process and another one");
  shared_ = std::shared_ptr<Shared>(new Shared{fabric, std::move(nodes), own, start, {}, std::move(made)});
}

SliceSums::~SliceSums() {
  const std::lock_guard lock(shared_->mutex);
  shared_->made = nullptr;
}

void SliceSums::add(uint64_t number, uint64_t count, std::vector<cluster::Block> blocks) {
  std::make_shared<OneSum>(shared_, number, count, std::move(blocks))->begin();
}

}  // namespace mokume::team
