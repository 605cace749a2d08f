#include "base/log.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/files.hpp"
#include "base/text.hpp"
#include "sdk/storage.hpp"

namespace mokume::base {
namespace {

const char* word_of(mk_log_level level) {
  switch (level) {
    case MK_LOG_DEBUG:
      return "debug";
    case MK_LOG_INFO:
      return "info";
    case MK_LOG_NOTE:
      return "note";
    case MK_LOG_WARNING:
      return "warning";
    default:
      return "error";  // libraries may pass unknown levels; their messages must be shown
  }
}

// Device names and driver messages must not control the terminal.
std::string log_text(const std::string& text) {
  std::string result = without_controls(text, "\n\t");
  while (!result.empty() && result.back() == '\n') result.pop_back();
  return result;
}

// Returns the local time with its offset from UTC, e.g. 2026-11-27T09:05:00.042+01:00.
std::string timestamp() {
  using namespace std::chrono;
  const auto now = system_clock::now();
  const std::tm local = fmt::localtime(system_clock::to_time_t(now));
  const long minutes = local.tm_gmtoff / 60;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}{}{:02}:{:02}", local,
                     duration_cast<milliseconds>(now.time_since_epoch()).count() % 1000, minutes < 0 ? '-' : '+',
                     std::abs(minutes) / 60, std::abs(minutes) % 60);
}

}  // namespace

struct Log::State {
  std::mutex mutex;
  FileDescriptor file;
  mk_log_level level = MK_LOG_NOTE;
  void (*before)(void*) = nullptr;
  void (*after)(void*) = nullptr;
  void* context = nullptr;
  std::function<void(mk_log_level, const std::string&)> listener;

  void to_console(const std::string& words) {
    if (before != nullptr) before(context);
    const std::string line = "mokume: " + words + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
    if (after != nullptr) after(context);
  }

  void to_file(const std::string& words) {
    if (write_all(file.get(), timestamp() + " " + words + "\n")) return;
    const int cause = errno;
    // A full disk must not stop the run here, and must not be reported once per line.
    file = FileDescriptor();
    to_console("error: no longer writing the log file: " + std::generic_category().message(cause));
  }
};

Log::Log() : state_(new State) {}

Log::~Log() { delete state_; }

void Log::write(mk_log_level level, const std::string& source, const std::string& text) {
  const std::string line = log_text(source.empty() || source == "mokume" ? text : source + ": " + text);
  const std::string words = word_of(level) + (": " + line);
  const std::lock_guard lock(state_->mutex);
  if (level >= state_->level) state_->to_console(words);
  if (level >= state_->level && state_->listener) state_->listener(level, line);
  if (state_->file.get() >= 0 && level >= MK_LOG_INFO) state_->to_file(words);
}

void Log::set_level(mk_log_level level) {
  const std::lock_guard lock(state_->mutex);
  state_->level = level;
}

void Log::open_file(const Below& place) {
  if (const size_t slash = place.name.rfind('/'); slash != std::string::npos)
    make_directories({place.root, place.name.substr(0, slash)});
  FileDescriptor opened = open_below(place, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (opened.get() < 0) throw sdk::storage_error(fmt::format("open the log file '{}'", place.path()), errno);
  const std::lock_guard lock(state_->mutex);
  state_->file = std::move(opened);
}

void Log::set_listener(std::function<void(mk_log_level, const std::string& line)> listener) {
  const std::lock_guard lock(state_->mutex);
  state_->listener = std::move(listener);
}

void Log::set_around(void (*before)(void*), void (*after)(void*), void* context) {
  const std::lock_guard lock(state_->mutex);
  state_->before = before;
  state_->after = after;
  state_->context = context;
}

}  // namespace mokume::base
