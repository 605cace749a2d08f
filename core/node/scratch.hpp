// DIRECTORY/scratch: what unfinished fits keep so that they can go on after a kill. Models create what they need there;
// nothing else of a run depends on it.
#pragma once

#include <cstdint>
#include <string>

namespace mokume::node {

class Scratch {
 public:
  // Creates nothing.
  explicit Scratch(const std::string& run_directory) : root_(run_directory + "/scratch") {}

  std::string fit(uint32_t id) const;  // "DIRECTORY/scratch/fit-000123"

  // A directory that cannot be removed stays: it costs space, not results.
  void remove_fit(uint32_t id) const noexcept;
  void remove_all() const noexcept;

 private:
  std::string root_;
};

}  // namespace mokume::node
