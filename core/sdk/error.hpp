// Errors inside a library or the program are exceptions of one type. At the boundary, guard() turns them into a status
// and a message, and check() turns these back into exceptions.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "abi/status.h"

namespace mokume {

// A failure with the status that crosses the boundary, and one sentence with the place and the cure.
class Error : public std::runtime_error {
 public:
  Error(mk_status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  mk_status status() const noexcept { return status_; }

 private:
  mk_status status_;
};

namespace sdk {

inline int32_t fail(mk_error* error, mk_status status, std::string_view text) noexcept {
  if (error != nullptr) {
    error->code = status;
    const size_t n = std::min(text.size(), sizeof(error->text) - 1);
    std::memcpy(error->text, text.data(), n);
    error->text[n] = '\0';
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
    return fail(error, e.status(), e.what());
  } catch (const std::bad_alloc&) {
    return fail(error, MK_OUT_OF_MEMORY, "out of host memory");
  } catch (const std::exception& e) {
    return fail(error, MK_INTERNAL, e.what());
  } catch (...) {
    return fail(error, MK_INTERNAL, "an exception of unknown type");
  }
}

// Returns the exception that is being handled as an Error. Call it in a catch block.
inline Error current_error() {
  try {
    throw;
  } catch (const Error& e) {
    return e;
  } catch (const std::bad_alloc&) {
    return {MK_OUT_OF_MEMORY, "out of host memory"};
  } catch (const std::exception& e) {
    return {MK_INTERNAL, e.what()};
  } catch (...) {
    return {MK_INTERNAL, "an exception of unknown type"};
  }
}

// Throws the error reported by a call across the boundary. Truncates a text without an end.
inline void check(int32_t status, const mk_error& error) {
  if (status == MK_OK) return;
  const char* const end = std::find(&error.text[0], &error.text[0] + sizeof(error.text), '\0');
  throw Error(static_cast<mk_status>(status), std::string(&error.text[0], end));
}

// Calls a boundary function whose last parameter is mk_error*. Throws if it fails.
template <class Function, class... Arguments>
void call(Function function, Arguments... arguments) {
  mk_error error{MK_OK, {}};
  check(function(arguments..., &error), error);
}

}  // namespace sdk
}  // namespace mokume
