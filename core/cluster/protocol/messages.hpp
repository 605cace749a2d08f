// Defines all messages between the processes of a run: the nodes, and the child processes that drive one device each
// ([devices] isolation). Messages are JSON texts; in messages of a team, floats follow the text (codec.hpp).
//
// The agent of a node sends requests and reports. The coordinator on node 0 only answers, so it never sends to a node
// that may be gone:
//
//   HELLO -> WELCOME | STOP | FINISH        REQUEST -> GRANT | NONE | STOP | FINISH
//   DONE, END, STOP, BYE -> -               HEARTBEAT -> ACK | STOP | FINISH
//
// Before and after the fits (handshake.hpp), node 0 also sends unrequested messages, such as STOP and BYE, to all
// nodes. A child process is a node of one device without a journal or a number. Its parent provides what other nodes
// find by themselves (LOAD, OPEN), and grants it one lease after another without a request.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "abi/model.h"
#include "base/floats.hpp"
#include "base/profile_row.hpp"
#include "cluster/protocol/work.hpp"
#include "journal/record.hpp"

namespace mokume::cluster {

// ---- joining

// Describes a device that a rank would use if it were alone on its host.
struct HostDevice {
  std::string id;           // such as "opencl:0"
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

// Describes a rank's view of its host before the rank has opened a device or started a worker thread.
struct HostView {
  std::string host;             // host name and boot ID, equal for ranks that share a machine; "" for an absent rank
  std::vector<uint32_t> cores;  // cores allowed for the rank; neighbours in this list are best used together
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
  std::vector<uint32_t> cores;       // subset of the rank's own cores; empty only if the rank named none
  std::vector<std::string> devices;  // ids, in the rank's order; may be empty
  uint32_t sharers = 1;              // number of ranks that share the memory of this host, including this rank
  uint32_t devices_of_run = 0;       // number of devices of all ranks

  bool operator==(const HostShare&) const = default;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("cores", self.cores);
    field("devices", self.devices);
    field("sharers", self.sharers);
    field("devices_of_run", self.devices_of_run);
  }
};

// Introduces a node to node 0, as its first message, before it opens its devices.
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

// Answers PRESENT once all nodes are present. Names the part of the host that the receiver uses.
struct Assign {
  static constexpr const char* kType = "ASSIGN";
  HostShare share;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("share", self.share);
  }
};

// Tells node 0 or the parent that the devices are open.
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

// Asks a node whether `directory` contains a file `mark`.
struct Look {
  static constexpr const char* kType = "LOOK";
  std::string directory, mark;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("directory", self.directory);
    field("mark", self.mark);
  }
};

// Answers LOOK.
struct Seen {
  static constexpr const char* kType = "SEEN";
  bool seen = false;
  std::string host, file_system;
  double sync_s = 0;  // seconds to write a journal line to disk, or 0 if not measured

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("seen", self.seen);
    field("host", self.host);
    field("file_system", self.file_system);
    field("sync_s", self.sync_s);
  }
};

// Answers HELLO once all nodes have said HELLO. If a child has opened its device with other choices, it reopens the
// device and says HELLO again.
struct Welcome {
  static constexpr const char* kType = "WELCOME";
  std::string run_directory, plan_hash;
  ClassChoices choices;
  bool profile = false;  // tells a child to time every op

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

// Tells node 0 that a device of the sender is idle. Each device has at most one unanswered request.
struct Request {
  static constexpr const char* kType = "REQUEST";
  uint32_t device = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("device", self.device);
  }
};

// Answers a REQUEST with a lease.
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

// Answers a REQUEST: there is no work for this device now, and the node should ask again a little later.
struct None {
  static constexpr const char* kType = "NONE";
  uint32_t device = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("device", self.device);
  }
};

// Reports fits: to node 0, fits that are on disk in the sender's journal; to the parent, fits for the parent's journal.
// The sender is the node of each record.
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

// Tells node 0 or the parent that the work of the lease has ended and that the device is idle.
struct LeaseEnd {
  static constexpr const char* kType = "END";
  uint64_t lease = 0;
  int32_t status = 0;            // MK_OK if complete, MK_CANCELLED if given up on request, otherwise the failure
  std::string text;              // one sentence about a failure
  double seconds = 0;            // the work's wall time on its node
  std::vector<uint32_t> coming;  // fits that were reported but are not on disk yet; a DONE follows

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("lease", self.lease);
    field("status", self.status, int32_t{MK_OK}, int32_t{MK_STORAGE});
    field("text", self.text);
    field("seconds", self.seconds, 0.0, kMostSeconds);
    field("coming", self.coming);
  }
};

// Proves that a node is alive and reports the state of its busy devices. Every node sends it to node 0 twice a second
// until its BYE, and a child sends it to its parent.
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

// Answers a HEARTBEAT: node 0 is alive. Lists the leases that are no longer needed, in every answer until they end.
struct Ack {
  static constexpr const char* kType = "ACK";
  std::vector<uint64_t> cancel;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("cancel", self.cancel);
  }
};

// Tells node 0 that the run must stop, or tells a node to stop and cancel its running work. A child sends it if it
// cannot carry out an order.
struct Stop {
  static constexpr const char* kType = "STOP";
  int32_t code = MK_CANCELLED;  // MK_CANCELLED if stopped on request, otherwise the failure
  std::string reason;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("code", self.code, int32_t{MK_OK + 1}, int32_t{MK_STORAGE});
    field("reason", self.reason);
  }
};

