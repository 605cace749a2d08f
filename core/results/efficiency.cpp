#include "results/efficiency.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "results/stats.hpp"

namespace mokume::results {
namespace {

using journal::Contents;
using journal::EventRecord;
using journal::RecordedSession;
using Kind = EventRecord::Kind;
constexpr double kForever = std::numeric_limits<double>::infinity();

// Returns the span from the first start of a fit to the last end, which is empty if nothing was computed.
Span makespan(const std::vector<journal::FitRecord>& records) {
  Extent ends;
  for (const auto& record : records)
    if (timed(record)) ends.add(record.end_s);
  return {first_start(records), ends.high};
}

double next_session(const Contents& contents, uint32_t node, double time) {
  double next = kForever;
  for (const RecordedSession& one : contents.sessions)
    if (one.node == node && one.start_s > time) next = std::min(next, one.start_s);
  return next;
}

double next_return(const Contents& contents, uint32_t node, double time) {
  double next = kForever;
  for (const EventRecord& one : contents.events)
    if (one.kind == Kind::returned && one.node == node && one.time_s > time) next = std::min(next, one.time_s);
  return next;
}

// Returns whether the device took part in a session. A recorded time belongs to the session with the nearest start.
bool took_part(const Contents& contents, const Member& member, const RecordedSession& session) {
  return member.sessions.empty() || std::any_of(member.sessions.begin(), member.sessions.end(), [&](double time) {
           return std::none_of(contents.sessions.begin(), contents.sessions.end(), [&](const RecordedSession& other) {
             return other.node == session.node && std::fabs(other.start_s - time) < std::fabs(session.start_s - time);
           });
         });
}

// Returns the time in which the device belonged to the run. A killed node counts as present after its last journal line
// until the run declared it lost.
std::vector<Span> sessions_of(const Contents& contents, const Member& member) {
  std::vector<Span> spans;
  for (const RecordedSession& one : contents.sessions) {
    if (one.node != member.node || !took_part(contents, member, one)) continue;
    Span span{one.start_s, one.stop_s};
    const double next = next_session(contents, member.node, one.start_s);
    for (const EventRecord& event : contents.events)
      if (!one.closed && event.kind == Kind::lost && event.node == member.node && event.time_s > one.start_s &&
          event.time_s < next)
        span.end = std::max(span.end, event.time_s);
    spans.push_back(span);
  }
  return united(std::move(spans));
}

// Returns the time in which the device could get no work.
std::vector<Span> absences(const Contents& contents, const Member& member) {
  std::vector<Span> spans;
  for (const EventRecord& event : contents.events) {
    if (event.node != member.node) continue;
    double end = next_session(contents, member.node, event.time_s);
    if (event.kind == Kind::lost) end = std::min(end, next_return(contents, member.node, event.time_s));
    if (event.kind == Kind::lost || (event.kind == Kind::retired && event.device == member.id))
      spans.push_back({event.time_s, end});
  }
  return united(std::move(spans));
}

std::vector<Span> within(const Span& limits, std::vector<Span> spans) {
  for (Span& one : spans) one = {std::max(one.start, limits.start), std::min(one.end, limits.end)};
  std::erase_if(spans, [](const Span& one) { return !(one.length() > 0); });
  return spans;
}

double present_seconds(const Contents& contents, const Member& member, const Span& span) {
  double seconds = 0;
  const std::vector<Span> out = absences(contents, member);
  for (const Span& here : within(span, sessions_of(contents, member)))
    seconds += here.length() - length_of(within(here, out));
  return seconds;
}

// Returns, for each member, the work per busy second of its device class.
std::vector<double> estimate(const std::vector<Member>& members, const Contents& contents,
                             const std::vector<double>& work, const std::vector<double>& busy) {
  std::map<std::pair<uint32_t, std::string>, std::string> class_of;
  std::map<std::string, double> done, seconds;
  for (size_t i = 0; i < members.size(); ++i) {
    class_of[{members[i].node, members[i].id}] = members[i].device_class;
    seconds[members[i].device_class] += busy[i];
  }
  for (const journal::FitRecord& record : contents.records) {
    const auto found = class_of.find({record.node, record.device});
    if (found == class_of.end()) continue;
    const double given = record.fit < work.size() ? work[record.fit] : 1;
    done[found->second] += std::isfinite(given) && given > 0 ? given : 1;
  }
  double slowest = kForever;
  for (const auto& [name, amount] : done)
    if (seconds[name] > 0) slowest = std::min(slowest, amount / seconds[name]);
  if (slowest == kForever) slowest = 1;  // in a team, no device worked alone
  std::vector<double> speeds;
  for (const Member& one : members) {
    const double at_work = seconds[one.device_class], amount = done[one.device_class];
    speeds.push_back(at_work > 0 && amount > 0 ? amount / at_work : slowest);
  }
  return speeds;
}

}  // namespace

const char* to_text(Speeds speeds) {
  return speeds == Speeds::measured ? "measured" : speeds == Speeds::estimated ? "estimated" : "none";
}

Efficiency efficiency(const std::vector<Member>& members, const Contents& contents, const std::vector<double>& work) {
  const Span span = makespan(contents.records);
  Efficiency result{0, Speeds::none, std::vector<double>(members.size(), 0)};
  if (members.empty() || !(span.end > span.start)) return result;
  const auto by_device = journal::busy_seconds(contents.records);
  std::vector<double> busy;
  for (const Member& one : members) busy.push_back(journal::busy_of(by_device, one.node, one.id));
  const bool measured = std::all_of(members.begin(), members.end(),
                                    [](const Member& m) { return m.speed > 0 && std::isfinite(m.speed); });
  result.source = measured ? Speeds::measured : Speeds::estimated;
  if (!measured) result.speeds = estimate(members, contents, work, busy);
  double used = 0, offered = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    double& speed = result.speeds[i];
    if (measured) speed = members[i].speed;
    // A late result of a device that was given up is still work, and the device was present for it.
    const double present = std::max(busy[i], present_seconds(contents, members[i], span));
    used += busy[i] * speed;
    offered += present * speed;
  }
  result.value = offered > 0 && std::isfinite(offered) ? std::min(1.0, used / offered) : 0;
  return result;
}

}  // namespace mokume::results
