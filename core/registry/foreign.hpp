// Calls functions of a library that must not throw, but may.
#pragma once

#include <string>

#include "sdk/error.hpp"

namespace mokume::registry {

// Like sdk::call(), but an exception that the function lets out becomes an Error(MK_DEVICE_ERROR), which names the
// function: it must not look like a fault of this program.
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
