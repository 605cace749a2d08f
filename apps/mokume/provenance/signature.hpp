// Signs a file with a key of the user.
#pragma once

#include <string>

namespace mokume::app {

inline constexpr const char* kSignatureNamespace = "mokume";

// Writes FILE.sig with `ssh-keygen -Y sign`, which may ask on the terminal for the key's passphrase. `key` is a private
// key, or a public key whose private key an agent holds. Throws Error(MK_INVALID_ARGUMENT) with the tool's reason.
void sign(const std::string& file, const std::string& key);

}  // namespace mokume::app
