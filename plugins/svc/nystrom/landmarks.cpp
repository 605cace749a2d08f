#include "nystrom/landmarks.hpp"

#include <algorithm>
#include <tuple>

#include "abi/model.h"
#include "sdk/philox.hpp"

namespace mokume::svc {
namespace {

constexpr uint32_t kStream = 0x6c616e64;  // no bootstrap has this number

}  // namespace

std::vector<int64_t> draw_landmarks(const RowOrder& order, int32_t fold, int64_t count, int64_t seed) {
  const bool all = fold == MK_ALL_ROWS;
  const int64_t left_out = all ? 0 : order.fold_begin(static_cast<uint32_t>(fold));
  const int64_t left_out_end = all ? 0 : left_out + order.fold_rows(static_cast<uint32_t>(fold));
  const sdk::Random random(static_cast<uint64_t>(seed), sdk::Purpose::bootstrap, kStream);
  struct Drawn {
    uint64_t number;
    int64_t original, row;
  };
  std::vector<Drawn> drawn;
  for (int64_t r = 0; r < order.rows(); ++r) {
    if ((r >= left_out && r < left_out_end) || order.weight(r) == 0) continue;
    drawn.push_back({random.bits64(static_cast<uint64_t>(order.original(r))), order.original(r), r});
  }
  std::sort(drawn.begin(), drawn.end(), [](const Drawn& a, const Drawn& b) {
    return std::tuple(a.number, a.original, a.row) < std::tuple(b.number, b.original, b.row);
  });
  const auto repeats = [](const Drawn& a, const Drawn& b) { return a.original == b.original; };
  drawn.erase(std::unique(drawn.begin(), drawn.end(), repeats), drawn.end());
  std::vector<int64_t> landmarks;
  for (const Drawn& one : drawn)
    if (static_cast<int64_t>(landmarks.size()) < count) landmarks.push_back(one.row);
  return landmarks;
}

}  // namespace mokume::svc
