// Tests an agent whose clock and messages the test controls.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <optional>
#include <thread>

#include "cluster/agent/agent.hpp"
#include "cluster/fixtures.hpp"

namespace mokume::cluster {
namespace {

class AgentTest : public testing::Test {
 protected:
  // Grants the only device a lease on work that gives no sign of life.
  void SetUp() override {
    agent_.collect(now_);
    Attempt attempt;
    attempt.fits = {0};
    agent_.handle(Grant{1, 0, attempt}, now_);
  }
  void TearDown() override { returns_ = true; }

  // Advances the clock by `seconds`. Returns how long the device has been silent, according to the agent's heartbeat.
  double silence_after(double seconds) {
    now_ += seconds;
    for (const Message& message : agent_.collect(now_))
      if (const auto* beat = std::get_if<Heartbeat>(&message)) return beat->states.at(0).quiet_s;
    ADD_FAILURE() << "no heartbeat after " << seconds << " s";
    return 0;
  }

  Scratch scratch_;
  std::atomic<bool> returns_{false};
  TestExecutor executor_{0, 1, [this](uint32_t, uint32_t, const Attempt&, Reporter&) {
                           while (!returns_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                         }};
  journal::Journal journal_{scratch_.path() + "/journal", 0, make_plan(1)};
  Agent agent_{executor_, journal_, [] {}};
  double now_ = 1000;
};

TEST_F(AgentTest, ASilentDeviceIsReportedWithItsSilence) {
  double silence = 0;
  for (int second = 0; second < 200; ++second) {
    silence = silence_after(1);
    agent_.handle(Ack{}, now_);  // node 0 is alive
  }
  EXPECT_EQ(silence, 200);
}

// While the process is frozen, so are its devices, and no thread listens for their signs of life.
TEST_F(AgentTest, TheTimeInWhichTheProcessIsFrozenDoesNotCountAsSilence) {
  EXPECT_LE(silence_after(200), Listening::kLongestTurnSeconds);
  EXPECT_LE(silence_after(1), 2 * Listening::kLongestTurnSeconds);
}

// The fits of an attempt report one after another, and each carries what the attempt has used until then.
TEST(AgentEnergy, AFitCarriesWhatItsDeviceHasUsedSinceTheStartOfTheAttempt) {
  Scratch scratch;
  std::atomic<double> counter{500};
  TestExecutor executor(0, 2, [&](uint32_t, uint32_t device, const Attempt& attempt, Reporter& reporter) {
    for (const uint32_t fit : attempt.fits) {
      if (device == 0) counter = counter + 30;
      reporter.report(result_of(fit));
    }
  });
  executor.on_energy = [&](uint32_t device) {
    return device == 0 ? std::optional<double>(counter) : std::nullopt;  // only one device has a counter
  };
  journal::Journal journal(scratch.path() + "/journal", 0, make_plan(4));
  std::map<uint32_t, std::optional<double>> energy;
  {
    Agent agent(executor, journal, [] {});
    agent.collect(1000);
    Attempt counted, uncounted;
    counted.fits = {0, 1};
    uncounted.fits = {2};
    agent.handle(Grant{1, 0, counted}, 1000);
    agent.handle(Grant{2, 1, uncounted}, 1000);
    while (energy.size() < 3) {
      for (const Message& message : agent.collect(1000))
        if (const auto* done = std::get_if<Done>(&message))
          for (const journal::FitRecord& record : done->records) energy[record.fit] = record.energy_j;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  EXPECT_EQ(energy[0], 30);
  EXPECT_EQ(energy[1], 60);
  EXPECT_EQ(energy[2], std::nullopt);
}

}  // namespace
}  // namespace mokume::cluster
