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

// A process whose members have neighbouring shards has at most two subtrees for each level of the tree after merged(),
// and more only where shards are empty.
constexpr uint64_t kMostBlocks = 255;
constexpr uint64_t kAlignment = 16;     // floats of a cache line
constexpr uint64_t kLeastSlice = 4096;  // floats

// States the subtrees of a process: their number, then the first leaf and the size of each. A fabric carries only
// floats.
using Head = std::vector<float>;
constexpr uint64_t kMostWords = 1 + 2 * kMostBlocks;

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

// Returns the slice of sum `number` that the process at `place` of `places` owns. Slices are whole cache lines, except
// at the end. Short sums have fewer owners, which differ from sum to sum, because many small messages take longer.
Slice slice_of(uint64_t number, uint64_t count, size_t place, size_t places) {
  const uint64_t owners = std::clamp<uint64_t>(count / kLeastSlice, 1, places);
  const uint64_t owner = (place + places - number * owners % places) % places;
  if (owner >= owners) return {};
  const uint64_t lines = (count + kAlignment - 1) / kAlignment;
  const auto bound = [&](uint64_t k) { return std::min(count, lines * k / owners * kAlignment); };
  return {bound(owner), bound(owner + 1) - bound(owner)};
}

base::Floats part_of(const base::Floats& all, const Slice& slice) {
  return base::Floats::view(all.span().subspan(slice.first, slice.count));
}

Head head_of(const std::vector<cluster::Block>& blocks) {
  if (blocks.size() > kMostBlocks)
    throw Error(MK_INTERNAL, fmt::format("a process has {} subtrees of a team's sum", blocks.size()));
  Head head{word(static_cast<uint32_t>(blocks.size()))};
  for (const cluster::Block& b : blocks) head.insert(head.end(), {word(b.first), word(b.size)});
  return head;
}

// Returns the blocks that the head describes, in one allocation for all of them, without values.
std::vector<cluster::Block> described(const Head& head, uint64_t words, uint64_t count) {
  const uint64_t n = words == 0 ? 0 : number_in(head[0]);
  if (words != 1 + 2 * n || n > kMostBlocks)
    throw Error(MK_INTERNAL, "a message with a part of a team's sum is damaged");
  const std::shared_ptr<float> all(new float[n * count], std::default_delete<float[]>());
  std::vector<cluster::Block> blocks;
  for (uint64_t k = 0; k < n; ++k)
    blocks.push_back({number_in(head[1 + 2 * k]), number_in(head[2 + 2 * k]),
                      base::Floats(std::shared_ptr<float>(all, all.get() + k * count), count)});
  return blocks;
}

// Returns the slice of all blocks, one after another.
base::Floats joined(const std::vector<cluster::Block>& blocks, const Slice& slice) {
  if (blocks.size() == 1) return part_of(blocks.front().values, slice);
  base::Floats all = base::Floats::uninitialized(blocks.size() * slice.count);
  float* to = all.span().data();
  for (const cluster::Block& b : blocks) {
    const std::span<const float> part = b.values.span().subspan(slice.first, slice.count);
    to = std::copy(part.begin(), part.end(), to);
  }
  return all;
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
      const uint64_t whole = uint64_t{2} * left.size;
      const bool halves = whole > 0 && left.size == right.size && right.first == uint64_t{left.first} + left.size &&
                          left.first % whole == 0;
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
  std::vector<uint64_t> next_part;                   // number of the sum whose part is taken next, by place

  enum Phase : uint32_t { head, part, slice, n_phases };
  static_assert(n_phases * kStarts == kTags);
  uint32_t tag(Phase phase) const { return static_cast<uint32_t>(start % kStarts * n_phases + phase); }
  size_t next_place(size_t place) const { return (place + 1) % nodes.size(); }
  void begin_in_order();
  void take_parts_in_order(size_t from);
  void publish_in_order();
};

