// Accepts the connections of the other ranks on rank 0. A rank that may become rank 0 only listens until then. Anyone
// may connect, so the acceptor soon closes a pending connection, whose peer has not yet authenticated itself as a rank,
// and limits the number of pending connections.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <chrono>
#include <functional>
#include <list>
#include <memory>

#include "rendezvous.hpp"

namespace mokume::mpi {

// Must live as long as `io` runs handlers.
class Acceptor {
 public:
  struct Limits {
    std::chrono::milliseconds handshake = std::chrono::seconds(10);
    size_t pending = 64;  // in addition to one per rank; a further connection replaces the oldest
  };
  // The acceptor calls these functions on the thread that runs `io`.
  struct Handler {
    std::function<bool(uint32_t rank)> expects;
    std::function<void(uint32_t rank, Stream::socket socket)> accepted;
  };

  Acceptor(asio::io_context& io, int size, Handler handler) : Acceptor(io, size, std::move(handler), Limits()) {}
  Acceptor(asio::io_context& io, int size, Handler handler, Limits limits);
  ~Acceptor();  // calls close()
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // Listens on a local socket and over TCP: on loopback if `this_host_only`, otherwise on the address that
  // addresses(network) returns, or on all interfaces if there are several. The kernel keeps connections until accept().
  Rendezvous open(bool this_host_only, const std::string& network);
  void accept();
  void close();  // also closes pending connections
  size_t pending() const { return pending_.size(); }

 private:
  struct Pending;

  void listen(const std::vector<asio::ip::address>& where);
  void listen_locally(const Rendezvous& rendezvous);
  template <class Socket>
  void accept(Socket& listening);
  template <class Socket>
  void accept_later(Socket& listening);
  void begin_handshake(Stream::socket socket);
  void challenge(const std::shared_ptr<Pending>& peer);
  void verify(const std::shared_ptr<Pending>& peer);
  void disconnect(const std::shared_ptr<Pending>& peer);

  asio::io_context& io_;
  const Handler handler_;
  const Limits limits_;
  const size_t max_pending_;
  Key key_{};
  asio::ip::tcp::acceptor tcp_;
  asio::local::stream_protocol::acceptor local_;
  std::list<std::shared_ptr<Pending>> pending_;  // oldest first
};

}  // namespace mokume::mpi
