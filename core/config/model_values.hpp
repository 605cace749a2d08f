// The tables whose keys the model defines: [model_options] and [search.params].
#pragma once

#include "config/parse.hpp"
#include "config/reading.hpp"

namespace mokume::config {

// Reads both tables into the config and fills in defaults: the model's, or for a run the values that keep its
// behaviour. Without a schema it only checks the notation of [search.params].
void read_model_values(Reading& reading, Origin origin);

}  // namespace mokume::config
