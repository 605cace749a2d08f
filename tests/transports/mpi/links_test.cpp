// Tests connections between ranks that are threads of this process.
#include "links.hpp"

#include <gtest/gtest.h>

#include <asio/read.hpp>
#include <asio/write.hpp>
#include <future>
#include <sstream>
#include <thread>

#include "addresses.hpp"
#include "sdk/error.hpp"

namespace mokume::mpi {
namespace {

using namespace std::chrono_literals;
using Kind = Links::Kind;

Clock::time_point in(Clock::duration time) { return Clock::now() + time; }

// Returns the rendezvous as it is on another host, where no socket has the local name.
std::string from_another_host(const std::string& rendezvous) {
  std::istringstream words(rendezvous);
  std::string word, text;
  for (int i = 0; words >> word; ++i) text += (i == 0 ? "" : " ") + (i == 2 ? std::string("elsewhere") : word);
  return text;
}

enum class Way { local, tcp };

// Returns `size` connected ranks.
std::vector<std::unique_ptr<Links>> connected(int size, Way way) {
  std::vector<std::unique_ptr<Links>> ranks;
  for (int rank = 0; rank < size; ++rank) ranks.push_back(std::make_unique<Links>(rank, size));
  std::string rendezvous = ranks[0]->listen(true, "");
  if (way == Way::tcp) rendezvous = from_another_host(rendezvous);
  std::vector<std::thread> threads;
  for (int rank = 1; rank < size; ++rank)
    threads.emplace_back([&, rank] { ranks[static_cast<size_t>(rank)]->connect(rendezvous, in(60s)); });
  ranks[0]->accept_all(in(60s));
  for (std::thread& one : threads) one.join();
  return ranks;
}

class Connected : public testing::TestWithParam<Way> {
 protected:
  static std::vector<std::unique_ptr<Links>> connected(int size) { return mpi::connected(size, GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(By, Connected, testing::Values(Way::local, Way::tcp),
                         [](const auto& which) { return std::string(which.param == Way::local ? "local" : "tcp"); });

// Returns the next message. Waits at most a minute.
std::string next(Links& links, int from, Kind kind = Kind::message) {
  for (const auto deadline = in(60s); Clock::now() < deadline; links.wait(1s)) {
    if (const auto arrived = links.poll()) {
      EXPECT_EQ(arrived->from, from);
      EXPECT_EQ(arrived->kind, kind);
      return {arrived->bytes.get(), arrived->size};
    }
  }
  ADD_FAILURE() << "no message arrived";
  return "";
}

bool loses(Links& links, int peer) {
  const auto deadline = in(60s);
  while (!links.poll() && !links.lost(peer) && Clock::now() < deadline) links.wait(1s);
  return links.lost(peer);
}

TEST_P(Connected, CarryMessagesOfAnySizeInOrderBothWays) {
  const auto ranks = connected(3);
  const std::vector<size_t> sizes = {1, 0, 7, 65535, 65536, 300'000, 20 << 20, 3};
  std::thread echo([&] {
    for (size_t i = 0; i < sizes.size(); ++i) ranks[2]->send(0, Kind::message, next(*ranks[2], 0) + "!");
    ranks[2]->flush(in(60s));
  });
  for (const size_t size : sizes)
    ranks[0]->send(2, Kind::message, std::string(size, static_cast<char>('a' + size % 7)));
  for (const size_t size : sizes) {
    const std::string expected = std::string(size, static_cast<char>('a' + size % 7)) + "!";
    EXPECT_TRUE(next(*ranks[0], 2) == expected) << size;
  }
  echo.join();
  ranks[1]->send(0, Kind::shutdown, "");
  EXPECT_EQ(next(*ranks[0], 1, Kind::shutdown), "");
  EXPECT_FALSE(ranks[0]->lost(1) || ranks[0]->lost(2) || ranks[1]->lost(0));
}

// A node that shuts down waits and sends, but no longer reads.
TEST_P(Connected, MessagesLeaveWhileOthersAreUnread) {
  const auto ranks = connected(2);
  for (const char* text : {"unread", "unread too"}) ranks[0]->send(1, Kind::message, text);
  ranks[0]->flush(in(60s));
  std::this_thread::sleep_for(20ms);
  for (int i = 0; i < 5; ++i) {
    ranks[1]->send(0, Kind::message, std::to_string(i));
    for (const auto end = in(20ms); Clock::now() < end;) ranks[1]->wait(10ms);
  }
  for (int i = 0; i < 5; ++i) EXPECT_EQ(next(*ranks[0], 1), std::to_string(i));
}

TEST_P(Connected, MessagesSentBeforeADisconnectArriveFirst) {
  auto ranks = connected(2);
  const std::string large(5 << 20, 'x');
  std::thread end([&] {
    ranks[1]->send(0, Kind::message, large);
    ranks[1]->send(0, Kind::message, "last");
    ranks[1]->flush(in(60s));
    ranks[1].reset();
  });
  EXPECT_TRUE(next(*ranks[0], 1) == large);
  EXPECT_EQ(next(*ranks[0], 1), "last");
  end.join();
  EXPECT_TRUE(loses(*ranks[0], 1));
  ranks[0]->send(1, Kind::message, "is dropped");
  ranks[0]->flush(in(60s));
}

TEST_P(Connected, ADisconnectInTheMiddleOfALargeMessageIsNoticed) {
  auto ranks = connected(2);
  const std::string large(64 << 20, 'x');
  ranks[1]->send(0, Kind::message, large);  // no flush follows
  ranks[0]->send(1, Kind::message, large);
  ranks[1].reset();
  EXPECT_TRUE(loses(*ranks[0], 1));
  EXPECT_FALSE(ranks[0]->poll());
  ranks[0]->flush(in(60s));
}

TEST_P(Connected, AForgottenRankReturnsWithItsNextMessage) {
  const auto ranks = connected(2);
  ranks[0]->forget(1);
  EXPECT_TRUE(ranks[0]->lost(1));
  ranks[0]->send(1, Kind::message, "dropped");
  ranks[1]->send(0, Kind::message, "here");
  EXPECT_EQ(next(*ranks[0], 1), "here");
  EXPECT_FALSE(ranks[0]->lost(1));
  ranks[0]->send(1, Kind::message, "again");
  EXPECT_EQ(next(*ranks[1], 0), "again");
}

TEST_P(Connected, AFlushForgetsARankThatDoesNotReadItsMessages) {
  const auto ranks = connected(2);
  ranks[0]->send(1, Kind::message, std::string(64 << 20, 'x'));
  ranks[0]->flush(in(50ms));
  EXPECT_TRUE(ranks[0]->lost(1));
}

TEST_P(Connected, RanksAreConnectedOnlyToRankZero) {
  const auto ranks = connected(3);
  ranks[1]->send(2, Kind::message, "to nobody");
  ranks[1]->flush(in(60s));
  EXPECT_FALSE(ranks[1]->lost(2));
  ranks[1]->forget(2);
  EXPECT_FALSE(ranks[1]->lost(2));
}

TEST_P(Connected, AWaitEndsOnRequest) {
  const auto ranks = connected(2);
  const auto start = Clock::now();
  ranks[0]->wake();  // before the wait begins
  EXPECT_FALSE(ranks[0]->poll());
  ranks[0]->wait(100s);
  std::thread other([&] {
    std::this_thread::sleep_for(20ms);
    ranks[0]->wake();
  });
  // The wait may end early because of an earlier event.
  for (int i = 0; i < 3 && Clock::now() < start + 15ms; ++i) ranks[0]->wait(100s);
  other.join();
  std::thread peer([&] {
    ranks[1]->send(0, Kind::message, "hello");
    ranks[1]->flush(in(60s));
  });
  EXPECT_EQ(next(*ranks[0], 1), "hello");
  peer.join();
  EXPECT_LT(Clock::now() - start, 90s);
}

TEST(Links, NameTheRanksThatDidNotConnect) {
  Links zero(0, 3);
  const std::string rendezvous = zero.listen(true, "");
  std::thread one([&] { Links(1, 3).connect(rendezvous, in(60s)); });
  try {
    zero.accept_all(in(300ms));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MK_CANCELLED);
    EXPECT_NE(std::string(error.what()).find("rank 2."), std::string::npos) << error.what();
  }
  one.join();
}

TEST(Links, NoticeThatRank0IsGoneBeforeTheyConnect) {
  auto rank0 = std::make_unique<Links>(0, 2);
  const std::string rendezvous = rank0->listen(true, "");
  rank0.reset();
  Links rank1(1, 2);
  const auto deadline = in(10min);
  EXPECT_THROW(rank1.connect(rendezvous, deadline), Error);
  EXPECT_LT(Clock::now(), deadline - 1min);
}

TEST(Links, ConnectToAnyAddressOfAHost) {
  Links zero(0, 2), one(1, 2);
  const std::string rendezvous = from_another_host(zero.listen(false, ""));
  auto connecting = std::async(std::launch::async, [&] { one.connect(rendezvous, in(60s)); });
  zero.accept_all(in(60s));
  connecting.get();
  one.send(0, Kind::message, "hello");
  EXPECT_EQ(next(zero, 1), "hello");
}

TEST(Links, ConnectWithoutANetwork) {
  Links zero(0, 2), one(1, 2);
  const std::string rendezvous = zero.listen(true, "");
  auto connecting = std::async(std::launch::async, [&] {
    one.connect("1 " + rendezvous.substr(rendezvous.find(' ') + 1), in(60s));  // no process listens on port 1
  });
  zero.accept_all(in(60s));
  connecting.get();
  one.send(0, Kind::message, "hello");
  EXPECT_EQ(next(zero, 1), "hello");
}

// Five ranks of which rank 0 has ended. Every other rank but the last has a rendezvous.
class Remaining : public testing::Test {
 protected:
  Remaining() : ranks_(connected(5, Way::local)) {
    for (size_t rank = 0; rank < 4; ++rank) rendezvous_.push_back(rank == 0 ? "" : ranks_[rank]->listen(true, ""));
    ranks_[0].reset();
    for (size_t rank = 1; rank < 5; ++rank) EXPECT_TRUE(loses(*ranks_[rank], 0));
  }

  std::future<bool> follow(size_t rank, size_t leader, Clock::duration patience = 60s) {
    return std::async(std::launch::async, [this, rank, leader, patience] {
      return ranks_[rank]->follow(rendezvous_[leader], in(patience));
    });
  }

  std::vector<std::unique_ptr<Links>> ranks_;
  std::vector<std::string> rendezvous_;
};

TEST_F(Remaining, GroupAroundTheOneThatLeads) {
  auto two = follow(2, 1), three = follow(3, 1);
  const auto deadline = in(10min);
  ranks_[1]->lead({true, false, false, false, true}, deadline);  // rank 4 has died, too
  EXPECT_LT(Clock::now(), deadline - 1min) << "it waited for a rank that is dead";
  EXPECT_TRUE(two.get() && three.get());
  EXPECT_EQ(ranks_[1]->rank(), 0);
  EXPECT_EQ(ranks_[3]->rank(), 3);
  EXPECT_TRUE(ranks_[1]->lost(1) && ranks_[1]->lost(4));
  EXPECT_FALSE(ranks_[1]->lost(2) || ranks_[1]->lost(3) || ranks_[2]->lost(0));
  ranks_[3]->send(0, Kind::message, "hello");
  EXPECT_EQ(next(*ranks_[1], 3), "hello");
  ranks_[1]->send(3, Kind::message, "welcome");
  EXPECT_EQ(next(*ranks_[3], 0), "welcome");
}

TEST_F(Remaining, GroupAgainOnceTheirLeaderIsGone) {
  auto two = follow(2, 1), three = follow(3, 1);
  ranks_[1]->lead({true, false, false, false, true}, in(60s));
  EXPECT_TRUE(two.get() && three.get());
  ranks_[3]->send(0, Kind::message, "for nobody");
  ranks_[1].reset();
  three = follow(3, 2);
  ranks_[2]->lead({true, true, false, false, true}, in(60s));
  EXPECT_TRUE(three.get());
  ranks_[3]->send(0, Kind::message, "hello");
  EXPECT_EQ(next(*ranks_[2], 3), "hello");
}

TEST_F(Remaining, EndIfNobodyCanReachThem) {
  EXPECT_THROW(ranks_[4]->lead({true, true, true, true, false}, in(60s)), Error);
}

// A rank that still works for the former rank 0 accepts nobody.
TEST_F(Remaining, PassOverRanksThatAreGoneOrBusy) {
  auto past_busy = follow(4, 2, 200ms);
  while (past_busy.wait_for(1ms) != std::future_status::ready) (void)ranks_[2]->poll();
  EXPECT_FALSE(past_busy.get());
  ranks_[1].reset();
  const auto deadline = in(10min);
  EXPECT_FALSE(ranks_[3]->follow(rendezvous_[1], deadline));
  EXPECT_LT(Clock::now(), deadline - 1min);
}

TEST_F(Remaining, LeadWithoutThoseThatDoNotComeInTime) {
  auto four = follow(4, 1);
  ranks_[1]->lead({true, false, false, false, false}, in(300ms));
  EXPECT_TRUE(four.get());
  EXPECT_TRUE(ranks_[1]->lost(2) && ranks_[1]->lost(3));
  EXPECT_FALSE(ranks_[1]->lost(4));
  EXPECT_FALSE(ranks_[2]->follow(rendezvous_[1], in(60s))) << "it was admitted late";
}

TEST(Addresses, AreRefusedIfTheirNetworkDoesNotExist) {
  try {
    (void)addresses("203.0.113.0/24");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MK_INVALID_ARGUMENT);
    EXPECT_EQ(
        std::string(error.what()).rfind("MOKUME_MPI_NETWORK=203.0.113.0/24: this host has no such network; it has", 0),
        0U)
        << error.what();
  }
  EXPECT_THROW((void)addresses("no-such-interface0"), Error);
}

TEST(Addresses, IncludeOnlyTheChosenNetwork) {
  for (const auto& address : addresses("")) {
    EXPECT_FALSE(address.is_loopback());
    const std::string itself = address.to_string() + (address.is_v4() ? "/32" : "/128");
    EXPECT_EQ(addresses(itself), std::vector{address});
    const auto all = addresses(address.is_v4() ? "0.0.0.0/0" : "::/0");
    EXPECT_NE(std::find(all.begin(), all.end(), address), all.end());
  }
}

}  // namespace
}  // namespace mokume::mpi
