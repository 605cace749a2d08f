#include "results/efficiency.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace mokume::results {
namespace {

using Kind = journal::EventRecord::Kind;

journal::FitRecord at_work(uint32_t fit, uint32_t node, const std::string& device, double start, double end) {
  journal::FitRecord record;
  record.fit = fit;
  record.node = node;
  record.device = device;
  record.start_s = start;
  record.end_s = end;
  return record;
}

journal::EventRecord event(double time, Kind kind, uint32_t node, const std::string& device = "") {
  journal::EventRecord record;
  record.time_s = time;
  record.kind = kind;
  record.node = node;
  record.device = device;
  return record;
}

// Makes node 0 work on two devices from 0 to 10: "a" for 10 s, and "b" for 5 s.
journal::Contents two_devices() {
  journal::Contents contents;
  contents.sessions = {{0, 0, 10, true, "done"}};
  contents.records = {at_work(0, 0, "a", 0, 6), at_work(1, 0, "a", 6, 10), at_work(2, 0, "b", 0, 5)};
  return contents;
}

const std::vector<Member> kEqual = {{0, "a", "x", 1}, {0, "b", "x", 1}};

TEST(Efficiency, IsTheShareOfTimeAtWorkForEqualDevices) {
  const Efficiency found = efficiency(kEqual, two_devices(), {});
  EXPECT_DOUBLE_EQ(found.value, 15.0 / 20);
  EXPECT_EQ(found.source, Speeds::measured);
}

TEST(Efficiency, AnIdleSlowDeviceCostsLittle) {
  const Efficiency found = efficiency({{0, "a", "x", 30}, {0, "b", "y", 1}}, two_devices(), {});
  EXPECT_DOUBLE_EQ(found.value, (10.0 * 30 + 5) / (10.0 * 31));
}

TEST(Efficiency, FitsOfOneBundleCountTheirTimeOnce) {
  journal::Contents contents = two_devices();
  contents.records.push_back(at_work(3, 0, "b", 0, 4));
  EXPECT_DOUBLE_EQ(efficiency(kEqual, contents, {}).value, 15.0 / 20);
}

TEST(Efficiency, ATeamsWorkIsThatOfAllItsDevices) {
  journal::Contents contents = two_devices();
  contents.sessions.push_back({1, 0, 10, true, "done"});
  contents.records = {at_work(0, 0, journal::kTeamDevice, 0, 8), at_work(1, 0, journal::kTeamDevice, 9, 10)};
  const std::vector<Member> members = {{0, "a", "x", 0}, {0, "b", "y", 0}, {1, "a", "x", 0}};
  EXPECT_DOUBLE_EQ(efficiency(members, contents, {}).value, 0.9);
}

TEST(Efficiency, RepeatsDoNotCountAsWork) {
  journal::Contents contents = two_devices();
  contents.repeats = {at_work(0, 0, "b", 5, 10)};
  EXPECT_DOUBLE_EQ(efficiency(kEqual, contents, {}).value, 15.0 / 20);
}

TEST(Efficiency, UnmeasuredSpeedsFollowFromTheWorkDone) {
  // Class x finishes a cost of 40 in 10 s, and class y a cost of 5 in 5 s.
  const Efficiency found = efficiency({{0, "a", "x", 9}, {0, "b", "y", 0}}, two_devices(), {24, 16, 5});
  EXPECT_EQ(found.source, Speeds::estimated);
  EXPECT_EQ(found.speeds, (std::vector<double>{4, 1}));
  EXPECT_DOUBLE_EQ(found.value, 45.0 / 50);
  // Without costs, every fit is the same amount of work.
  EXPECT_EQ(efficiency({{0, "a", "x", 0}, {0, "b", "y", 0}}, two_devices(), {}).speeds,
            (std::vector<double>{0.2, 0.2}));
}

TEST(Efficiency, AClassThatFinishedNothingCountsAsTheSlowest) {
  const Efficiency found =
      efficiency({{0, "a", "x", 0}, {0, "b", "y", 0}, {0, "c", "z", 0}}, two_devices(), {24, 16, 5});
  EXPECT_EQ(found.speeds, (std::vector<double>{4, 1, 1}));
  EXPECT_DOUBLE_EQ(found.value, 45.0 / 60);
}

TEST(Efficiency, ARetiredDeviceCountsUntilItsRetirement) {
  journal::Contents contents = two_devices();
  contents.events = {event(6, Kind::retired, 0, "b")};
  EXPECT_DOUBLE_EQ(efficiency(kEqual, contents, {}).value, 15.0 / 16);
  contents.events = {event(6, Kind::retired, 0, "other"), event(6, Kind::retired, 1, "b")};
  EXPECT_DOUBLE_EQ(efficiency(kEqual, contents, {}).value, 15.0 / 20);
}

TEST(Efficiency, ALateResultOfARetiredDeviceCountsAsWork) {
  journal::Contents contents = two_devices();
  contents.events = {event(3, Kind::retired, 0, "b")};
  EXPECT_DOUBLE_EQ(efficiency(kEqual, contents, {}).value, 1);
}

TEST(Efficiency, ALostNodeCountsUntilItIsDeclaredLostAndFromItsReturn) {
  std::vector<Member> members = kEqual;
  members.push_back({1, "a", "x", 1});
  journal::Contents contents = two_devices();
  contents.records.push_back(at_work(3, 1, "a", 0, 2));
  contents.sessions.push_back({1, 0, 2, false, ""});  // killed, so nothing is known after its last line
  EXPECT_DOUBLE_EQ(efficiency(members, contents, {}).value, 17.0 / 22);
  contents.events = {event(4, Kind::lost, 1)};
  EXPECT_DOUBLE_EQ(efficiency(members, contents, {}).value, 17.0 / 24);
  contents.sessions.back() = {1, 0, 10, true, "done"};  // the node was only silent
  contents.events.push_back(event(9, Kind::returned, 1));
  EXPECT_DOUBLE_EQ(efficiency(members, contents, {}).value, 17.0 / 25);
}

TEST(Efficiency, LeavesOutTheTimeBetweenSessions) {
  journal::Contents contents = two_devices();
  for (const journal::FitRecord& one : two_devices().records)
    contents.records.push_back(at_work(one.fit + 3, 0, one.device, one.start_s + 1000, one.end_s + 1000));
  contents.sessions.push_back({0, 1000, 1010, true, "done"});
  EXPECT_DOUBLE_EQ(efficiency(kEqual, contents, {}).value, 30.0 / 40);
  // A device that was retired in the first session takes part in the second.
  contents.events = {event(5, Kind::retired, 0, "b")};
  EXPECT_DOUBLE_EQ(efficiency(kEqual, contents, {}).value, 30.0 / 35);
}

TEST(Efficiency, CountsADeviceInTheSessionsItTookPartIn) {
  journal::Contents contents = two_devices();
  for (const journal::FitRecord& one : two_devices().records)
    contents.records.push_back(at_work(one.fit + 3, 0, "a", one.start_s + 1000, one.end_s + 1000));
  contents.sessions.push_back({0, 1000, 1010, true, "done"});
  std::vector<Member> members = kEqual;
  const double both = efficiency(members, contents, {}).value;
  members[1].sessions = {0.5};  // the second device was there only in the first session
  EXPECT_DOUBLE_EQ(efficiency(members, contents, {}).value, both * 40 / 30);
}

TEST(Efficiency, IgnoresTimeBeforeTheFirstFitAndAfterTheLast) {
  journal::Contents contents = two_devices();
  contents.sessions = {{0, -50, 90, true, "done"}};
  EXPECT_DOUBLE_EQ(efficiency(kEqual, contents, {}).value, 15.0 / 20);
}

TEST(Efficiency, IsZeroWithoutDevicesOrFits) {
  EXPECT_EQ(efficiency({}, two_devices(), {}).value, 0);
  const Efficiency none = efficiency(kEqual, {}, {});
  EXPECT_EQ(none.value, 0);
  EXPECT_EQ(none.source, Speeds::none);
}

}  // namespace
}  // namespace mokume::results
