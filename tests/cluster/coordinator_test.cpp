#include "cluster/coordinator/coordinator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

#include "cluster/fixtures.hpp"
#include "journal/line.hpp"

namespace mokume::cluster {
namespace {

using Nodes = std::vector<std::vector<LocalDevice>>;

// Delivers a message at time 0, so that no timeout is due, and returns the coordinator's messages.
std::vector<Outgoing> say(Coordinator& coordinator, uint32_t from, const Message& message) {
  return coordinator.handle(from, message, 0);
}

template <class T>
std::vector<std::pair<uint32_t, T>> only(const std::vector<Outgoing>& out) {
  std::vector<std::pair<uint32_t, T>> found;
  for (const Outgoing& one : out) {
    if (const T* message = std::get_if<T>(&one.message)) found.emplace_back(one.to, *message);
  }
  return found;
}

Grant granted(const std::vector<Outgoing>& out) {
  const auto grants = only<Grant>(out);
  EXPECT_EQ(grants.size(), 1u);
  return grants.empty() ? Grant{} : grants[0].second;
}

std::string error_text(PlannedWork setup, const Nodes& nodes) {
  try {
    const TestCoordinator coordinator(std::move(setup), nodes);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

// Node 0 learns of a stop at once, and the other nodes with the answer to their next message.
void expect_stopped(Coordinator& coordinator, const std::vector<Outgoing>& out, size_t n_nodes,
                    const std::string& word) {
  const auto stops = only<Stop>(out);
  ASSERT_EQ(stops.size(), 1u);
  EXPECT_EQ(out.size(), 1u);
  EXPECT_EQ(stops[0].first, 0u);
  EXPECT_NE(stops[0].second.reason.find(word), std::string::npos) << stops[0].second.reason;
  for (uint32_t node = 1; node < n_nodes; ++node) {
    const auto answers = only<Stop>(say(coordinator, node, Heartbeat{}));
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].first, node);
    EXPECT_EQ(answers[0].second.reason, stops[0].second.reason);
  }
}

TEST(Coordinator, GrantsTheLongestBundleThatFitsTheDevice) {
  PlannedWork setup = make_work(4, 1);
  setup.bundles.bundles[3].bytes = 5000;  // the longest bundle
  TestCoordinator coordinator(setup, {{make_device("host:0", 1000)}, {make_device("opencl:0", 9000)}});
  EXPECT_TRUE(coordinator.tick(0).empty());
  const auto small = say(coordinator, 0, Request{0});
  ASSERT_EQ(small.size(), 1u);
  EXPECT_EQ(small[0].to, 0u);
  EXPECT_EQ(granted(small).attempt.fits, std::vector<uint32_t>{2});
  EXPECT_EQ(granted(say(coordinator, 1, Request{0})).attempt.fits, std::vector<uint32_t>{3});
  say(coordinator, 0, LeaseEnd{granted(small).lease, MK_OK, "", 1, {2}});
  EXPECT_EQ(granted(say(coordinator, 0, Request{0})).attempt.fits, std::vector<uint32_t>{1});
  const auto none = only<None>(say(coordinator, 1, Request{0}));
  ASSERT_EQ(none.size(), 1u);
  EXPECT_EQ(none[0].first, 1u);
}

// There are two candidates with two folds each. The finished folds show that the second candidate takes longer.
TEST(Coordinator, LearnsFromTheTimesOfAnEarlierSession) {
  const auto first_grant = [](std::vector<scheduler::TimedWork> timed) {
    PlannedWork setup = make_work(4, 1);
    for (uint32_t fit = 0; fit < 4; ++fit) {
      setup.bundles.bundles[fit].cost = 1;
      setup.bundles.positions.push_back({0, fit % 2, {fit < 2 ? 0.0 : 1.0}});
    }
    setup.done = {result_of(0), result_of(2)};
    setup.timed = std::move(timed);
    TestCoordinator coordinator(std::move(setup), {{make_device("host:0")}});
    return granted(say(coordinator, 0, Request{0})).attempt.fits;
  };
  const std::string device_class = make_device("host:0").device_class;
  EXPECT_EQ(first_grant({}), std::vector<uint32_t>{1});
  EXPECT_EQ(first_grant({{device_class, {0}, 1}, {device_class, {2}, 9}}), std::vector<uint32_t>{3});
  EXPECT_EQ(first_grant({{device_class, {0}, 9}, {device_class, {2}, 1}}), std::vector<uint32_t>{1});
}

TEST(Coordinator, FinishesOnceEveryFitIsOnDiskAndAnswersEveryNodeThatReports) {
  TestCoordinator coordinator(make_work(2, 2), {{make_device("host:0")}, {}});
  const Grant grant = granted(say(coordinator, 0, Request{0}));
  EXPECT_EQ(grant.attempt.number, 1u);
  EXPECT_TRUE(say(coordinator, 0, LeaseEnd{grant.lease, MK_OK, "", 1, {0, 1}}).empty());
  const auto finishes = only<Finish>(say(coordinator, 0, Done{grant.lease, {result_of(1), result_of(0)}}));
  ASSERT_EQ(finishes.size(), 1u);
  EXPECT_EQ(finishes[0].first, 0u);
  EXPECT_FALSE(coordinator.over());
  const auto told = only<Finish>(say(coordinator, 1, Heartbeat{}));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].first, 1u);
  say(coordinator, 1, Bye{});
  EXPECT_FALSE(coordinator.over());
  say(coordinator, 0, Bye{});
  EXPECT_TRUE(coordinator.over());
  EXPECT_FALSE(coordinator.stopped());
  const auto records = coordinator.records();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].fit, 0u);
  EXPECT_EQ(records[0].device, "host:0");
  EXPECT_EQ(records[0].device_class, "class of host:0");
}

