// Tests that peers that do not know the key get no connection, no secret, little time and few descriptors.
#include "acceptor.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <asio/read.hpp>
#include <asio/write.hpp>
#include <future>
#include <thread>

#include "links.hpp"
#include "sdk/error.hpp"

namespace mokume::mpi {
namespace {

using namespace std::chrono_literals;
using Bytes = std::string;

Clock::time_point after(Clock::duration time) { return Clock::now() + time; }

template <class T>
Bytes bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

// Imitates a client of rank 0 that may break the protocol.
class Client {
 public:
  explicit Client(const Stream::endpoint& endpoint) : socket_(io_) { socket_.connect(endpoint); }

  void send(const Bytes& text) {
    asio::error_code ignored;
    asio::write(socket_, asio::buffer(text), ignored);
  }
  // Returns n bytes, or "" if the connection closes first.
  Bytes receive(size_t n) {
    Bytes text(n, ' ');
    asio::error_code error;
    asio::read(socket_, asio::buffer(text), error);
    return error ? "" : text;
  }
  bool is_disconnected() { return receive(1).empty(); }

 private:
  asio::io_context io_;
  Stream::socket socket_;
};

// Runs rank 0 of two ranks, which waits for rank 1.
class Rank0 {
 public:
  Rank0()
      : rendezvous_(zero_.listen(true, "")),
        parsed_(Rendezvous::parse(rendezvous_)),
        accepting_(std::async(std::launch::async, [this] { zero_.accept_all(after(60s)); })) {}
  ~Rank0() {
    if (!accepting_.valid()) return;
    one_.connect(rendezvous_, after(60s));
    accepting_.get();
  }

  const Rendezvous& rendezvous() const { return parsed_; }
  std::vector<Stream::endpoint> endpoints() const {
    return {asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), parsed_.port), parsed_.local_endpoint()};
  }
  bool waits() const { return accepting_.wait_for(0s) == std::future_status::timeout; }
  // Connects rank 1, and returns its first message.
  Bytes first_message() {
    one_.connect(rendezvous_, after(60s));
    accepting_.get();
    one_.send(0, Links::Kind::message, "hello");
    for (const auto deadline = after(60s); Clock::now() < deadline; zero_.wait(1s))
      if (const auto arrived = zero_.poll()) return {arrived->bytes.get(), arrived->size};
    return "";
  }

 private:
  Links zero_{0, 2}, one_{1, 2};
  std::string rendezvous_;
  Rendezvous parsed_;
  std::future<void> accepting_;
};

Bytes hello_of(uint32_t rank) {
  Hello hello;
  hello.nonce[0] = 7;
  hello.rank = rank;
  return bytes_of(hello);
}

TEST(Acceptor, RejectsPeersWithoutTheKey) {
  Rank0 rank0;
  for (const Stream::endpoint& endpoint : rank0.endpoints()) {
    Client guesser(endpoint);
    guesser.send(hello_of(1));
    ASSERT_EQ(guesser.receive(sizeof(Challenge)).size(), sizeof(Challenge));
    guesser.send(Bytes(sizeof(Mac), '\1'));
    EXPECT_TRUE(guesser.is_disconnected());
    Client browser(endpoint);
    browser.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_TRUE(browser.is_disconnected());
  }
  for (const uint32_t rank : {0U, 2U, 0xffffffffU}) {
    Client other(rank0.endpoints()[0]);
    other.send(hello_of(rank));
    EXPECT_TRUE(other.is_disconnected()) << rank;
  }
  EXPECT_TRUE(rank0.waits());
  EXPECT_EQ(rank0.first_message(), "hello");
}

TEST(Acceptor, RejectsReplayedMacs) {
  Rank0 rank0;
  // The second client sends the MAC of an earlier handshake with the same hello, but rank 0 has chosen another nonce.
  Client earlier(rank0.endpoints()[0]), later(rank0.endpoints()[0]), mirror(rank0.endpoints()[0]);
  Challenge challenge;
  Hello hello;
  hello.rank = 1;
  earlier.send(bytes_of(hello));
  const Bytes answer = earlier.receive(sizeof(Challenge));
  ASSERT_EQ(answer.size(), sizeof(Challenge));
  std::memcpy(&challenge, answer.data(), sizeof(challenge));
  const Mac mac = mac_of(rank0.rendezvous().key, Side::connector, hello, challenge.nonce);
  later.send(bytes_of(hello));
  ASSERT_EQ(later.receive(sizeof(Challenge)).size(), sizeof(Challenge));
  later.send(bytes_of(mac));
  EXPECT_TRUE(later.is_disconnected());
  // The third client sends rank 0's own MAC back to it.
  mirror.send(bytes_of(hello));
  const Bytes own = mirror.receive(sizeof(Challenge));
  ASSERT_EQ(own.size(), sizeof(Challenge));
  mirror.send(own.substr(sizeof(Nonce)));
  EXPECT_TRUE(mirror.is_disconnected());
  EXPECT_TRUE(rank0.waits());
}

