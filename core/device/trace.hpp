// Records what a device computes, step by step, so that two devices whose bits should be equal can be compared up to
// the first step that differs. A step is an op, a kernel of a model or a transfer, with a digest of each of its values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "abi/backend.h"
#include "abi/model.h"
#include "base/files.hpp"

namespace mokume::device {

// Separates the description of a step from its digests, in a line of a trace.
inline constexpr const char* kDigestsFollow = " = ";

// Computes the first 128 bits of the SHA-256 of values, in hex. All NaNs are one value, and so are +0 and -0. Floats
// that are subnormal count as zeros; other words do not, because they may be integers.
class Digest {
 public:
  enum class Kind { floats, words };
  explicit Digest(Kind kind) : kind_(kind) {}
  void add(std::span<uint32_t> words);  // overwrites the words
  std::string hex();                    // may be called only once

 private:
  Kind kind_;
  base::Sha256 sum_;
};

class Trace {
 public:
  explicit Trace(size_t most) : most_(most) {}

  // Appends a line "NUMBER STEP = DIGEST...", unless the trace is full.
  void add(const std::string& step, const std::vector<std::string>& digests);
  bool full() const { return lines_.size() >= most_; }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  size_t most_;
  std::vector<std::string> lines_;
};

// Follows the steps of one device.
struct Tracer {
  Trace& trace;
  std::vector<std::pair<mk_scope, std::string>> scopes = {};
  std::vector<mk_buffer*> shared = {};  // buffers whose memory the model has got for native code
  bool shared_used = false;             // a native kernel has used them
  bool launched = false;                // the kernel of the innermost scope is in the trace
  mk_kernel_source kernels = {};        // the backend's table, except that kernels are traced

  std::string phase() const;  // "forward: ", or "" outside of phases
  void share(mk_buffer* buffer);
};

}  // namespace mokume::device
