#include "invitation.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <sstream>

#include "sdk/error.hpp"

namespace mokume::mpi {

std::string Invitation::text() const {
  std::string words = fmt::format("{} {} {}", port, hex(key.data(), key.size()), name);
  for (const auto& address : addresses) words += " " + address.to_string();
  return words;
}

Invitation Invitation::parse(const std::string& text) {
  Invitation invitation;
  std::istringstream words(text);
  std::string key;
  words >> invitation.port >> key >> invitation.name;
  bool valid = unhex(key, invitation.key.data(), invitation.key.size()) && !invitation.name.empty();
  for (std::string word; valid && words >> word;) {
    asio::error_code error;
    invitation.addresses.push_back(asio::ip::make_address(word, error));
    valid = !error;
  }
  if (!valid) throw Error(MK_INTERNAL, "rank 0 sent no valid invitation");
  return invitation;
}

void keep_to_this_process(int descriptor) { fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

}  // namespace mokume::mpi
