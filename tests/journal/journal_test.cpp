#include "journal/journal.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "journal/line.hpp"
#include "journal/read.hpp"
#include "journal/scratch.hpp"

namespace mokume::journal {
namespace {

TEST(Journal, KeepsEveryBitOfARecord) {
  const Scratch scratch;
  const search::Plan plan = small_plan();
  FitRecord record = make_record(123);
  record.status = FitStatus::capped;
  record.n = std::numeric_limits<int64_t>::max();
  record.values = {0.1,
                   -0.0,
                   5e-324,
                   1.7976931348623157e308,
                   9007199254740993.0,
                   1e22,
                   -1.0 / 3,
                   18446744073709551616.0,
                   std::numeric_limits<double>::quiet_NaN(),
                   std::numeric_limits<double>::infinity(),
                   -std::numeric_limits<double>::infinity()};
  record.curves = {{"accuracy", {}}, {"train_loss", record.values}};
  record.note = "quote \" backslash \\ newline \n umlaut \xc3\xa4 zero " + std::string(1, '\0') + " end";
  {
    Journal journal(scratch.directory(), 3, plan);
    journal.append(record);
    journal.close("done");
  }
  const Contents contents = read_all(scratch.directory(), plan);
  ASSERT_EQ(contents.records.size(), 1u);
  const FitRecord& back = contents.records[0];
  EXPECT_TRUE(same_result(record, back));
  EXPECT_TRUE(std::signbit(back.values[1]));
  ASSERT_EQ(back.curves.size(), 2u);
  EXPECT_EQ(back.curves[1].name, "train_loss");
  EXPECT_EQ(back.curves[1].values.size(), record.values.size());
  EXPECT_EQ(back.node, 3u);
  EXPECT_EQ(back.device, record.device);
  EXPECT_EQ(back.bundle, record.bundle);
  EXPECT_EQ(back.attempt, record.attempt);
  EXPECT_EQ(back.start_s, record.start_s);
  EXPECT_EQ(back.end_s, record.end_s);
}

TEST(Journal, WritesTheDocumentedLines) {
  const Scratch scratch;
  {
    Journal journal(scratch.directory(), 0, small_plan());
    FitRecord record = make_record(17);
    record.values = {2, 0.25};
    record.start_s = 10.5;
    record.end_s = 12;
    journal.append(record);
    record.curves = {{"train_loss", {0.5, std::numeric_limits<double>::quiet_NaN()}}, {"validation_loss", {1}}};
    journal.append(record);
    record.fit = small_plan().refit_slot(1);
    record.refit = 7;
    record.curves.clear();
    journal.append(record);
  }
  std::istringstream lines(slurp(scratch.file(0)));
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) {
    const size_t cut = line.rfind(",\"crc\":\"");
    ASSERT_NE(cut, std::string::npos) << line;
    const std::string object = line.substr(0, cut) + "}";
    const auto* bytes = reinterpret_cast<const Bytef*>(object.data());
    char crc[9];
    std::snprintf(crc, sizeof(crc), "%08lx", crc32(0, bytes, static_cast<uInt>(object.size())));
    EXPECT_EQ(nlohmann::json::parse(line).at("crc"), crc);
    found.push_back(object);
  }
  ASSERT_EQ(found.size(), 6u);
  EXPECT_EQ(found[0], R"({"mokume_journal":2,"plan_hash":"0123456789abcdef","node":0})");
  EXPECT_EQ(nlohmann::json::parse(found[1]).at("event"), "start");
  EXPECT_EQ(found[2], R"({"fit":17,"candidate":1,"bootstrap":1,"fold":2,"status":"ok","n":1017,"values":[2,0.25],)"
                      R"("note":"note of 17","device":"opencl:0","bundle":4,"attempt":1,"start":10.5,"end":12})");
  EXPECT_EQ(found[3],
            found[2].substr(0, found[2].size() - 1) + R"(,"curves":{"train_loss":[0.5,"nan"],"validation_loss":[1]}})");
  EXPECT_EQ(found[4], R"({"fit":201,"refit":7,"status":"ok","n":1017,"values":[2,0.25],)"
                      R"("note":"note of 17","device":"opencl:0","bundle":4,"attempt":1,"start":10.5,"end":12})");
  EXPECT_EQ(nlohmann::json::parse(found[5]).at("event"), "stop");
  EXPECT_EQ(nlohmann::json::parse(found[5]).at("reason"), "interrupted");
}

TEST(Journal, CountsLinesThatAreInTheFile) {
  const Scratch scratch;
  std::vector<std::string> missing;
  constexpr uint32_t kFits = 200;
  uint64_t seen = 0;
  {
    Journal journal(scratch.directory(), 0, small_plan(), std::chrono::milliseconds(1));
    journal.on_change([&] {
      const std::string text = slurp(scratch.file(0));
      for (; seen < journal.durable(); ++seen)
        if (const std::string fit = "\"fit\":" + std::to_string(seen - 1) + ",";
            seen > 0 && seen <= kFits && text.find(fit) == std::string::npos)
          missing.push_back(fit);
    });
    for (uint32_t fit = 0; fit < kFits; ++fit)
      EXPECT_EQ(journal.append(make_record(fit)), fit + 2u) << "after the start";
    journal.flush();
    EXPECT_EQ(journal.durable(), 201u);
    journal.close("done");  // the writer's last call ends before
  }
  EXPECT_EQ(seen, 202u);
  EXPECT_TRUE(missing.empty());
}

TEST(Journal, TakesRecordsFromManyThreads) {
  const Scratch scratch;
  const search::Plan plan = small_plan(40);
  {
    Journal journal(scratch.directory(), 0, plan);
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (uint32_t i = 0; i < 100; ++i) journal.append(make_record(t * 100 + i));
        journal.flush();
      });
    }
    for (std::thread& one : threads) one.join();
    EXPECT_EQ(journal.durable(), 401u);
  }
  EXPECT_EQ(read_all(scratch.directory(), plan).records.size(), 400u);
}

