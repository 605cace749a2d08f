// Where a device's time goes: every op, kernel and transfer by itself, waited for one at a time, by the phase that the
// model says it is in.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "abi/model.h"

namespace mokume::device {

// The name of a row that stands for the time of a phase outside of every op: the host's own work. Its calls are how
// often the phase was entered.
inline constexpr const char* kOutsideOps = "(outside of ops)";
// The phase of whatever a model gives no phase.
inline constexpr const char* kOtherPhase = "other";

struct ProfileRow {
  std::string phase;  // "forward"
  std::string what;   // "gemm 128x10x9216", "write", the name of a kernel, or kOutsideOps
  uint64_t calls = 0;
  double seconds = 0;
  double flops = 0;
  double bytes = 0;  // as each op's cost counts them: everything read and written once

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    constexpr double kMost = std::numeric_limits<double>::max();
    field("phase", self.phase);
    field("what", self.what);
    field("calls", self.calls);
    field("seconds", self.seconds, 0.0, kMost);
    field("flops", self.flops, 0.0, kMost);
    field("bytes", self.bytes, 0.0, kMost);
  }
};

// Rows of one phase added up.
struct ProfilePhase {
  std::string name;
  uint64_t calls = 0;  // how often it was entered
  double seconds = 0, flops = 0, bytes = 0;
};

// Used by the device's thread. Time counts while a scope is open, and to the innermost phase: the rows add up to the
// time that the outermost scopes lasted.
class Profile {
 public:
  using Clock = std::function<double()>;  // in seconds; never goes back
  Profile();
  explicit Profile(Clock clock);

  void begin(mk_scope kind, const std::string& name);
  void end();  // of the scope begun last; without one, nothing

  // Each has just ended, and took `seconds` without what was added while it ran.
  void add_op(const mk_op& op, double seconds);
  void add_transfer(const char* what, uint64_t bytes, double seconds);

  bool in_kernel() const { return !scopes_.empty() && scopes_.back().kind == MK_SCOPE_KERNEL; }
  // Seconds of everything added so far: what lies inside of something else can be taken off its time.
  double counted() const { return counted_; }
  double now() const { return clock_(); }

  std::vector<ProfileRow> rows() const;  // by falling time

 private:
  struct Scope {
    mk_scope kind;
    std::string name;
    double start, counted;  // when it began
  };
  const std::string& phase() const;
  ProfileRow& row(const std::string& what);
  void add(const std::string& what, double seconds, double flops, double bytes);
  void settle();

  Clock clock_;
  std::vector<Scope> scopes_;
  std::map<std::pair<std::string, std::string>, ProfileRow> rows_;
  double counted_ = 0;
  double settled_at_ = 0, settled_counted_ = 0;  // up to where the time outside of ops has its phase
};

// Sorted by falling time.
std::vector<ProfilePhase> phases_of(const std::vector<ProfileRow>& rows);

}  // namespace mokume::device
