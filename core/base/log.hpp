// The program's log: stderr, and a file once a run directory exists. Thread-safe.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>

#include "abi/host.h"
#include "base/below.hpp"
#include "sdk/error.hpp"

namespace mokume::base {

// Owned by main() and passed down; never global.
class Log {
 public:
  Log();
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void write(mk_log_level level, const std::string& source, const std::string& text);
  void set_level(mk_log_level level);  // for stderr, NOTE by default; the file receives all levels from INFO
  void open_file(const Below& place);  // appends to the file; creates directories
  // A hook that clears and redraws a progress display around each line on stderr.
  void set_around(void (*before)(void*), void (*after)(void*), void* context);

  // Sets a function that receives every line written to stderr, from any thread.
  void set_listener(std::function<void(mk_log_level, const std::string& line)> listener);

  void info(const std::string& source, const std::string& text) { write(MK_LOG_INFO, source, text); }
  void warn(const std::string& source, const std::string& text) { write(MK_LOG_WARNING, source, text); }
  // Logs which line of the source threw an error, for the file and --verbose, but not its message.
  void place(const std::string& source, const Error& error) {
    if (!error.thrown_at().empty()) info(source, "the error was thrown at " + error.thrown_at());
  }

 private:
  struct State;
  State* state_;
};

}  // namespace mokume::base
