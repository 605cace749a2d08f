// Calls functions of a library that must not throw, but may do so.
#pragma once

#include <string>

#include "sdk/error.hpp"

namespace mokume::registry {

// Calls a function as sdk::call() does, but turns an exception into an Error(MK_DEVICE_ERROR) that names the function,
// so that nobody attributes the problem to this program.
template <class Function, class... Arguments>
void call_foreign(const char* name, Function function, Arguments... arguments) {
  mk_error error{MK_OK, {}}, thrown{MK_OK, {}};
  int32_t status = MK_OK;
  if (sdk::guard(&thrown, [&] { status = function(arguments..., &error); }) != MK_OK)
    throw Error(MK_DEVICE_ERROR, std::string("its ") + name + " function threw \"" + &thrown.text[0] +
                                     "\": report this to the author of the backend");
  sdk::check(status, error);
}

}  // namespace mokume::registry
