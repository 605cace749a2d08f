// What nodes say to each other: small JSON texts. Agents ask and tell, rank 0 only answers: so it never writes to a
// node that may be gone.
//
//   HELLO -> WELCOME | STOP             REQ  -> GRANT | NONE | STOP | FINISH
//   DONE, LEASE_END, STOP, BYE -> -     BEAT -> ACK | STOP | FINISH
//
// Before and after the fits (handshake.hpp) rank 0 also speaks unasked: STOP and BYE to all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cluster/protocol/types.hpp"
#include "cluster/share.hpp"

namespace mokume::cluster {

// PRESENT, to rank 0: the first message of a node, before it opens its devices.
struct Present {
  std::string version;
  Presence presence;
};

// ASSIGN, the answer once all nodes are present: what of its host this node uses.
struct Assign {
  Part part;
};

// HELLO, to rank 0: the devices are open.
struct Hello {
  std::string version;
  std::string plan_hash;  // "" if this node derives the plan later
  std::vector<LocalDevice> devices;
  ClassChoices choices;
};

// LOOK, from rank 0: is there a file `mark` in `directory`?
struct Look {
  std::string directory, mark;
};

// SEEN, the answer to a LOOK.
struct Seen {
  bool seen = false;
  std::string host, file_system;
  double sync_s = 0;  // seconds that a journal line takes to the disk; 0: not measured
};

// WELCOME, the answer to HELLO once all nodes have said it.
struct Welcome {
  std::string run_directory, plan_hash;
  ClassChoices choices;
};

// REQ, to rank 0: a device of the sender is idle. One per device until it is answered.
struct Request {
  uint32_t device = 0;
};

// GRANT: the answer to a request.
struct Grant {
  uint64_t lease = 0;
  uint32_t device = 0;
  WorkItem item;
};

// NONE: nothing for this device now; ask again a little later.
struct None {
  uint32_t device = 0;
};

// DONE, to rank 0: fits that are in the sender's journal, on disk. The node of each record is the sender's.
struct Done {
  uint64_t lease = 0;
  std::vector<journal::FitRecord> records;
};

// LEASE_END, to rank 0: the lease's work has returned and the device is idle.
struct LeaseEnd {
  uint64_t lease = 0;
  int32_t status = 0;            // mk_status: MK_OK: complete; MK_CANCELLED: given up on request; else why it failed
  std::string text;              // of a failure: one sentence
  double seconds = 0;            // the work's wall time on its node
  std::vector<uint32_t> coming;  // fits that were reported but are not on disk yet: a DONE will follow
};

// BEAT, to rank 0, twice a second from every node until its BYE: it lives; and what its busy devices do.
struct Beat {
  struct State {
    uint32_t device = 0;
    uint64_t lease = 0;
    std::string what;
    double share = 0;
    double quiet_s = 0;  // since the work's last sign of life
  };
  std::vector<State> states;
};

// ACK, the answer to a BEAT: rank 0 lives. Leases that are not wanted any more, named until they have ended.
struct Ack {
  std::vector<uint64_t> cancel;
};

// STOP. To rank 0: the run must end. From rank 0: it does; cancel what runs.
struct Stop {
  int32_t code = 0;  // MK_CANCELLED: it was asked for; any other mk_status: what failed
  std::string reason;
};

struct Finish {};  // FINISH, from rank 0: every fit is done; what still runs is not wanted.
struct Bye {};     // BYE. To rank 0: the journal is on disk, nothing follows. From rank 0: you may leave.

using Message = std::variant<Present, Assign, Look, Seen, Hello, Welcome, Request, Grant, None, Done, LeaseEnd, Beat,
                             Ack, Stop, Finish, Bye>;

// What a driver said, with stray bytes replaced: fit for messages and journals.
std::string clean_text(const std::string& text);

std::string encode(const Message& message);

// Throws Error(MK_BAD_DATA) that names the field; ranges that depend on the run are the receiver's to check.
Message decode(std::string_view text);

}  // namespace mokume::cluster
