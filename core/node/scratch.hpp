// The directory DIRECTORY/scratch for the recovery data of unfinished fits. Models create their files there; nothing
// else of a run depends on them.
#pragma once

#include <cstdint>
#include <string>

namespace mokume::node {

class Scratch {
 public:
  // Creates nothing on disk.
  explicit Scratch(const std::string& run_directory) : run_directory_(run_directory) {}

  // Returns "DIRECTORY/scratch/fit-000123". Error(MK_BAD_DATA) if it, or a file in it, is a symbolic link: a model
  // opens its files by path.
  std::string fit(uint32_t id) const;

  // A directory that cannot be removed stays, which costs space but does not affect results.
  void remove_fit(uint32_t id) const noexcept;
  void remove_all() const noexcept;

 private:
  std::string run_directory_;
};

}  // namespace mokume::node
