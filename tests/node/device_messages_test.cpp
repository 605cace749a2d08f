#include "node/device_messages.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sdk/error.hpp"

namespace mokume::node {
namespace {

template <class Kind>
Kind again(const Kind& message) {
  return std::get<Kind>(decode_device_message(encode_device_message(message)));
}

TEST(DeviceMessages, RequestsComeBackAsTheyWere) {
  EXPECT_EQ(again(LoadExperiment{"name = \"a\"\n"}).config, "name = \"a\"\n");
  const OpenDevice open = again(OpenDevice{"opencl:1", "a class", uint64_t{1} << 63, {{"gemm", "tile"}, {"k", ""}}});
  EXPECT_EQ(open.id, "opencl:1");
  EXPECT_EQ(open.device_class, "a class");
  EXPECT_EQ(open.budget_bytes, uint64_t{1} << 63);
  EXPECT_EQ(open.choices, (device::Choices{{"gemm", "tile"}, {"k", ""}}));
  EXPECT_TRUE(again(AgreeChoices{}).choices.empty());
  EXPECT_EQ(again(BeginRun{"/a b", true}).run_directory, "/a b");
  EXPECT_TRUE(again(BeginRun{"/a b", true}).profile);
  again(CancelWork{});
  again(MeasureSpeed{});
  const cluster::WorkItem item{3, 2, {4, 5}, {1}, {"note \"x\""}};
  EXPECT_EQ(again(cluster::Grant{0, 0, item}).item, item);
}

TEST(DeviceMessages, RecordsKeepEveryBit) {
  journal::FitRecord record;
  record.fit = 9;
  record.status = journal::FitStatus::capped;
  record.n = 100;
  record.values = {0.1, -0.0, std::numeric_limits<double>::denorm_min()};
  record.note = "steps=12";
  record.curves = {{"loss", {1.0 / 3, std::numeric_limits<double>::infinity(), std::nan("")}}};
  const journal::FitRecord back = again(WorkRecord{record}).record;
  EXPECT_EQ(back.fit, 9U);
  EXPECT_EQ(back.status, journal::FitStatus::capped);
  EXPECT_EQ(back.n, 100);
  EXPECT_EQ(back.values, record.values);
  EXPECT_TRUE(std::signbit(back.values[1]));
  EXPECT_EQ(back.note, record.note);
  ASSERT_EQ(back.curves.size(), 1U);
  EXPECT_EQ(back.curves[0].values[0], 1.0 / 3);
  EXPECT_TRUE(std::isnan(back.curves[0].values[2]));

  record.refit = 4;
  EXPECT_EQ(again(WorkRecord{record}).record.refit, 4U);
}

TEST(DeviceMessages, TheEndTellsWhatTheChildHasLearned) {
  const WorkEnded ended = again(WorkEnded{
      MK_OUT_OF_MEMORY, "it is full \xff", {{"k", "v"}}, {{"gemm", 3}}, {{"forward", "gemm 1x2x3", 4, 0.5, 6, 7}}});
  EXPECT_EQ(ended.status, MK_OUT_OF_MEMORY);
  EXPECT_EQ(ended.text, "it is full \xef\xbf\xbd");
  EXPECT_EQ(ended.choices, (device::Choices{{"k", "v"}}));
  EXPECT_EQ(ended.fallbacks.at("gemm"), 3U);
  ASSERT_EQ(ended.profile.size(), 1U);
  EXPECT_EQ(ended.profile[0].what, "gemm 1x2x3");
  EXPECT_EQ(ended.profile[0].calls, 4U);
  EXPECT_EQ(again(WorkProgress{"epoch 2", 0.25}).share, 0.25);
}

TEST(DeviceMessages, AnyShareOfAModelCanBeSaid) {
  EXPECT_EQ(again(WorkProgress{"", std::numeric_limits<double>::quiet_NaN()}).share, 0);
  EXPECT_EQ(again(WorkProgress{"", -std::numeric_limits<double>::infinity()}).share, 0);
  EXPECT_EQ(again(WorkProgress{"", std::numeric_limits<double>::infinity()}).share, 1);
}

TEST(DeviceMessages, RefusesWhatIsNone) {
  for (const char* text : {"", "no message!!", "[]", "{}", R"({"type":"CANCELLED"})", R"({"type":"OPEN"})",
                           R"({"type":"ENDED","status":9,"text":"","choices":{},"fallbacks":{},"profile":""})",
                           R"({"type":"ENDED","status":0,"text":"","choices":{},"fallbacks":{},"profile":"?"})",
                           R"({"type":"AGREE","choices":{"a":1}})", R"({"type":"RECORD","record":{}})",
                           R"({"type":"BEGIN","run_directory":"x","profile":1})", R"({"type":"GRANT"})"}) {
    try {
      decode_device_message(text);
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_BAD_DATA) << text;
    }
  }
}

}  // namespace
}  // namespace mokume::node
