#include "run/fit_times.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/files.hpp"
#include "base/json.hpp"
#include "journal/journal.hpp"

namespace mokume::run {
namespace {

namespace fs = std::filesystem;

class Directory {
 public:
  Directory() {
    std::string pattern = (fs::temp_directory_path() / "mokume-times-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Directory() { fs::remove_all(path_); }
  std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

journal::FitRecord record(uint32_t fit, uint32_t bundle, double start_s, double end_s) {
  journal::FitRecord made;
  made.fit = fit;
  made.n = 1;
  made.values = {1};
  made.device = "host:0";
  made.device_class = "host|cpu";
  made.bundle = bundle;
  made.start_s = start_s;
  made.end_s = end_s;
  return made;
}

// Returns the work of two candidates in two folds, with one bundle for each fit.
scheduler::Workload workload() {
  scheduler::Workload made;
  for (uint32_t fit = 0; fit < 4; ++fit) {
    made.bundles.push_back({{fit}, 2, 1, fit / 2});
    made.positions.push_back({0, fit % 2, {static_cast<double>(fit / 2)}});
  }
  return made;
}

search::Plan plan() {
  search::Plan made;
  made.params = {"C"};
  made.candidates = {{1.0}, {2.0}};
  made.folds = 2;
  made.hash = "0123";
  return made;
}

TEST(FitTimes, FitsOfOneLeaseShareItsTime) {
  journal::FitRecord failed = record(3, 7, 50, 90);
  failed.status = journal::FitStatus::failed;
  const auto work = timed_work({record(0, 5, 10, 12), record(1, 5, 10, 14), record(2, 6, 14, 15), failed});
  ASSERT_EQ(work.size(), 2U);
  EXPECT_EQ(work[0].fits, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(work[0].seconds, 4);
  EXPECT_EQ(work[1].fits, (std::vector<uint32_t>{2}));
  EXPECT_EQ(work[1].device_class, "host|cpu");
}

TEST(FitTimes, RatesAreKeptByModelDataAndClass) {
  const Directory directory;
  base::Log log;
  const std::string file = directory.path("rates.json");
  EXPECT_TRUE(remembered_rates(file, "svc, 10 rows x 2", log).empty());
  remember_rates(file, "svc, 10 rows x 2", workload(), {{"a", {0, 1}, 8}, {"a", {2}, 4}, {"b", {3}, 1}, {"", {3}, 1}},
                 log);
  remember_rates(file, "cnn, 10 rows x 2", workload(), {{"a", {0}, 100}}, log);
  EXPECT_EQ(remembered_rates(file, "svc, 10 rows x 2", log), (Rates{{"a", 2}, {"b", 0.5}}));
  EXPECT_EQ(remembered_rates(file, "cnn, 10 rows x 2", log), (Rates{{"a", 50}}));
  const std::string deep = "{\"cnn, 10 rows x 2\":{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + "}}";
  for (const std::string& damaged : {std::string("{ damaged"), std::string("[1]"), deep}) {
    std::ofstream(file) << damaged;
    std::string said;
    log.set_listener([&](mk_log_level, const std::string& line) { said = line; });
    EXPECT_TRUE(remembered_rates(file, "cnn, 10 rows x 2", log).empty());
    EXPECT_EQ(said.find("run: " + file + " is damaged ("), 0U) << said;
    EXPECT_TRUE(std::filesystem::exists(file + ".damaged"));
    EXPECT_FALSE(std::filesystem::exists(file));
    std::filesystem::remove(file + ".damaged");
  }
  remember_rates(file, "cnn, 10 rows x 2", workload(), {{"a", {0}, 100}}, log);
  EXPECT_EQ(remembered_rates(file, "cnn, 10 rows x 2", log).size(), 1U);
  remember_rates("", "cnn", workload(), {{"a", {0}, 100}}, log);                              // there is no cache
  remember_rates(directory.path("no/such/folder"), "cnn", workload(), {{"a", {0}, 1}}, log);  // this is not an error
}

TEST(FitTimes, AnEarlierRunOfThePlanTakesPrecedence) {
  const Directory directory;
  const std::string runs = directory.path("runs"), run = runs + "/2026-01-01_000000";
  fs::create_directories(run);
  RunRecord written;
  written.plan_hash = plan().hash;
  written.state = "done";
  written.devices = {{0, "host:0", "host", "CPU", "", "host|cpu"}};
  base::write_file(run + "/run.json", base::to_json(written));
  {
    journal::Journal journal(run + "/journal", 0, plan());
    journal.append(record(0, 0, 10, 14));
    journal.append(record(2, 1, 14, 24));
    journal.close("done");
  }
  fs::create_directories(runs + "/2026-02-02_000000");  // newer, but not a run
  const Expectation known = expect(plan(), workload(), runs, {{"host|cpu", 100}}, "host|cpu");
  EXPECT_TRUE(known.measured);
  EXPECT_NE(known.source.find("2 of 4 fits"), std::string::npos) << known.source;
  ASSERT_EQ(known.seconds.size(), 4U);
  for (uint32_t fit = 0; fit < 4; ++fit) EXPECT_NEAR(known.seconds[fit], fit < 2 ? 4 : 10, 1e-9);

  search::Plan other = plan();
  other.hash = "4567";
  const Expectation rated = expect(other, workload(), runs, {{"host|cpu", 3}, {"opencl|gpu", 0.1}}, "host|cpu");
  EXPECT_TRUE(rated.measured);
  EXPECT_EQ(rated.seconds, std::vector<double>(4, 6));
  EXPECT_NE(rated.source.find("host|cpu"), std::string::npos);
  const Expectation guessed = expect(other, workload(), directory.path("nowhere"), {}, "host|cpu");
  EXPECT_FALSE(guessed.measured);
  EXPECT_EQ(guessed.seconds, std::vector<double>(4, 2));
}

}  // namespace
}  // namespace mokume::run
