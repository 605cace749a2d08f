#include "report/charts/gantt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "report/charts/svg.hpp"
#include "results/format.hpp"
#include "results/stats.hpp"

namespace mokume::report {
namespace {

constexpr double kGanttWidth = 1040, kGanttLeft = 214, kGanttRight = 952, kGanttTop = 34, kGanttRow = 28,
                 kGanttBar = 18;
constexpr size_t kGanttMaxRows = 64;
constexpr double kGapWidth = 26;  // px for a period in which no device worked
constexpr size_t kMaxGaps = 8;

// Holds the fits of a bundle, which start together and end one after another.
struct Bar {
  results::Span span;
  uint32_t bundle = 0;
  size_t fits = 0;
  bool failed = false;
};

struct Lane {
  std::string label;
  std::map<std::pair<double, uint32_t>, Bar> bars;  // by start and bundle
  std::vector<results::Span> working;
};

using Lanes = std::map<std::pair<uint32_t, std::string>, Lane>;

Lanes lanes_of(const results::RunView& view) {
  Lanes lanes;
  for (const auto& record : results::all_work(view)) {
    if (!results::timed(record) || record.status == journal::FitStatus::dropped || record.device == journal::kReused)
      continue;
    Bar& bar = lanes[{record.node, record.device}].bars[{record.start_s, record.bundle}];
    bar.span = {record.start_s, std::max(bar.span.end, record.end_s)};
    bar.bundle = record.bundle;
    ++bar.fits;
    bar.failed |= record.status == journal::FitStatus::failed;
  }
  for (auto& [key, lane] : lanes) {
    for (const auto& [when, bar] : lane.bars) lane.working.push_back(bar.span);
    lane.working = results::united(std::move(lane.working));
    lane.label = view.nodes > 1 ? fmt::format("{} · {}", key.first, key.second) : key.second;
    for (const results::DeviceUse& use : view.devices)
      if (use.node == key.first && use.id == key.second) lane.label += "  " + use.name;
  }
  return lanes;
}

// Maps time to px. Shortens the long gaps between the sessions of a run, which would squeeze the work into slivers.
class Clock {
 public:
  explicit Clock(const Lanes& lanes) {
    std::vector<results::Span> working;
    for (const auto& [key, lane] : lanes) working.insert(working.end(), lane.working.begin(), lane.working.end());
    working = results::united(std::move(working));
    std::vector<double> gaps;
    for (size_t i = 1; i < working.size(); ++i) gaps.push_back(working[i].start - working[i - 1].end);
    std::sort(gaps.rbegin(), gaps.rend());
    double least = std::max(30.0, 0.2 * results::length_of(working));
    if (gaps.size() > kMaxGaps) least = std::max(least, gaps[kMaxGaps]);
    for (const results::Span& span : working) {
      if (!sessions_.empty() && span.start - sessions_.back().end <= least)
        sessions_.back().end = span.end;
      else
        sessions_.push_back(span);
    }
    const double gap_px = kGapWidth * (std::max<size_t>(1, sessions_.size()) - 1);
    per_second_ = length() > 0 ? (kGanttRight - kGanttLeft - gap_px) / length() : 0;
  }

  double length() const { return results::length_of(sessions_); }
  const std::vector<results::Span>& sessions() const { return sessions_; }

  double at(double time) const {
    double worked = 0;
    size_t gaps = 0;
    for (; gaps < sessions_.size() && time > sessions_[gaps].end; ++gaps) worked += sessions_[gaps].length();
    if (gaps == sessions_.size()) return kGanttRight;
    return px(worked + std::max(0.0, time - sessions_[gaps].start), gaps);
  }

  // Returns the position in px of a moment that is given in seconds of work since the start.
  double at_worked(double worked) const {
    double before = 0;
    for (size_t gaps = 0; gaps < sessions_.size(); ++gaps) {
      before += sessions_[gaps].length();
      if (worked <= before) return px(worked, gaps);
    }
    return kGanttRight;
  }

 private:
  double px(double worked, size_t gaps) const { return kGanttLeft + worked * per_second_ + kGapWidth * gaps; }

