// Who can change the code that is about to be loaded.
#pragma once

#include <string>

namespace mokume::registry {

// The environment variable that accepts files and directories which a group may write to.
inline constexpr const char* kTrustGroupVariable = "MOKUME_TRUST_GROUP_WRITABLE";

struct Checked {
  std::string real_path;  // without symbolic links
  std::string warning;    // names what is accepted only because groups are trusted; "" if nothing is
};

// Follows an absolute path from the root, one name and one symbolic link at a time, and checks that only root and this
// user can change what it names: the library, every link on the way, and every directory above any of them. Nobody else
// can then replace anything along `real_path`, so that it may be resolved again (docs/adr/0005).
//
// A group of which this user is the only member does not count as somebody else. `trust_groups`: accepts what this
// user's other groups may write to, whoever of them owns it. What everyone may write to is never accepted, except for a
// directory with the sticky bit, such as /tmp, above the directory of the library. Throws Refused("permissions").
Checked check_permissions(const std::string& path, bool trust_groups);

}  // namespace mokume::registry
