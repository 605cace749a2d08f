// Tests one device in a child process, without a run.
#include "node/child_session.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <new>
#include <thread>

#include "base/files.hpp"
#include "cli/processes.hpp"
#include "node/experiment.hpp"
#include "node/local_session.hpp"
#include "node/machine.hpp"
#include "scheduler/host_services.hpp"
#include "sdk/error.hpp"

namespace mokume::cli_test {
namespace {

using namespace std::chrono_literals;
using node::ChildSession;

class Collector : public cluster::Reporter {
 public:
  void report(const journal::FitRecord& record) override {
    if (refuse) throw Error(MK_INTERNAL, "the disk is full");
    fits.push_back(record.fit);
  }
  void progress(const std::string&, double) override {}
  bool cancelled() const override { return stop; }

  std::vector<uint32_t> fits;
  bool refuse = false, stop = false;
};

// Runs "fault:0" in a child that fails as MOKUME_FAULT requests when the child starts.
class AProcess : public testing::Test {
 protected:
  AProcess() : host_(log_, 1, ""), registry_(host_.table(), {fault_library(), test::libraries()}) {
    const std::string text =
        std::string("plugins.directories = [\"") + fault_library() + "\"]\n" + small_experiment("fault:0", 200);
    config_ = config::parse(text, "e.toml", {}, node::schema_lookup(registry_)).config;
    experiment_.emplace(registry_, *config_);
    machine_.emplace(registry_, log_);
    for (const scheduler::Bundle& bundle : experiment_->bundles(1))
      attempt_.fits.insert(attempt_.fits.end(), bundle.fits.begin(), bundle.fits.end());
  }
  ~AProcess() override {
    unsetenv("MOKUME_FAULT");
    unsetenv("MOKUME_FAULT_ONCE");
  }

  std::unique_ptr<ChildSession> open(const std::string& fault = "") {
    setenv("MOKUME_FAULT", fault.c_str(), 1);
    auto device = std::make_unique<ChildSession>(*experiment_, log_, machine_->select("fault:0").front(),
                                                 device::Choices{}, uint64_t{1} << 30, setup(Place::program_path()));
    device->open();
    return device;
  }
  static ChildSession::Setup setup(const std::string& program,
                                   std::chrono::milliseconds patience = ChildSession::kMostSilence) {
    return {{}, false, program, patience};
  }
  void only_once() {
    struck_ = place_.path() / "struck";
    setenv("MOKUME_FAULT_ONCE", struck_.c_str(), 1);
  }
  std::string failure(ChildSession& device) {
    try {
      device.run(attempt_, collector_, nullptr);
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_DEVICE_ERROR) << e.what();
      return e.what();
    }
    return "";
  }
  static bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

  Place place_;
  base::Log log_;
  scheduler::HostServices host_;
  registry::Registry registry_;
  std::optional<config::Config> config_;
  std::optional<node::Experiment> experiment_;
  std::optional<node::Machine> machine_;
  cluster::Attempt attempt_;
  Collector collector_;
  fs::path struck_;
};

TEST_F(AProcess, ReportsEveryFit) {
  const auto device = open();
  EXPECT_EQ(device->info().id, "fault:0");
  device->run(attempt_, collector_, nullptr);
  EXPECT_EQ(collector_.fits.size(), experiment_->plan().n_fits());
  EXPECT_FALSE(device->choices().empty());  // the model records its own choices
}

// A session on a device of this process also stays usable, whatever the type of the exception.
TEST_F(AProcess, CanBeTheCurrentProcessWhereEveryExceptionEndsTheAttempt) {
  class Full : public Collector {
   public:
    void report(const journal::FitRecord&) override { throw std::bad_alloc(); }
  } full;
  attempt_.fits = {experiment_->plan().refit_slot(0)};
  attempt_.refit = 0;
  node::LocalSession session(*machine_, *experiment_, machine_->select("fault:0").front(), {}, uint64_t{1} << 30,
                             false);
  try {
    session.run(attempt_, full, nullptr);
    FAIL() << "the attempt succeeded";
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_OUT_OF_MEMORY);
    EXPECT_TRUE(says(e.what(), "fault:0")) << e.what();
  }
  session.run(attempt_, collector_, nullptr);
  EXPECT_EQ(collector_.fits, attempt_.fits);
}

