// Tests an agent whose clock and messages the test controls.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace mokume::cluster
