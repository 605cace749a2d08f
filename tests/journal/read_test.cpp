#include "journal/read.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "journal/journal.hpp"
#include "journal/line.hpp"
#include "journal/scratch.hpp"

namespace mokume::journal {
namespace {

const search::Plan kPlan = small_plan();

// Writes a journal file as a node does, from any objects.
void write_file(const Scratch& scratch, uint32_t node, const std::vector<std::string>& objects) {
  std::filesystem::create_directories(scratch.directory());
  std::string text = seal(base::to_json(Header{kFormat, kPlan.hash, node}));
  for (const std::string& one : objects) text += seal(one);
  spill(scratch.file(node), text);
}

std::string text_of(const FitRecord& record) {
  const search::FitKey key = kPlan.key(record.fit);
  return record_text(record, &key);
}

// Returns the message of the Error(MK_BAD_DATA) that reading throws, or "" if reading does not throw.
std::string failure(const Scratch& scratch, const search::Plan& plan = kPlan) {
  try {
    read_all(scratch.directory(), plan);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MK_BAD_DATA);
    return error.what();
  }
}

void expect_failure(const Scratch& scratch, const std::vector<std::string>& words) {
  const std::string text = failure(scratch);
  for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
}

TEST(ReadAll, FindsNothingInAnEmptyDirectory) {
  const Scratch scratch;
  EXPECT_TRUE(read_all(scratch.directory(), kPlan).records.empty());
  std::filesystem::create_directories(scratch.directory());
  spill(scratch.directory() + "/notes.txt", "not a journal");
  spill(scratch.directory() + "/node-1.ndjson", "not a journal either");
  EXPECT_TRUE(read_all(scratch.directory(), kPlan).records.empty());
}

TEST(ReadAll, MergesTheNodesSortedByFit) {
  const Scratch scratch;
  write_file(scratch, 0, {text_of(make_record(7)), text_of(make_record(3))});
  write_file(scratch, 2, {text_of(make_record(199)), text_of(make_record(5))});
  const Contents contents = read_all(scratch.directory(), kPlan);
  std::vector<std::pair<uint32_t, uint32_t>> found;
  for (const FitRecord& one : contents.records) found.emplace_back(one.fit, one.node);
  EXPECT_EQ(found, (std::vector<std::pair<uint32_t, uint32_t>>{{3, 0}, {5, 2}, {7, 0}, {199, 2}}));
}

// Node 2 has become node 0, while the former node 0 may still write.
TEST(ReadAll, MergesTheJournalsOfSuccessiveNodesZero) {
  const Scratch scratch;
  {
    Journal former(scratch.directory(), 0, kPlan), next(scratch.directory(), Writer(0, 2), kPlan);
    former.append(make_record(3));
    next.append(make_record(5));
    former.append(make_record(7));
    EXPECT_TRUE(next.path().ends_with("/node-0000-0002.ndjson")) << next.path();
  }
  const Contents contents = read_all(scratch.directory(), kPlan);
  ASSERT_EQ(contents.records.size(), 3U);
  for (const FitRecord& one : contents.records) EXPECT_EQ(one.node, 0U);
  EXPECT_EQ(contents.sessions.size(), 2U);
}

TEST(ReadAll, RefusesAnyDamageInTheMiddle) {
  const Scratch scratch;
  write_file(scratch, 0, {text_of(make_record(1)), text_of(make_record(2)), text_of(make_record(3))});
  const std::string whole = slurp(scratch.file(0));
  const size_t header_end = whole.find('\n');
  const size_t begin = whole.find('\n', header_end + 1) + 1;  // line 3
  const size_t end = whole.find('\n', begin);
  for (size_t at = begin; at < end; ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    spill(scratch.file(0), damaged);
    expect_failure(scratch, {scratch.file(0), "line 3", "delete the line"});
  }
  spill(scratch.file(0), whole.substr(0, begin) + whole.substr(end - 20));  // a torn line with more lines after it
  expect_failure(scratch, {"line 3"});
}

TEST(ReadAll, RefusesADamagedHeaderWithLinesAfterIt) {
  const Scratch scratch;
  write_file(scratch, 0, {text_of(make_record(1))});
  std::string text = slurp(scratch.file(0));
  text[5] = 'X';
  spill(scratch.file(0), text);
  expect_failure(scratch, {"line 1"});
}

TEST(ReadAll, RefusesAnotherPlanFormatOrNode) {
  const Scratch scratch;
  write_file(scratch, 0, {});
  search::Plan other = kPlan;
  other.hash = "another";
  EXPECT_NE(failure(scratch, other).find("another plan"), std::string::npos);
  spill(scratch.file(0), seal(R"({"mokume_journal":3,"plan_hash":"0123456789abcdef","node":0})") + "x\n");
  expect_failure(scratch, {"line 1", "another version"});
  write_file(scratch, 0, {});
  std::filesystem::rename(scratch.file(0), scratch.file(1));
  expect_failure(scratch, {scratch.file(1), "another node"});
}

TEST(ReadAll, RefusesFitsThatAreNotInThePlan) {
  const Scratch scratch;
  FitRecord record = make_record(202);
  const search::FitKey key{20, 0, 0};
  write_file(scratch, 0, {record_text(record, &key), text_of(make_record(1))});
  expect_failure(scratch, {"line 2", "fit 202", "202 fits and refits"});
  const search::FitKey wrong{0, 0, 3};
  write_file(scratch, 0, {record_text(make_record(4), &wrong), text_of(make_record(1))});
  expect_failure(scratch, {"line 2", "fit 4"});
}

TEST(ReadAll, RefusesInvalidSealedLines) {
  const std::string good = text_of(make_record(4));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  for (const std::string& bad :
       {std::string("{}"), std::string("[}"), std::string(R"({"event":"stop","time":1,"reason":""})"),
        std::string(R"({"event":"start"})"), std::string(R"({"event":1})"), with("\"fit\":4", "\"fit\":-4"),
        with("\"fit\":4", "\"fit\":4.5"), with("\"fit\":4", "\"fit\":4294967300"), with("\"ok\"", "\"fine\""),
        with("\"n\":1004", "\"n\":\"many\""), with("\"values\":[", "\"values\":[null,"),
        with("\"values\":[", "\"values\":[\"one\","), with("\"note\":", "\"nota\":"),
        with("\"device\":", "\"class\":7,\"device\":"), with("\"attempt\":1", "\"attempt\":99999999999"),
        with("\"attempt\":1", "\"attempt\":1,\"curves\":[]"),
        with("\"attempt\":1", "\"attempt\":1,\"curves\":{\"a\":1}"),
        with("\"attempt\":1", "\"attempt\":1,\"curves\":{\"a\":[\"x\"]}")}) {
    const Scratch scratch;
    write_file(scratch, 0, {bad, text_of(make_record(5))});
    expect_failure(scratch, {scratch.file(0), "line 2"});
  }
}

TEST(ReadAll, TakesDuplicatesThatAgreeFromTheLowestNode) {
  const Scratch scratch;
  FitRecord elsewhere = make_record(4);
  elsewhere.device = "host:0";
  elsewhere.bundle = 77;
  elsewhere.attempt = 2;
  elsewhere.start_s += 100;
  elsewhere.end_s += 100;
  write_file(scratch, 1, {text_of(elsewhere)});
  write_file(scratch, 0, {text_of(make_record(4)), text_of(make_record(4))});
  const Contents contents = read_all(scratch.directory(), kPlan);
  ASSERT_EQ(contents.records.size(), 1u);
  EXPECT_EQ(contents.records[0].node, 0u);
  EXPECT_EQ(contents.records[0].device, "opencl:0");
}

// Reads two lines of fit 4, from nodes 0 and 1, and returns the outcome.
Contents read_pair(const FitRecord& first, const FitRecord& second, const Bounds& bounds = {}) {
  const Scratch scratch;
  write_file(scratch, 0, {text_of(first)});
  FitRecord ninth = make_record(9);
  ninth.values = {0, 0};
  write_file(scratch, 1, {text_of(ninth), text_of(second)});
  Contents contents = read_all(scratch.directory(), kPlan, bounds);
  EXPECT_EQ(contents.records.size(), 2u);
  EXPECT_EQ(contents.repeats.size(), 1u);
  for (const Disagreement& one : contents.disagreements) {
    EXPECT_EQ(one.fit, 4u);
    for (const std::string& word : {scratch.file(1) + ", line 3", scratch.file(0) + ", line 2", std::string("fit 4")})
      EXPECT_NE(one.text.find(word), std::string::npos) << word << " in: " << one.text;
  }
  return contents;
}

TEST(ReadAll, ReportsAnotherResultOfOneClassAndContinues) {
  const std::vector<std::function<void(FitRecord&)>> changes = {
      [](FitRecord& r) { r.status = FitStatus::copied; },
      [](FitRecord& r) { r.n += 1; },
      [](FitRecord& r) { r.values[1] = std::nextafter(r.values[1], 9.0); },
      [](FitRecord& r) { r.values.pop_back(); },
      [](FitRecord& r) { r.note += " "; },
      [](FitRecord& r) {
        r.curves = {{"train_loss", {}}};
      },
      [](FitRecord& r) {
        r.curves = {{"train_loss", {0.1}}};
      },
      [](FitRecord& r) { r.values[0] = -0.0; }};
  FitRecord first = make_record(4);
  first.values[0] = 0.0;
  for (const auto& change : changes) {
    FitRecord other = first;
    change(other);
    const Contents contents = read_pair(first, other);
    ASSERT_EQ(contents.disagreements.size(), 1u);
    EXPECT_TRUE(contents.disagreements[0].one_class);
    EXPECT_TRUE(same_result(contents.records[0], first)) << "the lowest node counts";
    EXPECT_EQ(contents.repeats[0].node, 1u);
  }
  EXPECT_TRUE(read_pair(first, first).disagreements.empty());
}

TEST(ReadAll, LetsDevicesOfDifferentClassesDifferALittle) {
  const Bounds bounds = {10000, {}, 10, std::vector<Bounds::Metric>{{"errors", true}, {"error", false}}};
  FitRecord first = make_record(4), other = first;
  first.device_class = "a";
  other.device_class = "b";
  other.note = "another";
  first.n = other.n = 1000;
  first.values = {13, 0.013};
  other.values = {15, 0.015};
  EXPECT_TRUE(read_pair(first, other, bounds).disagreements.empty());
  other.values = {16, 0.016};
  const Contents apart = read_pair(first, other, bounds);
  ASSERT_EQ(apart.disagreements.size(), 1u);
  EXPECT_FALSE(apart.disagreements[0].one_class);
  other.device_class = "a";
  other.values = {15, 0.015};
  EXPECT_EQ(read_pair(first, other, bounds).disagreements.size(), 1u);
}

TEST(ReadAll, AResultCountsBeforeAFailure) {
  FitRecord failed = make_record(4);
  failed.status = FitStatus::failed;
  failed.values.clear();
  const Scratch scratch;
  write_file(scratch, 0, {text_of(failed)});
  write_file(scratch, 2, {text_of(make_record(4)), text_of(make_record(4))});
  const Contents contents = read_all(scratch.directory(), kPlan);
  ASSERT_EQ(contents.records.size(), 1u);
  EXPECT_EQ(contents.records[0].status, FitStatus::ok);
  EXPECT_EQ(contents.records[0].node, 2u);
  EXPECT_EQ(contents.repeats.size(), 2u);
  EXPECT_EQ(contents.disagreements.size(), 1u) << "of the failure only";
}

FitRecord fifth_wrong(uint32_t attempt) {
  FitRecord record = make_record(4);
  record.values[0] += 1;
  record.attempt = attempt;
  return record;
}

TEST(ReadAll, ASupersededRecordCountsAfterAllOthers) {
  const Scratch scratch;
  FitRecord failed = make_record(4);
  failed.status = FitStatus::failed;
  failed.values.clear();
  const FitRecord late = fifth_wrong(2);
  write_file(scratch, 0, {base::to_json(supersede(late, 50, "host:0 was first")), text_of(late)});
  for (const FitRecord& first : {make_record(4), failed}) {
    write_file(scratch, 1, {text_of(first)});
    const Contents contents = read_all(scratch.directory(), kPlan);
    ASSERT_EQ(contents.records.size(), 1u);
    EXPECT_EQ(contents.records[0].node, 1u);
    EXPECT_TRUE(same_result(contents.records[0], first));
    EXPECT_EQ(contents.repeats.size(), 1u);
  }
  std::filesystem::remove(scratch.file(1));
  EXPECT_EQ(read_all(scratch.directory(), kPlan).records.size(), 1u) << "better than none";
}

TEST(ReadAll, RefitsOfTwoCandidatesDoNotDisagree) {
  const Scratch scratch;
  FitRecord first = make_record(200), second = first;
  first.refit = 3;
  second.refit = 4;
  second.values[0] += 1;
  second.attempt = 2;
  write_file(
      scratch, 0,
      {record_text(first, nullptr), base::to_json(supersede(first, 5, "trained again")), record_text(second, nullptr)});
  const Contents contents = read_all(scratch.directory(), kPlan);
  ASSERT_EQ(contents.refits.size(), 1u);
  EXPECT_EQ(contents.refits[0].refit, 4u);
  EXPECT_TRUE(contents.disagreements.empty());
}

TEST(Rivals, AreTheRecordsThatCountInPlaceOfOurs) {
  const Scratch scratch;
  FitRecord ours = fifth_wrong(2), same = make_record(6), other = same;
  ours.node = other.node = 1;
  other.attempt = 2;
  write_file(scratch, 0, {text_of(make_record(4)), text_of(make_record(5)), text_of(same)});
  write_file(scratch, 1, {text_of(ours), text_of(other)});
  Contents contents = read_all(scratch.directory(), kPlan);
  FitRecord fifth = make_record(5);
  const std::vector<FitRecord> found = rivals({ours, fifth, other}, contents);
  ASSERT_EQ(found.size(), 1u) << "what is the same result is no rival";
  EXPECT_EQ(found[0].fit, 4u);
  EXPECT_EQ(found[0].node, 0u);
  write_file(scratch, 2, {base::to_json(supersede(found[0], 50, "late"))});
  contents = read_all(scratch.directory(), kPlan);
  EXPECT_TRUE(same_result(contents.records[0], ours));
  EXPECT_TRUE(rivals({ours, fifth, other}, contents).empty());
}

TEST(ReadAll, KeepsTheClassOfADevice) {
  FitRecord record = make_record(4);
  record.device_class = "opencl/\"Card\"/1.2";
  const Scratch scratch;
  write_file(scratch, 0, {text_of(record), text_of(make_record(5))});
  const Contents contents = read_all(scratch.directory(), kPlan);
  EXPECT_EQ(contents.records.at(0).device_class, record.device_class);
  EXPECT_EQ(contents.records.at(1).device_class, "") << "as older runs wrote it";
}

TEST(ReadAll, KeepsEventsAndSkipsUnknownOnes) {
  const Scratch scratch;
  const EventRecord retired{30, EventRecord::Kind::retired, 1, "opencl:0", -1, 0, "it \"failed\" twice"};
  const EventRecord failed{20, EventRecord::Kind::failed, 1, "opencl:0", 7, 2, "bad bytes: \xFF"};
  {
    Journal journal(scratch.directory(), 0, kPlan);
    journal.append(retired);
    journal.append(failed);
    journal.close("done");
  }
  write_file(scratch, 1,
             {R"({"event":"paused","time":"soon"})",
              base::to_json(EventRecord{10, EventRecord::Kind::lost, 3, "", -1, 0, "silent"}),
              base::to_json(EventRecord{10, EventRecord::Kind::moved, 3, "", 202, 1, "no such fit"}),
              text_of(make_record(5))});
  const Contents contents = read_all(scratch.directory(), kPlan);
  ASSERT_EQ(contents.events.size(), 3u);
  EXPECT_EQ(contents.events[0].kind, EventRecord::Kind::lost);
  EXPECT_EQ(contents.events[0].node, 3u);
  const EventRecord& second = contents.events[1];
  EXPECT_EQ(second.kind, EventRecord::Kind::failed);
  EXPECT_EQ(std::pair(second.fit, second.attempt), std::pair(int64_t{7}, 2u));
  EXPECT_EQ(second.text, "bad bytes: \xEF\xBF\xBD");
  EXPECT_EQ(contents.events[2].text, retired.text);
  EXPECT_EQ(contents.events[2].fit, -1);
  EXPECT_EQ(contents.records.size(), 1u);
  ASSERT_EQ(contents.notices.size(), 1u);
  EXPECT_NE(contents.notices[0].find("line 4"), std::string::npos) << contents.notices[0];
}

TEST(ReadAll, AddsUpTheSessions) {
  const Scratch scratch;
  FitRecord late = make_record(4);
  late.start_s = 210;
  late.end_s = 260;
  write_file(
      scratch, 0,
      {base::to_json(SessionLine{"start", 100, ""}), base::to_json(SessionLine{"stop", 150, "stopped on request"}),
       base::to_json(SessionLine{"start", 200, ""}), text_of(late)});  // killed after its work until 260
  write_file(scratch, 1,
             {base::to_json(SessionLine{"start", 140, ""}), base::to_json(SessionLine{"stop", 170, "done"})});
  const Contents contents = read_all(scratch.directory(), kPlan);
  ASSERT_EQ(contents.sessions.size(), 3u);
  EXPECT_EQ(contents.sessions[0].reason, "stopped on request");
  EXPECT_TRUE(contents.sessions[0].closed);
  EXPECT_FALSE(contents.sessions[1].closed);
  EXPECT_EQ(contents.sessions[1].stop_s, 260);
  EXPECT_EQ(contents.sessions[2].node, 1u);
  EXPECT_EQ(contents.wall_s, 70 + 60);
}

TEST(ReadAll, AddsUpTheSessionsOfARealJournal) {
  const Scratch scratch;
  for (const char* reason : {"stopped on request", "done"}) {
    Journal journal(scratch.directory(), 0, kPlan);
    journal.close(reason);
  }
  const Contents contents = read_all(scratch.directory(), kPlan);
  ASSERT_EQ(contents.sessions.size(), 2u);
  EXPECT_EQ(contents.sessions[0].reason, "stopped on request");
  EXPECT_EQ(contents.sessions[1].reason, "done");
  EXPECT_GT(contents.wall_s, 0);
  EXPECT_LT(contents.wall_s, 60);
}

// Makes a refit, whose slot follows the plan's fits.
FitRecord make_refit(uint32_t candidate) {
  FitRecord refit = make_record(kPlan.refit_slot(0));
  refit.refit = candidate;
  return refit;
}

TEST(ReadAll, KeepsRefitsApartFromFits) {
  const Scratch scratch;
  FitRecord refit = make_refit(3);
  refit.values = {389};
  refit.curves = {{"train_loss", {0.1, 1.0 / 3}}};
  {
    Journal journal(scratch.directory(), 0, kPlan);
    journal.append(refit);
    journal.append(make_record(2));
    EXPECT_THROW(journal.append(make_record(kPlan.n_slots())), Error);
    journal.close("done");
  }
  const Contents found = read_all(scratch.directory(), kPlan);
  ASSERT_EQ(found.records.size(), 1u);
  ASSERT_EQ(found.refits.size(), 1u);
  EXPECT_EQ(found.refits[0].fit, kPlan.n_fits());
  EXPECT_EQ(found.refits[0].refit, 3u);
  EXPECT_TRUE(same_result(found.refits[0], refit));
}

TEST(ReadAll, RefusesAnInvalidRefit) {
  const std::string good = record_text(make_refit(3), nullptr);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  for (const std::string& bad :
       {with("\"refit\":3", "\"refit\":20"), with("\"refit\":3", "\"refit\":-1"), with("\"refit\":3,", ""),
        with("\"n\":", "\"n\":-"), record_text(make_record(kPlan.n_slots()), nullptr)}) {
    const Scratch scratch;
    write_file(scratch, 0, {bad, text_of(make_record(5))});
    expect_failure(scratch, {scratch.file(0), "line 2"});
  }
  FitRecord fit = make_record(1);
  fit.refit = 1;
  const Scratch scratch;
  write_file(scratch, 0, {text_of(fit), text_of(make_record(5))});
  expect_failure(scratch, {scratch.file(0), "line 2"});
}

TEST(ReadAll, CountsRefitsWhereARecordIsNotInThePlan) {
  const Scratch scratch;
  write_file(scratch, 0, {record_text(make_record(kPlan.n_slots()), nullptr), text_of(make_record(5))});
  expect_failure(scratch, {"which has " + std::to_string(kPlan.n_slots()) + " fits and refits"});
}

TEST(ReadAll, AcceptsAFailedRefitWithoutACandidate) {
  const Scratch scratch;
  FitRecord refit = make_record(kPlan.refit_slot(1));
  refit.status = FitStatus::failed;
  write_file(scratch, 0, {record_text(refit, nullptr)});
  EXPECT_FALSE(read_all(scratch.directory(), kPlan).refits.at(0).refit);
}

TEST(BusySeconds, CountsOverlappingTimeOnce) {
  std::vector<FitRecord> records(4, make_record(0));
  const std::vector<std::pair<double, double>> times = {{0, 2}, {0, 5}, {10, 11}, {3, 4}};
  for (size_t i = 0; i < records.size(); ++i) {
    records[i].start_s = times[i].first;
    records[i].end_s = times[i].second;
  }
  records[3].device = "host:0";
  const auto busy = busy_seconds(records);
  EXPECT_EQ(busy.at({0, "opencl:0"}), 6);
  EXPECT_EQ(busy.at({0, "host:0"}), 1);
}

}  // namespace
}  // namespace mokume::journal
