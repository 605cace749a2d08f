// What the processes of a team say to each other over the side channel. Only within one run of one version.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "abi/model.h"
#include "cluster/protocol/floats.hpp"
#include "cluster/protocol/types.hpp"

namespace mokume::cluster {

struct TeamMember {
  uint32_t node = 0, device = 0;
  double speed = 0;

  bool operator==(const TeamMember&) const = default;
};

// From rank 0: the devices of the receiver among `members` are to follow the leader through this item.
struct TeamStart {
  uint64_t attempt = 0;  // counts every start of the run; all that belongs to it carries the number
  std::vector<TeamMember> members;
  WorkItem item;
};
struct TeamGift {  // to rank 0; made by encode_gift()
  uint64_t attempt = 0;
  Gift gift;
};
struct TeamSum {  // from rank 0
  uint64_t attempt = 0;
  uint64_t number = 0;
  Floats sum;
};
struct TeamBreak {  // from rank 0: this attempt is over
  uint64_t attempt = 0;
  std::string why;
};
struct TeamEnded {  // to rank 0: the member's work has returned
  uint64_t attempt = 0;
  uint32_t member = 0;
  int32_t status = 0;  // a mk_status
  std::string text;
};
using TeamFrame = std::variant<TeamStart, TeamGift, TeamSum, TeamBreak, TeamEnded>;

std::string encode_frame(const TeamFrame& frame);
// A TeamGift out of the giver's own memory.
std::string encode_gift(uint64_t attempt, uint32_t member, uint64_t number, uint64_t count,
                        std::span<const mk_block> blocks);
// Throws Error(MK_BAD_DATA). Floats stay where they are, in the bytes that `owner` holds.
TeamFrame decode_frame(std::string_view bytes, const std::shared_ptr<char>& owner);

}  // namespace mokume::cluster
