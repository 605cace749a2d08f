// Defines the data with which other ranks reach a rank that is rank 0 or becomes it: its addresses and its key.
#pragma once

#include <asio/generic/stream_protocol.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <string>
#include <vector>

#include "authentication.hpp"

namespace mokume::mpi {

using Stream = asio::generic::stream_protocol;

struct Rendezvous {
  uint16_t port = 0;
  Key key{};
  std::string name;  // names the local socket
  std::vector<asio::ip::address> addresses;

  std::string text() const;
  // Throws Error(MK_INTERNAL) if text() cannot have written `text`.
  static Rendezvous parse(const std::string& text);
  // Returns an abstract name, not a file: the name disappears with the process, so nothing needs to be cleaned up.
  asio::local::stream_protocol::endpoint local_endpoint() const { return {std::string(1, '\0') + "mokume-" + name}; }
};

// Keeps child processes from inheriting a connection, which they would keep open after their parent has closed it.
void close_on_exec(int descriptor);

}  // namespace mokume::mpi
