// Decides which candidates successive halving keeps from one rung to the next (Jamieson and Talwalkar, AISTATS 2016).
#pragma once

#include <cstddef>
#include <vector>

namespace mokume::search {

// Says what is known about a candidate in a rung.
struct InRung {
  // A pending candidate has no result yet. A begun one has the results of some fits.
  enum class State { pending, begun, done, dropped } state = State::pending;
  double loss = 0;  // if the candidate is done; smaller is better, infinity if a fit failed
};

// Returns whether each candidate is done or dropped.
bool is_complete(const std::vector<InRung>& rung);

// Returns for each candidate whether a rung of `most` candidates keeps it: the best ones of the rung before, which is
// complete, and between equal losses the first one. What is recorded is final: candidates that are begun or done in the
// rung `now` are kept, and dropped ones are not.
std::vector<bool> kept(const std::vector<InRung>& before, const std::vector<InRung>& now, std::size_t most);

}  // namespace mokume::search