TEST_F(AProcess, ACrashIsAnErrorAndTheNextAttemptStartsAnotherChild) {
  only_once();
  const auto device = open("crash:2");
  EXPECT_TRUE(says(failure(*device), "its process crashed (Segmentation fault)"));
  collector_.fits.clear();
  device->run(attempt_, collector_, nullptr);
  EXPECT_EQ(collector_.fits.size(), experiment_->plan().n_fits());
}

// The coordinator decides whether the device or the work is faulty.
TEST_F(AProcess, IsReplacedHoweverOftenItsWorkKillsIt) {
  const auto device = open("crash:1");
  for (uint32_t k = 0; k < ChildSession::kMostCrashes + 2; ++k) EXPECT_TRUE(says(failure(*device), "crashed")) << k;
}

TEST_F(AProcess, IsAbandonedAfterThreeConsecutiveFailuresToOpenItsDevice) {
  const auto device = open("crash:1");
  EXPECT_TRUE(says(failure(*device), "crashed"));
  setenv("MOKUME_FAULT", "closed", 1);
  for (uint32_t k = 0; k + 1 < ChildSession::kMostCrashes; ++k)
    EXPECT_TRUE(says(failure(*device), "the device stays closed")) << k;
  EXPECT_TRUE(says(failure(*device), "lost 3 times in a row and is not restarted"));
}

TEST_F(AProcess, CanBeKilledFromAnotherThreadWhenItHangs) {
  only_once();
  const auto device = open("hang:2");
  std::thread watch([&] {
    while (!fs::exists(struck_)) std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(device->kill());
  });
  EXPECT_TRUE(says(failure(*device), "because it did not respond"));
  watch.join();
  device->run(attempt_, collector_, nullptr);
}

TEST_F(AProcess, IsReplacedWhenItSendsGarbage) {
  only_once();
  const auto device = open("garbage:2");
  EXPECT_TRUE(says(failure(*device), "the message is not a JSON object"));
  device->run(attempt_, collector_, nullptr);
}

TEST_F(AProcess, IsReplacedWhenItDiesWhileIdle) {
  const auto device = open();
  const auto children = children_of(getpid());
  ASSERT_EQ(children.size(), 1U);
  kill(children[0], SIGKILL);
  ASSERT_TRUE(eventually([&] { return is_dead(children[0]); }));
  device->run(attempt_, collector_, nullptr);
  EXPECT_EQ(collector_.fits.size(), experiment_->plan().n_fits());
}

TEST_F(AProcess, ReceivesAStopRequest) {
  const auto device = open();
  collector_.stop = true;
  try {
    device->run(attempt_, collector_, nullptr);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_CANCELLED) << e.what();
  }
  collector_.stop = false;
  collector_.fits.clear();
  device->run(attempt_, collector_, nullptr);
  EXPECT_EQ(collector_.fits.size(), experiment_->plan().n_fits());
}

// If the run throws an error at a report, the same error comes back once the child has stopped. The child stays usable.
TEST_F(AProcess, ARefusedReportEndsTheWorkWithItsError) {
  const auto device = open();
  collector_.refuse = true;
  try {
    device->run(attempt_, collector_, nullptr);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "the disk is full");
  }
  collector_.refuse = false;
  device->run(attempt_, collector_, nullptr);
}

TEST_F(AProcess, AFailureToOpenADeviceNamesTheReason) {
  device::Listed missing = machine_->select("fault:0").front();
  missing.index = 7;
  ChildSession device(*experiment_, log_, missing, {}, 1, setup(Place::program_path()));
  try {
    device.open();
    FAIL();
  } catch (const Error& e) {
    EXPECT_TRUE(says(e.what(), "fault:7 is no longer available")) << e.what();
  }
}

