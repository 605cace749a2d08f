// Judges a result that was computed again.
#pragma once

#include <string>

#include "verify/recompute.hpp"

namespace mokume::app {

// `within` is possible only between device classes with fast numerics, and `failed` if there is no new result.
enum class Verdict { equal, within, differs, failed };

struct Judged {
  Verdict verdict = Verdict::equal;
  std::string text;  // such as "equal" or "differs: errors 12, recorded 11"
};

Judged judge(const RecordedFits& fits, const journal::FitRecord& again);

// Names the first part of a result in which a new record differs from the recorded one. Returns "" if none does.
std::string difference_text(const results::RunView& view, const journal::FitRecord& again,
                            const journal::FitRecord& recorded);

}  // namespace mokume::app
