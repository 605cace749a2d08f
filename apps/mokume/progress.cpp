#include "progress.hpp"

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

// Names of devices and what a model says it does come from libraries.
void put(const std::string& text) { put_raw(base::without_controls(text, "\n")); }

}  // namespace

Progress::Progress(bool terminal, bool quiet)
    : terminal_(terminal), quiet_(quiet), start_(Clock::now()), last_draw_(start_), last_line_(start_) {}

Progress::~Progress() { clear(); }

void Progress::phase(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (quiet_) return;
  clear();
  put(clean_lines("mokume: " + text + "\n"));
  if (fitting_) draw();
}

void Progress::begin_fits(const run::FitCounts& total, const run::FitCounts& done) {
  const std::lock_guard lock(mutex_);
  counts_ = total;
  refits_done_ = done.refits;
  total_ = total.fits + total.refits;
  done_ = done.fits + done.refits;
  fitting_ = true;
  start_ = last_line_ = Clock::now();
  last_share_ = total_ == 0 ? 1 : static_cast<double>(done_) / static_cast<double>(total_);
}

void Progress::best(const std::string& text) {
  const std::lock_guard lock(mutex_);
  best_ = "best so far: " + text;
}

void Progress::fit_done(const journal::FitRecord& record) {
  const std::lock_guard lock(mutex_);
  const bool failed = record.status == journal::FitStatus::failed;
  ++done_;
  if (record.fit >= counts_.fits) ++refits_done_;
  failed_ += failed ? 1 : 0;
}

void Progress::device(uint32_t node, const std::string& id, const std::string& name, const std::string& what,
                      double share) {
  const std::lock_guard lock(mutex_);
  devices_[{node, id}] = {name, what, share};
}

void Progress::time_left(std::optional<double> seconds) {
  const std::lock_guard lock(mutex_);
  end_.reset();
  if (seconds)
    end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds));
}

void Progress::end_fits() {
  const std::lock_guard lock(mutex_);
  clear();
  fitting_ = false;
  devices_.clear();
}

void Progress::tick() {
  const std::lock_guard lock(mutex_);
  if (quiet_ || !fitting_) return;
  const auto now = Clock::now();
  if (terminal_) {
    if (now - last_draw_ < kRedraw) return;
    last_draw_ = now;
    clear();
    draw();
    return;
  }
  const bool enough = share() - last_share_ >= kPlainShare && now - last_line_ >= kPlainPause;
  if (!enough && now - last_line_ < kPlainLine) return;
  last_line_ = now;
  last_share_ = share();
  put("mokume: " + total_line() + "\n");
  if (!best_.empty()) put("mokume:   " + best_ + "\n");
  size_t lines = 0;
  for (const auto& [key, device] : devices_)
    if (!device.what.empty() && ++lines <= kMaxPlainDevices)
      put(fmt::format("mokume:   {}/{} {}  {}\n", key.first, key.second, device.what, device.name));
}

double Progress::share() const {
  if (total_ == 0) return 1;
  double done = static_cast<double>(done_);
  for (const auto& [key, device] : devices_) done += device.share;
  return std::min(1.0, done / static_cast<double>(total_));
}

std::string Progress::eta() const {
  if (!end_) return "ETA unknown";
  const double left = std::chrono::duration<double>(*end_ - Clock::now()).count();
  return "ETA " + base::human_seconds(std::max(0.0, left));
}

std::string Progress::total_line() const {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  std::string counts;
  if (counts_.fits > 0) counts = fmt::format("{}/{} fits  ", done_ - refits_done_, counts_.fits);
  if (counts_.refits > 1 || counts_.fits == 0) counts += fmt::format("{}/{} refits  ", refits_done_, counts_.refits);
  std::string line = fmt::format("{:3.0f} %  {}{}  {}", share() * 100, counts, base::human_seconds(elapsed),
                                 done_ == total_ ? "" : eta());
  if (failed_ > 0) line += fmt::format("  {} failed", failed_);
  return line;
}

void Progress::draw() {
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
  if (!best_.empty()) {
    out += "  " + best_.substr(0, width - 2) + "\n";
    ++lines;
  }
  put(out);
  drawn_lines_ = lines;
}

void Progress::clear() {
  if (drawn_lines_ == 0) return;
  put_raw(fmt::format("\x1b[{}A\x1b[J", drawn_lines_));
  drawn_lines_ = 0;
}

void Progress::before_log(void* self) {
  auto* progress = static_cast<Progress*>(self);
  progress->mutex_.lock();
  progress->clear();
}

void Progress::after_log(void* self) {
  auto* progress = static_cast<Progress*>(self);
  if (progress->fitting_) progress->draw();
  progress->mutex_.unlock();
}

}  // namespace mokume::app
