// What every device did when: bundles as bars on a track, so that idle time shows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "report/charts/figure.hpp"

namespace mokume::report {
namespace {

constexpr double kWidth = 1040, kLeft = 214, kRight = 952, kTop = 34, kRow = 28, kBar = 18;
constexpr size_t kMaxRows = 64;
constexpr double kGapWidth = 26;  // px of a time in which no device worked
constexpr size_t kMaxGaps = 8;

struct Bar {
  Span span;
  uint32_t bundle = 0;
  size_t fits = 0;
  bool failed = false;
};

struct Lane {
  std::string label;
  std::string device;
  std::vector<Bar> bars;  // by start
  double busy = 0;
};

using LaneKey = std::pair<uint32_t, std::string>;

std::map<LaneKey, Lane> lanes_of(const RunView& view, std::vector<Span>& all) {
  // The fits of a bundle start with it and end one by one.
  std::map<LaneKey, std::map<std::pair<double, uint32_t>, Bar>> bars;
  for (const auto& record : all_work(view)) {
    if (!timed(record)) continue;
    Bar& bar = bars[{record.node, record.device}][{record.start_s, record.bundle}];
    bar.span = {record.start_s, std::max(bar.span.end, record.end_s)};
    bar.bundle = record.bundle;
    ++bar.fits;
    bar.failed |= record.status == journal::FitStatus::failed;
  }
  std::map<LaneKey, Lane> lanes;
  for (const auto& [key, of_device] : bars) {
    Lane& lane = lanes[key];
    lane.device = key.second;
    std::vector<Span> spans;
    for (const auto& [when, bar] : of_device) {
      lane.bars.push_back(bar);
      spans.push_back(bar.span);
    }
    for (const Span& span : united(spans)) {
      lane.busy += span.end - span.start;
      all.push_back(span);
    }
  }
  for (auto& [key, lane] : lanes) {
    lane.label = view.nodes > 1 ? fmt::format("{} · {}", key.first, key.second) : key.second;
    for (const DeviceUse& use : view.devices) {
      if (use.node == key.first && use.id == key.second) lane.label += "  " + use.name;
    }
  }
  return lanes;
}

// Time without the long gaps between the sessions of a run, which would squeeze the work into slivers.
class Clock {
 public:
  explicit Clock(const std::vector<Span>& working) {
    double total = 0;
    for (const Span& span : working) total += span.end - span.start;
    std::vector<double> gaps;
    for (size_t i = 1; i < working.size(); ++i) gaps.push_back(working[i].start - working[i - 1].end);
    std::sort(gaps.rbegin(), gaps.rend());
    double least = std::max(30.0, 0.2 * total);
    if (gaps.size() > kMaxGaps) least = std::max(least, gaps[kMaxGaps]);
    for (const Span& span : working) {
      if (!sessions_.empty() && span.start - sessions_.back().end <= least)
        sessions_.back().end = span.end;
      else
        sessions_.push_back(span);
    }
    for (const Span& session : sessions_) length_ += session.end - session.start;
    const double gap_px = kGapWidth * static_cast<double>(sessions_.size() - 1);
    per_second_ = length_ > 0 ? (kRight - kLeft - gap_px) / length_ : 0;
  }

  double length() const { return length_; }
  const std::vector<Span>& sessions() const { return sessions_; }

  double at(double time) const {
    double x = kLeft;
    for (const Span& session : sessions_) {
      if (time <= session.end) return x + std::max(0.0, time - session.start) * per_second_;
      x += (session.end - session.start) * per_second_ + kGapWidth;
    }
    return kRight;
  }

  // px of a moment in seconds of work since the start.
  double at_worked(double worked) const {
    double x = kLeft;
    for (const Span& session : sessions_) {
      const double size = session.end - session.start;
      if (worked <= size) return x + worked * per_second_;
      worked -= size;
      x += size * per_second_ + kGapWidth;
    }
    return kRight;
  }

