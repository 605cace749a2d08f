// The directory DIRECTORY/scratch: what unfinished fits keep to resume after a kill. Models create their files there;
// nothing else of a run depends on them.
#pragma once

#include <cstdint>
#include <string>

namespace mokume::node {

class Scratch {
 public:
  // Creates nothing on disk.
  explicit Scratch(const std::string& run_directory) : root_(run_directory + "/scratch") {}

  std::string fit(uint32_t id) const;  // "DIRECTORY/scratch/fit-000123"

  // A directory that cannot be removed stays, which costs space but does not affect results.
  void remove_fit(uint32_t id) const noexcept;
  void remove_all() const noexcept;

 private:
  std::string root_;
};

}  // namespace mokume::node
