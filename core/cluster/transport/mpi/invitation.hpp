// What a rank needs to join rank 0: where it listens, and the key of the run.
#pragma once

#include <asio/generic/stream_protocol.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <string>
#include <vector>

#include "proof.hpp"

namespace mokume::mpi {

using Stream = asio::generic::stream_protocol;

struct Invitation {
  uint16_t port = 0;
  Key key{};
  std::string name;  // of rank 0's local socket
  std::vector<asio::ip::address> addresses;

  std::string text() const;
  // Throws Error(MK_INTERNAL) if `text` is not an invitation.
  static Invitation parse(const std::string& text);
  // An abstract socket name, not a file: it disappears with the process, so nothing needs to be cleaned up.
  asio::local::stream_protocol::endpoint near() const { return {std::string(1, '\0') + "mokume-" + name}; }
};

// Child processes must not inherit connections, or they would keep them open after their parent has closed them.
void keep_to_this_process(int descriptor);

}  // namespace mokume::mpi
