#include "run/exemplars.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/json.hpp"

namespace mokume::run {
namespace {

constexpr size_t kOfEachKind = 4;

double entropy(std::span<const double> sums) {
  const double total = std::accumulate(sums.begin(), sums.end(), 0.0);
  double nats = 0;
  for (const double sum : sums)
    if (sum > 0) nats -= sum / total * std::log(sum / total);
  return nats;
}

// Returns a thumbnail of the first channel of a row, before the run's scaling, in [0, 255].
results::Thumbnail picture_of(const data::Dataset& data, int64_t row) {
  const data::Shape& shape = data.shape;
  if (int64_t{shape.height} * shape.width <= 1) return {};
  const auto at = [](const std::vector<double>& values, size_t i, double none) {
    return values.empty() ? none : values.size() == 1 ? values[0] : values[i];
  };
  const auto channels = static_cast<size_t>(shape.channels), width = static_cast<size_t>(shape.width),
             height = static_cast<size_t>(shape.height);
  std::vector<double> grey(width * height);
  for (size_t i = 0; i < grey.size(); ++i) {
    const size_t feature = i * channels;
    const auto x = static_cast<double>(data.test.x[static_cast<size_t>(row * data.test.features) + feature]);
    grey[i] = x * at(data.scale, feature, 1) + at(data.mean, feature, 0);
  }
  return thumbnail(width, height, grey);
}

}  // namespace

std::vector<double> doubts(std::span<const double> certainty, size_t classes) {
  std::vector<double> nats;
  for (size_t at = 0; at < certainty.size(); at += classes) nats.push_back(entropy(certainty.subspan(at, classes)));
  return nats;
}

std::vector<results::Exemplar> choose_exemplars(const data::Dataset& data, std::span<const double> certainty,
                                                std::span<const size_t> vote) {
  const size_t rows = vote.size();
  const std::vector<double> doubt = doubts(certainty, data.class_names.size());
  std::vector<size_t> sure_first(rows);
  std::iota(sure_first.begin(), sure_first.end(), size_t{0});
  std::stable_sort(sure_first.begin(), sure_first.end(), [&](size_t a, size_t b) { return doubt[a] < doubt[b]; });
  std::vector<size_t> sure_last(sure_first);
  std::stable_sort(sure_last.begin(), sure_last.end(), [&](size_t a, size_t b) { return doubt[a] > doubt[b]; });
  std::vector<bool> taken(rows, false);
  std::vector<results::Exemplar> chosen;
  const auto take = [&](const char* kind, const std::vector<size_t>& order, const std::function<bool(size_t)>& suits) {
    size_t count = 0;
    for (const size_t r : order) {
      if (count == kOfEachKind) break;
      if (taken[r] || !suits(r)) continue;
      taken[r] = true;
      ++count;
      results::Exemplar one{kind,
                            static_cast<int64_t>(r),
                            data.class_names[static_cast<size_t>(data.test.labels[r])],
                            {data.class_names, {}},
                            picture_of(data, static_cast<int64_t>(r))};
      chosen.push_back(std::move(one));
    }
  };
  const auto right = [&](size_t r) { return vote[r] == static_cast<size_t>(data.test.labels[r]); };
  take("easy", sure_first, right);
  take("misclassified", sure_first, [&](size_t r) { return !right(r); });
  take("uncertain", sure_last, [](size_t) { return true; });
  return chosen;
}

results::Thumbnail thumbnail(size_t width, size_t height, std::span<const double> grey) {
  const size_t step =
      std::max<size_t>(1, (std::max(width, height) + results::kThumbnailSide - 1) / results::kThumbnailSide);
  results::Thumbnail small{(width + step - 1) / step, (height + step - 1) / step, {}};
  for (size_t top = 0; top < height; top += step)
    for (size_t left = 0; left < width; left += step) {
      double sum = 0;
      size_t count = 0;
      for (size_t y = top; y < std::min(top + step, height); ++y)
        for (size_t x = left; x < std::min(left + step, width); ++x, ++count) sum += grey[y * width + x];
      const double mean = sum / count;
      small.grey.push_back(static_cast<uint8_t>(std::clamp(std::isfinite(mean) ? mean : 0.0, 0.0, 255.0) + 0.5));
    }
  return small;
}

void check(const results::Exemplar& exemplar, size_t classes) {
  const results::Thumbnail& picture = exemplar.picture;
  if (picture.grey.size() != picture.width * picture.height) base::bad_field("grey", "as long as the picture is large");
  if (exemplar.certainty.members.empty()) base::bad_field("members", "a list with a member");
  for (const std::vector<double>& member : exemplar.certainty.members) {
    if (member.size() != classes) base::bad_field("members", "a list with a number for each class");
    for (const double certainty : member)
      if (!(certainty >= 0 && certainty <= 1.001)) base::bad_field("members", "a list of certainties");
  }
}

}  // namespace mokume::run
