#include "base/log.hpp"

#include <fcntl.h>
#include <spdlog/details/log_msg.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <memory>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "sdk/error.hpp"

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
      return "error";  // libraries may pass unknown levels; such a message must be shown
  }
}

// Device names and driver messages must not control the terminal.
std::string log_text(const std::string& text) {
  std::string result = without_controls(text, "\n\t");
  while (!result.empty() && result.back() == '\n') result.pop_back();
  return result;
}

// Replaces spdlog's own file sink, which opens a path through symbolic links.
class FileSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit FileSink(FileDescriptor file) : file_(std::move(file)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    std::string_view text(line.data(), line.size());
    while (!text.empty()) {
      const ssize_t n = ::write(file_.get(), text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw std::system_error(errno, std::generic_category());
      text.remove_prefix(static_cast<size_t>(n));
    }
  }
  void flush_() override {}

  FileDescriptor file_;
};

}  // namespace

struct Log::State {
  std::mutex mutex;
  spdlog::sinks::stderr_sink_st console;
  std::unique_ptr<spdlog::sinks::sink> file;
  mk_log_level level = MK_LOG_NOTE;
  void (*before)(void*) = nullptr;
  void (*after)(void*) = nullptr;
  void* context = nullptr;
  std::function<void(mk_log_level, const std::string&)> listener;

  void to_console(const spdlog::details::log_msg& message) {
    if (before != nullptr) before(context);
    console.log(message);
    console.flush();
    if (after != nullptr) after(context);
  }

  void to_file(const spdlog::details::log_msg& message) {
    try {
      file->log(message);
    } catch (const std::exception& e) {
      // A full disk must neither stop the run here nor cause a message for every line.
      file.reset();
      const std::string text = std::string("error: no longer writing the log file: ") + e.what();
      to_console({"mokume", spdlog::level::err, text});
    }
  }
};

Log::Log() : state_(new State) { state_->console.set_pattern("mokume: %v"); }

Log::~Log() { delete state_; }

void Log::write(mk_log_level level, const std::string& source, const std::string& text) {
  const std::string line = log_text(source.empty() || source == "mokume" ? text : source + ": " + text);
  const std::string words = word_of(level) + (": " + line);
  const spdlog::details::log_msg message("mokume", spdlog::level::info, words);
  const std::lock_guard lock(state_->mutex);
  if (level >= state_->level) state_->to_console(message);
  if (level >= state_->level && state_->listener) state_->listener(level, line);
  if (state_->file && level >= MK_LOG_INFO) state_->to_file(message);
}

void Log::set_level(mk_log_level level) {
  const std::lock_guard lock(state_->mutex);
  state_->level = level;
}

void Log::open_file(const Below& place) {
  if (const size_t slash = place.name.rfind('/'); slash != std::string::npos)
    make_directories({place.root, place.name.substr(0, slash)});
  FileDescriptor opened = open_below(place, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (opened.get() < 0)
    throw Error(MK_STORAGE,
                fmt::format("cannot open the log file '{}': {}", place.path(), std::generic_category().message(errno)));
  auto file = std::make_unique<FileSink>(std::move(opened));
  file->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %v");
  const std::lock_guard lock(state_->mutex);
  state_->file = std::move(file);
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