// Tells a node that every fit is done and that work that is still running is not needed.
struct Finish {
  static constexpr const char* kType = "FINISH";
  template <class Self, class Fields>
  static void fields(Self&, Fields&) {}
};

// Tells node 0 that the sender's journal is on disk and nothing follows, or tells a node that it may leave.
struct Bye {
  static constexpr const char* kType = "BYE";
  template <class Self, class Fields>
  static void fields(Self&, Fields&) {}
};

// ---- between a node and the child process of one of its devices

// Sends the resolved experiment file to the child, as the first message.
struct Load {
  static constexpr const char* kType = "LOAD";
  std::string config;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("config", self.config);
  }
};

// Tells the child to open this device. The child answers with HELLO or STOP.
struct Open {
  static constexpr const char* kType = "OPEN";
  std::string id;  // such as "opencl:0"
  std::string device_class;
  uint64_t budget_bytes = 0;
  Choices choices;
  bool measure = false;  // tells the child to measure the speed of the device and report it in HELLO

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("id", self.id);
    field("class", self.device_class);
    field("budget", self.budget_bytes);
    field("choices", self.choices);
    field("measure", self.measure);
  }
};

// Reports all counts and choices since the child started. The child sends it before the END of each lease.
struct Account {
  static constexpr const char* kType = "ACCOUNT";
  Choices choices;
  std::map<std::string, uint64_t> fallbacks;  // number of fallbacks of each op
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

// Tells a node that its devices among `members` follow the leader through this attempt.
struct TeamStart {
  static constexpr const char* kType = "TEAM_START";
  uint64_t start = 0;             // number of this start in the run; every message of a start carries it
  bool slices = false;            // whether each node adds up a slice; otherwise, node 0 adds up
  int32_t split = MK_SPLIT_AUTO;  // an mk_team_split
  std::vector<TeamMember> members;
  Attempt attempt;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("start", self.start);
    field("slices", self.slices);
    field("split", self.split, int32_t{MK_SPLIT_AUTO}, int32_t{MK_SPLIT_LAYERS});
    field("members", self.members);
    field("attempt", self.attempt);
  }
};

// Holds the leaves [first, first + size) of a sum (see mk_block).
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

// Sends a member's contribution to one sum to node 0.
struct TeamContribution {
  static constexpr const char* kType = "TEAM_CONTRIBUTION";
  uint64_t start = 0;
  uint32_t member = 0;
  uint64_t number = 0;  // number of the sum, from 0
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

// Sends a finished sum to a node.
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

// Carries floats from one member to another; node 0 passes them on. A child process of a node leaves out `start`.
struct TeamParcel {
  static constexpr const char* kType = "TEAM_PARCEL";
  uint64_t start = 0;
  uint32_t from = 0, to = 0;  // members
  base::Floats values;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("start", self.start);
    field("from", self.from);
    field("to", self.to);
    field("values", self.values);
  }
};

// Tells a node that node 0 has broken up this start.
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

// Tells node 0 that the work of a member has ended.
struct TeamEnd {
  static constexpr const char* kType = "TEAM_END";
  uint64_t start = 0;
  uint32_t member = 0;
  int32_t status = 0;  // an mk_status
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

// Tells the child, before a GRANT, to work on that lease as a member of a team.
struct TeamJoin {
  static constexpr const char* kType = "TEAM_JOIN";
  uint32_t member = 0;
  std::vector<double> speeds;         // one value per member
  std::optional<std::string> splits;  // splits to repeat (see mk_team)
  int32_t split = MK_SPLIT_AUTO;      // an mk_team_split

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("member", self.member);
    field("speeds", self.speeds);
    field("splits", self.splits);
    field("split", self.split, int32_t{MK_SPLIT_AUTO}, int32_t{MK_SPLIT_LAYERS});
  }
  void check() const {
    if (speeds.size() < 2 || member >= speeds.size()) base::bad_field("member", "one of two or more");
  }
};

// Tells the parent that the child waits for the oldest sum to which it contributed and that it has not taken.
struct TeamTake {
  static constexpr const char* kType = "TEAM_TAKE";
  uint64_t count = 0;  // number of floats

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("count", self.count, uint64_t{0}, uint64_t{UINT32_MAX});
  }
};

// Tells the parent that the child waits for floats from another member. A TEAM_SUM answers.
struct TeamReceive {
  static constexpr const char* kType = "TEAM_RECEIVE";
  uint32_t from = 0;
  uint64_t count = 0;  // number of floats

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("from", self.from);
    field("count", self.count, uint64_t{0}, uint64_t{UINT32_MAX});
  }
};

// Passes on a report of the leader on the work of the team (see mk_team).
struct TeamProgress {
  static constexpr const char* kType = "TEAM_PROGRESS";
  double elapsed_s = 0;
  std::vector<double> busy_s, units;  // indexed by member
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

using TeamMessage = std::variant<TeamStart, TeamContribution, TeamSum, TeamParcel, TeamBreak, TeamEnd>;

using Message = std::variant<Present, Assign, Hello, Look, Seen, Welcome, Request, Grant, None, Done, LeaseEnd,
                             Heartbeat, Ack, Stop, Finish, Bye, Load, Open, Account, TeamStart, TeamContribution,
                             TeamSum, TeamParcel, TeamBreak, TeamEnd, TeamJoin, TeamTake, TeamReceive, TeamProgress>;

}  // namespace mokume::cluster
