#include "team/parcels.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <utility>

#include "sdk/error.hpp"

namespace mokume::team {
namespace {

constexpr uint32_t kParcelTags = 2'700;  // the tags of starts repeat after so many

// Precedes the floats of a parcel: the sender, the receiver and the number of floats. A fabric carries only floats.
using ParcelHead = std::array<float, 3>;

ParcelHead parcel_head(const cluster::TeamParcel& parcel) {
  const std::array<uint32_t, 3> words = {parcel.from, parcel.to, static_cast<uint32_t>(parcel.values.size())};
  ParcelHead head;
  std::memcpy(head.data(), words.data(), sizeof(head));
  return head;
}

std::array<uint32_t, 3> words_of(const ParcelHead& head) {
  std::array<uint32_t, 3> words;
  std::memcpy(words.data(), head.data(), sizeof(head));
  return words;
}

}  // namespace

// Holds what outlives the object, because messages of a start that broke up may arrive after its end.
struct FabricParcels::Shared : std::enable_shared_from_this<FabricParcels::Shared> {
  Shared(Fabric& to, std::vector<uint32_t> of_members, uint32_t own, uint64_t start, Results then)
      : fabric(to),
        nodes(std::move(of_members)),
        node(own),
        tag(SliceSums::kTags + static_cast<uint32_t>(start % kParcelTags)),
        results(std::move(then)) {}

  Fabric& fabric;
  const std::vector<uint32_t> nodes;  // by member
  const uint32_t node;
  const uint32_t tag;
  std::mutex mutex;
  // These need the lock.
  bool ended = false;
  Results results;
  std::set<uint32_t> taking;                              // processes from which a message is expected
  std::map<std::pair<uint32_t, uint32_t>, int64_t> open;  // expected minus arrived parcels, by sender and receiver

  bool wants_from(uint32_t process) const {
    return std::any_of(open.begin(), open.end(),
                       [&](const auto& one) { return one.second > 0 && nodes[one.first.first] == process; });
  }

  // Takes the next parcel from a process, if somebody waits for one.
  void take_next(uint32_t process) {
    if (ended || !wants_from(process) || !taking.insert(process).second) return;
    const auto head = std::make_shared<ParcelHead>();
    fabric.take(process, tag, *head, [self = shared_from_this(), process, head](uint64_t words) {
      self->report_errors([&] { self->head_arrived(process, *head, words); });
    });
  }

  template <class Body>
  void report_errors(Body&& body) {
    const std::lock_guard lock(mutex);
    try {
      body();
    } catch (const std::exception& e) {
      if (!ended) results.failed(e.what());
    }
  }

  void head_arrived(uint32_t process, const ParcelHead& head, uint64_t words) {
    const auto [from, to, size] = words_of(head);
    if (words != head.size() || from >= nodes.size() || to >= nodes.size() || nodes[from] != process ||
        nodes[to] != node)
      throw Error(MK_INTERNAL, "a message from one member of a team to another is damaged");
    const cluster::TeamParcel parcel{0, from, to, base::Floats::uninitialized(size)};
    fabric.take(process, tag, parcel.values.span(), [self = shared_from_this(), process, parcel](uint64_t count) {
      self->report_errors([&] { self->arrived(process, parcel, count); });
    });
  }

  void arrived(uint32_t process, const cluster::TeamParcel& parcel, uint64_t count) {
    if (count != parcel.values.size())
      throw Error(MK_INTERNAL, "a message from one member of a team to another has the wrong length");
    --open[{parcel.from, parcel.to}];
    taking.erase(process);
    take_next(process);
    if (!ended) results.arrived(parcel);
  }
};

FabricParcels::FabricParcels(Fabric& fabric, std::vector<uint32_t> nodes, uint32_t node, uint64_t start,
                             Results results)
    : shared_(std::make_shared<Shared>(fabric, std::move(nodes), node, start, std::move(results))) {}

FabricParcels::~FabricParcels() {
  const std::lock_guard lock(shared_->mutex);
  shared_->ended = true;
}

void FabricParcels::send(const cluster::TeamParcel& parcel) {
  const auto head = std::make_shared<const ParcelHead>(parcel_head(parcel));
  const base::Floats floats{std::span<const float>(parcel.values.span())};
  const uint32_t to = shared_->nodes.at(parcel.to);
  const std::lock_guard lock(shared_->mutex);  // nothing comes between the two
  shared_->fabric.give(to, shared_->tag, *head, [head] {});
  shared_->fabric.give(to, shared_->tag, floats.span(), [floats] {});
}

void FabricParcels::expect(uint32_t from, uint32_t to) {
  const uint32_t process = shared_->nodes.at(from);
  const std::lock_guard lock(shared_->mutex);
  ++shared_->open[{from, to}];
  shared_->take_next(process);
}

}  // namespace mokume::team
