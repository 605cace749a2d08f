#include "base/log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>
#include <vector>

#include "base/files.hpp"
#include "sdk/error.hpp"

namespace mokume::base {
namespace {

template <class Body>
std::string stderr_of(Body body) {
  testing::internal::CaptureStderr();
  body();
  return testing::internal::GetCapturedStderr();
}

class LogFile : public testing::Test {
 protected:
  LogFile() {
    std::string name = testing::TempDir() + "mokume-log-XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~LogFile() override { std::filesystem::remove_all(directory_); }
  std::string directory_;
};

TEST(LogConsole, ShowsLevelAndSource) {
  Log log;
  EXPECT_EQ(stderr_of([&] { log.warn("", "text"); }), "mokume: warning: text\n");
  EXPECT_EQ(stderr_of([&] { log.warn("opencl", "text\n"); }), "mokume: warning: opencl: text\n");
  EXPECT_EQ(stderr_of([&] { log.write(MK_LOG_ERROR, "mokume", "{} %s"); }), "mokume: error: {} %s\n");
}

TEST(LogConsole, HidesMessagesBelowItsLevel) {
  Log log;
  EXPECT_EQ(stderr_of([&] { log.info("x", "text"); }), "");
  log.set_level(MK_LOG_DEBUG);
  EXPECT_EQ(stderr_of([&] { log.write(MK_LOG_DEBUG, "", "text"); }), "mokume: debug: text\n");
  log.set_level(MK_LOG_ERROR);
  EXPECT_EQ(stderr_of([&] { log.warn("x", "text"); }), "");
}

TEST(LogConsole, ControlCharactersCannotDriveTheTerminal) {
  Log log;
  EXPECT_EQ(stderr_of([&] { log.warn("", "a\x1b[2Jb\rc\td\ne"); }), "mokume: warning: a?[2Jb?c\td\ne\n");
}

TEST(LogConsole, CallsTheHooksOnlyAroundShownLines) {
  Log log;
  std::string calls;
  log.set_around([](void* c) { *static_cast<std::string*>(c) += "<"; },
                 [](void* c) { *static_cast<std::string*>(c) += ">"; }, &calls);
  stderr_of([&] {
    log.info("", "hidden");
    log.warn("", "shown");
  });
  EXPECT_EQ(calls, "<>");
}

TEST_F(LogFile, AppendsInfoAndAboveWithATimestamp) {
  const Below path{directory_, "logs/mokume.log"};
  for (int i = 0; i < 2; ++i) {
    Log log;
    log.set_level(MK_LOG_ERROR);
    log.open_file(path);
    log.write(MK_LOG_DEBUG, "", "hidden");
    log.info("svc", "text");
  }
  std::string content = read_file(path);
  for (char& c : content) c = c >= '0' && c <= '9' ? '0' : c == '+' ? '-' : c;  // hides the time and its zone
  const std::string line = "0000-00-00T00:00:00.000-00:00 info: svc: text\n";
  EXPECT_EQ(content, line + line);
}

TEST_F(LogFile, AFileThatCannotBeOpenedIsAnError) {
  Log log;
  write_file(directory_ + "/file", "");
  EXPECT_THROW(log.open_file({directory_, "file/log"}), Error);
}

TEST(LogFileFull, AFullDiskIsReportedOnceAndDoesNotThrow) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  Log log;
  log.open_file({"/dev", "full"});
  const std::string text = stderr_of([&] {
    log.info("", "one");
    log.info("", "two");
  });
  EXPECT_NE(text.find("no longer writing the log file"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST_F(LogFile, LinesOfManyThreadsStayWhole) {
  Log log;
  log.open_file({directory_, "log"});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) log.info("worker", std::string(200, 'x'));
    });
  for (std::thread& thread : threads) thread.join();
  std::istringstream lines(read_file(directory_ + "/log"));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_NE(line.find(" info: worker: " + std::string(200, 'x')), std::string::npos);
  EXPECT_EQ(count, 400);
}

}  // namespace
}  // namespace mokume::base
