// Rules that involve several keys, each of which is valid on its own.
#pragma once

#include "config/reading.hpp"

namespace mokume::config {

void check_data(Reading& reading);
void check_validation(Reading& reading);
void check_search(Reading& reading);

}  // namespace mokume::config