TEST(Coordinator, SkipsFinishedFitsAndPassesOnTheirNotes) {
  PlannedWork setup = make_work(6, 3);
  for (const uint32_t fit : {0u, 1u, 2u, 4u}) setup.done.push_back(result_of(fit));
  setup.done.back().attempt = 2;
  uint32_t heard = 0;
  TestCoordinator coordinator(setup, {{make_device("host:0")}});
  coordinator.observer.on_record = [&](const journal::FitRecord&) { ++heard; };
  const Grant grant = granted(say(coordinator, 0, Request{0}));
  EXPECT_EQ(grant.attempt.bundle, 1u);
  EXPECT_EQ(grant.attempt.number, 3u);
  EXPECT_EQ(grant.attempt.fits, (std::vector<uint32_t>{3, 5}));
  EXPECT_EQ(grant.attempt.done_fits, std::vector<uint32_t>{4});
  EXPECT_EQ(grant.attempt.done_notes, std::vector<std::string>{"n4"});
  EXPECT_EQ(heard, 0u);
  say(coordinator, 0, Done{grant.lease, {result_of(3)}});
  EXPECT_EQ(heard, 1u);
}

TEST(Coordinator, ExpectsNothingOfNumbersWithoutANode) {
  TestRules rules;
  TestObserver observer;
  Coordinator coordinator(make_work(1, 1), {{make_device("host:0", 1000)}, {}, {}}, rules, {&observer}, {}, {1});
  coordinator.tick(0, {1});
  EXPECT_TRUE(observer.events.empty());
  coordinator.handle(2, Stop{MK_CANCELLED, "enough"}, 1);
  coordinator.handle(2, Bye{}, 2);
  EXPECT_FALSE(coordinator.over());
  coordinator.handle(0, Bye{}, 2);
  EXPECT_TRUE(coordinator.over());
  EXPECT_TRUE(coordinator.lost().empty());
}

