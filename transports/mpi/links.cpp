#include "links.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <fstream>
#include <limits>
#include <utility>

#include "sdk/error.hpp"

namespace mokume::mpi {
namespace {

constexpr int kBuffer = 2 << 20;
constexpr uint32_t kLargest = std::numeric_limits<int32_t>::max();

// By default, Asio moves at most 64 KB at a time.
size_t everything(const asio::error_code& error, size_t) { return error ? 0 : kLargest; }

// Makes the kernel end the connections of a host that loses power or network, even if nobody expects a message. This
// takes longer than the protocol's own limits for silence, which the run reports.
void end_when_cut_off(int socket) {
  constexpr int kIdleSeconds = 30, kIntervalSeconds = 10, kProbes = 5, kOn = 1;
  constexpr unsigned kUnansweredMs = 80'000;
  const auto set = [socket](int level, int option, const auto& value) {
    setsockopt(socket, level, option, &value, sizeof(value));  // if this fails, only the protocol's limits apply
  };
  set(SOL_SOCKET, SO_KEEPALIVE, kOn);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kIntervalSeconds);
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, kUnansweredMs);
}

// Returns the kernel's limit for a requested buffer size, or 0 if it is unknown.
long limit_of(const std::string& name) {
  long bytes = 0;
  std::ifstream("/proc/sys/net/core/" + name) >> bytes;
  return bytes;
}

}  // namespace

Links::Links(int rank, int size) : number_(rank), size_(size), rank_(rank), always_(io_.get_executor()) {
  for (int i = 0; i < size; ++i) links_.push_back(std::make_unique<Link>(io_));
}

// ---- connecting ----

std::string Links::listen(bool this_host_only, const std::string& network) {
  const auto expects = [this](uint32_t rank) {
    const bool higher = rank > static_cast<uint32_t>(number_) && rank < static_cast<uint32_t>(size_);
    return higher && link(static_cast<int>(rank)).state == State::absent;
  };
  const auto accepted = [this](uint32_t rank, Stream::socket socket) {
    open(static_cast<int>(rank), std::move(socket));
  };
  acceptor_.emplace(io_, size_, Acceptor::Handler{expects, accepted});
  try {
    const Rendezvous rendezvous = acceptor_->open(this_host_only, network);
    port_ = rendezvous.port;
    return rendezvous.text();
  } catch (...) {
    acceptor_.reset();
    throw;
  }
}

void Links::accept_all(Clock::time_point deadline) {
  const auto absent = [this] {
    std::vector<int> ranks;
    for (int peer = 1; peer < size_; ++peer)
      if (link(peer).state == State::absent) ranks.push_back(peer);
    return ranks;
  };
  acceptor_->accept();
  const bool all = run_until(io_, deadline, [&] { return absent().empty(); });
  acceptor_->close();
  if (all) return;
  std::string names;
  for (const int peer : absent()) names += (names.empty() ? "" : ", ") + std::to_string(peer);
  throw Error(MK_CANCELLED,
              fmt::format("not connected to rank 0 in time, on TCP port {}: rank {}. A rank has died, or no network "
                          "leads from its node to this one (MOKUME_MPI_NETWORK selects one)",
                          port_, names));
}

void Links::connect(const std::string& rendezvous, Clock::time_point deadline) {
  open(0, connect_to_rank_0(io_, Rendezvous::parse(rendezvous), static_cast<uint32_t>(number_), deadline));
}

