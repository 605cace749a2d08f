// Defines the exception for all errors inside a library or the program. At the boundary, guard() turns exceptions into
// a status and a message, and check() turns these back into exceptions.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "abi/status.h"

namespace mokume {

// Reports a failure with the status that crosses the boundary, and one sentence with the place and the cure. Holds the
// source line that threw it, for logs.
class Error : public std::runtime_error {
 public:
  // Returns the line of the caller, also as a default argument, because clang 14 lacks std::source_location.
  [[gnu::noinline]] static std::string here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return file + (":" + std::to_string(line));
  }

  Error(mk_status status, const std::string& text, std::string thrown_at = here())
      : std::runtime_error(text), status_(status), thrown_at_(std::move(thrown_at)) {}
  mk_status status() const noexcept { return status_; }
  // Returns "FILE:LINE", or "" if the error comes from a library that does not tell.
  const std::string& thrown_at() const noexcept { return thrown_at_; }

 private:
  mk_status status_;
  std::string thrown_at_;
};

namespace sdk {

// Marks the place in mk_error::text, after the end of the message.
inline constexpr char kPlaceMark = '\1';

// Writes a status and a message into `error`, and `thrown_at` into the rest of the text if there is room.
inline int32_t fail(mk_error* error, mk_status status, std::string_view text,
                    std::string_view thrown_at = {}) noexcept {
  if (error != nullptr) {
    error->code = status;
    const size_t n = std::min(text.size(), sizeof(error->text) - 1);
    char* const end = std::copy_n(text.data(), n, &error->text[0]);
    const size_t left = sizeof(error->text) - n;
    std::memset(end, 0, left);
    if (!thrown_at.empty() && thrown_at.size() + 3 <= left) {
      end[1] = kPlaceMark;
      std::copy_n(thrown_at.data(), thrown_at.size(), end + 2);
    }
  }
  return status;
}

// Runs `body` at the boundary, and turns any exception into a status and a message.
template <class Body>
int32_t guard(mk_error* error, Body&& body) noexcept {
  try {
    body();
    return MK_OK;
  } catch (const Error& e) {
    return fail(error, e.status(), e.what(), e.thrown_at());
  } catch (const std::bad_alloc&) {
    return fail(error, MK_OUT_OF_MEMORY, "out of host memory");
  } catch (const std::exception& e) {
    return fail(error, MK_INTERNAL, e.what());
  } catch (...) {
    return fail(error, MK_INTERNAL, "an exception of unknown type");
  }
}

// Converts the exception that is being handled into an Error. Only a catch block may call this function.
inline Error current_error() {
  try {
    throw;
  } catch (const Error& e) {
    return e;
  } catch (const std::bad_alloc&) {
    return {MK_OUT_OF_MEMORY, "out of host memory", ""};
  } catch (const std::exception& e) {
    return {MK_INTERNAL, e.what(), ""};
  } catch (...) {
    return {MK_INTERNAL, "an exception of unknown type", ""};
  }
}

// Throws the error that a call across the boundary reported, if any. Truncates a text without an end.
inline void check(int32_t status, const mk_error& error) {
  if (status == MK_OK) return;
  const char* const last = &error.text[0] + sizeof(error.text);
  const char* const end = std::find(&error.text[0], last, '\0');
  std::string thrown_at;
  if (last - end > 2 && end[1] == kPlaceMark) thrown_at.assign(end + 2, std::find(end + 2, last, '\0'));
  throw Error(static_cast<mk_status>(status), std::string(&error.text[0], end), std::move(thrown_at));
}

// Calls a boundary function whose last parameter is mk_error*. Throws if it fails.
template <class Function, class... Arguments>
void call(Function function, Arguments... arguments) {
  mk_error error{MK_OK, {}};
  check(function(arguments..., &error), error);
}

}  // namespace sdk
}  // namespace mokume
