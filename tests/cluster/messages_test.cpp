#include "cluster/protocol/messages.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "cluster/fixtures.hpp"
#include "cluster/protocol/codec.hpp"
#include "journal/line.hpp"

namespace mokume::cluster {
namespace {

template <class T>
T round_trip(const T& message) {
  return std::get<T>(decode(encode(message)));
}

TEST(Messages, RoundTripUnchanged) {
  const ClassChoices choices = {{"class a", {{"gemm", "tile 8x8"}, {"conv", ""}}}, {"class b", {}}};
  const Hello hello = round_trip(Hello{"0.1.0", "abc", {make_device("opencl:0", UINT64_MAX)}, choices});
  EXPECT_EQ(hello.version, "0.1.0");
  EXPECT_EQ(hello.plan_hash, "abc");
  EXPECT_EQ(hello.devices, std::vector<LocalDevice>{make_device("opencl:0", UINT64_MAX)});
  EXPECT_EQ(hello.choices, choices);

  const Welcome welcome = round_trip(Welcome{"/runs/x \"y\"", "abc", choices});
  EXPECT_EQ(welcome.run_directory, "/runs/x \"y\"");
  EXPECT_EQ(welcome.plan_hash, "abc");
  EXPECT_EQ(welcome.choices, choices);
  EXPECT_TRUE(round_trip(Welcome{}).choices.empty());

  const Grant granted{1ull << 40, 2, {7, 3, {5, 6}, {1, 4}, {"first \xc3\xa4", ""}, true}};
  const Grant grant = round_trip(granted);
  EXPECT_EQ(grant.lease, granted.lease);
  EXPECT_EQ(grant.device, 2u);
  EXPECT_EQ(grant.attempt, granted.attempt);

  EXPECT_EQ(round_trip(Request{3}).device, 3u);
  EXPECT_EQ(round_trip(None{4}).device, 4u);
  const LeaseEnd end = round_trip(LeaseEnd{9, MK_DEVICE_ERROR, "it broke", 0.1, {3, 1}});
  EXPECT_EQ(end.lease, 9u);
  EXPECT_EQ(end.status, MK_DEVICE_ERROR);
  EXPECT_EQ(end.text, "it broke");
  EXPECT_EQ(end.seconds, 0.1);
  EXPECT_EQ(end.coming, (std::vector<uint32_t>{3, 1}));
  EXPECT_EQ(round_trip(Ack{{7, 1ull << 40}}).cancel, (std::vector<uint64_t>{7, 1ull << 40}));
  EXPECT_TRUE(round_trip(Heartbeat{}).states.empty());
  const Heartbeat beat = round_trip(Heartbeat{{{1, 1ull << 40, "gamma 0.01", 0.1, 2.5}}});
  ASSERT_EQ(beat.states.size(), 1u);
  EXPECT_EQ(beat.states[0].device, 1u);
  EXPECT_EQ(beat.states[0].what, "gamma 0.01");
  EXPECT_EQ(beat.states[0].share, 0.1);
  EXPECT_EQ(beat.states[0].lease, 1ull << 40);
  EXPECT_EQ(beat.states[0].quiet_s, 2.5);
  const Stop stop = round_trip(Stop{MK_DEVICE_ERROR, "it broke"});
  EXPECT_EQ(stop.code, MK_DEVICE_ERROR);
  EXPECT_EQ(stop.reason, "it broke");
  round_trip(Finish{});
  round_trip(Bye{});
}

TEST(Messages, KeepEveryBitOfARecord) {
  journal::FitRecord record = result_of(9);
  record.status = journal::FitStatus::copied;
  record.values = {0.1, -0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e300};
  record.curves = {{"train_loss", {0.1, -0.0, std::numeric_limits<double>::quiet_NaN(), 5e-324}},
                   {"validation_loss", {}}};
  record.device = "host:0";
  record.start_s = 1.7e9 + 0.123456;
  record.end_s = 1.7e9 + 1;
  const Done done = round_trip(Done{5, {record, result_of(10)}});
  EXPECT_EQ(done.lease, 5u);
  ASSERT_EQ(done.records.size(), 2u);
  EXPECT_TRUE(journal::same_result(done.records[0], record));
  ASSERT_EQ(done.records[0].curves.size(), 2u);
  EXPECT_EQ(done.records[0].start_s, record.start_s);
  EXPECT_EQ(done.records[0].end_s, record.end_s);
  EXPECT_EQ(done.records[0].device, "host:0");
  EXPECT_TRUE(round_trip(Done{5, {}}).records.empty());
}

TEST(Messages, CarryTheSpeedOfADevice) {
  LocalDevice device = make_device("opencl:0");
  device.speed = 12.5;
  EXPECT_EQ(round_trip(Hello{"0.1.0", "", {device}, {}}).devices[0].speed, 12.5);
}

TEST(Messages, AStrayByteInAReasonDoesNotStopTheMessage) {
  EXPECT_EQ(clean_text("driver said \xff"), "driver said \xef\xbf\xbd");
  EXPECT_EQ(round_trip(Stop{MK_INTERNAL, "driver said \xff"}).reason, "driver said \xef\xbf\xbd");
}

TEST(Messages, RefuseInvalidBytes) {
  for (const char* bad : {
           "",
           "REQ",
           "null",
           "[]",
           "{}",
           R"({"type":1})",
           R"({"type":"HELP"})",
           R"({"type":"REQ"})",
           R"({"type":"REQ","device":-1})",
           R"({"type":"REQ","device":4294967296})",
           R"({"type":"REQ","device":1.5})",
           R"({"type":"REQ","device":"1"})",
           R"({"type":"HELLO","version":"1","plan_hash":"","devices":{},"choices":{}})",
           R"({"type":"HELLO","version":"1","plan_hash":"","devices":[7],"choices":{}})",
           R"({"type":"HELLO","version":"1","plan_hash":"","devices":[],"choices":[]})",
           R"({"type":"HELLO","version":"1","plan_hash":"","devices":[],"choices":{"a":{"b":1}}})",
           R"({"type":"HELLO","version":"1","plan_hash":"","devices":[],"choices":{"a":"b"}})",
           R"({"type":"GRANT","lease":1,"device":0,"bundle":0,"attempt":1,"fits":[0],"done":[1],"notes":[]})",
           R"({"type":"GRANT","lease":1,"device":0,"bundle":0,"attempt":1,"fits":[-1],"done":[],"notes":[]})",
           R"({"type":"DONE","lease":1,"records":[{}]})",
           R"({"type":"DONE","lease":1,"records":5})",
           R"({"type":"DONE","lease":1,"records":[{"fit":1,"status":"ok","n":1,"values":[],"note":"","device":"",)"
           R"("bundle":0,"attempt":1,"start":0,"end":0,"curves":{"a":[null]}}]})",
           R"({"type":"BEAT","states":[{"device":0,"lease":1,"what":"x","share":2,"quiet":0}]})",
           R"({"type":"BEAT","states":[{"device":0,"lease":1,"what":"x","share":"nan","quiet":0}]})",
           R"({"type":"BEAT","states":[{"device":0,"lease":1,"what":"x","share":1,"quiet":-1}]})",
           R"({"type":"BEAT","states":[{"device":0,"lease":1,"what":"x","share":1}]})",
           R"({"type":"ACK","cancel":[-1]})",
           R"({"type":"LEASE_END","lease":1,"status":9,"text":"","seconds":1,"coming":[]})",
           R"({"type":"LEASE_END","lease":1,"status":0,"text":"","seconds":"nan","coming":[]})",
           R"({"type":"STOP","code":0,"reason":""})",
           R"({"type":"STOP","code":9,"reason":""})",
           R"({"type":"BYE"} {"type":"BYE"})",
       }) {
    try {
      decode(bad);
      ADD_FAILURE() << "taken: " << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), MK_BAD_DATA) << bad;
    }
  }
}

// A message of nested brackets must not overflow the stack of the node that decodes it.
TEST(Messages, RefuseDeepNesting) {
  for (const std::string& value :
       {std::string(200000, '[') + std::string(200000, ']'), std::string(200000, '['), std::string("{\"a\":")}) {
    for (const char* type : {"WELCOME", "HELLO", "DONE"}) {
      const std::string text = std::string("{\"type\":\"") + type + "\",\"choices\":{\"a\":" + value + "}}";
      EXPECT_THROW(decode(text, nullptr), Error) << type;
    }
  }
}

}  // namespace
}  // namespace mokume::cluster
