#include "visit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "sdk/error.hpp"

namespace mokume::mpi {
namespace {

constexpr std::chrono::seconds kConnect(5), kAnswer(20), kRefused(4);
constexpr std::chrono::milliseconds kAgain(50);

enum class Outcome { reached, refused, silence };

// To reach rank 0 at one of its addresses. Handlers share it, and outlive reach() if the peer never answers.
class Attempt : public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(asio::io_context& io, const Invitation& invitation, uint32_t rank)
      : socket_(io), key_(invitation.key), greeting_{{}, rank} {
    fill_random(greeting_.nonce.data(), greeting_.nonce.size());
  }

  void connect(const Stream::endpoint& where) {
    socket_.async_connect(where, [self = shared_from_this()](const asio::error_code& error) {
      if (error == asio::error::connection_refused) self->outcome_ = Outcome::refused;
      self->over_ = static_cast<bool>(error);
      if (error) return;
      self->connected_ = true;
      keep_to_this_process(self->socket_.native_handle());
      self->greet();
    });
  }

  bool connected() const { return connected_; }
  bool over() const { return over_; }
  Outcome outcome() const { return outcome_; }
  Stream::socket take() { return std::move(socket_); }
  void close() {
    asio::error_code ignored;
    socket_.close(ignored);
  }

 private:
  void greet() {
    send(&greeting_, sizeof(greeting_), [this] {
      asio::async_read(socket_, asio::buffer(&challenge_, sizeof(challenge_)),
                       [self = shared_from_this()](const asio::error_code& error, size_t) {
                         self->over_ = true;
                         if (!error) self->answer();
                       });
    });
  }

  // Another service may have answered: it gets no proof.
  void answer() {
    if (!same(challenge_.proof, prove(key_, Side::host, greeting_, challenge_.nonce))) return;
    proof_ = prove(key_, Side::guest, greeting_, challenge_.nonce);
    over_ = false;
    send(proof_.data(), proof_.size(), [this] {
      outcome_ = Outcome::reached;
      over_ = true;
    });
  }

  template <class Sent>
  void send(const void* bytes, size_t n, Sent sent) {
    asio::async_write(socket_, asio::buffer(bytes, n),
                      [self = shared_from_this(), sent](const asio::error_code& error, size_t) {
                        if (error) {
                          self->over_ = true;
                        } else {
                          sent();
                        }
                      });
  }

  Stream::socket socket_;
  const Key key_;
  Greeting greeting_;
  Challenge challenge_;
  Proof proof_{};
  bool connected_ = false, over_ = false;
  Outcome outcome_ = Outcome::silence;
};

class Visitor {
 public:
  Visitor(asio::io_context& io, const Invitation& invitation, uint32_t rank, Clock::time_point deadline)
      : io_(io), invitation_(invitation), rank_(rank), deadline_(deadline) {}

  // Sets `connection` if it reaches rank 0 there.
  Outcome reach(const Stream::endpoint& where) {
    const auto attempt = std::make_shared<Attempt>(io_, invitation_, rank_);
    attempt->connect(where);
    // A connected peer may be slow to answer. One hidden by a firewall never connects.
    run_until(io_, std::min(deadline_, Clock::now() + kConnect),
              [&] { return attempt->connected() || attempt->over(); });
    if (attempt->connected())
      run_until(io_, std::min(deadline_, Clock::now() + kAnswer), [&] { return attempt->over(); });
    if (attempt->outcome() == Outcome::reached) {
      connection = attempt->take();
    } else {
      attempt->close();
    }
    return attempt->outcome();
  }

  std::optional<Stream::socket> connection;

 private:
  asio::io_context& io_;
  const Invitation& invitation_;
  const uint32_t rank_;
  const Clock::time_point deadline_;
};

}  // namespace

Stream::socket visit(asio::io_context& io, const Invitation& invitation, uint32_t rank, Clock::time_point deadline) {
  Visitor visitor(io, invitation, rank, deadline);
  // Rank 0 was listening before it sent the invitation. If every address refuses for a while, it is gone.
  auto heard = Clock::now();  // the last time some address did not refuse
  for (auto now = heard; now < deadline && now - heard < kRefused; now = Clock::now()) {
    // No process on another host has this name.
    if (visitor.reach(invitation.near()) == Outcome::reached) return std::move(*visitor.connection);
    bool refused = !invitation.addresses.empty();
    for (const auto& address : invitation.addresses) {
      const Outcome outcome = visitor.reach(asio::ip::tcp::endpoint(address, invitation.port));
      if (outcome == Outcome::reached) return std::move(*visitor.connection);
      refused = refused && outcome == Outcome::refused;
    }
    if (!refused) heard = Clock::now();
    std::this_thread::sleep_for(kAgain);
  }
  std::string tried;
  for (const auto& address : invitation.addresses) tried += (tried.empty() ? "" : ", ") + address.to_string();
  throw Error(MK_CANCELLED, fmt::format("cannot reach rank 0 on TCP port {} of {}: it has died, or no network leads to "
                                        "it (MOKUME_MPI_NETWORK selects one)",
                                        invitation.port, tried));
}

}  // namespace mokume::mpi
