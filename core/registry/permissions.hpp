// Checks who can change the code that the program is about to load.
#pragma once

#include <string>

namespace mokume::registry {

// Names the variable that makes the program accept files and directories to which this user's groups may write.
inline constexpr const char* kTrustGroupVariable = "MOKUME_TRUST_GROUP_WRITABLE";

struct Checked {
  std::string real_path;  // has no symbolic links
  std::string warning;    // names an entry that is accepted only because groups are trusted, or ""
};

// Follows an absolute path from the root, one name and one symbolic link at a time, and checks that only root and this
// user can change the target: the library, every link on the way, and every directory above them. Nobody else can then
// replace anything along `real_path`, so resolving the path again is safe (docs/adr/0005).
//
// A group whose only member is this user does not count as somebody else. `trust_groups` accepts entries to which this
// user's other groups may write, even if another member owns them. An entry to which everyone may write is never
// accepted, except for a directory with the sticky bit, such as /tmp, above the directory of the library. Throws
// Refused("permissions").
Checked check_permissions(const std::string& path, bool trust_groups);

}  // namespace mokume::registry
