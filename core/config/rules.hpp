// The rules between keys, each of which is valid alone.
#pragma once

#include "config/reading.hpp"

namespace mokume::config {

void check_data(Reading& reading);
void check_validation(Reading& reading);
void check_search(Reading& reading);

}  // namespace mokume::config
