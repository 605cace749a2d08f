// The report's section about failures, lost nodes and retired devices.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "report/pages/markup.hpp"
#include "report/tables/stats.hpp"

namespace mokume::report {
namespace {

constexpr size_t kMaxEvents = 100;

double first_start(const RunView& view) {
  double start = std::numeric_limits<double>::infinity();
  for (const auto& record : view.records)
    if (timed(record)) start = std::min(start, record.start_s);
  return start;
}

std::string event_rows(const RunView& view, const std::vector<journal::EventRecord>& events) {
  const double zero = first_start(view);
  std::string rows;
  for (size_t i = 0; i < std::min(events.size(), kMaxEvents); ++i) {
    const journal::EventRecord& event = events[i];
    const std::string fit = event.fit < 0 || event.fit >= int64_t{view.plan.n_slots()}
                                ? "–"
                                : fit_name(view.plan, static_cast<uint32_t>(event.fit));
    rows += "<tr>" + number_cell(seconds_text(std::max(0.0, event.time_s - zero))) +
            cell(journal::to_text(event.kind)) + number_cell(fmt::format("{}", event.node)) +
            cell(event.device.empty() ? "–" : elide(event.device, 40)) + cell(fit) +
            number_cell(event.attempt == 0 ? "–" : fmt::format("{}", event.attempt)) + cell(elide(event.text, 400)) +
            "</tr>\n";
  }
  return rows;
}

std::string more(size_t count, const char* what) {
  return count > kMaxEvents
             ? fmt::format("<p class=\"soft\">{} more {} are in the journal.</p>\n", count - kMaxEvents, what)
             : "";
}

}  // namespace

std::string fit_name(const search::Plan& plan, uint32_t fit) {
  if (plan.is_refit(fit))
    return plan.bootstraps > 1 ? fmt::format("the refit of bootstrap {}", fit - plan.n_fits()) : "the refit";
  const search::FitKey key = plan.key(fit);
  const std::string bootstrap = plan.bootstraps > 1 ? fmt::format(", bootstrap {}", key.bootstrap) : "";
  return fmt::format("fit {}: candidate {}{}, fold {}", fit, key.candidate, bootstrap, key.fold);
}

std::string events_section(const RunView& view) {
  std::string body;
  std::vector<journal::EventRecord> events = view.events;
  std::erase_if(events, [](const auto& one) { return one.kind == journal::EventRecord::Kind::superseded; });
  if (!events.empty()) {
    body += table("",
                  {{"after", true},
                   {"what", false},
                   {"node", true},
                   {"device", false},
                   {"fit", false},
                   {"attempt", true},
                   {"why", false}},
                  event_rows(view, events)) +
            more(events.size(), "events");
  }
  if (!view.disagreements.empty()) {
    std::string rows;
    for (size_t i = 0; i < std::min(view.disagreements.size(), kMaxEvents); ++i)
      rows += "<tr>" + cell(elide(view.disagreements[i].text, 600)) + "</tr>\n";
    body += "<h3>Results that do not go together</h3>\n" + table("", {{"fits computed more than once", false}}, rows) +
            more(view.disagreements.size(), "disagreements");
  }
  if (body.empty()) return {};
  return section("What went wrong",
                 "No result was lost by it: fits were tried again, or are marked as failed above. "
                 "`mokume explain` tells the story of one fit.",
                 body);
}

}  // namespace mokume::report
