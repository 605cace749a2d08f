#include "rendezvous.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <sstream>

#include "sdk/error.hpp"

namespace mokume::mpi {

std::string Rendezvous::text() const {
  std::string words = fmt::format("{} {} {}", port, hex(key.data(), key.size()), name);
  for (const auto& address : addresses) words += " " + address.to_string();
  return words;
}

Rendezvous Rendezvous::parse(const std::string& text) {
  Rendezvous rendezvous;
  std::istringstream words(text);
  std::string key;
  words >> rendezvous.port >> key >> rendezvous.name;
  bool valid = unhex(key, rendezvous.key.data(), rendezvous.key.size()) && !rendezvous.name.empty();
  for (std::string word; valid && words >> word;) {
    asio::error_code error;
    rendezvous.addresses.push_back(asio::ip::make_address(word, error));
    valid = !error;
  }
  if (!valid) throw Error(MK_INTERNAL, "the address and key that rank 0 sent are not valid");
  return rendezvous;
}

void close_on_exec(int descriptor) { fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

}  // namespace mokume::mpi
