// Proposes the trials of a search, for bench/trials/trials.py, which knows the losses.
//
//   bench_trials TRIALS AT_ONCE CANDIDATES SEED < spaces, then losses > values
//
// The first line of the input is a JSON list of the parameters: a pair of numbers is a uniform one, a longer list holds
// values. Each line of the output holds the values of one trial; each further line of the input holds its loss.
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "search/plan.hpp"
#include "search/trials.hpp"

namespace mokume::bench {
namespace {

std::vector<search::Space> read_spaces(const nlohmann::json& list) {
  std::vector<search::Space> spaces;
  for (const nlohmann::json& one : list) {
    search::Space space;
    space.name = fmt::format("p{}", spaces.size());
    if (one.size() == 2 && one[0].is_number()) {
      space.kind = search::Space::Kind::real_uniform;
      space.low = one[0], space.high = one[1];
    } else {
      for (const nlohmann::json& value : one)
        space.values.push_back(value.is_number() ? search::Value(value.get<double>())
                                                 : search::Value(value.get<std::string>()));
    }
    spaces.push_back(space);
  }
  return spaces;
}

void propose(uint32_t trials, uint32_t at_once, uint32_t candidates, uint64_t seed) {
  std::string line;
  std::getline(std::cin, line);
  const std::vector<search::Space> spaces = read_spaces(nlohmann::json::parse(line));
  search::Plan plan;
  plan.candidates =
      candidates > 0 ? search::random_candidates(spaces, candidates, seed) : search::grid_candidates(spaces);
  const search::TrialChooser chooser(spaces, plan, 0, seed);
  std::vector<search::TrialChooser::Result> all;
  for (uint32_t trial = 0; trial < trials; ++trial) {
    const size_t known = trial + 1 > at_once ? trial + 1 - at_once : 0;
    std::vector<uint32_t> pending;
    for (size_t i = known; i < all.size(); ++i) pending.push_back(all[i].candidate);
    const uint32_t next = chooser.next({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(known)}, pending);
    for (size_t p = 0; p < spaces.size(); ++p)
      std::cout << (p > 0 ? "\t" : "") << search::to_text(plan.candidates[next][p]);
    std::cout << std::endl;
    if (!std::getline(std::cin, line)) return;
    all.push_back({next, std::stod(line)});
  }
}

}  // namespace
}  // namespace mokume::bench

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: bench_trials TRIALS AT_ONCE CANDIDATES SEED (0 candidates: the grid)\n", stderr);
    return 2;
  }
  const auto number = [&](int i) { return static_cast<uint32_t>(std::stoul(argv[i])); };
  mokume::bench::propose(number(1), number(2), number(3), number(4));
}
