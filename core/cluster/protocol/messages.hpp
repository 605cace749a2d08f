// All messages between the processes of a run: the nodes, and the child processes that drive one device each ([devices]
// isolation). Messages are JSON texts; those of a team are followed by floats (codec.hpp).
//
// The agent of a node sends requests and reports. The coordinator on node 0 only answers, so it never sends to a node
// that may be gone:
//
//   HELLO -> WELCOME | STOP | FINISH        REQUEST -> GRANT | NONE | STOP | FINISH
//   DONE, END, STOP, BYE -> -               HEARTBEAT -> ACK | STOP | FINISH
//
// Before and after the fits (handshake.hpp) node 0 also sends unrequested messages: STOP and BYE to all. A child
// process is a node of one device without a journal or a number. Its parent provides what other nodes find by
// themselves (LOAD, OPEN), and grants it one lease after another without a request.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "abi/status.h"
#include "base/floats.hpp"
#include "base/profile_row.hpp"
#include "cluster/protocol/work.hpp"
#include "journal/record.hpp"

namespace mokume::cluster {

// ---- joining

// A device that a rank would use if it were alone on its host.
struct HostDevice {
  std::string id;           // "opencl:0"
  std::string physical_id;  // equal for all ranks of a host that see this device; "" if the driver reports none
  bool on_cores = false;    // computes on the cores of its rank: a CPU, or a GPU emulated on a CPU

  bool operator==(const HostDevice&) const = default;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("id", self.id);
    field("physical_id", self.physical_id);
    field("on_cores", self.on_cores);
  }
};

// A rank's view of its host before it has opened a device or started a worker thread.
struct HostView {
  std::string host;             // host name and boot ID: ranks with equal text share cores, devices and memory
  std::vector<uint32_t> cores;  // allowed for the rank; neighbours in this list are best used together
  std::vector<HostDevice> devices;

  bool operator==(const HostView&) const = default;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("host", self.host);
    field("cores", self.cores);
    field("devices", self.devices);
  }
};

struct HostShare {
  std::vector<uint32_t> cores;       // subset of the rank's own cores; empty only if it named none
  std::vector<std::string> devices;  // ids, in the rank's order; may be empty
  uint32_t sharers = 1;              // ranks that share the memory of this host, including this rank
  uint32_t devices_of_run = 0;       // total over all ranks

  bool operator==(const HostShare&) const = default;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("cores", self.cores);
    field("devices", self.devices);
    field("sharers", self.sharers);
    field("devices_of_run", self.devices_of_run);
  }
};

// To node 0: the first message of a node, before it opens its devices.
struct Present {
  static constexpr const char* kType = "PRESENT";
  std::string version;
  HostView view;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("version", self.version);
    field("view", self.view);
  }
};

// The answer once all nodes are present: the part of the host that this node uses.
struct Assign {
  static constexpr const char* kType = "ASSIGN";
  HostShare share;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("share", self.share);
  }
};

// To node 0 or the parent: the devices are open.
struct Hello {
  static constexpr const char* kType = "HELLO";
  std::string version;
  std::string plan_hash;  // "" if this node derives the plan later
  std::vector<LocalDevice> devices;
  ClassChoices choices;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("version", self.version);
    field("plan_hash", self.plan_hash);
    field("devices", self.devices);
    field("choices", self.choices);
  }
};

// From node 0: asks whether there is a file `mark` in `directory`.
struct Look {
  static constexpr const char* kType = "LOOK";
  std::string directory, mark;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("directory", self.directory);
    field("mark", self.mark);
  }
};

struct Seen {
  static constexpr const char* kType = "SEEN";
  bool seen = false;
  std::string host, file_system;
  double sync_s = 0;  // seconds to write a journal line to disk; 0: not measured

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("seen", self.seen);
    field("host", self.host);
    field("file_system", self.file_system);
    field("sync_s", self.sync_s);
  }
};

// The answer to HELLO, sent to the nodes once all of them have said HELLO. A child reopens its device if it was opened
// with other choices, and says HELLO again.
struct Welcome {
  static constexpr const char* kType = "WELCOME";
  std::string run_directory, plan_hash;
  ClassChoices choices;
  bool profile = false;  // for a child: time every op

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("run_directory", self.run_directory);
    field("plan_hash", self.plan_hash);
    field("choices", self.choices);
    field("profile", self.profile);
  }
};

// ---- leases

inline constexpr double kMostSeconds = 1e12;  // upper bound for durations in messages

