#include "terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/text.hpp"

namespace mokume::app {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(200);
constexpr auto kPlainLine = std::chrono::seconds(30);
constexpr double kPlainShare = 0.05;
constexpr auto kPlainPause = std::chrono::seconds(5);
constexpr size_t kMaxDeviceLines = 16;
constexpr size_t kMaxPlainDevices = 4;

std::string bar(double share, int width) {
  const int full = static_cast<int>(std::clamp(share, 0.0, 1.0) * width + 0.5);
  return std::string(static_cast<size_t>(full), '#') + std::string(static_cast<size_t>(width - full), '.');
}

size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

std::string clean_lines(const std::string& text) { return base::without_controls(text, "\n"); }

void put_raw(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

// Removes control characters, because libraries choose the names of devices and the descriptions of models.
void put(const std::string& text) { put_raw(base::without_controls(text, "\n")); }

}  // namespace

Terminal::Terminal(Runtime& runtime, StopWatch& watch, bool quiet)
    : ProcessFrontend(runtime, watch),
      terminal_(isatty(STDERR_FILENO) != 0),
      quiet_(quiet),
      start_(Clock::now()),
      last_draw_(start_),
      last_line_(start_) {}

Terminal::~Terminal() { clear(); }

void Terminal::phase(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (quiet_) return;
  clear();
  put(clean_lines("mokume: " + text + "\n"));
  if (fitting_) redraw();
}

void Terminal::begin_fits(const run::FitsStart& start) {
  const std::lock_guard lock(mutex_);
  ProcessFrontend::begin_fits(start);
  status_ = &start.status;
  fits_ = plan_.n_computed();
  refits_ = plan_.n_slots() - plan_.n_fits();
  done_ = start.done.size();
  refits_done_ = static_cast<uint64_t>(std::count_if(
      start.done.begin(), start.done.end(), [&](const journal::FitRecord& one) { return plan_.is_refit(one.fit); }));
  if (best_->best()) best_text_ = "best so far: " + best_->text();
  fitting_ = true;
  start_ = last_line_ = Clock::now();
  last_share_ = share();
}

void Terminal::fit_done(const journal::FitRecord& record) {
  const std::lock_guard lock(mutex_);
  ++done_;
  if (plan_.is_refit(record.fit)) ++refits_done_;
  failed_ += record.status == journal::FitStatus::failed ? 1 : 0;
  if (best_->add(record)) best_text_ = "best so far: " + best_->text();
  show_time_left();
  show_if_due();
}

void Terminal::device_state(uint32_t node, uint32_t device, const std::string& what, double share) {
  const std::lock_guard lock(mutex_);
  const cluster::LocalDevice& info = nodes_.at(node).at(device);
  devices_[{node, info.id}] = {info.name, what, share};
  show_time_left();
  show_if_due();
}

void Terminal::show_time_left() {
  end_.reset();
  if (const auto seconds = status_->seconds_left())
    end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds));
}

void Terminal::end_fits() {
  const std::lock_guard lock(mutex_);
  clear();
  fitting_ = false;
  devices_.clear();
}

void Terminal::show_if_due() {
  if (quiet_ || !fitting_) return;
  const auto now = Clock::now();
  if (terminal_) {
    if (now - last_draw_ < kRedraw) return;
    last_draw_ = now;
    clear();
    redraw();
    return;
  }
  const bool enough = share() - last_share_ >= kPlainShare && now - last_line_ >= kPlainPause;
  if (!enough && now - last_line_ < kPlainLine) return;
  last_line_ = now;
  last_share_ = share();
  put("mokume: " + total_line() + "\n");
  if (!best_text_.empty()) put("mokume:   " + best_text_ + "\n");
  size_t lines = 0;
  for (const auto& [key, device] : devices_)
    if (!device.what.empty() && ++lines <= kMaxPlainDevices)
      put(fmt::format("mokume:   {}/{} {}  {}\n", key.first, key.second, device.what, device.name));
}

double Terminal::share() const {
  if (total() == 0) return 1;
  double done = static_cast<double>(done_);
  for (const auto& [key, device] : devices_) done += device.share;
  return std::min(1.0, done / static_cast<double>(total()));
}

std::string Terminal::eta() const {
  if (!end_) return "ETA unknown";
  const double left = std::chrono::duration<double>(*end_ - Clock::now()).count();
  return "ETA " + base::human_seconds(std::max(0.0, left));
}

std::string Terminal::total_line() const {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  std::string counts;
  if (fits_ > 0) counts = fmt::format("{}/{} fits  ", done_ - refits_done_, fits_);
  if (refits_ > 1 || fits_ == 0) counts += fmt::format("{}/{} refits  ", refits_done_, refits_);
  std::string line = fmt::format("{:3.0f} %  {}{}  {}", share() * 100, counts, base::human_seconds(elapsed),
                                 done_ == total() ? "" : eta());
  if (failed_ > 0) line += fmt::format("  {} failed", failed_);
  return line;
}

void Terminal::redraw() {
  if (quiet_ || !terminal_) return;
  const size_t width = terminal_width() - 1;
  std::string out;
  int lines = 0;
  for (const auto& [key, device] : devices_) {
    if (static_cast<size_t>(lines) == kMaxDeviceLines) break;
    const std::string line =
        fmt::format("  {}/{:<12} [{}] {}  {}", key.first, key.second, bar(device.share, 20), device.what, device.name);
    out += line.substr(0, width) + "\n";
    ++lines;
  }
  out += fmt::format("[{}] {}", bar(share(), 30), total_line()).substr(0, width) + "\n";
  ++lines;
  if (!best_text_.empty()) {
    out += "  " + best_text_.substr(0, width - 2) + "\n";
    ++lines;
  }
  put(out);
  drawn_lines_ = lines;
}

void Terminal::clear() {
  if (drawn_lines_ == 0) return;
  put_raw(fmt::format("\x1b[{}A\x1b[J", drawn_lines_));
  drawn_lines_ = 0;
}

void Terminal::before_log(void* self) {
  auto* progress = static_cast<Terminal*>(self);
  progress->mutex_.lock();
  progress->clear();
}

void Terminal::after_log(void* self) {
  auto* progress = static_cast<Terminal*>(self);
  if (progress->fitting_) progress->redraw();
  progress->mutex_.unlock();
}

}  // namespace mokume::app
