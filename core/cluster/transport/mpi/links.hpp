// The connections between the nodes of a run: one between rank 0 and each of the others, by TCP, on one host by a local
// socket. A rank that dies closes its connection; that is how its end is known, at once and on any host. docs/adr/0019
// says why MPI does not carry the messages.
#pragma once

#include <array>
#include <asio/executor_work_guard.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mokume::mpi {

using Clock = std::chrono::steady_clock;

// Used by one thread, wake() apart. Nothing happens outside of its calls, but that the kernel takes and hands over what
// its buffers hold.
class Links {
 public:
  Links(int rank, int size);
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  // ---- first of all ----

  // Rank 0 listens, on a local socket and by TCP: `this_host_only` on loopback, otherwise where others may reach it.
  // Returns what they need to join, and who knows that may: its addresses, or those of one network (an interface's
  // name, or "10.0.0.0/8"; empty: all), a port and secrets. Error(MK_INVALID_ARGUMENT) if there is no such network
  // here.
  std::string invite(bool this_host_only, const std::string& network);
  // Rank 0 waits for the others. Error(MK_CANCELLED) names who has not come by the deadline.
  void welcome(Clock::time_point deadline);
  // Another rank connects to rank 0. Error(MK_CANCELLED) if it is not reached by the deadline, or is gone.
  void join(const std::string& invitation, Clock::time_point deadline);

  // ---- then ----

  enum class Kind : uint32_t {
    message = 1,
    farewell = 2,  // to rank 0, empty: nothing follows
    verdict = 3,   // from rank 0, on the farewells
  };

  // At most 2 GiB, which `owner` keeps as they are; without one they are copied. What is for a lost peer, or one that
  // this rank has no connection to, is dropped.
  void send(int to, Kind kind, std::string_view text, std::shared_ptr<const void> owner = nullptr);

  struct Arrived {
    int from = 0;
    Kind kind = Kind::message;
    size_t size = 0;
    std::unique_ptr<char[]> bytes;
  };
  // Next of what has arrived; of one peer in the order sent.
  std::optional<Arrived> poll();

  // Until something has happened since poll() last found nothing that it or lost() may tell of, wake() was called, or
  // `at_most` is over; maybe earlier. What was sent goes on leaving meanwhile.
  void wait(Clock::duration at_most);
  void wake();  // from any thread

  // Until the kernel has all that was sent. Who has not taken his part by the deadline is forgotten.
  void flush(Clock::time_point deadline);

  void forget(int peer);      // lost until a message from it is polled
  bool lost(int peer) const;  // forgotten, or its connection is closed and all that came over it was polled

 private:
  struct Header {
    uint32_t kind = 0, bytes = 0;
  };
  struct Parcel {
    Header header;
    const char* bytes = nullptr;
    std::shared_ptr<const void> owner;
  };
  enum class State { absent, open, closed };
  using Stream = asio::generic::stream_protocol;
  struct Link {
    explicit Link(asio::io_context& io) : socket(io) {}
    Stream::socket socket;
    State state = State::absent;
    bool forgotten = false, deaf = false;  // deaf: it takes nothing any more
    Header header;
    std::unique_ptr<char[]> body;
    std::deque<Parcel> outgoing;  // the first is under way
  };
  struct Guest;    // who has connected to rank 0 and not yet proven who it is
  struct Attempt;  // to reach rank 0

  static constexpr size_t kSecret = 16;
  using Secret = std::array<unsigned char, kSecret>;

  template <class Acceptor>
  void accept(Acceptor& acceptor);
  void ask(const std::shared_ptr<Guest>& guest);
  void admit(const std::shared_ptr<Guest>& guest);
  enum class Outcome { reached, refused, silence };
  Outcome reach(const Stream::endpoint& where, Clock::time_point deadline);
  void open(int peer, Stream::socket socket);
  void read_header(int peer);
  void read_body(int peer);
  void arrive(int peer);
  void write(int peer);
  void close(int peer);

  template <class Done>
  bool run_until(Clock::time_point deadline, Done&& done);

  Link& link(int peer) { return *links_[static_cast<size_t>(peer)]; }
  const Link& link(int peer) const { return *links_[static_cast<size_t>(peer)]; }
  bool knows(int peer) const { return peer >= 0 && peer < size_ && peer != rank_ && (rank_ == 0 || peer == 0); }

  const int rank_, size_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> always_;
  asio::ip::tcp::acceptor acceptor_;
  asio::local::stream_protocol::acceptor near_;  // of ranks on this host
  Secret ours_{}, theirs_{};                     // rank 0 says `ours_`, who joins says `theirs_`
  std::vector<std::unique_ptr<Link>> links_;
  std::deque<Arrived> inbox_;
  std::atomic<bool> woken_{false};
};

}  // namespace mokume::mpi
