// What each rank may use where several run on one host. Pure: rank 0 decides for all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mokume::cluster {

// A device that a rank would use if it were alone.
struct Candidate {
  std::string id;           // "opencl:0"
  std::string physical_id;  // one physical device has one text in all ranks of a host; "" if the driver does not say
  bool on_cores = false;    // it computes on the cores of its rank: a CPU, or a GPU emulated on one

  bool operator==(const Candidate&) const = default;
};

// A rank, before it has opened a device or started a worker thread.
struct Presence {
  std::string host;             // host name and boot: ranks with the same text share cores, devices and memory
  std::vector<uint32_t> cores;  // it may run on; those that are best used together beside each other
  std::vector<Candidate> devices;

  bool operator==(const Presence&) const = default;
};

// What a rank gets.
struct Part {
  std::vector<uint32_t> cores;       // a part of its own ones, never empty unless it named none
  std::vector<std::string> devices;  // ids, in its order; may be empty
  uint32_t sharers = 1;              // ranks that share its host's memory, itself included
  uint32_t devices_of_run = 0;       // of all ranks together

  bool operator==(const Part&) const = default;
};

struct Shares {
  std::vector<Part> parts;           // by rank
  std::vector<std::string> notices;  // sentences for people: what could not be shared well
};

// A rank alone on its host keeps everything. Ranks of one host that may run on the same cores get even parts of them in
// the order of their ranks; what a launcher has bound apart stays as it is. With fewer cores than ranks, ranks share
// cores. A GPU that several of them name goes to the one that has the fewest so far, once however often it is named.
Shares share(const std::vector<Presence>& ranks);

}  // namespace mokume::cluster
