// Where rank 0 receives the other ranks. Anyone may connect, so a guest that has not proven yet to be a rank gets
// little time, and there are never more than a few.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <chrono>
#include <functional>
#include <list>
#include <memory>

#include "invitation.hpp"

namespace mokume::mpi {

// Must live as long as `io` runs its handlers.
class Reception {
 public:
  struct Rules {
    std::chrono::milliseconds patience = std::chrono::seconds(10);  // for a guest's whole greeting
    size_t most_guests = 64;  // in addition to one per rank; a further one takes the place of the oldest
  };
  // Which ranks may still come, and what to do with one that is proven. Called on the thread that runs `io`.
  struct Desk {
    std::function<bool(uint32_t rank)> expects;
    std::function<void(uint32_t rank, Stream::socket socket)> admit;
  };

  Reception(asio::io_context& io, int size, Desk desk) : Reception(io, size, std::move(desk), Rules()) {}
  Reception(asio::io_context& io, int size, Desk desk, Rules rules);
  ~Reception();  // close()
  Reception(const Reception&) = delete;
  Reception& operator=(const Reception&) = delete;

  // Listens on a local socket and by TCP: on loopback if `this_host_only`, otherwise where others may reach this host.
  // `network`: as for addresses().
  Invitation open(bool this_host_only, const std::string& network);
  void close();  // also to guests that are not proven yet
  size_t guests() const { return guests_.size(); }

 private:
  struct Guest;

  void listen(const std::vector<asio::ip::address>& where);
  void listen_near(const Invitation& invitation);
  template <class Acceptor>
  void accept(Acceptor& acceptor);
  template <class Acceptor>
  void accept_later(Acceptor& acceptor);
  void receive(Stream::socket socket);
  void challenge(const std::shared_ptr<Guest>& guest);
  void verify(const std::shared_ptr<Guest>& guest);
  void dismiss(std::shared_ptr<Guest> guest);

  asio::io_context& io_;
  const Desk desk_;
  const Rules rules_;
  const size_t most_guests_;
  Key key_{};
  asio::ip::tcp::acceptor far_;
  asio::local::stream_protocol::acceptor near_;
  std::list<std::shared_ptr<Guest>> guests_;  // the oldest first
};

}  // namespace mokume::mpi
