// Where a device's time goes: every op and transfer by itself, waited for one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "abi/op.h"

namespace mokume::device {

struct ProfileRow {
  std::string what;  // "gemm 128x10x9216", "write"
  uint64_t calls = 0;
  double seconds = 0;
  double flops = 0;
  double bytes = 0;  // as each op's cost counts them: everything read and written once
};

// Used by the device's thread.
class Profile {
 public:
  void add_op(const mk_op& op, double seconds);
  void add_transfer(const char* what, uint64_t bytes, double seconds);

  std::vector<ProfileRow> rows() const;  // by falling time

 private:
  std::map<std::string, ProfileRow> rows_;
};

// A table with calls, seconds, share, GFLOP/s and GB/s, one line a row, after a line that names the device.
std::string to_text(const std::string& device, const std::vector<ProfileRow>& rows);

}  // namespace mokume::device