TEST(Coordinator, FinishesAtOnceIfNothingIsLeft) {
  PlannedWork setup = make_work(2, 1);
  setup.done = {result_of(0), result_of(1)};
  TestCoordinator coordinator(setup, {{}, {}});  // this needs no device either
  EXPECT_EQ(only<Finish>(coordinator.tick(0)).size(), 1u);
  TestCoordinator empty(PlannedWork{}, {{}});
  EXPECT_EQ(only<Finish>(empty.tick(0)).size(), 1u);
}

TEST(Coordinator, RefusesARunInWhichNothingFits) {
  PlannedWork setup = make_work(2, 1);
  for (scheduler::Bundle& bundle : setup.bundles.bundles) bundle.bytes = 1001;
  const Nodes nodes = {{make_device("host:0", 900)}, {make_device("host:0", 1000)}};
  EXPECT_NE(error_text(setup, nodes).find("at least 1001 B of memory, but the largest budget of a device is 1000 B"),
            std::string::npos)
      << error_text(setup, nodes);
  setup.bundles.bundles[1].bytes = 1000;
  EXPECT_EQ(error_text(setup, nodes), "");
  EXPECT_NE(error_text(make_work(3, 1), {{}, {}}).find("no node has a device"), std::string::npos);
}

TEST(Coordinator, RefusesBundlesThatDoNotPartitionTheFits) {
  const Nodes nodes = {{make_device("host:0")}};
  PlannedWork twice = make_work(4, 2);
  twice.bundles.bundles[0].fits.push_back(3);
  EXPECT_NE(error_text(twice, nodes).find("fit 3"), std::string::npos);
  PlannedWork missing = make_work(4, 2);
  missing.bundles.bundles[1].fits.pop_back();
  EXPECT_NE(error_text(missing, nodes).find("fit 3"), std::string::npos);
  PlannedWork unknown = make_work(4, 2);
  unknown.bundles.bundles[1].fits.push_back(4);
  EXPECT_NE(error_text(unknown, nodes).find("fit 4"), std::string::npos);
}

TEST(Coordinator, StopsForTheFirstReasonAndStillAcceptsResults) {
  TestCoordinator coordinator(make_work(4, 1), {{make_device("host:0")}, {make_device("host:0")}});
  const Grant grant = granted(say(coordinator, 1, Request{0}));
  expect_stopped(coordinator, say(coordinator, 1, Stop{MK_INTERNAL, "opencl:0: it broke"}), 2,
                 "node 1: opencl:0: it broke");
  EXPECT_TRUE(say(coordinator, 0, Stop{MK_CANCELLED, "too late"}).empty());
  EXPECT_EQ(only<Stop>(say(coordinator, 0, Request{0})).size(), 1u);
  EXPECT_TRUE(say(coordinator, 1, Done{grant.lease, {result_of(grant.attempt.fits[0])}}).empty());
  say(coordinator, 0, Bye{});
  say(coordinator, 1, Bye{});
  EXPECT_TRUE(coordinator.over());
  ASSERT_TRUE(coordinator.stopped());
  EXPECT_EQ(coordinator.stopped()->code, MK_INTERNAL);
  EXPECT_EQ(coordinator.records().size(), 1u);
}

TEST(Coordinator, StopsOnInvalidMessages) {
  const Nodes nodes = {{make_device("host:0")}, {make_device("host:0")}};
  const auto broken = [&](const Message& message, const std::string& word) {
    TestCoordinator coordinator(make_work(4, 2), nodes);
    say(coordinator, 0, Request{0});  // grants lease 1 with fits 2 and 3
    expect_stopped(coordinator, say(coordinator, 1, message), 2, word);
  };
  broken(Request{1}, "no device 1");
  broken(Done{1, {result_of(2)}}, "lease 1 was never granted to this node");
  broken(Done{77, {}}, "lease 77");
  broken(LeaseEnd{1, MK_OK, "", 0, {}}, "lease 1");
  broken(Heartbeat{{{5, 1, "x", 0.5, 0}}}, "no device 5");
  broken(Grant{}, "out of turn");
  broken(Hello{}, "out of turn");
  broken(Finish{}, "node 0");
}

