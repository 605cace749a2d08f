// Carries floats from a member of a team to a member in another process over the fabric (slices.hpp). Without a fabric,
// node 0 passes them on over the sockets.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "team/slices.hpp"

namespace mokume::team {

// The class is thread-safe.
class FabricParcels {
 public:
  struct Results {
    std::function<void(const cluster::TeamParcel&)> arrived;  // receives each parcel for this process
    std::function<void(const std::string& why)> failed;       // reports a message that is not a parcel
  };
  // `nodes` has the process of each member; `node` is this one. `start` tells this start of the team from earlier ones.
  // `results` may run on a thread of the fabric, must not call this object, and does not run after its end.
  FabricParcels(Fabric& fabric, std::vector<uint32_t> nodes, uint32_t node, uint64_t start, Results results);
  ~FabricParcels();
  FabricParcels(const FabricParcels&) = delete;
  FabricParcels& operator=(const FabricParcels&) = delete;

  // Copies the floats.
  void send(const cluster::TeamParcel& parcel);
  // Takes parcels from the process of member `from` until one from this member to `to` has arrived. Every parcel must
  // be expected once, before or after its arrival, because nothing is taken ahead of need: a fabric costs a core while
  // something is on its way.
  void expect(uint32_t from, uint32_t to);

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;
};

}  // namespace mokume::team
