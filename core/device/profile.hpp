// Records the time of a device's ops, kernels and transfers by the model's current phase.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "abi/model.h"
#include "base/profile_row.hpp"

namespace mokume::device {

using base::kOutsideOps;
using base::ProfileRow;

// Names the time outside the model's phases.
inline constexpr const char* kOtherPhase = "other";

// Sums the rows of one phase.
struct ProfilePhase {
  std::string name;
  uint64_t calls = 0;  // number of times that the phase began
  double seconds = 0, flops = 0, bytes = 0;
};

// Only the device's thread uses a profile. Time counts towards the innermost phase while a scope is open; the rows add
// up to the total duration of the outermost scopes.
class Profile {
 public:
  using Clock = std::function<double()>;  // returns seconds and never goes back
  Profile();
  explicit Profile(Clock clock);

  void begin(mk_scope kind, const std::string& name);
  void end();  // ends the innermost scope, if any

  // Record an op or a transfer that has just ended. `seconds` excludes everything recorded in the meantime.
  void add_op(const mk_op& op, double seconds);
  void add_transfer(const char* what, uint64_t bytes, double seconds);

  bool in_kernel() const { return !scopes_.empty() && scopes_.back().kind == MK_SCOPE_KERNEL; }
  // Returns the total seconds recorded so far. Callers subtract nested records from an outer time.
  double counted() const { return counted_; }
  double now() const { return clock_(); }

  std::vector<ProfileRow> rows() const;  // by descending time

 private:
  struct Scope {
    mk_scope kind;
    std::string name;
    double start, counted;  // now() and counted() at the start of the scope
  };
  const std::string& phase() const;
  ProfileRow& row(const std::string& what);
  void add(const std::string& what, double seconds, double flops, double bytes);
  void settle();

  Clock clock_;
  std::vector<Scope> scopes_;
  std::map<std::pair<std::string, std::string>, ProfileRow> rows_;
  double counted_ = 0;
  double settled_at_ = 0, settled_counted_ = 0;  // now() and counted() at the last settle()
};

// Returns the sum of each phase, by descending time.
std::vector<ProfilePhase> phases_of(const std::vector<ProfileRow>& rows);

}  // namespace mokume::device