TEST(Coordinator, StopsOnImpossibleResults) {
  const Nodes nodes = {{make_device("host:0")}};
  {
    TestCoordinator coordinator(make_work(4, 2), nodes);
    const Grant grant = granted(say(coordinator, 0, Request{0}));
    expect_stopped(coordinator, say(coordinator, 0, Done{grant.lease, {result_of(0)}}), 1, "fit 0");
  }
  {
    TestCoordinator coordinator(make_work(4, 2), nodes);
    const Grant grant = granted(say(coordinator, 0, Request{0}));
    expect_stopped(coordinator, say(coordinator, 0, LeaseEnd{grant.lease, MK_OK, "", 0, {2, 7}}), 1, "fit 7");
  }
  {
    TestCoordinator coordinator(make_work(4, 2), nodes);
    const Grant grant = granted(say(coordinator, 0, Request{0}));
    say(coordinator, 0, Done{grant.lease, {result_of(2)}});
    EXPECT_TRUE(say(coordinator, 0, Done{grant.lease, {result_of(2)}}).empty());  // the repetition is allowed
    journal::FitRecord other = result_of(2);
    other.values[1] += 1e-9;
    expect_stopped(coordinator, say(coordinator, 0, Done{grant.lease, {other}}), 1, "fit 2 gave a different result");
  }
  {
    PlannedWork work = make_work(4, 2);
    work.bounds.metrics = std::vector<journal::Bounds::Metric>(result_of(2).values.size());
    work.bounds.rows = result_of(2).n - 1;
    TestCoordinator coordinator(std::move(work), {{make_device("host:0")}, {make_device("host:0")}});
    const Grant grant = granted(say(coordinator, 1, Request{0}));
    say(coordinator, 1, Done{grant.lease, {result_of(2)}});
    ASSERT_TRUE(coordinator.stopped());
    EXPECT_NE(coordinator.stopped()->reason.find("host:0 of node 1 reported fit 2 with values out of range: 'n' is"),
              std::string::npos)
        << coordinator.stopped()->reason;
  }
  {
    TestCoordinator coordinator(make_work(4, 2), nodes);
    const Grant grant = granted(say(coordinator, 0, Request{0}));
    say(coordinator, 0, Done{grant.lease, {result_of(2)}});
    expect_stopped(coordinator, say(coordinator, 0, LeaseEnd{grant.lease, MK_OK, "", 1, {}}), 1,
                   "without a result for fit 3");
  }
}

TEST(Coordinator, PassesOnTheStateOfDevices) {
  PlannedWork setup = make_work(1, 1);
  std::string heard;
  TestCoordinator coordinator(setup, {{}, {make_device("a:0"), make_device("a:1")}});
  coordinator.observer.on_device_state = [&](uint32_t node, uint32_t device, const std::string& what, double share) {
    heard += std::to_string(node) + "/" + std::to_string(device) + " " + what + " " + std::to_string(share);
  };
  EXPECT_EQ(only<Ack>(say(coordinator, 1, Heartbeat{{{1, 0, "fold 2", 0.5, 0}}})).size(), 1u);
  EXPECT_EQ(heard, "1/1 fold 2 0.500000");
}

// Holds the state of an agent that takes random actions until the run is over.
struct Player {
  uint32_t node = 0;
  uint32_t device = 0;
  bool asked = false;
  std::map<uint64_t, std::vector<uint32_t>> leases;  // fits that are not reported yet
  std::set<uint64_t> ended;
  std::vector<Message> inbox;
};

