// Explains for `mokume explain` why a fit waits, moved or failed, and which problems a run had. Returns whole lines.
#pragma once

#include <string>

#include "inspect/inspect.hpp"

namespace mokume::inspect {

// Accepts "17" (the id of a fit or refit), "3,2" (candidate, fold), "3,0,2" (candidate, bootstrap, fold), "refit" and
// "refit,4" (the refit of a bootstrap). Throws Error(MK_INVALID_ARGUMENT), which lists the valid ids.
uint32_t parse_fit(const search::Plan& plan, const std::string& text);

// Explains one fit or refit: where it ran or why it waits, failed or moved attempts, and other devices that computed
// it.
std::string explain_fit(const Inspection& run, uint32_t fit);

// Explains the whole run: retired devices, lost nodes, failed fits and refits, repeats.
std::string explain_run(const Inspection& run);

}  // namespace mokume::inspect
