// Reads the tables whose keys the model defines: [model_options] and [search.params].
#pragma once

#include "config/parse.hpp"
#include "config/reading.hpp"

namespace mokume::config {

// Reads both tables into the config and fills in the model's defaults or, for a run, the values that preserve the run's
// behaviour. Without a schema, only checks the notation of [search.params].
void read_model_values(Reading& reading, Origin origin);

}  // namespace mokume::config
