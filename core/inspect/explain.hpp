// Explains for `mokume explain` why a fit waits, moved or failed, and which problems a run had. Returns whole lines.
#pragma once

#include <string>

#include "inspect/inspect.hpp"

namespace mokume::inspect {

// Returns the id that a text stands for: "17" (an id), "3,2" (candidate, fold), "3,0,2" (candidate, bootstrap, fold),
// "refit" or "refit,4" (the refit of a bootstrap). Throws Error(MK_INVALID_ARGUMENT), which lists the valid ids.
uint32_t parse_fit(const search::Plan& plan, const std::string& text);

// Explains where a fit or refit ran or why it waits, which attempts failed or moved, and which other devices ran it.
std::string explain_fit(const Inspection& run, uint32_t fit);

// Lists the problems of a run: retired devices, lost nodes, failed fits and refits, moved attempts, and repeats.
std::string explain_run(const Inspection& run);

}  // namespace mokume::inspect
