// Tests that a run that is killed in the middle of a solve goes on from the solver's checkpoint.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

using namespace std::chrono_literals;

// Returns numbers without any relation between the columns, which take many steps to fit.
std::string noise() {
  std::ostringstream text;
  text << "a,b,c,d,y\n";
  uint32_t state = 1;
  for (int i = 0; i < 400 * 5; ++i) {
    state = state * 1664525 + 1013904223;
    text << static_cast<double>(state >> 20) / 1000 << (i % 5 == 4 ? "\n" : ",");
  }
  return text.str();
}

std::string bytes_of_run(const fs::path& run) {
  return slurp(run / "results.csv") + slurp(run / "models/best/model.libsvm");
}

bool has_checkpoint(const Place& place) {
  const fs::path runs = place.path() / "runs/slow";
  if (!fs::exists(runs)) return false;
  std::error_code vanished;
  for (fs::recursive_directory_iterator at(runs, vanished), end; !vanished && at != end; at.increment(vanished))
    if (at->path().filename() == "checkpoint-1.safetensors") return true;
  return false;
}

TEST(Svc, ResumesInTheMiddleOfASolveAfterAKill) {
  const Place place;
  place.write("a.csv", noise());
  place.write("e.toml", R"(name = "slow"
model = "svc"
seed = 3
data = { source = "csv", path = "a.csv", target = "y", task = "regression" }
validation.folds = 2
devices.use = "host"
search = { method = "grid", params = { C = [1e4] } }
model_options = { epsilon = 0.01, gamma = 0.05 }
)");
  ASSERT_EQ(place.mokume("run e.toml --out plain").code, 0);
  fs::path plain;
  for (const auto& entry : fs::directory_iterator(place.path() / "plain/slow")) plain = entry.path();
  setenv("MOKUME_CHECKPOINT_SECONDS", "0.01", 1);
  const pid_t pid = place.start({"run", "e.toml"});
  unsetenv("MOKUME_CHECKPOINT_SECONDS");
  for (int k = 0; k < 20000 && !has_checkpoint(place); ++k) std::this_thread::sleep_for(1ms);
  kill(pid, SIGKILL);
  Place::wait(pid);
  ASSERT_TRUE(has_checkpoint(place)) << slurp(place.path() / "child.txt");
  const Ended rest = place.mokume("run e.toml");
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(bytes_of_run(place.run("slow")), bytes_of_run(plain));
  EXPECT_FALSE(has_checkpoint(place));
}

}  // namespace
}  // namespace mokume::cli_test