// One sum on its way. The callbacks of the fabric share it. The lock of Shared guards what is not const, except where
// only one thread can be.
class SliceSums::OneSum : public std::enable_shared_from_this<OneSum> {
 public:
  OneSum(std::shared_ptr<Shared> shared, uint64_t number, uint64_t count, std::vector<cluster::Block> blocks)
      : shared_(std::move(shared)),
        number_(number),
        own_(slice_of(number, count, shared_->own, shared_->nodes.size())),
        local_(merged(std::move(blocks))),
        head_(head_of(local_)),
        result_(base::Floats::uninitialized(count)) {
    for (const cluster::Block& b : local_) parts_.push_back({b.first, b.size, part_of(b.values, own_)});
    if (own_.count > 0) ++slices_left_;
    // Begins with the next process, so that not all send to the same one at a time.
    for (size_t k = shared_->next_place(shared_->own); k != shared_->own; k = shared_->next_place(k)) {
      if (slice(k).count > 0) to_give_.emplace_back(k, joined(local_, slice(k)));
      if (own_.count > 0) absent_.insert(k);
    }
    slices_left_ += to_give_.size();
    added_up_ = own_.count == 0;
  }

  // Gives the other processes the parts of their slices, and expects the parts of the own slice and their finished
  // ones.
  void begin() {
    const auto self = shared_from_this();
    for (const size_t k : absent_) expect_part(k);
    for (const auto& [k, part] : to_give_) {
      const Slice theirs = slice(k);
      shared_->fabric.take(shared_->nodes[k], shared_->tag(Shared::slice),
                           result_.span().subspan(theirs.first, theirs.count),
                           [self, theirs](uint64_t n) { self->their_slice_arrived(theirs, n); });
    }
    for (const auto& [k, part] : to_give_) {
      shared_->fabric.give(shared_->nodes[k], shared_->tag(Shared::head), head_, [self] {});
      if (!local_.empty())
        shared_->fabric.give(shared_->nodes[k], shared_->tag(Shared::part), part.span(), [self, part = part] {});
    }
    to_give_.clear();
    if (slices_left_ == 0) finish();
  }

  // Returns whether the head has arrived, or nothing will arrive from there.
  bool knows_part(size_t from) const { return absent_.count(from) == 0 || heads_.count(from) > 0; }

  void take_part(size_t from) {
    const auto head = heads_.find(from);
    if (head == heads_.end() || head->second.empty()) return;
    const std::span<float> first = head->second.front().values.span();
    shared_->fabric.take(shared_->nodes[from], shared_->tag(Shared::part),
                         {first.data(), first.size() * head->second.size()},
                         [self = shared_from_this(), from](uint64_t n) { self->part_arrived(from, n); });
  }

  bool own_slice_done() const { return added_up_; }
  bool published() const { return published_; }
  bool complete() const { return slices_left_ == 0; }

  void publish() {
    published_ = true;
    const std::span<const float> slice = result_.span().subspan(own_.first, own_.count);
    for (size_t k = shared_->next_place(shared_->own); k != shared_->own && !slice.empty(); k = shared_->next_place(k))
      shared_->fabric.give(shared_->nodes[k], shared_->tag(Shared::slice), slice, [self = shared_from_this()] {});
  }

 private:
  Slice slice(size_t place) const { return slice_of(number_, result_.size(), place, shared_->nodes.size()); }

  void expect_part(size_t from) {
    const auto head = std::make_shared<Head>(kMostWords);
    shared_->fabric.take(
        shared_->nodes[from], shared_->tag(Shared::head), *head,
        [self = shared_from_this(), from, head](uint64_t words) { self->head_arrived(from, *head, words); });
  }

  template <class Body>
  void report_errors(Body&& body) {
    try {
      body();
    } catch (const std::exception& e) {
      const std::lock_guard lock(shared_->mutex);
      if (!shared_->ended) shared_->results.failed(e.what());
    }
  }

