// Rank 0 among strangers: they get no connection, no secret, little time and few descriptors.
#include "cluster/transport/mpi/reception.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <asio/read.hpp>
#include <asio/write.hpp>
#include <future>
#include <thread>

#include "cluster/transport/mpi/links.hpp"
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

// A client of rank 0 that need not follow the rules.
class Stranger {
 public:
  explicit Stranger(const Stream::endpoint& door) : socket_(io_) { socket_.connect(door); }

  void say(const Bytes& text) {
    asio::error_code ignored;
    asio::write(socket_, asio::buffer(text), ignored);
  }
  // Returns n bytes, or "" if the connection closes first.
  Bytes hear(size_t n) {
    Bytes text(n, ' ');
    asio::error_code error;
    asio::read(socket_, asio::buffer(text), error);
    return error ? "" : text;
  }
  bool is_dismissed() { return hear(1).empty(); }

 private:
  asio::io_context io_;
  Stream::socket socket_;
};

// Rank 0 of two, waiting for rank 1.
class Waiting {
 public:
  Waiting()
      : invitation_(zero_.invite(true, "")),
        parsed_(Invitation::parse(invitation_)),
        welcome_(std::async(std::launch::async, [this] { zero_.welcome(after(60s)); })) {}
  ~Waiting() {
    if (!welcome_.valid()) return;
    one_.join(invitation_, after(60s));
    welcome_.get();
  }

  const Invitation& invitation() const { return parsed_; }
  std::vector<Stream::endpoint> doors() const {
    return {asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), parsed_.port), parsed_.near()};
  }
  bool waits() const { return welcome_.wait_for(0s) == std::future_status::timeout; }
  // Rank 1 comes, and says something.
  Bytes meet() {
    one_.join(invitation_, after(60s));
    welcome_.get();
    one_.send(0, Links::Kind::message, "it is me");
    for (const auto deadline = after(60s); Clock::now() < deadline; zero_.wait(1s))
      if (const auto arrived = zero_.poll()) return {arrived->bytes.get(), arrived->size};
    return "";
  }

 private:
  Links zero_{0, 2}, one_{1, 2};
  std::string invitation_;
  Invitation parsed_;
  std::future<void> welcome_;
};

Bytes greeting(uint32_t rank, unsigned char first = 7) {
  Greeting hello;
  hello.nonce[0] = first;
  hello.rank = rank;
  return bytes_of(hello);
}

