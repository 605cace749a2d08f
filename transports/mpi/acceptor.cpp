#include "acceptor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <asio/ip/v6_only.hpp>
#include <asio/read.hpp>
#include <asio/steady_timer.hpp>
#include <asio/system_error.hpp>
#include <asio/write.hpp>
#include <utility>

#include "addresses.hpp"
#include "sdk/error.hpp"

namespace mokume::mpi {
namespace {

using asio::ip::tcp;
using Local = asio::local::stream_protocol;

// A failed accept usually means that no descriptor is free, so the next attempt waits for this time.
constexpr std::chrono::milliseconds kAcceptAgain(100);

}  // namespace

struct Acceptor::Pending {
  Pending(asio::io_context& io, Stream::socket accepted) : socket(std::move(accepted)), timeout(io) {}
  Stream::socket socket;
  asio::steady_timer timeout;
  Hello hello;
  Challenge challenge;
  Mac mac{};
};

Acceptor::Acceptor(asio::io_context& io, int size, Handler handler, Limits limits)
    : io_(io),
      handler_(std::move(handler)),
      limits_(limits),
      max_pending_(limits.pending + static_cast<size_t>(size)),
      tcp_(io),
      local_(io) {}

Acceptor::~Acceptor() {
  try {
    close();
  } catch (const std::exception&) {
    // A timer that cannot be cancelled ends with the process.
  }
}

Rendezvous Acceptor::open(bool this_host_only, const std::string& network) {
  Rendezvous rendezvous;
  Nonce name;
  fill_random(key_.data(), key_.size());
  fill_random(name.data(), name.size());
  rendezvous.key = key_;
  rendezvous.name = hex(name.data(), name.size());
  if (!this_host_only) rendezvous.addresses = addresses(network);
  if (rendezvous.addresses.empty()) rendezvous.addresses.push_back(asio::ip::address_v4::loopback());
  listen(rendezvous.addresses);
  listen_locally(rendezvous);
  rendezvous.port = tcp_.local_endpoint().port();
  return rendezvous;
}

void Acceptor::listen(const std::vector<asio::ip::address>& where) {
  try {
    const bool v6 = std::any_of(where.begin(), where.end(), [](const auto& address) { return address.is_v6(); });
    const tcp::endpoint all(v6 ? tcp::v6() : tcp::v4(), 0);
    tcp_.open(all.protocol());
    close_on_exec(tcp_.native_handle());
    if (v6) tcp_.set_option(asio::ip::v6_only(false));
    tcp_.bind(where.size() == 1 ? tcp::endpoint(where.front(), 0) : all);
    tcp_.listen();
  } catch (const asio::system_error& error) {
    throw Error(MK_INTERNAL, fmt::format("cannot listen for the other ranks: {}", error.what()));
  }
}

// If local sockets are forbidden, ranks use TCP instead.
void Acceptor::listen_locally(const Rendezvous& rendezvous) {
  asio::error_code error;
  local_.open(Local(), error);
  if (!error) close_on_exec(local_.native_handle());
  if (!error) local_.bind(rendezvous.local_endpoint(), error);
  if (!error) local_.listen(asio::socket_base::max_listen_connections, error);
  if (error) local_.close(error);
}

void Acceptor::accept() {
  accept(tcp_);
  if (local_.is_open()) accept(local_);
}

template <class Socket>
void Acceptor::accept(Socket& listening) {
  listening.async_accept(
      [this, &listening](const asio::error_code& error, typename Socket::protocol_type::socket socket) {
        if (error == asio::error::operation_aborted || !listening.is_open()) return;
        if (error) return accept_later(listening);
        begin_handshake(std::move(socket));
        accept(listening);
      });
}

template <class Socket>
void Acceptor::accept_later(Socket& listening) {
  auto pause = std::make_shared<asio::steady_timer>(io_, kAcceptAgain);
  pause->async_wait([this, pause, &listening](const asio::error_code& error) {
    if (!error && listening.is_open()) accept(listening);
  });
}

void Acceptor::begin_handshake(Stream::socket socket) {
  if (pending_.size() >= max_pending_) disconnect(pending_.front());
  const auto peer = std::make_shared<Pending>(io_, std::move(socket));
  pending_.push_back(peer);
  close_on_exec(peer->socket.native_handle());
  peer->timeout.expires_after(limits_.handshake);
  peer->timeout.async_wait([this, peer](const asio::error_code& error) {
    if (!error) disconnect(peer);
  });
  asio::async_read(peer->socket, asio::buffer(&peer->hello, sizeof(Hello)),
                   [this, peer](const asio::error_code& error, size_t) {
                     if (error == asio::error::operation_aborted) return;
                     if (error || !handler_.expects(peer->hello.rank)) return disconnect(peer);
                     challenge(peer);
                   });
}

void Acceptor::challenge(const std::shared_ptr<Pending>& peer) {
  fill_random(peer->challenge.nonce.data(), sizeof(Nonce));
  peer->challenge.mac = mac_of(key_, Side::acceptor, peer->hello, peer->challenge.nonce);
  asio::async_write(peer->socket, asio::buffer(&peer->challenge, sizeof(Challenge)),
                    [this, peer](const asio::error_code& unsent, size_t) {
                      if (unsent == asio::error::operation_aborted) return;
                      if (unsent) return disconnect(peer);
                      asio::async_read(peer->socket, asio::buffer(peer->mac),
                                       [this, peer](const asio::error_code& silent, size_t) {
                                         if (silent == asio::error::operation_aborted) return;
                                         if (silent) return disconnect(peer);
                                         verify(peer);
                                       });
                    });
}

void Acceptor::verify(const std::shared_ptr<Pending>& peer) {
  const uint32_t rank = peer->hello.rank;
  const Mac expected = mac_of(key_, Side::connector, peer->hello, peer->challenge.nonce);
  const bool authenticated = equal(peer->mac, expected) && tcp_.is_open() && handler_.expects(rank);
  Stream::socket socket = authenticated ? std::move(peer->socket) : Stream::socket(io_);
  disconnect(peer);
  if (authenticated) handler_.accepted(rank, std::move(socket));
}

// Handlers that still hold the connection find its socket closed.
void Acceptor::disconnect(const std::shared_ptr<Pending>& peer) {
  asio::error_code ignored;
  peer->timeout.cancel();
  peer->socket.close(ignored);
  pending_.remove(peer);  // allows its argument to be an element of the list
}

void Acceptor::close() {
  asio::error_code ignored;
  tcp_.close(ignored);
  local_.close(ignored);
  while (!pending_.empty()) disconnect(pending_.front());
}

}  // namespace mokume::mpi