  void head_arrived(size_t from, const Head& head, uint64_t words) {
    report_errors([&] {
      std::vector<cluster::Block> blocks = described(head, words, own_.count);
      const bool none = blocks.empty();
      {
        const std::lock_guard lock(shared_->mutex);
        heads_.emplace(from, std::move(blocks));
        shared_->take_parts_in_order(from);
      }
      if (none) part_arrived(from, 0);
    });
  }

  void part_arrived(size_t from, uint64_t floats) {
    report_errors([&] {
      {
        const std::lock_guard lock(shared_->mutex);
        std::vector<cluster::Block>& blocks = heads_.at(from);
        if (floats != blocks.size() * own_.count)
          throw Error(MK_INTERNAL, "a message with a part of a team's sum has the wrong length");
        std::move(blocks.begin(), blocks.end(), std::back_inserter(parts_));
        absent_.erase(from);
        if (!absent_.empty()) return;
      }
      const base::Floats sum = add_up(std::move(parts_), own_.count);
      std::copy(sum.span().begin(), sum.span().end(), result_.span().begin() + static_cast<ptrdiff_t>(own_.first));
      {
        const std::lock_guard lock(shared_->mutex);
        added_up_ = true;
        shared_->publish_in_order();
      }
      slice_arrived();
    });
  }

  void their_slice_arrived(const Slice& theirs, uint64_t floats) {
    report_errors([&] {
      if (floats != theirs.count)
        throw Error(MK_INTERNAL, "a message with a slice of a team's sum has the wrong length");
      slice_arrived();
    });
  }

  // Counts a finished slice of the result, which may be the own one.
  void slice_arrived() {
    const std::lock_guard lock(shared_->mutex);
    if (--slices_left_ == 0) finish();
  }

  // May end this object.
  void finish() {
    if (!shared_->ended) shared_->results.made(number_, result_);
    if (published_) shared_->open.erase(number_);
  }

  const std::shared_ptr<Shared> shared_;
  const uint64_t number_;
  const Slice own_;
  const std::vector<cluster::Block> local_;  // subtrees of this process, of which parts_ has views
  const Head head_;
  const base::Floats result_;
  std::vector<std::pair<size_t, base::Floats>> to_give_;  // until begin(): parts of the others' slices, by place
  std::map<size_t, std::vector<cluster::Block>> heads_;   // announced parts of the own slice, by place
  std::vector<cluster::Block> parts_;                     // subtrees of the own slice
  std::set<size_t> absent_;                               // places whose part of the own slice has not arrived
  size_t slices_left_ = 0;
  bool added_up_ = false, published_ = false;
};

// Messages of two processes with one tag keep their order. Therefore, all processes begin and publish sums in one
// order, and take parts in the order in which they are given.
void SliceSums::Shared::begin_in_order() {
  for (auto sum = open.find(next); sum != open.end(); sum = open.find(next)) {
    ++next;
    sum->second->begin();
  }
  publish_in_order();  // sums of which this process has no slice
}

void SliceSums::Shared::take_parts_in_order(size_t from) {
  for (uint64_t& number = next_part[from]; number < next; ++number) {
    const auto sum = open.find(number);
    if (sum == open.end()) continue;
    if (!sum->second->knows_part(from)) return;
    sum->second->take_part(from);
  }
}

void SliceSums::Shared::publish_in_order() {
  for (auto sum = open.begin(); sum != open.end() && sum->first < next && sum->second->own_slice_done();) {
    if (!sum->second->published()) sum->second->publish();
    sum = sum->second->complete() ? open.erase(sum) : std::next(sum);
  }
}

SliceSums::SliceSums(Fabric& fabric, std::vector<uint32_t> nodes, uint32_t node, uint64_t start, Results results) {
  const auto own = static_cast<size_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
  if (own == nodes.size() || nodes.size() < 2) throw Error(MK_INTERNAL, "slices need this process and another one");
  const std::vector<uint64_t> next_part(nodes.size(), 0);
  shared_ = std::shared_ptr<Shared>(
      new Shared{fabric, std::move(nodes), own, start, {}, false, std::move(results), {}, 0, next_part});
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

}  // namespace mokume::team
