#include "links.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <asio/ip/v6_only.hpp>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/system_error.hpp>
#include <asio/write.hpp>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>
#include <utility>

#include "addresses.hpp"
#include "sdk/error.hpp"

namespace mokume::mpi {
namespace {

using asio::ip::tcp;
using Local = asio::local::stream_protocol;

constexpr std::chrono::seconds kConnect(5), kAnswer(20), kRefused(4);
constexpr std::chrono::milliseconds kAgain(50);
constexpr int kBuffer = 2 << 20;
constexpr uint32_t kLargest = std::numeric_limits<int32_t>::max();

// By default Asio moves at most 64 KB at a time.
size_t everything(const asio::error_code& error, size_t) { return error ? 0 : kLargest; }

// Child processes must not inherit connections, or they would keep them open after their parent has closed them.
template <class Socket>
void keep_to_this_process(Socket& socket) {
  fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
}

// Returns the kernel's limit for a requested buffer size; 0 if unknown.
long limit_of(const std::string& name) {
  long bytes = 0;
  std::ifstream("/proc/sys/net/core/" + name) >> bytes;
  return bytes;
}

std::string hex(const unsigned char* bytes, size_t n) {
  std::string text;
  for (size_t i = 0; i < n; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

bool unhex(const std::string& text, unsigned char* bytes, size_t n) {
  if (text.size() != 2 * n || text.find_first_not_of("0123456789abcdef") != std::string::npos) return false;
  for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<unsigned char>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  return true;
}

// An abstract socket name, not a file: it disappears with the process, so nothing needs to be cleaned up.
Local::endpoint local_place(const std::string& name) { return {std::string(1, '\0') + "mokume-" + name}; }

}  // namespace

struct Links::Guest {
  explicit Guest(Stream::socket its) : socket(std::move(its)) {}
  Stream::socket socket;
  struct {
    Secret secret;
    uint32_t rank;
  } hello{};
};

struct Links::Attempt {
  explicit Attempt(asio::io_context& io) : socket(io) {}
  Stream::socket socket;
  decltype(Guest::hello) hello{};
  Secret answer{};
  bool connected = false, over = false;
  Outcome outcome = Outcome::silence;
};

Links::Links(int rank, int size) : rank_(rank), size_(size), always_(io_.get_executor()), acceptor_(io_), near_(io_) {
  for (int i = 0; i < size; ++i) links_.push_back(std::make_unique<Link>(io_));
}

template <class Done>
bool Links::run_until(Clock::time_point deadline, Done&& done) {
  while (!done()) {
    const auto left = deadline - Clock::now();
    if (left <= Clock::duration::zero()) return false;
    io_.run_one_for(left);
  }
  return true;
}

// ---- connecting ----

std::string Links::invite(bool this_host_only, const std::string& network) {
  Secret name;
  for (Secret* secret : {&ours_, &theirs_, &name})
    if (getentropy(secret->data(), secret->size()) != 0)
      throw Error(MK_INTERNAL, "the kernel provides no random numbers");
  std::vector<asio::ip::address> where;
  if (!this_host_only) where = addresses(network);
  if (where.empty()) where.push_back(asio::ip::address_v4::loopback());
  try {
    const bool v6 = std::any_of(where.begin(), where.end(), [](const auto& address) { return address.is_v6(); });
    const tcp::endpoint all(v6 ? tcp::v6() : tcp::v4(), 0);
    acceptor_.open(all.protocol());
    keep_to_this_process(acceptor_);
    if (v6) acceptor_.set_option(asio::ip::v6_only(false));
    acceptor_.bind(where.size() == 1 ? tcp::endpoint(where.front(), 0) : all);
    acceptor_.listen();
  } catch (const asio::system_error& error) {
    throw Error(MK_INTERNAL, fmt::format("cannot listen for the other ranks: {}", error.what()));
  }
  accept(acceptor_);
  // If local sockets are forbidden, TCP is used.
  asio::error_code error;
  near_.open(Local(), error);
  if (!error) keep_to_this_process(near_);
  if (!error) near_.bind(local_place(hex(name.data(), kSecret)), error);
  if (!error) near_.listen(asio::socket_base::max_listen_connections, error);
  if (!error) accept(near_);
  std::string text = fmt::format("{} {} {} {}", acceptor_.local_endpoint().port(), hex(ours_.data(), kSecret),
                                 hex(theirs_.data(), kSecret), hex(name.data(), kSecret));
  for (const auto& address : where) text += " " + address.to_string();
  return text;
}

void Links::welcome(Clock::time_point deadline) {
  const auto absent = [this] {
    std::vector<int> ranks;
    for (int peer = 1; peer < size_; ++peer)
      if (link(peer).state == State::absent) ranks.push_back(peer);
    return ranks;
  };
  const bool all = run_until(deadline, [&] { return absent().empty(); });
  const auto port = acceptor_.local_endpoint().port();
  acceptor_.close();
  asio::error_code ignored;
  near_.close(ignored);
  if (all) return;
  std::string names;
  for (const int peer : absent()) names += (names.empty() ? "" : ", ") + std::to_string(peer);
  throw Error(MK_CANCELLED,
              fmt::format("not connected to rank 0 in time, on TCP port {}: rank {}. A rank has died, or no network "
                          "leads from its node to this one (MOKUME_MPI_NETWORK selects one)",
                          port, names));
}

template <class Acceptor>
void Links::accept(Acceptor& acceptor) {
  acceptor.async_accept(
      [this, &acceptor](const asio::error_code& error, typename Acceptor::protocol_type::socket socket) {
        if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
        if (!error) ask(std::make_shared<Guest>(std::move(socket)));
        accept(acceptor);
      });
}

void Links::ask(const std::shared_ptr<Guest>& guest) {
  keep_to_this_process(guest->socket);
  asio::async_read(guest->socket, asio::buffer(&guest->hello, sizeof(guest->hello)),
                   [this, guest](const asio::error_code& error, size_t) {
                     const uint32_t rank = guest->hello.rank;
                     if (error || guest->hello.secret != theirs_ || rank == 0 || rank >= static_cast<uint32_t>(size_) ||
                         link(static_cast<int>(rank)).state != State::absent || !acceptor_.is_open())
                       return;  // destroying the guest closes its socket
                     admit(guest);
                   });
}

void Links::admit(const std::shared_ptr<Guest>& guest) {
  asio::async_write(guest->socket, asio::buffer(ours_), [this, guest](const asio::error_code& error, size_t) {
    const int peer = static_cast<int>(guest->hello.rank);
    if (!error && link(peer).state == State::absent) open(peer, std::move(guest->socket));
  });
}

void Links::join(const std::string& invitation, Clock::time_point deadline) {
  std::istringstream words(invitation);
  uint16_t port = 0;
  std::string ours, theirs, name;
  words >> port >> ours >> theirs >> name;
  if (!unhex(ours, ours_.data(), kSecret) || !unhex(theirs, theirs_.data(), kSecret))
    throw Error(MK_INTERNAL, "rank 0 sent no valid invitation");
  std::vector<tcp::endpoint> places;
  for (std::string word; words >> word;) places.emplace_back(asio::ip::make_address(word), port);
  const Local::endpoint near = local_place(name);
  // Rank 0 was listening before it sent the invitation. If every address refuses for a while, it is gone.
  auto heard = Clock::now();  // the last time some address did not refuse
  for (auto now = heard; now < deadline && now - heard < kRefused; now = Clock::now()) {
    if (reach(near, deadline) == Outcome::reached) return;  // no process on another host has this name
    bool refused = !places.empty();
    for (const tcp::endpoint& place : places) {
      const Outcome outcome = reach(place, deadline);
      if (outcome == Outcome::reached) return;
      refused = refused && outcome == Outcome::refused;
    }
    if (!refused) heard = Clock::now();
    std::this_thread::sleep_for(kAgain);
  }
  std::string tried;
  for (const tcp::endpoint& place : places) tried += (tried.empty() ? "" : ", ") + place.address().to_string();
  throw Error(MK_CANCELLED, fmt::format("cannot reach rank 0 on TCP port {} of {}: it has died, or no network leads to "
                                        "it (MOKUME_MPI_NETWORK selects one)",
                                        port, tried));
}

Links::Outcome Links::reach(const Stream::endpoint& where, Clock::time_point deadline) {
  const auto attempt = std::make_shared<Attempt>(io_);
  attempt->hello = {theirs_, static_cast<uint32_t>(rank_)};
  const auto give_up = [attempt] { attempt->over = true; };
  attempt->socket.async_connect(where, [=, this](const asio::error_code& error) {
    if (error == asio::error::connection_refused) attempt->outcome = Outcome::refused;
    if (error) return give_up();
    attempt->connected = true;
    keep_to_this_process(attempt->socket);
    asio::async_write(attempt->socket, asio::buffer(&attempt->hello, sizeof(attempt->hello)),
                      [=, this](const asio::error_code& unsent, size_t) {
                        if (unsent) return give_up();
                        asio::async_read(attempt->socket, asio::buffer(attempt->answer),
                                         [=, this](const asio::error_code& silent, size_t) {
                                           if (!silent && attempt->answer == ours_) attempt->outcome = Outcome::reached;
                                           give_up();
                                         });
                      });
  });
  // A connected peer may be slow to answer. One hidden by a firewall never connects.
  run_until(std::min(deadline, Clock::now() + kConnect), [&] { return attempt->connected || attempt->over; });
  if (attempt->connected) run_until(std::min(deadline, Clock::now() + kAnswer), [&] { return attempt->over; });
  if (attempt->outcome == Outcome::reached) {
    open(0, std::move(attempt->socket));
  } else {
    asio::error_code ignored;
    attempt->socket.close(ignored);
  }
  return attempt->outcome;
}

void Links::open(int peer, Stream::socket socket) {
  Link& of = link(peer);
  of.socket = std::move(socket);
  const bool near = of.socket.local_endpoint().protocol().family() == Local().family();
  if (!near) of.socket.set_option(tcp::no_delay(true));
  of.socket.non_blocking(true);
  // By default the kernel's buffers start smaller than a bucket of a team's sums. They grow slowly, and those of local
  // sockets never. If the kernel's limit is lower than kBuffer, the size that TCP grows to is larger than that limit.
  if (near || limit_of("wmem_max") >= kBuffer) of.socket.set_option(asio::socket_base::send_buffer_size(kBuffer));
  if (!near && limit_of("rmem_max") >= kBuffer) of.socket.set_option(asio::socket_base::receive_buffer_size(kBuffer));
  of.state = State::open;
  read_header(peer);
}

// ---- receiving ----

// A peer's next message is read only after its last was polled, so that nobody fills this node's memory faster than it
// keeps up.
void Links::read_header(int peer) {
  asio::async_read(link(peer).socket, asio::buffer(&link(peer).header, sizeof(Header)),
                   [this, peer](const asio::error_code& error, size_t) {
                     const Header& header = link(peer).header;
                     const bool known = header.kind >= static_cast<uint32_t>(Kind::message) &&
                                        header.kind <= static_cast<uint32_t>(Kind::verdict);
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
  if (!knows(to) || lost(to) || link(to).deaf) return;
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
  const Parcel& parcel = link(peer).outgoing.front();
  const std::array<asio::const_buffer, 2> both{asio::buffer(&parcel.header, sizeof(Header)),
                                               asio::buffer(parcel.bytes, parcel.header.bytes)};
  asio::async_write(link(peer).socket, both, everything, [this, peer](const asio::error_code& error, size_t) {
    Link& to = link(peer);
    // Data that the peer sent before it died must still be read. Only the end of that data closes the link.
    if (error) {
      to.deaf = true;
      return to.outgoing.clear();
    }
    to.outgoing.pop_front();
    if (!to.outgoing.empty()) write(peer);
  });
}

void Links::flush(Clock::time_point deadline) {
  const auto behind = [](const auto& of) {
    return of->state == State::open && !of->forgotten && !of->outgoing.empty();
  };
  if (run_until(deadline, [&] { return std::none_of(links_.begin(), links_.end(), behind); })) return;
  for (auto& of : links_)
    if (behind(of)) of->forgotten = true;
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

bool Links::lost(int peer) const { return knows(peer) && (link(peer).forgotten || link(peer).state == State::closed); }

}  // namespace mokume::mpi
