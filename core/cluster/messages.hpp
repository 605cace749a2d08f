// What nodes say to each other: small JSON texts. Agents are asked nothing: they ask, rank 0 answers; only STOP, FINISH
// and BYE come unasked.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "cluster/share.hpp"
#include "cluster/types.hpp"

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

// BUNDLE_DONE, to rank 0: the lease's work has returned and all its fits have been sent.
struct BundleDone {
  uint64_t lease = 0;
};

// BEAT, to rank 0, at most twice a second: what the busy devices do.
struct Beat {
  struct State {
    uint32_t device = 0;
    std::string what;
    double share = 0;
  };
  std::vector<State> states;
};

// STOP. To rank 0: the run should end. From rank 0: it does; cancel what runs.
struct Stop {
  int32_t code = 0;  // MK_CANCELLED: it was asked for; any other mk_status: what failed
  std::string reason;
};

struct Finish {};  // FINISH, from rank 0: every fit is done.
struct Bye {};     // BYE. To rank 0: the journal is on disk, nothing follows. From rank 0: you may leave.

using Message = std::variant<Present, Assign, Look, Seen, Hello, Welcome, Request, Grant, None, Done, BundleDone, Beat,
                             Stop, Finish, Bye>;

std::string encode(const Message& message);

// Throws Error(MK_BAD_DATA) that names the field; ranges that depend on the run are the receiver's to check.
Message decode(const std::string& text);

}  // namespace mokume::cluster
