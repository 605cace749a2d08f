#include "data/fold_file.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/text.hpp"
#include "data/input.hpp"
#include "data/labels.hpp"
#include "data/npy/npy_file.hpp"

namespace mokume::data {
namespace {

constexpr size_t kMostBytesPerRow = 32;

int32_t fold_number(const std::string& path, const std::string& place, double number, std::string_view text) {
  if (number != std::floor(number) || number < -1 || number >= kMostGivenFolds)
    bad_data(path, place,
             "the fold is " + quoted(text) + "; a fold is a whole number from 0 to " +
                 std::to_string(kMostGivenFolds - 1) + ", or -1 for a row that is never validated");
  return static_cast<int32_t>(number);
}

std::vector<int32_t> read_npy_folds(const std::string& path) {
  NpyFile file(path);
  if (file.shape().size() != 1 || !file.whole())
    bad_data(path, "", "is not an array of one whole number for each row; save it with astype('int64')");
  std::vector<int32_t> fold_of;
  file.read([&](const double* numbers, size_t count) {
    for (size_t i = 0; i < count; ++i)
      fold_of.push_back(
          fold_number(path, "row " + std::to_string(fold_of.size() + 1), numbers[i], base::shortest(numbers[i])));
  });
  return fold_of;
}

std::vector<int32_t> read_text_folds(const std::string& path, int64_t rows) {
  const std::string text = read_text(path, kMostBytesPerRow * static_cast<uint64_t>(rows + 1));
  std::vector<int32_t> fold_of;
  std::string_view rest = text;
  for (size_t line = 1; !rest.empty(); ++line) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string word = base::trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    double number = 0;
    if (word.empty() && base::trim(rest).empty()) break;
    if (!parse_number(word, number)) number = std::nan("");
    fold_of.push_back(fold_number(path, "line " + std::to_string(line), number, word));
  }
  return fold_of;
}

}  // namespace

std::vector<int32_t> read_folds(const std::string& path, int64_t rows) {
  std::vector<int32_t> fold_of = path.ends_with(".npy") ? read_npy_folds(path) : read_text_folds(path, rows);
  if (static_cast<int64_t>(fold_of.size()) != rows)
    bad_data(path, "",
             "has the folds of " + std::to_string(fold_of.size()) + " rows, but there are " + std::to_string(rows) +
                 " training rows; give one number for each");
  return fold_of;
}

void check_folds(const std::string& path, const std::vector<int32_t>& fold_of, uint32_t folds) {
  std::vector<size_t> sizes(folds, 0);
  const int32_t last = *std::max_element(fold_of.begin(), fold_of.end());
  if (last + 1 != static_cast<int32_t>(folds))
    bad_data(path, "",
             "numbers its folds up to " + std::to_string(last) + ", but validation.folds is " + std::to_string(folds) +
                 "; set it to " + std::to_string(std::max(2, last + 1)));
  for (const int32_t fold : fold_of)
    if (fold >= 0) ++sizes[static_cast<size_t>(fold)];
  for (size_t k = 0; k < sizes.size(); ++k)
    if (sizes[k] == 0 || sizes[k] == fold_of.size())
      bad_data(path, "",
               "gives fold " + std::to_string(k) + (sizes[k] == 0 ? " no row" : " every row") +
                   "; each fold validates some rows and trains on others");
}

}  // namespace mokume::data