TEST_F(AProcess, IsReplacedWhenItCrashesWhileItOpensItsDevice) {
  only_once();
  const auto device = open("open-crash");
  EXPECT_TRUE(fs::exists(struck_));
  device->run(attempt_, collector_, nullptr);
  EXPECT_EQ(collector_.fits.size(), experiment_->plan().n_fits());
}

TEST_F(AProcess, IsReplacedTwiceWhenOpeningItsDeviceAlwaysCrashes) {
  try {
    open("open-crash");
    FAIL();
  } catch (const Error& e) {
    EXPECT_TRUE(says(e.what(), "its process crashed (Segmentation fault)")) << e.what();
  }
}

TEST_F(AProcess, IsKilledWhenItsDriverWaitsForeverToOpenItsDevice) {
  setenv("MOKUME_FAULT", "open-hang", 1);
  ChildSession::Setup impatient = setup(Place::program_path());
  impatient.idle = 1500ms;
  ChildSession device(*experiment_, log_, machine_->select("fault:0").front(), {}, 1, impatient);
  try {
    device.open();
    FAIL();
  } catch (const Error& e) {
    EXPECT_TRUE(says(e.what(), "was ended because it did nothing for 1.5 s: its driver hangs")) << e.what();
  }
}

TEST_F(AProcess, IsKilledWhenItHangsWhileItOpensItsDevice) {
  place_.write("hangs", "#!/bin/sh\nexec sleep 1000\n");
  const std::string program = (place_.path() / "hangs").string();
  fs::permissions(program, fs::perms::owner_all);
  ChildSession device(*experiment_, log_, machine_->select("fault:0").front(), {}, 1, setup(program, 50ms));
  try {
    device.open();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_DEVICE_ERROR);
    EXPECT_TRUE(says(e.what(), "its process was ended because it did not answer within 0.05 s")) << e.what();
  }
  EXPECT_TRUE(children_of(getpid()).empty());
}

// The run continues on other devices, and this device may recover.
TEST_F(AProcess, DoesNotEndTheRunWhenItDiesBeforeTheFirstWork) {
  const auto device = open();
  const auto children = children_of(getpid());
  ASSERT_EQ(children.size(), 1U);
  kill(children[0], SIGKILL);
  ASSERT_TRUE(eventually([&] { return is_dead(children[0]); }));
  device->begin({{"a", "b"}}, place_.path(), false);
  EXPECT_EQ(device->choices(), (device::Choices{{"a", "b"}}));
  device->run(attempt_, collector_, nullptr);
  EXPECT_EQ(collector_.fits.size(), experiment_->plan().n_fits());
}

// Between the end of one child and the start of the next, there is no child to kill.
TEST_F(AProcess, StaysKilledWhenKilledDuringItsReplacement) {
  const auto device = open();
  const auto children = children_of(getpid());
  ASSERT_EQ(children.size(), 1U);
  kill(children[0], SIGKILL);
  ASSERT_TRUE(eventually([&] { return is_dead(children[0]); }));
  ChildSession* to_kill = device.get();
  const auto kill_once = [](void* self) {  // the next line of the log reports the death
    if (ChildSession* one = std::exchange(*static_cast<ChildSession**>(self), nullptr)) one->kill();
  };
  log_.set_around(
      kill_once, [](void*) {}, &to_kill);
  EXPECT_TRUE(says(failure(*device), "because it did not respond"));
  log_.set_around(nullptr, nullptr, nullptr);
  EXPECT_EQ(to_kill, nullptr);
  device->run(attempt_, collector_, nullptr);
  EXPECT_EQ(collector_.fits.size(), experiment_->plan().n_fits());
}

}  // namespace
}  // namespace mokume::cli_test