 private:
  std::vector<Span> sessions_;
  double length_ = 0, per_second_ = 0;
};

// 1-2-5 steps below a minute, then the steps of a clock.
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
  if (step >= 86400) return fmt::format("{} d", pretty(seconds / 86400, 3));
  if (step >= 3600) return fmt::format("{} h", pretty(seconds / 3600, 3));
  if (step >= 60) {
    const auto minutes = static_cast<long long>(std::llround(seconds / 60));
    return minutes < 60 ? fmt::format("{} min", minutes) : fmt::format("{}:{:02} h", minutes / 60, minutes % 60);
  }
  return seconds < 60
             ? fmt::format("{} s", pretty(seconds, 4))
             : fmt::format("{}:{:02} min", static_cast<int>(seconds + 0.5) / 60, static_cast<int>(seconds + 0.5) % 60);
}

// Bars too narrow to be seen alone join the one before, so that a million fits stay a small picture.
void draw_bars(Svg& svg, const Lane& lane, const Clock& clock, double y) {
  const auto flush = [&](double x0, double x1, const Bar& bar, size_t bundles, size_t index) {
    const std::string what = bundles > 1 ? fmt::format("{} bundles", bundles) : fmt::format("bundle {}", bar.bundle);
    const std::string title = fmt::format("{}, {} fit{}, {}", what, bar.fits, bar.fits == 1 ? "" : "s",
                                          seconds_text(bar.span.end - bar.span.start));
    const double seam = x1 - x0 > 3 ? 0.75 : 0;
    svg.rect(x0, y, std::max(0.6, x1 - x0 - seam), kBar, bar.failed ? "bad" : index % 2 == 0 ? "bar" : "alt", title);
  };
  size_t index = 0, bundles = 0;
  double from = 0, to = 0;
  Bar joined;
  for (const Bar& bar : lane.bars) {
    const double x0 = clock.at(bar.span.start), x1 = clock.at(bar.span.end);
    const bool joins = bundles > 0 && joined.failed == bar.failed && x0 - to < 0.5 && std::max(x1, to) - from < 2;
    if (joins) {
      joined.fits += bar.fits;
      joined.span.end = std::max(joined.span.end, bar.span.end);
      to = std::max(to, x1), ++bundles;
      continue;
    }
    if (bundles > 0) flush(from, to, joined, bundles, index++);
    joined = bar, from = x0, to = x1, bundles = 1;
  }
  if (bundles > 0) flush(from, to, joined, bundles, index);
}

void draw_time_axis(Svg& svg, const Clock& clock, double bottom) {
  const double step = time_step(clock.length());
  for (int i = 0; i * step <= clock.length() * (1 + 1e-9); ++i) {
    const double x = clock.at_worked(i * step);
    svg.line(x, kTop, x, bottom, "grid");
    svg.text(x, bottom + 16, time_label(i * step, step), "mid");
  }
  const auto& sessions = clock.sessions();
  for (size_t s = 1; s < sessions.size(); ++s) {
    const double x = clock.at(sessions[s].start) - kGapWidth / 2;
    svg.line(x, kTop, x, bottom, "gap");
    svg.text(x, kTop - 8, fmt::format("{} later", seconds_text(sessions[s].start - sessions[s - 1].end)), "mid");
  }
}

}  // namespace

std::string gantt(const RunView& view) {
  std::vector<Span> all;
  const auto lanes = lanes_of(view, all);
  if (lanes.empty()) return {};
  const Clock clock(united(std::move(all)));
  if (!(clock.length() > 0)) return {};
  const size_t rows = std::min(lanes.size(), kMaxRows);
  const double bottom = kTop + kRow * static_cast<double>(rows);
  const bool cut = lanes.size() > rows;
  Svg svg(kWidth, bottom + (cut ? 48 : 28), "What every device did when");
  draw_time_axis(svg, clock, bottom);
  svg.text(kWidth - 16, kTop - 8, "busy", "end");
  double y = kTop + (kRow - kBar) / 2;
  size_t row = 0;
  for (const auto& [key, lane] : lanes) {
    if (row++ == rows) break;
    svg.open("lane", clean(lane.label));
    svg.text(kLeft - 12, y + 13, elide(lane.label, 30), "end strong");
    for (const Span& session : clock.sessions()) {
      const double x = clock.at(session.start);
      svg.rect(x, y, clock.at(session.end) - x, kBar, "track");
    }
    svg.close();
    draw_bars(svg, lane, clock, y);
    svg.text(kWidth - 16, y + 13, fmt::format("{:.1f} %", 100 * lane.busy / clock.length()), "end strong");
    y += kRow;
  }
  if (cut) svg.text(kLeft, bottom + 38, fmt::format("{} more devices are not drawn", lanes.size() - rows), "");
  return std::move(svg).finish();
}

}  // namespace mokume::report
