#include "cluster/handshake.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <thread>

#include "cluster/directory.hpp"
#include "cluster/fixtures.hpp"
#include "cluster/protocol/codec.hpp"

namespace mokume::cluster {
namespace {

using std::chrono::milliseconds;

// Runs `body` for every rank in its own thread, inside participate(). Returns the text that each rank threw, or "".
std::vector<std::string> on_all(Hub& hub, uint32_t n, const std::function<void(Transport&)>& body) {
  std::vector<std::string> texts(n);
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < n; ++rank) {
    threads.emplace_back([&, rank] {
      Transport transport(hub.table(rank));
      try {
        participate(transport, [&] { body(transport); });
      } catch (const std::exception& error) {
        texts[rank] = error.what();
      }
    });
  }
  for (std::thread& one : threads) one.join();
  return texts;
}

Hello hello_of(uint32_t rank) {
  const std::string id = "host:" + std::to_string(rank);
  return {"0.1.0", "plan", {make_device(id)}, {{"shared", {{"gemm", "of " + id}}}, {id, {{"own", id}}}}};
}

const std::atomic<bool> kGo{false};

TEST(Handshake, SharesDirectoryChoicesAndDevices) {
  Hub hub(3);
  std::vector<Handshake> shaken(3);
  const auto texts = on_all(hub, 3, [&](Transport& transport) {
    const Leader leader{"/runs/one", {{"shared", {{"recorded", "before"}}}, {"host:2", {{"own", "recorded wins"}}}}};
    const uint32_t rank = transport.rank();
    shaken[rank] = handshake(transport, hello_of(rank), rank == 0 ? &leader : nullptr, kGo);
  });
  EXPECT_EQ(texts, std::vector<std::string>(3));
  const ClassChoices expected = {{"shared", {{"recorded", "before"}, {"gemm", "of host:0"}}},
                                 {"host:0", {{"own", "host:0"}}},
                                 {"host:1", {{"own", "host:1"}}},
                                 {"host:2", {{"own", "recorded wins"}}}};
  for (const Handshake& one : shaken) {
    EXPECT_EQ(one.run_directory, "/runs/one");
    EXPECT_EQ(one.plan_hash, "plan");
    EXPECT_EQ(one.choices, expected);
  }
  ASSERT_EQ(shaken[0].nodes.size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(shaken[0].nodes[i], hello_of(i).devices);
}

TEST(Handshake, AFinishedRunEndsItForEveryRank) {
  Hub hub(3);
  std::vector<Handshake> shaken(3);
  const auto texts = on_all(hub, 3, [&](Transport& transport) {
    const Leader leader{"/runs/one", {}, false, true};
    const uint32_t rank = transport.rank();
    shaken[rank] = handshake(transport, hello_of(rank), rank == 0 ? &leader : nullptr, kGo);
  });
  EXPECT_EQ(texts, std::vector<std::string>(3));
  for (const Handshake& one : shaken) EXPECT_TRUE(one.finished);
}

TEST(Handshake, ASingleNodeNeedsNoPeer) {
  Transport transport(self_transport());
  Handshake shaken;
  const Leader leader{"/runs/one", {}};
  participate(transport, [&] { shaken = handshake(transport, hello_of(0), &leader, kGo); });
  EXPECT_EQ(shaken.run_directory, "/runs/one");
  EXPECT_EQ(shaken.nodes.size(), 1u);
}

std::vector<std::string> with_odd_one(const std::function<void(Hello&)>& change) {
  Hub hub(3);
  return on_all(hub, 3, [&](Transport& transport) {
    const Leader leader{"/runs/one", {}};
    Hello own = hello_of(transport.rank());
    if (transport.rank() == 2) change(own);
    handshake(transport, own, transport.rank() == 0 ? &leader : nullptr, kGo);
  });
}

TEST(Handshake, RefusesAnotherPlanOrVersionOnAllRanks) {
  for (const std::string& text : with_odd_one([](Hello& own) { own.plan_hash = "other"; })) {
    EXPECT_NE(text.find("node 2 derives a plan"), std::string::npos) << text;
  }
  for (const std::string& text : with_odd_one([](Hello& own) { own.version = "9"; })) {
    EXPECT_NE(text.find("node 2 runs mokume 9, node 0 runs 0.1.0"), std::string::npos) << text;
  }
  for (const std::string& text : with_odd_one([](Hello& own) { own.plan_hash = ""; })) EXPECT_EQ(text, "");
}

TEST(Handshake, ANodeThatFailsBeforehandTellsAllOthers) {
  Hub hub(3);
  const auto texts = on_all(hub, 3, [&](Transport& transport) {
    if (transport.rank() == 1) throw Error(MK_BAD_DATA, "data.csv is missing");
    const Leader leader{"/runs/one", {}};
    handshake(transport, hello_of(transport.rank()), transport.rank() == 0 ? &leader : nullptr, kGo);
  });
  EXPECT_EQ(texts[0], "node 1: data.csv is missing");
  EXPECT_EQ(texts[1], "data.csv is missing");
  EXPECT_EQ(texts[2], "node 1: data.csv is missing");
}

TEST(Handshake, RankZeroThatFailsTellsAllOthers) {
  Hub hub(2);
  const auto texts = on_all(hub, 2, [&](Transport& transport) {
    if (transport.rank() == 0) throw Error(MK_BAD_DATA, "data.csv is missing");
    handshake(transport, hello_of(1), nullptr, kGo);
  });
  EXPECT_EQ(texts[1], "data.csv is missing");
}

TEST(Handshake, DoesNotWaitForeverForASilentNode) {
  Hub hub(2);
  Transport transport(hub.table(0));
  const Leader leader{"/runs/one", {}};
  try {
    handshake(transport, hello_of(0), &leader, kGo, {milliseconds(0), milliseconds(0), milliseconds(0)});
    FAIL() << "went on without node 1";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("node 1"), std::string::npos) << error.what();
  }
}

// Rank 0 may have been killed.
TEST(Handshake, DoesNotWaitForeverForRankZero) {
  Hub hub(2);
  Transport transport(hub.table(1));
  EXPECT_THROW(handshake(transport, hello_of(1), nullptr, kGo, {milliseconds(0), milliseconds(0), milliseconds(0)}),
               Error);
}

TEST(Handshake, TellsEveryRankWhichRanksDoNotSeeTheRunDirectory) {
  Hub hub(3);
  const Scratch directory;
  std::vector<std::string> texts(3);
  std::vector<mk_status> codes(3, MK_OK);
  on_all(hub, 3, [&](Transport& transport) {
    const uint32_t rank = transport.rank();
    const Leader leader{directory.path(), {}, true};
    try {
      if (rank != 2) {
        handshake(transport, hello_of(rank), rank == 0 ? &leader : nullptr, kGo);
      } else {
        transport.send(0, encode(hello_of(2)));
        std::optional<Transport::Received> heard;
        while (!heard) heard = transport.poll();
        EXPECT_EQ(std::get<Look>(decode(heard->text)).directory, directory.path());
        transport.send(0, encode(Seen{false, "far", "tmpfs", 0}));
        for (heard.reset(); !heard;) heard = transport.poll();
        const Stop stop = std::get<Stop>(decode(heard->text));
        throw Error(static_cast<mk_status>(stop.code), stop.reason);
      }
    } catch (const Error& error) {
      texts[rank] = error.what();
      codes[rank] = error.status();
      throw;
    }
  });
  for (uint32_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(codes[rank], MK_BAD_DATA);
    EXPECT_NE(texts[rank].find("is not visible to node 2 on far: choose one with --out"), std::string::npos)
        << texts[rank];
  }
}

TEST(Handshake, ARankThatSeesTheRunDirectoryReportsIt) {
  Hub hub(2);
  const Scratch directory;
  std::vector<Handshake> shaken(2);
  const auto texts = on_all(hub, 2, [&](Transport& transport) {
    const Leader leader{directory.path(), {}, true};
    shaken[transport.rank()] =
        handshake(transport, hello_of(transport.rank()), transport.rank() == 0 ? &leader : nullptr, kGo);
  });
  EXPECT_EQ(texts, std::vector<std::string>(2));
  EXPECT_EQ(shaken[1].run_directory, directory.path());
  EXPECT_TRUE(std::filesystem::is_empty(directory.path())) << "what was left there for the others is gone";
}

TEST(Handshake, ARankThatDoesNotSeeTheRunDirectoryWaitsForTheDecision) {
  Hub hub(2);
  Transport zero(hub.table(0)), one(hub.table(1));
  zero.send(1, encode(Look{"/nowhere", "mark"}));
  zero.send(1, encode(Stop{MK_BAD_DATA, "not visible"}));
  try {
    handshake(one, hello_of(1), nullptr, kGo, {milliseconds(0), milliseconds(0), milliseconds(0)});
    FAIL() << "went on";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "not visible");
  }
  zero.poll();  // receives the HELLO
  EXPECT_FALSE(std::get<Seen>(decode(zero.poll()->text)).seen);
}

