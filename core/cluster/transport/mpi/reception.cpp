#include "reception.hpp"

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

// After a failed accept, which usually means that no descriptor is free.
constexpr std::chrono::milliseconds kAcceptAgain(100);

}  // namespace

struct Reception::Guest {
  Guest(asio::io_context& io, Stream::socket its) : socket(std::move(its)), limit(io) {}
  Stream::socket socket;
  asio::steady_timer limit;
  Greeting greeting;
  Challenge challenge;
  Proof proof{};
};

Reception::Reception(asio::io_context& io, int size, Desk desk, Rules rules)
    : io_(io),
      desk_(std::move(desk)),
      rules_(rules),
      most_guests_(rules.most_guests + static_cast<size_t>(size)),
      far_(io),
      near_(io) {}

Reception::~Reception() { close(); }

Invitation Reception::open(bool this_host_only, const std::string& network) {
  Invitation invitation;
  Nonce name;
  fill_random(key_.data(), key_.size());
  fill_random(name.data(), name.size());
  invitation.key = key_;
  invitation.name = hex(name.data(), name.size());
  if (!this_host_only) invitation.addresses = addresses(network);
  if (invitation.addresses.empty()) invitation.addresses.push_back(asio::ip::address_v4::loopback());
  listen(invitation.addresses);
  listen_near(invitation);
  invitation.port = far_.local_endpoint().port();
  return invitation;
}

void Reception::listen(const std::vector<asio::ip::address>& where) {
  try {
    const bool v6 = std::any_of(where.begin(), where.end(), [](const auto& address) { return address.is_v6(); });
    const tcp::endpoint all(v6 ? tcp::v6() : tcp::v4(), 0);
    far_.open(all.protocol());
    keep_to_this_process(far_.native_handle());
    if (v6) far_.set_option(asio::ip::v6_only(false));
    far_.bind(where.size() == 1 ? tcp::endpoint(where.front(), 0) : all);
    far_.listen();
  } catch (const asio::system_error& error) {
    throw Error(MK_INTERNAL, fmt::format("cannot listen for the other ranks: {}", error.what()));
  }
  accept(far_);
}

// If local sockets are forbidden, TCP is used.
void Reception::listen_near(const Invitation& invitation) {
  asio::error_code error;
  near_.open(Local(), error);
  if (!error) keep_to_this_process(near_.native_handle());
  if (!error) near_.bind(invitation.near(), error);
  if (!error) near_.listen(asio::socket_base::max_listen_connections, error);
  if (!error) accept(near_);
}

template <class Acceptor>
void Reception::accept(Acceptor& acceptor) {
  acceptor.async_accept(
      [this, &acceptor](const asio::error_code& error, typename Acceptor::protocol_type::socket socket) {
        if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
        if (error) return accept_later(acceptor);
        receive(std::move(socket));
        accept(acceptor);
      });
}

template <class Acceptor>
void Reception::accept_later(Acceptor& acceptor) {
  auto pause = std::make_shared<asio::steady_timer>(io_, kAcceptAgain);
  pause->async_wait([this, pause, &acceptor](const asio::error_code& error) {
    if (!error && acceptor.is_open()) accept(acceptor);
  });
}

void Reception::receive(Stream::socket socket) {
  if (guests_.size() >= most_guests_) dismiss(guests_.front());
  const auto guest = std::make_shared<Guest>(io_, std::move(socket));
  guests_.push_back(guest);
  keep_to_this_process(guest->socket.native_handle());
  guest->limit.expires_after(rules_.patience);
  guest->limit.async_wait([this, guest](const asio::error_code& error) {
    if (!error) dismiss(guest);
  });
  asio::async_read(guest->socket, asio::buffer(&guest->greeting, sizeof(Greeting)),
                   [this, guest](const asio::error_code& error, size_t) {
                     if (error == asio::error::operation_aborted) return;
                     if (error || !desk_.expects(guest->greeting.rank)) return dismiss(guest);
                     challenge(guest);
                   });
}

void Reception::challenge(const std::shared_ptr<Guest>& guest) {
  fill_random(guest->challenge.nonce.data(), sizeof(Nonce));
  guest->challenge.proof = prove(key_, Side::host, guest->greeting, guest->challenge.nonce);
  asio::async_write(guest->socket, asio::buffer(&guest->challenge, sizeof(Challenge)),
                    [this, guest](const asio::error_code& unsent, size_t) {
                      if (unsent == asio::error::operation_aborted) return;
                      if (unsent) return dismiss(guest);
                      asio::async_read(guest->socket, asio::buffer(guest->proof),
                                       [this, guest](const asio::error_code& silent, size_t) {
                                         if (silent == asio::error::operation_aborted) return;
                                         if (silent) return dismiss(guest);
                                         verify(guest);
                                       });
                    });
}

void Reception::verify(const std::shared_ptr<Guest>& guest) {
  const uint32_t rank = guest->greeting.rank;
  const Proof expected = prove(key_, Side::guest, guest->greeting, guest->challenge.nonce);
  const bool proven = same(guest->proof, expected) && far_.is_open() && desk_.expects(rank);
  Stream::socket socket = proven ? std::move(guest->socket) : Stream::socket(io_);
  dismiss(guest);
  if (proven) desk_.admit(rank, std::move(socket));
}

// The handlers that still hold the guest see that its socket is closed.
void Reception::dismiss(std::shared_ptr<Guest> guest) {
  asio::error_code ignored;
  guest->limit.cancel();
  guest->socket.close(ignored);
  guests_.remove(guest);
}

void Reception::close() {
  asio::error_code ignored;
  far_.close(ignored);
  near_.close(ignored);
  while (!guests_.empty()) dismiss(guests_.front());
}

}  // namespace mokume::mpi
