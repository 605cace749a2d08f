// Rank 0 accepts connections from the other ranks. Anyone may connect, so a pending connection, whose peer has not yet
// authenticated itself as a rank, is closed after a short time, and the number of pending connections is limited.
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

// Must live as long as `io` runs its handlers.
class Acceptor {
 public:
  struct Limits {
    std::chrono::milliseconds handshake = std::chrono::seconds(10);
    size_t pending = 64;  // in addition to one per rank; a further connection replaces the oldest
  };
  // Called on the thread that runs `io`.
  struct Handler {
    std::function<bool(uint32_t rank)> expects;
    std::function<void(uint32_t rank, Stream::socket socket)> accepted;
  };

  Acceptor(asio::io_context& io, int size, Handler handler) : Acceptor(io, size, std::move(handler), Limits()) {}
  Acceptor(asio::io_context& io, int size, Handler handler, Limits limits);
  ~Acceptor();  // calls close()
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // Listens on a local socket and by TCP: on loopback if `this_host_only`, otherwise on addresses that other hosts may
  // reach. `network` is as for addresses().
  Rendezvous open(bool this_host_only, const std::string& network);
  void close();  // closes pending connections too
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
  void disconnect(std::shared_ptr<Pending> peer);

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
