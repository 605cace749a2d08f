// Offers services to every shared library: the log, threads, memory and the cache directory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "abi/host.h"
#include "base/log.hpp"

namespace mokume::scheduler {

// Returns the number of cores on which this process may run (its affinity mask, which launchers restrict); at least 1.
uint32_t allowed_cores();

// Owns the TBB arena that the parallel_for calls of all libraries share, and the mk_host table over it. main() owns
// this object, which must outlive every library.
class HostServices {
 public:
  // `threads` is the size of the arena, including the calling thread; 0 means allowed_cores() of the first thread that
  // queries the size or runs a loop. `cache_directory` is that of mk_host.
  HostServices(base::Log& log, uint32_t threads, std::string cache_directory);
  ~HostServices();
  HostServices(const HostServices&) = delete;
  HostServices& operator=(const HostServices&) = delete;

  // Changes the size of the arena. Has no effect once the arena exists.
  void limit(uint32_t threads);

  const mk_host* table() const { return &table_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  mk_host table_{};
};

}  // namespace mokume::scheduler