HostView presence_of(uint32_t rank) {
  return {rank < 2 ? "near boot" : "far boot", {0, 1}, {{"host:0", "cpu:0-1", true}, {"opencl:0", "pci:1", false}}};
}

TEST(Meet, RanksOfOneHostShareItAndOthersKeepEverything) {
  Hub hub(3);
  std::vector<Meeting> meetings(3);
  const auto texts = on_all(hub, 3, [&](Transport& transport) {
    meetings[transport.rank()] = meet(transport, presence_of(transport.rank()), "0.1.0", kGo);
  });
  EXPECT_EQ(texts, std::vector<std::string>(3));
  EXPECT_EQ(meetings[0].share, (HostShare{{0}, {"host:0", "opencl:0"}, 2, 5}));
  EXPECT_EQ(meetings[1].share, (HostShare{{1}, {"host:0"}, 2, 5}));
  EXPECT_EQ(meetings[2].share, (HostShare{{0, 1}, {"host:0", "opencl:0"}, 1, 5}));
  ASSERT_EQ(meetings[0].ranks.size(), 3u);
  EXPECT_EQ(meetings[0].ranks[2], presence_of(2));
}

TEST(Meet, ASingleRankNeedsNoPeer) {
  Transport transport(self_transport());
  EXPECT_EQ(meet(transport, presence_of(0), "0.1.0", kGo).share, (HostShare{{0, 1}, {"host:0", "opencl:0"}, 1, 2}));
}