TEST(Acceptor, LimitsTheTimeAndNumberOfPendingConnections) {
  asio::io_context io;
  Acceptor acceptor(io, 2, {[](uint32_t) { return true; }, [](uint32_t, Stream::socket) {}}, {100ms, 3});
  const Rendezvous rendezvous = acceptor.open(true, "");
  acceptor.accept();
  const asio::ip::tcp::endpoint endpoint(asio::ip::address_v4::loopback(), rendezvous.port);
  std::vector<std::unique_ptr<Client>> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(std::make_unique<Client>(endpoint));
  size_t most = 0;
  run_until(io, after(60s), [&] {
    most = std::max(most, acceptor.pending());
    return most > 0 && acceptor.pending() == 0;
  });
  EXPECT_EQ(most, 5U);
  EXPECT_EQ(acceptor.pending(), 0U);
  for (const auto& one : silent) EXPECT_TRUE(one->is_disconnected());
}

TEST(Acceptor, AcceptsARankAmongMorePendingConnectionsThanItHolds) {
  Rank0 rank0;
  std::vector<std::unique_ptr<Client>> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(std::make_unique<Client>(rank0.endpoints()[0]));
  EXPECT_EQ(rank0.first_message(), "hello");
  for (const auto& one : silent)
    EXPECT_TRUE(one->is_disconnected());  // closed at the latest when all ranks are connected
}

// Without free descriptors, the acceptor waits for one instead of asking again at once.
TEST(Acceptor, DoesNotSpinWithoutDescriptors) {
  asio::io_context io;
  Acceptor acceptor(io, 2, {[](uint32_t) { return true; }, [](uint32_t, Stream::socket) {}});
  const Rendezvous rendezvous = acceptor.open(true, "");
  acceptor.accept();
  Client client(asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), rendezvous.port));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 3;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const size_t handled = io.run_for(500ms);
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_LT(handled, 50U);
  EXPECT_EQ(acceptor.pending(), 0U);
  run_until(io, after(60s), [&] { return acceptor.pending() == 1; });
  EXPECT_EQ(acceptor.pending(), 1U);
}

// A service that is not rank 0 receives a nonce, which is of no use to it, but no MAC.
TEST(Connect, SendsAnotherServiceNoMac) {
  Links zero(0, 2);
  Rendezvous rendezvous = Rendezvous::parse(zero.listen(true, ""));
  asio::io_context io;
  asio::ip::tcp::acceptor other(io, {asio::ip::address_v4::loopback(), 0});
  Bytes received;
  std::thread service([&] {
    asio::ip::tcp::socket socket(io);
    other.accept(socket);
    asio::error_code ended;
    received.resize(sizeof(Hello));
    asio::read(socket, asio::buffer(received));
    asio::write(socket, asio::buffer(Bytes(sizeof(Challenge), '\1')));
    Bytes more(1, ' ');
    if (asio::read(socket, asio::buffer(more), ended) > 0) received += more;  // waits until the peer disconnects
    other.close();
  });
  rendezvous.port = other.local_endpoint().port();
  rendezvous.name = "elsewhere";
  try {
    Links(1, 2).connect(rendezvous.text(), after(200ms));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MK_CANCELLED);
    EXPECT_NE(std::string(error.what()).find("of 127.0.0.1: it has died, or no network leads to it"), std::string::npos)
        << error.what();
  }
  service.join();
  EXPECT_EQ(received.size(), sizeof(Hello));
}

TEST(Rendezvous, IsRefusedIfItIsDamaged) {
  Rendezvous good;
  good.port = 4711;
  good.name = "name";
  good.addresses = {asio::ip::make_address("192.0.2.1"), asio::ip::make_address("2001:db8::1")};
  const Rendezvous again = Rendezvous::parse(good.text());
  EXPECT_EQ(again.addresses, good.addresses);
  EXPECT_EQ(again.port, good.port);
  const std::string key = hex(good.key.data(), good.key.size());
  for (const std::string& text : {std::string(), std::string("1"), "1 " + key, "1 " + key.substr(1) + " name",
                                  "70000 " + key + " name", "1 " + key + " name 192.0.2.300"})
    EXPECT_THROW(Rendezvous::parse(text), Error) << text;
}

}  // namespace
}  // namespace mokume::mpi