  std::vector<results::Span> sessions_;
  double per_second_ = 0;
};

// Returns the time between two labels: 1-2-5 steps below 30 s, then divisions of minutes, hours and days.
double time_step(double length) {
  for (const double step :
       {0.001, 0.002, 0.005, 0.01,  0.02,  0.05,   0.1,    0.2,    0.5,    1.0,     2.0,     5.0,     10.0,   20.0,
        30.0,  60.0,  120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0, 14400.0, 21600.0, 43200.0, 86400.0}) {
    if (length / step <= 8) return step;
  }
  return 86400 * std::ceil(length / 86400 / 8);
}

std::string time_label(double seconds, double step) {
  if (seconds < 0.5 * step) return "0";
  if (step >= 86400) return fmt::format("{} d", results::pretty(seconds / 86400, 3));
  if (step >= 3600) return fmt::format("{} h", results::pretty(seconds / 3600, 3));
  const bool minutes = step >= 60;
  const int64_t whole = std::llround(minutes ? seconds / 60 : std::floor(seconds + 0.5));
  if (seconds >= (minutes ? 3600 : 60))
    return fmt::format("{}:{:02} {}", whole / 60, whole % 60, minutes ? "h" : "min");
  return minutes ? fmt::format("{} min", whole) : fmt::format("{} s", results::pretty(seconds, 4));
}

// Joins bars that are too narrow to be visible, so that even a million fits give a small picture.
void draw_bars(Svg& svg, const Lane& lane, const Clock& clock, double y) {
  size_t index = 0, bundles = 0;
  double from = 0, to = 0;
  Bar joined;
  const auto flush = [&] {
    if (bundles == 0) return;
    const std::string what = bundles > 1 ? fmt::format("{} bundles", bundles) : fmt::format("bundle {}", joined.bundle);
    const std::string title = fmt::format("{}, {} fit{}, {}", what, joined.fits, joined.fits == 1 ? "" : "s",
                                          results::seconds_text(joined.span.length()));
    const double seam = to - from > 3 ? 0.75 : 0;
    svg.rect(from, y, std::max(0.6, to - from - seam), kGanttBar,
             joined.failed    ? "bad"
             : index % 2 == 0 ? "bar"
                              : "alt",
             title);
    ++index;
  };
  for (const auto& [when, bar] : lane.bars) {
    const double x0 = clock.at(bar.span.start), x1 = clock.at(bar.span.end);
    if (bundles > 0 && joined.failed == bar.failed && x0 - to < 0.5 && std::max(x1, to) - from < 2) {
      joined.fits += bar.fits;
      joined.span.end = std::max(joined.span.end, bar.span.end);
      to = std::max(to, x1), ++bundles;
      continue;
    }
    flush();
    joined = bar, from = x0, to = x1, bundles = 1;
  }
  flush();
}

void draw_time_axis(Svg& svg, const Clock& clock, double bottom) {
  const double step = time_step(clock.length());
  double taken = 0;  // right end of the last label
  const auto label = [&](double x, double y, const std::string& text) {
    const double half = text_width(text) / 2;
    if (x - half < taken + 4) return;
    svg.text(x, y, text, "mid");
    taken = x + half;
  };
  for (int i = 0; i * step <= clock.length() * (1 + 1e-9); ++i) {
    const double x = clock.at_worked(i * step);
    svg.line(x, kGanttTop, x, bottom, "grid");
    label(x, bottom + 16, time_label(i * step, step));
  }
  taken = 0;
  const auto& sessions = clock.sessions();
  for (size_t s = 1; s < sessions.size(); ++s) {
    const double x = clock.at(sessions[s].start) - kGapWidth / 2;
    svg.line(x, kGanttTop, x, bottom, "gap");
    label(x, kGanttTop - 8, fmt::format("{} later", results::seconds_text(sessions[s].start - sessions[s - 1].end)));
  }
}

}  // namespace

std::string gantt(const results::RunView& view) {
  const Lanes lanes = lanes_of(view);
  const Clock clock(lanes);
  if (!(clock.length() > 0)) return {};
  const size_t rows = std::min(lanes.size(), kGanttMaxRows);
  const double bottom = kGanttTop + kGanttRow * rows;
  const bool cut = lanes.size() > rows;
  Svg svg(kGanttWidth, bottom + (cut ? 48 : 28), "Work of every device over time");
  draw_time_axis(svg, clock, bottom);
  svg.text(kGanttWidth - 16, kGanttTop - 8, "busy", "end");
  double y = kGanttTop + (kGanttRow - kGanttBar) / 2;
  for (auto it = lanes.begin(); y < bottom; ++it, y += kGanttRow) {
    const Lane& lane = it->second;
    svg.open("lane", results::clean(lane.label));
    svg.text(kGanttLeft - 12, y + 13, results::elide(lane.label, 30), "end strong");
    for (const results::Span& session : clock.sessions()) {
      const double x = clock.at(session.start);
      svg.rect(x, y, clock.at(session.end) - x, kGanttBar, "track");
    }
    svg.close();
    draw_bars(svg, lane, clock, y);
    svg.text(kGanttWidth - 16, y + 13, fmt::format("{:.1f} %", 100 * results::length_of(lane.working) / clock.length()),
             "end strong");
  }
  if (cut) svg.text(kGanttLeft, bottom + 38, fmt::format("{} more devices are not drawn", lanes.size() - rows));
  return std::move(svg).finish();
}

}  // namespace mokume::report
