// Connects rank 0 to each other rank of a run, over TCP, or over a local socket on the same host. When a rank dies, its
// connection closes, which reveals the death at once, on any host. docs/adr/0019 explains why MPI does not carry the
// messages, and docs/adr/0051 how another rank becomes rank 0.
#pragma once

#include <array>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acceptor.hpp"
#include "connect.hpp"
#include "rendezvous.hpp"

namespace mokume::mpi {

// Only one thread may call these functions, except wake(). Between calls, only the kernel sends and receives.
class Links {
 public:
  Links(int rank, int size);
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  // ---- connecting ----

  // Listens, as Acceptor::open() describes, on rank 0 and on ranks that may become rank 0. Returns the text of a
  // Rendezvous, with which a process connects as a rank. `network` restricts the addresses to those of an interface, or
  // of a network such as "10.0.0.0/8"; "" allows all. Throws Error(MK_INVALID_ARGUMENT) if this host has no such
  // network.
  std::string listen(bool this_host_only, const std::string& network);
  // Makes rank 0 wait for the other ranks. Throws Error(MK_CANCELLED) if ranks are missing at the deadline.
  void accept_all(Clock::time_point deadline);
  // Connects another rank to rank 0. Throws Error(MK_CANCELLED) if rank 0 is unreachable until the deadline, or gone.
  void connect(const std::string& rendezvous, Clock::time_point deadline);

  // Connects this rank to the rank that becomes rank 0, once that rank calls lead(). Ends the connection to the former
  // rank 0. Returns false if the rank is unreachable until the deadline, or gone.
  bool follow(const std::string& rendezvous, Clock::time_point deadline);
  // Makes this rank rank 0, and waits until all ranks with a higher number have connected, except those that are
  // `dead`, at most until the deadline. All other ranks are then lost. Throws Error(MK_CANCELLED) if this rank does not
  // listen.
  void lead(const std::vector<bool>& dead, Clock::time_point deadline);
  int rank() const { return rank_; }

  // ---- communicating ----

  enum class Kind : uint32_t {
    message = 1,
    shutdown = 2,        // empty message to rank 0, after which nothing follows
    shutdown_reply = 3,  // rank 0's answer, after it has heard from every rank
    rank_lost = 4,       // tells the other ranks that one is lost, with its number if its connection is closed
  };

  // Sends at most 2 GiB, which `owner` keeps alive and unchanged. Without an owner, copies the text. Drops messages to
  // a lost peer, and to a peer without a connection to this rank.
  void send(int to, Kind kind, std::string_view text, std::shared_ptr<const void> owner = nullptr);

  struct Arrived {
    int from = 0;
    Kind kind = Kind::message;
    size_t size = 0;
    std::unique_ptr<char[]> bytes;
  };
  // Returns the next message. Messages of one peer keep their order.
  std::optional<Arrived> poll();

  // Waits until poll() or lost() may report something that has happened since the last poll() that found nothing, until
  // wake() is called, or until `at_most` is over. May return earlier. Sending continues meanwhile.
  void wait(Clock::duration at_most);
  void wake();  // may be called from any thread

  // Waits until the kernel has taken everything that was sent. Forgets peers whose part it has not taken by the
  // deadline.
  void flush(Clock::time_point deadline);

  // Counts the peer as lost until poll() returns a message from it.
  void forget(int peer);
  // Returns whether the peer is forgotten, or its connection is closed and poll() has returned all its messages.
  bool lost(int peer) const;
  // Returns whether the connection is closed, so that the peer is gone and not just silent.
  bool closed(int peer) const;

 private:
  struct Header {
    uint32_t kind = 0, bytes = 0;
  };
  struct Outgoing {
    Header header;
    const char* bytes = nullptr;
    std::shared_ptr<const void> owner;
  };
  enum class State { absent, open, closed };
  struct Link {
    explicit Link(asio::io_context& io) : socket(io) {}
    Stream::socket socket;
    State state = State::absent;
    bool forgotten = false;
    bool send_failed = false;  // the peer accepts no more data
    Header header;
    std::unique_ptr<char[]> body;
    std::deque<Outgoing> outgoing;  // the kernel is taking the first message
  };

  void open(int peer, Stream::socket socket);
  void disconnect();
  void read_header(int peer);
  void read_body(int peer);
  void arrive(int peer);
  void write(int peer);
  void close(int peer);

  Link& link(int peer) { return *links_[static_cast<size_t>(peer)]; }
  const Link& link(int peer) const { return *links_[static_cast<size_t>(peer)]; }
  bool knows(int peer) const { return peer >= 0 && peer < size_ && peer != rank_ && (rank_ == 0 || peer == 0); }

  const int number_, size_;  // number_ is the rank at the start
  int rank_;                 // becomes 0 in lead()
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> always_;
  std::vector<std::unique_ptr<Link>> links_;
  std::deque<Arrived> inbox_;
  std::atomic<bool> woken_{false};
  std::optional<Acceptor> acceptor_;  // empty on a rank that never listened
  uint16_t port_ = 0;
};

}  // namespace mokume::mpi