TEST(Meet, RefusesAnotherVersionBeforeAnythingIsOpened) {
  Hub hub(2);
  const auto texts = on_all(hub, 2, [&](Transport& transport) {
    meet(transport, presence_of(0), transport.rank() == 1 ? "9" : "0.1.0", kGo);
  });
  for (const std::string& text : texts)
    EXPECT_NE(text.find("node 1 runs mokume 9, node 0 runs 0.1.0"), std::string::npos) << text;
}

TEST(Meet, IsFollowedByTheHandshakeInAnyOrderOfRanks) {
  Hub hub(3);
  const auto texts = on_all(hub, 3, [&](Transport& transport) {
    const uint32_t rank = transport.rank();
    meet(transport, presence_of(rank), "0.1.0", kGo);
    const Leader leader{"/runs/one", {}};
    handshake(transport, hello_of(rank), rank == 0 ? &leader : nullptr, kGo);
  });
  EXPECT_EQ(texts, std::vector<std::string>(3));
}

TEST(LookAt, ReportsHowEachRankSeesADirectory) {
  Hub hub(2);
  const Scratch directory;
  std::vector<Seen> seen;
  const auto texts = on_all(hub, 2, [&](Transport& transport) {
    const auto all = look_at(transport, directory.path(), kGo);
    if (transport.rank() == 0) seen = all;
  });
  EXPECT_EQ(texts, std::vector<std::string>(2));
  ASSERT_EQ(seen.size(), 2u);
  for (const Seen& one : seen) {
    EXPECT_TRUE(one.seen);
    EXPECT_GT(one.sync_s, 0);
    EXPECT_EQ(one.file_system, file_system_of(directory.path()));
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(Handshake, StopsOnRequest) {
  Hub hub(2);
  Transport transport(hub.table(0));
  const Leader leader{"/runs/one", {}};
  const std::atomic<bool> stop{true};
  try {
    handshake(transport, hello_of(0), &leader, stop);
    FAIL() << "went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MK_CANCELLED);
  }
}

TEST(Handshake, RefusesGarbage) {
  Hub hub(2);
  Transport zero(hub.table(0)), one(hub.table(1));
  one.send(0, "{\"type\":\"HELLO\"}");
  const Leader leader{"/runs/one", {}};
  EXPECT_THROW(handshake(zero, hello_of(0), &leader, kGo), Error);
  one.send(0, "{\"type\":\"REQ\",\"device\":0}");
  EXPECT_THROW(handshake(zero, hello_of(0), &leader, kGo), Error);
}

TEST(Participate, OthersWaitForRankZero) {
  Hub hub(2);
  std::atomic<bool> zero_done{false}, one_waited{false};
  std::thread one([&] {
    Transport transport(hub.table(1));
    participate(transport, [] {});
    one_waited = zero_done.load();
  });
  Transport transport(hub.table(0));
  participate(transport, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    zero_done = true;
  });
  one.join();
  EXPECT_TRUE(one_waited);
}

// A rank shows signs of life until node 0 says goodbye. Node 0 may get one only in the next run of the same process.
TEST(Participate, RunsMayFollowEachOther) {
  Hub hub(3);
  std::vector<Meeting> meetings(3);
  const auto texts = on_all(hub, 3, [&](Transport& transport) {
    for (int run = 0; run < 3; ++run)
      participate(transport,
                  [&] { meetings[transport.rank()] = meet(transport, presence_of(transport.rank()), "0.1.0", kGo); });
  });
  EXPECT_EQ(texts, std::vector<std::string>(3));
  EXPECT_EQ(meetings[0].ranks.size(), 3U);
}

TEST(Transport, SelfIsOneNodeThatReceivesNothing) {
  Transport transport(self_transport());
  EXPECT_EQ(transport.rank(), 0u);
  EXPECT_EQ(transport.size(), 1u);
  EXPECT_FALSE(transport.poll());
  EXPECT_THROW(transport.send(0, "x"), Error);
  transport.flush(0);
}

TEST(Transport, DistinguishesALauncherFromABatchScript) {
  const char* const launchers[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
  for (const char* name : launchers) unsetenv(name);
  setenv("SLURM_PROCID", "0", 1);
  EXPECT_FALSE(mpi_launched());
  for (const char* name : launchers) {
    setenv(name, "0", 1);
    EXPECT_TRUE(mpi_launched()) << name;
    unsetenv(name);
  }
  unsetenv("SLURM_PROCID");
}

}  // namespace
}  // namespace mokume::cluster
