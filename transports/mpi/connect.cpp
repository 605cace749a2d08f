#include "connect.hpp"

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

constexpr std::chrono::seconds kConnectTimeout(5), kHandshakeTimeout(20), kRefused(4);
constexpr std::chrono::milliseconds kRetryInterval(50);

enum class Outcome { connected, refused, silent };

// Tries to connect to one address. The handlers share this object, and outlive attempt() if the peer never answers.
class ConnectAttempt : public std::enable_shared_from_this<ConnectAttempt> {
 public:
  ConnectAttempt(asio::io_context& io, const Rendezvous& rendezvous, uint32_t rank)
      : socket_(io), key_(rendezvous.key), hello_{{}, rank} {
    fill_random(hello_.nonce.data(), hello_.nonce.size());
  }

  void connect(const Stream::endpoint& where) {
    socket_.async_connect(where, [self = shared_from_this()](const asio::error_code& error) {
      if (error == asio::error::connection_refused) self->outcome_ = Outcome::refused;
      self->over_ = static_cast<bool>(error);
      if (error) return;
      self->connected_ = true;
      close_on_exec(self->socket_.native_handle());
      self->handshake();
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
  void handshake() {
    send(&hello_, sizeof(hello_), [this] {
      asio::async_read(socket_, asio::buffer(&challenge_, sizeof(challenge_)),
                       [self = shared_from_this()](const asio::error_code& error, size_t) {
                         self->over_ = true;
                         if (!error) self->answer();
                       });
    });
  }

  // Another service that listens at this address gets no MAC.
  void answer() {
    if (!equal(challenge_.mac, mac_of(key_, Side::acceptor, hello_, challenge_.nonce))) return;
    mac_ = mac_of(key_, Side::connector, hello_, challenge_.nonce);
    over_ = false;
    send(mac_.data(), mac_.size(), [this] {
      outcome_ = Outcome::connected;
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
  Hello hello_;
  Challenge challenge_;
  Mac mac_{};
  bool connected_ = false, over_ = false;
  Outcome outcome_ = Outcome::silent;
};

Outcome attempt(asio::io_context& io, const Rendezvous& rendezvous, uint32_t rank, const Stream::endpoint& where,
                Clock::time_point deadline, std::optional<Stream::socket>& connection) {
  const auto one = std::make_shared<ConnectAttempt>(io, rendezvous, rank);
  one->connect(where);
  // A connected peer may be slow to answer. A peer hidden by a firewall never connects.
  run_until(io, std::min(deadline, Clock::now() + kConnectTimeout), [&] { return one->connected() || one->over(); });
  if (one->connected())
    run_until(io, std::min(deadline, Clock::now() + kHandshakeTimeout), [&] { return one->over(); });
  if (one->outcome() == Outcome::connected) {
    connection = one->take();
  } else {
    one->close();
  }
  return one->outcome();
}

}  // namespace

Stream::socket connect_to_rank_0(asio::io_context& io, const Rendezvous& rendezvous, uint32_t rank,
                                 Clock::time_point deadline) {
  std::optional<Stream::socket> connection;
  const auto attempt_at = [&](const Stream::endpoint& where) {
    return attempt(io, rendezvous, rank, where, deadline, connection);
  };
  // Rank 0 was listening before it sent the rendezvous. If every address refuses for a while, rank 0 is gone.
  auto last_answer = Clock::now();  // last time at which an address did not refuse
  for (auto now = last_answer; now < deadline && now - last_answer < kRefused; now = Clock::now()) {
    // No process on another host has this name.
    if (attempt_at(rendezvous.local_endpoint()) == Outcome::connected) return std::move(*connection);
    bool refused = !rendezvous.addresses.empty();
    for (const auto& address : rendezvous.addresses) {
      const Outcome outcome = attempt_at(asio::ip::tcp::endpoint(address, rendezvous.port));
      if (outcome == Outcome::connected) return std::move(*connection);
      refused = refused && outcome == Outcome::refused;
    }
    if (!refused) last_answer = Clock::now();
    std::this_thread::sleep_for(kRetryInterval);
  }
  std::string tried;
  for (const auto& address : rendezvous.addresses) tried += (tried.empty() ? "" : ", ") + address.to_string();
  throw Error(MK_CANCELLED, fmt::format("cannot reach rank 0 on TCP port {} of {}: it has died, or no network leads to "
                                        "it (MOKUME_MPI_NETWORK selects one)",
                                        rendezvous.port, tried));
}

}  // namespace mokume::mpi