TEST(Journal, CloseDoesNotWaitForTheInterval) {
  const Scratch scratch;
  Journal journal(scratch.directory(), 0, small_plan(), std::chrono::seconds(20));
  journal.flush();  // commits the start line; the next commit is due in 20 s
  const auto begin = std::chrono::steady_clock::now();
  journal.append(make_record(0));
  journal.close("done");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(journal.durable(), 3u);
}

TEST(Journal, DoesNotCommitBeforeTheIntervalWithoutAFlush) {
  const Scratch scratch;
  Journal journal(scratch.directory(), 0, small_plan(), std::chrono::seconds(20));
  journal.flush();
  const uint64_t line = journal.append(make_record(0));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LT(journal.durable(), line);
  journal.flush();
  EXPECT_EQ(journal.durable(), line);
}

TEST(Journal, RefusesFitsOutsideThePlanAndNotesThatAreNotText) {
  const Scratch scratch;
  Journal journal(scratch.directory(), 0, small_plan());
  EXPECT_THROW(journal.append(make_record(202)), Error);
  FitRecord record = make_record(1);
  record.note = "\xff\xfe";
  try {
    journal.append(record);
    FAIL() << "a note that is not UTF-8 was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MK_DEVICE_ERROR);
  }
  journal.close("done");
  EXPECT_THROW(journal.append(make_record(2)), Error);
}

// If the last line is cut anywhere, a journal reads as if the line did not exist, and a run can resume it.
TEST(Journal, SurvivesACutAtEveryByteOfTheLastLine) {
  const Scratch scratch;
  const search::Plan plan = small_plan();
  {
    Journal journal(scratch.directory(), 0, plan);
    journal.append(make_record(1));
    journal.append(make_record(2));
  }
  std::string whole = slurp(scratch.file(0));
  whole.resize(whole.rfind('\n', whole.size() - 2) + 1);  // without the stop event
  const size_t begin = whole.rfind('\n', whole.size() - 2) + 1;
  for (size_t size = begin; size < whole.size(); ++size) {
    spill(scratch.file(0), whole.substr(0, size));
    const Contents torn = read_all(scratch.directory(), plan);
    ASSERT_EQ(torn.records.size(), 1u) << size;
    EXPECT_EQ(torn.notices.size(), size == begin ? 0u : 1u);
    {
      Journal again(scratch.directory(), 0, plan);
      again.append(make_record(2));
    }
    const Contents mended = read_all(scratch.directory(), plan);
    ASSERT_EQ(mended.records.size(), 2u) << size;
    EXPECT_TRUE(mended.notices.empty());
  }
}

TEST(Journal, SurvivesACutAtEveryByteOfTheHeader) {
  const Scratch scratch;
  const search::Plan plan = small_plan();
  { const Journal journal(scratch.directory(), 0, plan); }
  const std::string whole = slurp(scratch.file(0));
  for (size_t size = 0; size <= whole.find('\n'); ++size) {
    spill(scratch.file(0), whole.substr(0, size));
    EXPECT_TRUE(read_all(scratch.directory(), plan).records.empty());
    {
      Journal again(scratch.directory(), 0, plan);
      again.append(make_record(2));
    }
    ASSERT_EQ(read_all(scratch.directory(), plan).records.size(), 1u) << size;
  }
}