void play(uint32_t seed) {
  std::mt19937 random(seed);
  const auto draw = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  const uint32_t n_fits = 1 + static_cast<uint32_t>(draw(60));
  PlannedWork setup = make_work(n_fits, 1 + static_cast<uint32_t>(draw(5)));
  for (uint32_t fit = 0; fit < n_fits; ++fit) {
    if (draw(4) == 0) setup.done.push_back(result_of(fit));
  }
  const size_t already = setup.done.size();
  std::map<uint32_t, uint32_t> granted_times, heard;
  Nodes nodes(1 + draw(4));
  std::vector<Player> players;
  for (uint32_t node = 0; node < nodes.size(); ++node) {
    for (uint32_t device = 0; device <= draw(3); ++device) {
      nodes[node].push_back(make_device("host:" + std::to_string(device)));
      players.push_back({node, device, false, {}, {}, {}});
    }
  }
  TestCoordinator coordinator(setup, nodes);
  coordinator.observer.on_record = [&](const journal::FitRecord& record) { ++heard[record.fit]; };
  std::set<uint32_t> told_finish;
  const auto post = [&](const std::vector<Outgoing>& out) {
    for (const Outgoing& one : out) {
      ASSERT_FALSE(std::holds_alternative<Stop>(one.message)) << std::get<Stop>(one.message).reason;
      if (std::holds_alternative<Finish>(one.message)) told_finish.insert(one.to);
      const Grant* grant = std::get_if<Grant>(&one.message);
      const None* none = std::get_if<None>(&one.message);
      for (Player& player : players) {
        const bool meant =
            grant != nullptr ? player.device == grant->device : none != nullptr && player.device == none->device;
        if (player.node == one.to && meant) player.inbox.push_back(one.message);
      }
    }
  };
  post(coordinator.tick(0));
  for (uint32_t step = 0; told_finish.size() < nodes.size(); ++step) {
    ASSERT_LT(step, 100000u);
    Player& player = players[draw(players.size())];
    if (!player.inbox.empty()) {
      if (const Grant* grant = std::get_if<Grant>(&player.inbox.front())) {
        player.leases[grant->lease] = grant->attempt.fits;
        for (const uint32_t fit : grant->attempt.fits) ++granted_times[fit];
      }
      player.asked = false;
      player.inbox.erase(player.inbox.begin());
    } else if (!player.leases.empty() && draw(3) > 0) {
      auto lease = std::next(player.leases.begin(), static_cast<std::ptrdiff_t>(draw(player.leases.size())));
      if (lease->second.empty()) {
        if (player.ended.insert(lease->first).second)
          post(say(coordinator, player.node, LeaseEnd{lease->first, MK_OK, "", 1, {}}));
        player.leases.erase(lease);
      } else {
        const size_t pick = draw(lease->second.size());
        post(say(coordinator, player.node, Done{lease->first, {result_of(lease->second[pick])}}));
        lease->second.erase(lease->second.begin() + static_cast<std::ptrdiff_t>(pick));
      }
    } else if (!player.asked) {
      player.asked = true;  // fits of an earlier lease need not be on disk yet
      for (auto& [lease, coming] : player.leases)
        if (player.ended.insert(lease).second)
          post(say(coordinator, player.node, LeaseEnd{lease, MK_OK, "", 1, coming}));
      post(say(coordinator, player.node, Request{player.device}));
    }
  }
  EXPECT_EQ(granted_times.size(), n_fits - already);
  EXPECT_EQ(heard.size(), n_fits - already);
  for (const auto& [fit, times] : granted_times) EXPECT_EQ(times, 1u) << fit;
  for (const auto& [fit, times] : heard) EXPECT_EQ(times, 1u) << fit;
  const auto records = coordinator.records();
  ASSERT_EQ(records.size(), n_fits);
  for (uint32_t fit = 0; fit < n_fits; ++fit) EXPECT_TRUE(journal::same_result(records[fit], result_of(fit)));
}

TEST(Coordinator, CountsEveryFitOnceInAnyOrderOfMessages) {
  for (uint32_t seed = 0; seed < 300 && !testing::Test::HasFailure(); ++seed) play(seed);
}

}  // namespace
}  // namespace mokume::cluster