TEST(Reception, AdmitsNobodyWithoutTheKey) {
  Waiting waiting;
  for (const Stream::endpoint& door : waiting.doors()) {
    Stranger guesser(door);
    guesser.say(greeting(1));
    ASSERT_EQ(guesser.hear(sizeof(Challenge)).size(), sizeof(Challenge));
    guesser.say(Bytes(sizeof(Proof), '\1'));
    EXPECT_TRUE(guesser.is_dismissed());
    Stranger browser(door);
    browser.say("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_TRUE(browser.is_dismissed());
  }
  for (const uint32_t rank : {0U, 2U, 0xffffffffU}) {
    Stranger other(waiting.doors()[0]);
    other.say(greeting(rank));
    EXPECT_TRUE(other.is_dismissed()) << rank;
  }
  EXPECT_TRUE(waiting.waits());
  EXPECT_EQ(waiting.meet(), "it is me");
}

TEST(Reception, AdmitsNobodyWhoRepeatsAProof) {
  Waiting waiting;
  // The proof of an earlier exchange with the same greeting: the nonce of rank 0 is another one now.
  Stranger earlier(waiting.doors()[0]), later(waiting.doors()[0]), mirror(waiting.doors()[0]);
  Challenge challenge;
  Greeting hello;
  hello.rank = 1;
  earlier.say(bytes_of(hello));
  const Bytes answer = earlier.hear(sizeof(Challenge));
  ASSERT_EQ(answer.size(), sizeof(Challenge));
  std::memcpy(&challenge, answer.data(), sizeof(challenge));
  const Proof proof = prove(waiting.invitation().key, Side::guest, hello, challenge.nonce);
  later.say(bytes_of(hello));
  ASSERT_EQ(later.hear(sizeof(Challenge)).size(), sizeof(Challenge));
  later.say(bytes_of(proof));
  EXPECT_TRUE(later.is_dismissed());
  // Rank 0's own proof, sent back to it.
  mirror.say(bytes_of(hello));
  const Bytes own = mirror.hear(sizeof(Challenge));
  ASSERT_EQ(own.size(), sizeof(Challenge));
  mirror.say(own.substr(sizeof(Nonce)));
  EXPECT_TRUE(mirror.is_dismissed());
  EXPECT_TRUE(waiting.waits());
}

TEST(Reception, TakesLittleTimeAndFewDescriptorsForSilentGuests) {
  asio::io_context io;
  Reception reception(io, 2, {[](uint32_t) { return true; }, [](uint32_t, Stream::socket) {}}, {100ms, 3});
  const Invitation invitation = reception.open(true, "");
  const asio::ip::tcp::endpoint door(asio::ip::address_v4::loopback(), invitation.port);
  std::vector<std::unique_ptr<Stranger>> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(std::make_unique<Stranger>(door));
  size_t most = 0;
  run_until(io, after(60s), [&] {
    most = std::max(most, reception.guests());
    return most > 0 && reception.guests() == 0;
  });
  EXPECT_EQ(most, 5U);
  EXPECT_EQ(reception.guests(), 0U);
  for (const auto& one : silent) EXPECT_TRUE(one->is_dismissed());
}

TEST(Reception, LetsARankInAmongMoreStrangersThanItHolds) {
  Waiting waiting;
  std::vector<std::unique_ptr<Stranger>> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(std::make_unique<Stranger>(waiting.doors()[0]));
  EXPECT_EQ(waiting.meet(), "it is me");
  for (const auto& one : silent) EXPECT_TRUE(one->is_dismissed());  // the rest are sent away once all ranks are here
}

// Without free descriptors it waits for one instead of asking again at once.
TEST(Reception, DoesNotSpinWithoutDescriptors) {
  asio::io_context io;
  Reception reception(io, 2, {[](uint32_t) { return true; }, [](uint32_t, Stream::socket) {}});
  const Invitation invitation = reception.open(true, "");
  Stranger stranger(asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), invitation.port));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 3;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const size_t handled = io.run_for(500ms);
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_LT(handled, 50U);
  EXPECT_EQ(reception.guests(), 0U);
  run_until(io, after(60s), [&] { return reception.guests() == 1; });
  EXPECT_EQ(reception.guests(), 1U);
}

// A service that is not rank 0 learns a nonce, which is of no use to it, and never gets a proof.
TEST(Visit, TellsAnotherServiceNothing) {
  Links zero(0, 2);
  Invitation invitation = Invitation::parse(zero.invite(true, ""));
  asio::io_context io;
  asio::ip::tcp::acceptor other(io, {asio::ip::address_v4::loopback(), 0});
  Bytes heard;
  std::thread service([&] {
    asio::ip::tcp::socket socket(io);
    other.accept(socket);
    asio::error_code ended;
    heard.resize(sizeof(Greeting));
    asio::read(socket, asio::buffer(heard));
    asio::write(socket, asio::buffer(Bytes(sizeof(Challenge), '\1')));
    Bytes more(1, ' ');
    if (asio::read(socket, asio::buffer(more), ended) > 0) heard += more;  // until the peer disconnects
    other.close();
  });
  invitation.port = other.local_endpoint().port();
  invitation.name = "elsewhere";
  try {
    Links(1, 2).join(invitation.text(), after(200ms));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MK_CANCELLED);
    EXPECT_NE(std::string(error.what()).find("of 127.0.0.1: it has died, or no network leads to it"), std::string::npos)
        << error.what();
  }
  service.join();
  EXPECT_EQ(heard.size(), sizeof(Greeting));
}

TEST(Invitation, IsRefusedIfItIsDamaged) {
  Invitation good;
  good.port = 4711;
  good.name = "name";
  good.addresses = {asio::ip::make_address("192.0.2.1"), asio::ip::make_address("2001:db8::1")};
  const Invitation again = Invitation::parse(good.text());
  EXPECT_EQ(again.addresses, good.addresses);
  EXPECT_EQ(again.port, good.port);
  const std::string key = hex(good.key.data(), good.key.size());
  for (const std::string& text : {std::string(), std::string("1"), "1 " + key, "1 " + key.substr(1) + " name",
                                  "70000 " + key + " name", "1 " + key + " name 192.0.2.300"})
    EXPECT_THROW(Invitation::parse(text), Error) << text;
}

}  // namespace
}  // namespace mokume::mpi