TEST(Journal, RefusesToResumeTheFileOfAnotherPlan) {
  const Scratch scratch;
  { const Journal journal(scratch.directory(), 0, small_plan()); }
  search::Plan other = small_plan();
  other.hash = "other";
  try {
    const Journal journal(scratch.directory(), 0, other);
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MK_BAD_DATA);
    EXPECT_NE(std::string(error.what()).find(scratch.file(0)), std::string::npos);
  }
}

TEST(Journal, ReportsADirectoryItCannotCreate) {
  const Scratch scratch;
  spill(scratch.directory(), "a file in the way");
  EXPECT_THROW(Journal(scratch.directory(), 0, small_plan()), Error);
}

// A file-size limit imitates a full disk: write() fails in the middle of a line.
TEST(Journal, ReportsAFullDiskAndCallsNothingDurable) {
  const Scratch scratch;
  const search::Plan plan = small_plan();
  std::atomic<uint32_t> failures{0};
  std::string text;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  {
    Journal journal(scratch.directory(), 0, plan, std::chrono::milliseconds(1));
    journal.on_change([&] {
      const std::optional<Error> failure = journal.failure();
      if (!failure) return;
      EXPECT_EQ(failure->status(), MK_STORAGE);
      ++failures;
      text = failure->what();
    });
    journal.append(make_record(1));
    journal.flush();
    const rlimit tight{static_cast<rlim_t>(slurp(scratch.file(0)).size() + 50), before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &tight);
    journal.append(make_record(2));
    EXPECT_THROW(journal.flush(), Error);
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_THROW(journal.append(make_record(3)), Error);
    EXPECT_THROW(journal.close("done"), Error);
    EXPECT_EQ(journal.durable(), 2u) << "the start and one fit";
  }
  signal(SIGXFSZ, old_handler);
  EXPECT_EQ(failures, 1u);
  EXPECT_NE(text.find(scratch.file(0)), std::string::npos) << text;
  const Contents contents = read_all(scratch.directory(), plan);
  ASSERT_EQ(contents.records.size(), 1u);
  EXPECT_TRUE(contents.notices.empty()) << "the part that was written should have been cut off again";
}

// Writes as fast as it can in a child, and reports through a pipe which records are durable, until SIGKILL stops it.
// The file must contain the reported records.
void write_until_killed(const std::string& directory, const search::Plan& plan, int pipe) {
  Journal journal(directory, 0, plan, std::chrono::milliseconds(1));
  journal.on_change([&journal, pipe, told = uint64_t{1}]() mutable {  // line 1 is the start
    for (; told < journal.durable(); ++told) {
      const auto fit = static_cast<uint32_t>(told - 1);
      if (write(pipe, &fit, sizeof(fit)) != sizeof(fit)) _exit(1);
    }
  });
  for (uint32_t fit = 0; fit < plan.n_fits(); ++fit) {
    journal.append(make_record(fit));
    if (fit % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
  journal.flush();
  while (true) pause();
}

TEST(Journal, HoldsEveryDurableRecordAfterSigkill) {
  const search::Plan plan = small_plan(200);
  for (int round = 0; round < 5; ++round) {
    const Scratch scratch;
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(ends[0]);
      write_until_killed(scratch.directory(), plan, ends[1]);
    }
    close(ends[1]);
    std::vector<uint32_t> said;
    uint32_t fit = 0;
    while (said.size() < 50u + 60u * static_cast<uint32_t>(round) && read(ends[0], &fit, sizeof(fit)) == sizeof(fit)) {
      said.push_back(fit);
    }
    kill(child, SIGKILL);
    while (read(ends[0], &fit, sizeof(fit)) == sizeof(fit)) said.push_back(fit);
    close(ends[0]);
    waitpid(child, nullptr, 0);
    const Contents contents = read_all(scratch.directory(), plan);
    ASSERT_GE(said.size(), 50u);
    ASSERT_GE(contents.records.size(), said.size());
    for (const uint32_t one : said) EXPECT_TRUE(same_result(contents.records.at(one), make_record(one)));
    ASSERT_EQ(contents.sessions.size(), 1u);
    EXPECT_FALSE(contents.sessions[0].closed);
  }
}

}  // namespace
}  // namespace mokume::journal
