// Manages the directory DIRECTORY/scratch with the recovery data of unfinished fits. Models create their files there;
// nothing else in a run depends on these files.
#pragma once

#include <cstdint>
#include <string>

namespace mokume::node {

class Scratch {
 public:
  // Creates nothing on disk.
  explicit Scratch(const std::string& run_directory) : run_directory_(run_directory) {}

  // Returns "DIRECTORY/scratch/fit-000123". Throws Error(MK_BAD_DATA) if this directory, or a file in it, is a symbolic
  // link, because a model opens its files by path.
  std::string fit(uint32_t id) const;

  // A directory that cannot be removed stays, which costs space but does not affect results.
  void remove_fit(uint32_t id) const noexcept;
  void remove_all() const noexcept;

 private:
  std::string run_directory_;
};

}  // namespace mokume::node