bool Links::follow(const std::string& rendezvous, Clock::time_point deadline) {
  disconnect();
  try {
    connect(rendezvous, deadline);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void Links::lead(const std::vector<bool>& dead, Clock::time_point deadline) {
  if (!acceptor_) throw Error(MK_CANCELLED, "no rank is left that other ranks can reach");
  disconnect();
  rank_ = 0;
  const auto expected = [&](int peer) {
    return peer > number_ && !dead[static_cast<size_t>(peer)] && link(peer).state == State::absent;
  };
  const auto complete = [&] {
    for (int peer = 1; peer < size_; ++peer)
      if (expected(peer)) return false;
    return true;
  };
  acceptor_->accept();
  run_until(io_, deadline, complete);
  acceptor_->close();
  for (int peer = 1; peer < size_; ++peer)
    if (link(peer).state == State::absent) link(peer).state = State::closed;
}

// Ends all connections. Their handlers refer to links by number, so they must run before new links replace the old.
void Links::disconnect() {
  asio::error_code ignored;
  for (auto& of : links_) of->socket.close(ignored);
  io_.poll();
  inbox_.clear();
  for (auto& of : links_) of = std::make_unique<Link>(io_);
}

void Links::open(int peer, Stream::socket socket) {
  Link& of = link(peer);
  of.socket = std::move(socket);
  const bool near = of.socket.local_endpoint().protocol().family() == asio::local::stream_protocol().family();
  if (!near) of.socket.set_option(asio::ip::tcp::no_delay(true));
  if (!near) end_when_cut_off(of.socket.native_handle());
  of.socket.non_blocking(true);
  // By default, the kernel's buffers start smaller than a bucket of a team's sums and grow slowly; those of local
  // sockets do not grow. If the kernel's limit is below kBuffer, TCP can grow its buffers beyond it.
  if (near || limit_of("wmem_max") >= kBuffer) of.socket.set_option(asio::socket_base::send_buffer_size(kBuffer));
  if (!near && limit_of("rmem_max") >= kBuffer) of.socket.set_option(asio::socket_base::receive_buffer_size(kBuffer));
  of.state = State::open;
  read_header(peer);
}

// ---- receiving ----

// Reads a peer's next message only after poll() has returned the previous one, so that no peer fills this node's memory
// faster than the node empties it.
void Links::read_header(int peer) {
  asio::async_read(link(peer).socket, asio::buffer(&link(peer).header, sizeof(Header)),
                   [this, peer](const asio::error_code& error, size_t) {
                     const Header& header = link(peer).header;
                     const bool known = header.kind >= static_cast<uint32_t>(Kind::message) &&
                                        header.kind <= static_cast<uint32_t>(Kind::rank_lost);
                     if (error || !known || header.bytes > kLargest) return close(peer);
                     read_body(peer);
                   });
}

void Links::read_body(int peer) {
  Link& from = link(peer);
  from.body = std::make_unique_for_overwrite<char[]>(from.header.bytes);
  asio::async_read(from.socket, asio::buffer(from.body.get(), from.header.bytes), everything,
                   [this, peer](const asio::error_code& error, size_t) { error ? close(peer) : arrive(peer); });
}

void Links::arrive(int peer) {
  Link& from = link(peer);
  inbox_.push_back({peer, static_cast<Kind>(from.header.kind), from.header.bytes, std::move(from.body)});
}

std::optional<Links::Arrived> Links::poll() {
  if (inbox_.empty()) io_.poll();
  if (inbox_.empty()) return std::nullopt;
  Arrived arrived = std::move(inbox_.front());
  inbox_.pop_front();
  link(arrived.from).forgotten = false;
  read_header(arrived.from);
  return arrived;
}

void Links::wait(Clock::duration at_most) {
  if (!woken_) io_.run_one_for(at_most);
  woken_ = false;
}

void Links::wake() {
  if (!woken_.exchange(true)) asio::post(io_, [] {});
}

// ---- sending ----

void Links::send(int to, Kind kind, std::string_view text, std::shared_ptr<const void> owner) {
  if (!knows(to) || lost(to) || link(to).send_failed) return;
  if (!owner) {
    auto copy = std::make_shared<const std::string>(text);
    text = *copy;
    owner = std::move(copy);
  }
  const Header header{static_cast<uint32_t>(kind), static_cast<uint32_t>(text.size())};
  link(to).outgoing.push_back({header, text.data(), std::move(owner)});
  if (link(to).outgoing.size() == 1) write(to);
}

void Links::write(int peer) {
  const Outgoing& first = link(peer).outgoing.front();
  const std::array<asio::const_buffer, 2> both{asio::buffer(&first.header, sizeof(Header)),
                                               asio::buffer(first.bytes, first.header.bytes)};
  asio::async_write(link(peer).socket, both, everything, [this, peer](const asio::error_code& error, size_t) {
    Link& to = link(peer);
    // Data that the peer sent before it died must still be read. Only the end of that data closes the link.
    if (error) {
      to.send_failed = true;
      return to.outgoing.clear();
    }
    to.outgoing.pop_front();
    if (!to.outgoing.empty()) write(peer);
  });
}

void Links::flush(Clock::time_point deadline) {
  const auto unsent = [](const auto& of) {
    return of->state == State::open && !of->forgotten && !of->outgoing.empty();
  };
  if (run_until(io_, deadline, [&] { return std::none_of(links_.begin(), links_.end(), unsent); })) return;
  for (auto& of : links_)
    if (unsent(of)) of->forgotten = true;
}

// ---- presence ----

void Links::close(int peer) {
  Link& of = link(peer);
  of.state = State::closed;
  asio::error_code ignored;
  of.socket.close(ignored);
}

void Links::forget(int peer) {
  if (knows(peer)) link(peer).forgotten = true;
}

bool Links::closed(int peer) const { return knows(peer) && link(peer).state == State::closed; }

bool Links::lost(int peer) const { return knows(peer) && (link(peer).forgotten || link(peer).state == State::closed); }

}  // namespace mokume::mpi