// To node 0: a device of the sender is idle. At most one unanswered request per device.
struct Request {
  static constexpr const char* kType = "REQUEST";
  uint32_t device = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("device", self.device);
  }
};

// The answer to a request: a lease.
struct Grant {
  static constexpr const char* kType = "GRANT";
  uint64_t lease = 0;
  uint32_t device = 0;
  Attempt attempt;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("lease", self.lease);
    field("device", self.device);
    field("attempt", self.attempt);
  }
};

// There is no work for this device now; it should ask again a little later.
struct None {
  static constexpr const char* kType = "NONE";
  uint32_t device = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("device", self.device);
  }
};

// To node 0: fits on disk in the sender's journal. To the parent: fits for its journal. The sender is the node of each
// record.
struct Done {
  static constexpr const char* kType = "DONE";
  uint64_t lease = 0;
  std::vector<journal::FitRecord> records;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("lease", self.lease);
    field("records", self.records);
  }
};

// To node 0 or the parent: the work of the lease has returned and the device is idle.
struct LeaseEnd {
  static constexpr const char* kType = "END";
  uint64_t lease = 0;
  int32_t status = 0;            // mk_status: MK_OK: complete; MK_CANCELLED: given up on request; else the failure
  std::string text;              // one sentence about a failure
  double seconds = 0;            // the work's wall time on its node
  std::vector<uint32_t> coming;  // fits that were reported but are not on disk yet; a DONE will follow

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("lease", self.lease);
    field("status", self.status, int32_t{MK_OK}, int32_t{MK_STORAGE});
    field("text", self.text);
    field("seconds", self.seconds, 0.0, kMostSeconds);
    field("coming", self.coming);
  }
};

// A sign of life and the state of busy devices. Sent to node 0 twice a second by every node until its BYE, and to the
// parent by a child.
struct Heartbeat {
  static constexpr const char* kType = "HEARTBEAT";
  struct State {
    uint32_t device = 0;
    uint64_t lease = 0;
    std::string what;
    double share = 0;
    double quiet_s = 0;  // seconds since the work's last sign of life

    template <class Self, class Fields>
    static void fields(Self& self, Fields& field) {
      field("device", self.device);
      field("lease", self.lease);
      field("what", self.what);
      field("share", self.share, 0.0, 1.0);
      field("quiet", self.quiet_s, 0.0, kMostSeconds);
    }
  };
  std::vector<State> states;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("states", self.states);
  }
};

// The answer to a HEARTBEAT: node 0 is alive. Leases that are no longer needed are repeated until they have ended.
struct Ack {
  static constexpr const char* kType = "ACK";
  std::vector<uint64_t> cancel;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("cancel", self.cancel);
  }
};

// To node 0: the run must stop. From node 0: the run stops; cancel running work. From a child: it cannot follow an
// order.
struct Stop {
  static constexpr const char* kType = "STOP";
  int32_t code = MK_CANCELLED;  // MK_CANCELLED: on request; any other mk_status: the failure
  std::string reason;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("code", self.code, int32_t{MK_OK + 1}, int32_t{MK_STORAGE});
    field("reason", self.reason);
  }
};

// From node 0: every fit is done; work that is still running is not needed.
struct Finish {
  static constexpr const char* kType = "FINISH";
  template <class Self, class Fields>
  static void fields(Self&, Fields&) {}
};

// To node 0: the journal is on disk and nothing follows. From node 0: the node may leave.
struct Bye {
  static constexpr const char* kType = "BYE";
  template <class Self, class Fields>
  static void fields(Self&, Fields&) {}
};

// ---- between a node and the child process of one of its devices

// To the child, first: the resolved experiment file.
struct Load {
  static constexpr const char* kType = "LOAD";
  std::string config;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("config", self.config);
  }
};

// To the child, which opens this device and answers with HELLO or STOP.
struct Open {
  static constexpr const char* kType = "OPEN";
  std::string id;  // "opencl:0"
  std::string device_class;
  uint64_t budget_bytes = 0;
  Choices choices;
  bool measure = false;  // measure its speed and report it in HELLO

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("id", self.id);
    field("class", self.device_class);
    field("budget", self.budget_bytes);
    field("choices", self.choices);
    field("measure", self.measure);
  }
};

