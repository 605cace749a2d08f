#include "report/pages/events.hpp"

#include <algorithm>

#include "report/pages/markup.hpp"
#include "results/format.hpp"
#include "results/stats.hpp"

namespace mokume::report {
namespace {

constexpr size_t kMaxEvents = 100;

std::string events_table(const results::RunView& view) {
  using journal::EventRecord;
  std::vector<EventRecord> events = view.events;
  std::erase_if(events, [](const EventRecord& one) { return one.kind == EventRecord::Kind::superseded; });
  if (events.empty()) return {};
  const double zero = results::first_start(view.records);
  Table table({{"after", true}, {"what"}, {"node", true}, {"device"}, {"fit"}, {"attempt", true}, {"why"}});
  for (size_t i = 0; i < std::min(events.size(), kMaxEvents); ++i) {
    const EventRecord& event = events[i];
    const bool known = event.fit >= 0 && event.fit < int64_t{view.plan.n_slots()};
    table.row({results::seconds_text(std::max(0.0, event.time_s - zero)), journal::to_text(event.kind),
               Cell::id(event.node), event.device.empty() ? results::kNoValue : results::elide(event.device, 40),
               known ? results::fit_name(view.plan, static_cast<uint32_t>(event.fit)) : results::kNoValue,
               event.attempt == 0 ? results::kNoValue : Cell::id(event.attempt), results::elide(event.text, 400)});
  }
  return table.html(false) + left_out(events.size(), kMaxEvents, "more events are in the journal");
}

std::string disagreements_table(const results::RunView& view) {
  const auto& all = view.disagreements;
  if (all.empty()) return {};
  Table table({{"fits computed more than once"}});
  for (size_t i = 0; i < std::min(all.size(), kMaxEvents); ++i) table.row({results::elide(all[i].text, 600)});
  return "<h3>Results that differ</h3>\n" + table.html(false) +
         left_out(all.size(), kMaxEvents, "more differences are in the journal");
}

}  // namespace

std::string events_section(const results::RunView& view) {
  const std::string body = events_table(view) + disagreements_table(view);
  if (body.empty()) return {};
  return section("What went wrong",
                 "No result was lost: these fits were tried again, or are marked as failed above. "
                 "`mokume explain` shows the history of one fit.",
                 body);
}

}  // namespace mokume::report
