#include "search/published_draws.hpp"

#include <cmath>
#include <numeric>

#include "sdk/error.hpp"
#include "sdk/portable.hpp"
#include "search/numpy_random.hpp"

namespace mokume::search {
namespace {

constexpr int64_t kMaxRows = int64_t{1} << 32;
constexpr double kMaxInteger = 0x1p53;

[[noreturn]] void refuse(const std::string& text) { throw Error(MK_INVALID_ARGUMENT, text); }

void check_space(const Space& space) {
  const std::string parameter = "parameter '" + space.name + "' ";
  if (space.kind == Space::Kind::list) {
    if (space.values.empty()) refuse(parameter + "has an empty list of values");
    return;
  }
  if (space.step > 0 || space.kind == Space::Kind::integer_log)
    refuse(parameter + "has a step or int_log, which random.compat = \"numpy\" does not support; use int");
  if (!std::isfinite(space.low) || !std::isfinite(space.high)) refuse(parameter + "needs two finite ends");
  if (space.high < space.low) refuse(parameter + "has its ends in the wrong order");
  if (space.kind == Space::Kind::integer_uniform && (space.low < -kMaxInteger || space.high > kMaxInteger))
    refuse(parameter + "needs integers between -2^53 and 2^53");
}

void check(uint32_t bootstraps, uint32_t candidates, const std::vector<Space>& spaces, int64_t rows, uint32_t folds) {
  if (rows < 1 || rows > kMaxRows)
    refuse("random.compat = \"numpy\" needs 1 to 2^32 rows, not " + std::to_string(rows));
  if (folds > rows)
    refuse(std::to_string(folds) + " folds need as many rows, but there are " + std::to_string(rows) +
           "; set fewer folds");
  if (uint64_t{bootstraps} * candidates > kMaxCandidates)
    refuse("all bootstraps together have more than 10 million candidates; set fewer");
  for (const Space& space : spaces) check_space(space);
}

// Reproduces NumPy's round(linspace(0, rows, folds + 1)). This code cannot use the fold rule in data/, because at a
// half, the product of doubles can round differently from the exact quotient.
std::vector<int64_t> fold_edges(int64_t rows, uint32_t folds) {
  const double step = static_cast<double>(rows) / folds;
  std::vector<int64_t> edges;
  for (uint32_t k = 0; k < folds; ++k) edges.push_back(static_cast<int64_t>(std::nearbyint(k * step)));
  edges.push_back(rows);
  return edges;
}

void draw_sample(numpy::Generator& random, int64_t rows, uint32_t folds, BootstrapDraws& draws) {
  std::vector<uint32_t> shuffled(static_cast<size_t>(rows));
  std::iota(shuffled.begin(), shuffled.end(), uint32_t{0});
  shuffled = random.permutation(std::move(shuffled));
  draws.row.reserve(shuffled.size());
  draws.fold_of.reserve(shuffled.size());
  const std::vector<int64_t> edges = folds == 0 ? std::vector<int64_t>{0, rows} : fold_edges(rows, folds);
  for (size_t k = 0; k + 1 < edges.size(); ++k) {
    for (int64_t i = edges[k]; i < edges[k + 1]; ++i) {
      draws.row.push_back(shuffled[static_cast<size_t>(random.integers(edges[k], edges[k + 1]))]);
      draws.fold_of.push_back(folds == 0 ? -1 : static_cast<int32_t>(k));
    }
  }
}

Value draw_value(numpy::Generator& random, const Space& space) {
  if (space.kind == Space::Kind::list)
    return space.values[static_cast<size_t>(random.choice(static_cast<int64_t>(space.values.size())))];
  if (space.kind == Space::Kind::integer_uniform)
    return random.integers(static_cast<int64_t>(space.low), static_cast<int64_t>(space.high) + 1);
  const double real = random.random() * (space.high - space.low) + space.low;
  return space.kind == Space::Kind::log10_uniform ? sdk::portable::pow(10.0, real) : real;
}

}  // namespace

std::vector<BootstrapDraws> published_draws(const std::string& seed_text, uint32_t bootstraps, uint32_t candidates,
                                            const std::vector<Space>& spaces, int64_t rows, uint32_t folds) {
  constexpr size_t kTorchSeedBytes = 8;
  numpy::SeedSequence seed(seed_text);
  check(bootstraps, candidates, spaces, rows, folds);
  std::vector<BootstrapDraws> all(bootstraps);
  for (BootstrapDraws& draws : all) {
    numpy::Generator random(seed.spawn(1).front());
    random.bytes(kTorchSeedBytes);
    random.bytes(kTorchSeedBytes);
    draw_sample(random, rows, folds, draws);
    draws.candidates.resize(candidates);
    for (std::vector<Value>& values : draws.candidates) {
      values.reserve(spaces.size());
      for (const Space& space : spaces) values.push_back(draw_value(random, space));
    }
  }
  return all;
}

}  // namespace mokume::search
