// Tests that symbolic links in a run directory lead to no file outside it.
#include <gtest/gtest.h>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

class Links : public testing::Test {
 protected:
  Links() {
    place_.write("e.toml", small_experiment("host", 200));
    fs::create_directories(place_.path() / "scratch/runs");
    fs::create_directory_symlink("scratch/runs", place_.path() / "runs");  // clusters often have such a link
    EXPECT_EQ(place_.mokume("run e.toml").code, 0);
    whole_ = place_.run("small");
    fs::create_directory(place_.path() / "victim");
    place_.write("victim/file", kVictim);
  }

  // Copies the run and replaces `name` with a link to the victim, which is a file or a directory.
  void link(const std::string& name, bool directory) const {
    fs::remove_all(place_.path() / "d");
    fs::copy(whole_, place_.path() / "d", fs::copy_options::recursive);
    fs::remove_all(place_.path() / "d" / name);
    fs::create_directories((place_.path() / "d" / name).parent_path());
    fs::create_symlink(place_.path() / (directory ? "victim" : "victim/file"), place_.path() / "d" / name);
  }
  void expect_safe(const std::string& name, bool directory, const std::vector<std::string>& commands) const {
    link(name, directory);
    for (const std::string& command : commands) {
      const Ended ended = place_.mokume(command);
      EXPECT_EQ(ended.code, 3) << command << " with " << name << "\n" << ended.err;
      EXPECT_NE(ended.err.find("d/" + name + " is a symbolic link"), std::string::npos) << command << ended.err;
      EXPECT_EQ(slurp(place_.path() / "victim/file"), kVictim) << command << " with " << name;
      size_t files = 0;
      for ([[maybe_unused]] const auto& one : fs::directory_iterator(place_.path() / "victim")) ++files;
      EXPECT_EQ(files, 1U) << command << " with " << name;
    }
  }

  static constexpr const char* kVictim = "untouched\n";
  Place place_;
  fs::path whole_;
};

TEST_F(Links, NoFileOfARunIsReachedThroughALink) {
  const std::string predict = "predict d --data digits,limit=20 --devices host";
  for (const char* name : {"run.json", "config.resolved.toml", "journal/node-0000.ndjson"})
    expect_safe(name, false, {"status d", "explain d", "report d", "resume d"});
  expect_safe("run.json", false, {predict});
  expect_safe("config.resolved.toml", false, {predict});
  for (const char* name : {"results.csv", "candidates.csv", "timeline.csv", "summary.json", "report.html"})
    expect_safe(name, false, {"report d"});
  for (const char* name : {"models/best/manifest.json", "models/best/SHA256SUMS", "models/best/inputs.json"})
    expect_safe(name, false, {predict});
  expect_safe("logs/node-0000.log", false, {"resume d"});
  expect_safe("logs/status.json", false, {"status d"});
  expect_safe("logs/pieces.json", false, {"report d", "resume d"});
  expect_safe("lock", false, {"resume d"});
}

TEST_F(Links, NoDirectoryOfARunIsEnteredThroughALink) {
  const std::string predict = "predict d --data digits,limit=20 --devices host";
  expect_safe("journal", true, {"status d", "explain d", "report d", "resume d"});
  expect_safe("plots", true, {"report d", "resume d"});
  expect_safe("logs", true, {"report d", "resume d"});
  expect_safe("models", true, {"resume d", predict});
  expect_safe("models/best", true, {"resume d", predict});
}

TEST_F(Links, PruneRemovesALinkAndNotWhatItPointsTo) {
  for (const char* name : {"scratch", "journal", "models", "logs/more"}) {
    link(name, true);
    fs::remove_all(whole_.parent_path() / "2000-01-01_000000");
    fs::rename(place_.path() / "d", whole_.parent_path() / "2000-01-01_000000");
    const Ended ended = place_.mokume("prune runs --keep 1 --yes");
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(slurp(place_.path() / "victim/file"), kVictim) << name;
  }
}

TEST_F(Links, ARunReachedThroughALinkIsResumed) {
  const std::string results = slurp(whole_ / "results.csv");
  fs::remove(whole_ / "results.csv");
  EXPECT_EQ(place_.mokume("resume " + whole_.string()).code, 0);
  EXPECT_EQ(slurp(whole_ / "results.csv"), results);
  fs::create_directory_symlink(whole_, place_.path() / "latest");
  EXPECT_EQ(place_.mokume("report latest").code, 0);
  EXPECT_EQ(place_.mokume("predict latest --data digits,limit=20 --devices host").code, 0);
}

}  // namespace
}  // namespace mokume::cli_test
