#include "report/tensorboard.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/files.hpp"
#include "report/support.hpp"
#include "sdk/error.hpp"
#include "support/scratch.hpp"

namespace mokume::report {
namespace {

namespace fs = std::filesystem;
using testing::grid;

template <class T>
T number_at(const std::string& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

uint32_t masked(const std::string& bytes) {
  const uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

// Returns the data of every record, and checks the sums.
std::vector<std::string> records_of(const std::string& file) {
  std::vector<std::string> records;
  for (size_t at = 0; at < file.size();) {
    const auto length = number_at<uint64_t>(file, at);
    EXPECT_EQ(number_at<uint32_t>(file, at + 8), masked(file.substr(at, 8)));
    if (length > file.size() - at - 16) return {"a record reaches past the end"};
    records.push_back(file.substr(at + 12, length));
    EXPECT_EQ(number_at<uint32_t>(file, at + 12 + length), masked(records.back()));
    at += 16 + length;
  }
  return records;
}

std::string bytes_of(double value) { return {reinterpret_cast<const char*>(&value), sizeof(value)}; }
std::string bytes_of(float value) { return {reinterpret_cast<const char*>(&value), sizeof(value)}; }

TEST(Crc32c, GivesThePublishedAnswers) {
  // The first two answers come from RFC 3720, B.4, and the third is the usual check value.
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(""), 0u);
}

TEST(EventFile, HoldsAVersionAndOneEventPerEpoch) {
  const std::string file = event_file({{"a", {0.5, 0.25}}, {"b", {3}}}, 1.5e9);
  const auto records = records_of(file);
  const std::string time = "\x09" + bytes_of(1.5e9);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0], time + "\x1a\x0d" + "brain.Event:2");
  const auto value = [](const std::string& tag, float number) {
    return "\x0a\x08\x0a\x01" + tag + "\x15" + bytes_of(number);
  };
  EXPECT_EQ(records[1], time + "\x10\x01\x2a\x14" + value("a", 0.5F) + value("b", 3.0F));
  EXPECT_EQ(records[2], time + "\x10\x02\x2a\x0a" + value("a", 0.25F));
  EXPECT_EQ(records_of(event_file({}, 0)).size(), 1u);
}

TEST(EventFile, AcceptsLongNamesManyEpochsAndAnyNumber) {
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<double> values(300, 1.0);
  values[298] = 1e300, values[299] = -1e300;
  const auto records = records_of(event_file({{std::string(200, 'x'), values}}, 0));
  ASSERT_EQ(records.size(), 301u);
  // Step 300 and lengths above 127 take two bytes: 0xac 0x02 is 300.
  EXPECT_EQ(records[300].substr(9, 3), "\x10\xac\x02");
  EXPECT_EQ(records[300].size(), 9u + 3 + 3 + 3 + 3 + 200 + 5);
  EXPECT_EQ(number_at<float>(records[299], records[299].size() - 4), static_cast<float>(inf));
  EXPECT_EQ(number_at<float>(records[300], records[300].size() - 4), -static_cast<float>(inf));
  const auto odd = records_of(event_file({{"x", {std::numeric_limits<double>::quiet_NaN(), -inf}}}, 0));
  EXPECT_TRUE(std::isnan(number_at<float>(odd[1], odd[1].size() - 4)));
  EXPECT_EQ(number_at<float>(odd[2], odd[2].size() - 4), -static_cast<float>(inf));
}

class EventFiles : public ::testing::Test {
 protected:
  std::string board() const { return root_ / "logs/tensorboard"; }
  std::string file(const std::string& folder) const { return board() + "/" + folder + "/events.out.tfevents.mokume"; }

  test::Scratch root_;
};

TEST_F(EventFiles, HaveOneFolderPerFitWithCurves) {
  results::RunView view = grid(3, 2);
  view.records[7].curves = {{"train_loss", {0.5}}};
  view.records[7].end_s = 77;
  view.refit.emplace();
  view.refit->end_s = 99;
  view.refit->curves = {{"train_loss", {0.25}}};
  write_event_files(view, {root_.path(), "logs/tensorboard"});
  EXPECT_EQ(std::distance(fs::directory_iterator(board()), {}), 2);
  EXPECT_EQ(base::read_file(file("candidate-0003-fold-1")), event_file({{"train_loss", {0.5}}}, 77));
  EXPECT_EQ(base::read_file(file("refit")), event_file({{"train_loss", {0.25}}}, 99));
  view.plan.bootstraps = 2;
  EXPECT_EQ(event_folder(view.plan, {12345, 1, 4}), "candidate-12345-bootstrap-1-fold-4");
}

TEST_F(EventFiles, HaveOneFolderPerMember) {
  results::RunView view = grid(1, 1);
  view.plan.bootstraps = 2;
  view.records.clear();
  for (uint32_t m = 0; m < 2; ++m) {
    view.refits.push_back(testing::record(view.plan.refit_slot(m), 5));
    view.refits.back().end_s = 77;
  }
  view.refits[1].curves = {{"train_loss", {0.5}}};
  write_event_files(view, {root_.path(), "logs/tensorboard"});
  EXPECT_EQ(std::distance(fs::directory_iterator(board()), {}), 1) << "one has no curves";
  EXPECT_EQ(base::read_file(file("member-001")), event_file({{"train_loss", {0.5}}}, 77));
}

TEST_F(EventFiles, AreRewrittenWithEveryReport) {
  results::RunView view = grid(3, 2);
  view.records[7].curves = view.records[8].curves = {{"train_loss", {0.5}}};
  write_event_files(view, {root_.path(), "logs/tensorboard"});
  const std::string first = base::read_file(file("candidate-0003-fold-1"));
  base::write_file(file("candidate-0003-fold-1"), "damaged");
  base::write_file(board() + "/notes.txt", "mine");
  view.records[8].curves.clear();
  write_event_files(view, {root_.path(), "logs/tensorboard"});
  EXPECT_EQ(base::read_file(file("candidate-0003-fold-1")), first);
  EXPECT_FALSE(fs::exists(board() + "/candidate-0004-fold-0"));
  EXPECT_TRUE(fs::exists(board() + "/notes.txt"));
  EXPECT_EQ(std::distance(fs::directory_iterator(board() + "/candidate-0003-fold-1"), {}), 1);
}

TEST_F(EventFiles, DoNotExistWithoutCurves) {
  write_event_files(grid(3, 2), {root_.path(), "logs/tensorboard"});
  EXPECT_FALSE(fs::exists(root_ / "logs"));
}

TEST_F(EventFiles, AFileInPlaceOfADirectoryIsAnError) {
  results::RunView view = grid(1, 1);
  view.records[0].curves = {{"train_loss", {0.5}}};
  base::write_file(root_ / "logs", "");
  try {
    write_event_files(view, {root_.path(), "logs/tensorboard"});
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_INVALID_ARGUMENT);
    EXPECT_HAS(std::string(e.what()), "tensorboard");
  }
}

}  // namespace
}  // namespace mokume::report
