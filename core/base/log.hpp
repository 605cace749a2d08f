// Writes the program's log to stderr and, once a run directory exists, to a file.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>

#include "abi/host.h"
#include "base/below.hpp"
#include "sdk/error.hpp"

namespace mokume::base {

// All functions are thread-safe. The owner passes the log down, so that no log is global.
class Log {
 public:
  Log();
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void write(mk_log_level level, const std::string& source, const std::string& text);
  void set_level(mk_log_level level);  // for stderr, NOTE by default; the file receives INFO and above
  void open_file(const Below& place);  // appends to an existing file; creates missing directories
  // Sets functions to call before and after each line on stderr, which clear and redraw a progress display.
  void set_around(void (*before)(void*), void (*after)(void*), void* context);

  // Sets a function that receives every line written to stderr, on the thread that writes it.
  void set_listener(std::function<void(mk_log_level, const std::string& line)> listener);

  void info(const std::string& source, const std::string& text) { write(MK_LOG_INFO, source, text); }
  void warn(const std::string& source, const std::string& text) { write(MK_LOG_WARNING, source, text); }
  // Logs, at level INFO, which line of the source threw the error. Does not log the message of the error.
  void place(const std::string& source, const Error& error) {
    if (!error.thrown_at().empty()) info(source, "the error was thrown at " + error.thrown_at());
  }

 private:
  struct State;
  State* state_;
};

}  // namespace mokume::base
