// Finds a folder in which PoCL can keep its kernels. Without one, PoCL lists no device and does not say why.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platforms/icd.hpp"
#include "platforms/scoped_variable.hpp"

namespace mokume::opencl {

class PoclCache {
 public:
  PoclCache() = default;  // stands for a machine without PoCL
  // Creates the folder that PoCL would use. If PoCL could not write there and the user has not named it, a private
  // folder for temporary files takes its place.
  explicit PoclCache(const std::vector<Icd>& icds);

  // Returns "NAME=value" for PoCL's environment, or "" if it needs nothing.
  std::string variable() const { return other_.empty() ? "" : "POCL_CACHE_DIR=" + other_; }
  // Sets the variable for this process until the result is destroyed. PoCL reads it when it first lists its devices.
  std::unique_ptr<ScopedVariable> apply() const;
  // Returns a sentence on the folder that takes the place of PoCL's, or "".
  std::string note() const;
  // Returns why PoCL has no folder, with the cure, or "".
  std::string problem() const;

 private:
  std::string why() const;  // why PoCL may not use its own folder

  std::string own_;    // folder that PoCL would use
  std::string other_;  // folder that takes its place, or ""
  bool works_ = true;
};

}  // namespace mokume::opencl