// From the child before the END of each lease: all counts and choices since it was started.
struct Account {
  static constexpr const char* kType = "ACCOUNT";
  Choices choices;
  std::map<std::string, uint64_t> fallbacks;  // by op
  std::vector<base::ProfileRow> profile;      // empty unless the run is profiled

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("choices", self.choices);
    field("fallbacks", self.fallbacks);
    field("profile", self.profile);
  }
};

// ---- teams: devices of one or more processes that train one network

struct TeamMember {
  uint32_t node = 0, device = 0;
  double speed = 0;

  bool operator==(const TeamMember&) const = default;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("node", self.node);
    field("device", self.device);
    field("speed", self.speed);
  }
};

// From node 0: the receiver's devices among `members` follow the leader through this attempt.
struct TeamStart {
  static constexpr const char* kType = "TEAM_START";
  uint64_t start = 0;  // numbers the starts of the run; every message of a start carries it
  std::vector<TeamMember> members;
  Attempt attempt;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("start", self.start);
    field("members", self.members);
    field("attempt", self.attempt);
  }
};

// Leaves [first, first + size) of a sum; see mk_block.
struct Block {
  uint32_t first = 0, size = 1;
  base::Floats values;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("first", self.first);
    field("size", self.size);
    field("values", self.values);
  }
};

// To node 0: a member's contribution to the sum of this number.
struct TeamContribution {
  static constexpr const char* kType = "TEAM_CONTRIBUTION";
  uint64_t start = 0;
  uint32_t member = 0;
  uint64_t number = 0;  // counts the sums from 0
  uint64_t count = 0;   // number of floats
  std::vector<Block> blocks;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("start", self.start);
    field("member", self.member);
    field("number", self.number);
    field("count", self.count, uint64_t{0}, uint64_t{UINT32_MAX});
    field("blocks", self.blocks);
  }
};

// From node 0.
struct TeamSum {
  static constexpr const char* kType = "TEAM_SUM";
  uint64_t start = 0;
  uint64_t number = 0;
  base::Floats sum;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("start", self.start);
    field("number", self.number);
    field("sum", self.sum);
  }
};

// From node 0: this start is broken up.
struct TeamBreak {
  static constexpr const char* kType = "TEAM_BREAK";
  uint64_t start = 0;
  std::string why;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("start", self.start);
    field("why", self.why);
  }
};

// To node 0: the member's work has returned.
struct TeamEnd {
  static constexpr const char* kType = "TEAM_END";
  uint64_t start = 0;
  uint32_t member = 0;
  int32_t status = 0;  // a mk_status
  std::string text;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("start", self.start);
    field("member", self.member);
    field("status", self.status, int32_t{MK_OK}, int32_t{MK_STORAGE});
    field("text", self.text);
  }
};

// ---- between a node and the child process of a member: TEAM_CONTRIBUTION and TEAM_SUM as above, and these

// To the child before a GRANT: it works on that lease as a member of a team.
struct TeamJoin {
  static constexpr const char* kType = "TEAM_JOIN";
  uint32_t member = 0;
  std::vector<double> speeds;         // one value per member
  std::optional<std::string> splits;  // see mk_team

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("member", self.member);
    field("speeds", self.speeds);
    field("splits", self.splits);
  }
  void check() const {
    if (speeds.size() < 2 || member >= speeds.size()) base::bad_field("member", "one of two or more");
  }
};

// From the child, which waits for the oldest sum that it contributed to and has not taken.
struct TeamTake {
  static constexpr const char* kType = "TEAM_TAKE";
  uint64_t count = 0;  // number of floats

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("count", self.count, uint64_t{0}, uint64_t{UINT32_MAX});
  }
};

// From the child of the leader: its report on the team's work; see mk_team.
struct TeamProgress {
  static constexpr const char* kType = "TEAM_PROGRESS";
  double elapsed_s = 0;
  std::vector<double> busy_s, units;  // by member
  std::string shares, at;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("elapsed", self.elapsed_s);
    field("busy", self.busy_s);
    field("units", self.units);
    field("shares", self.shares);
    field("at", self.at);
  }
};

using TeamMessage = std::variant<TeamStart, TeamContribution, TeamSum, TeamBreak, TeamEnd>;

using Message = std::variant<Present, Assign, Hello, Look, Seen, Welcome, Request, Grant, None, Done, LeaseEnd,
                             Heartbeat, Ack, Stop, Finish, Bye, Load, Open, Account, TeamStart, TeamContribution,
                             TeamSum, TeamBreak, TeamEnd, TeamJoin, TeamTake, TeamProgress>;

}  // namespace mokume::cluster
