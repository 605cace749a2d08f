#include "convolution/filtering.hpp"

#include <algorithm>
#include <atomic>

#include "isa/convolution.hpp"
#include "isa/filtering.hpp"

namespace mokume::host {
namespace {

constexpr int64_t kTile = kFilteringTile;

constexpr int64_t kGap = 16;  // floats that keep equal elements of the 36 products in different cache sets

int64_t apart_of_weights(const Convolution& c) { return c.window.channels * c.filters() + kGap; }

// Describes the tiles of all images and the memory of those that are computed at once.
struct Tiles {
  static constexpr int64_t kAtOnce = 24;

  int64_t across, down, all, each, blocks;

  Tiles(const ops::Window& w, int64_t images, int64_t threads)
      : across((w.out_width() + kTile - 1) / kTile), down((w.out_height() + kTile - 1) / kTile) {
    all = across * down * images;
    each = std::clamp<int64_t>((all + threads - 1) / threads, 1, kAtOnce);
    blocks = (all + each - 1) / each;
    each = (all + blocks - 1) / blocks;
  }
  int64_t apart(int64_t channels) const { return each * channels + kGap; }
};

// Returns memory for `n` floats, or null. It belongs to the calling thread, which keeps it for its next tiles or
// weights: in a small network, fresh memory would take longer than the products.
enum Use { kWeights, kTiles, kUses };
float* kept_memory(Use use, int64_t n) {
  struct Kept {
    Scratch memory;
    int64_t size = 0;
  };
  thread_local Kept all[kUses];
  Kept& kept = all[use];
  if (kept.size < n) {
    kept.memory.reset();
    kept.memory = scratch_of(n);
    kept.size = kept.memory == nullptr ? 0 : n;
  }
  return kept.memory.get();
}

struct Filtering {
  const Call& call;
  const Convolution& c;
  const Tiles& tiles;
  const float* weights;

  void transform_tile(int64_t tile, int64_t place, float* pixels) const {
    const ops::Window& w = c.window;
    const int64_t row = tile / tiles.across, image = row / tiles.down;
    call.loops.filtering->pixels({.image = c.x.row(image),
                                  .height = w.height,
                                  .width = w.width,
                                  .channels = w.channels,
                                  .top = row % tiles.down * kTile - w.pad_h,
                                  .left = tile % tiles.across * kTile - w.pad_w,
                                  .out = pixels + place * w.channels,
                                  .apart = tiles.apart(w.channels)});
  }

  void multiply(const float* pixels, int64_t count, float* sums) const {
    WindowRow row{};
    row.x_step = row.line = c.window.channels;
    row.x_next = row.lines = 1;
    row.windows = count;
    row.weight_step = row.out_step = row.channels = c.filters();
    for (int64_t e = 0; e < kFilteringSpace; ++e) {
      row.x = pixels + e * tiles.apart(c.window.channels);
      row.weight = weights + e * apart_of_weights(c);
      row.out = sums + e * tiles.apart(c.filters());
      call.loops.convolve(row);
    }
  }

  void finish_tile(int64_t tile, int64_t place, const float* sums) const {
    const ops::Window& w = c.window;
    const int64_t line = tile / tiles.across, image = line / tiles.down;
    const int64_t y = line % tiles.down * kTile, x = tile % tiles.across * kTile;
    const int64_t rows = std::min(kTile, w.out_height() - y), columns = std::min(kTile, w.out_width() - x);
    float* out = c.y.row(image) + y * c.y_line + x * c.y_step;
    call.loops.filtering->outputs({.sums = sums + place * c.filters(),
                                   .apart = tiles.apart(c.filters()),
                                   .channels = c.filters(),
                                   .bias = c.bias,
                                   .relu = c.relu,
                                   .rows = rows,
                                   .columns = columns,
                                   .out = out,
                                   .step = c.y_step,
                                   .line = c.y_line});
    if (c.norm != nullptr)
      for (int64_t r = 0; r < rows; ++r) normalise(call, *c.norm, out + r * c.y_line, columns);
  }

  // Returns false if there is no memory.
  bool block(int64_t first, int64_t count) const {
    const int64_t of_pixels = kFilteringSpace * tiles.apart(c.window.channels);
    float* pixels = kept_memory(kTiles, of_pixels + kFilteringSpace * tiles.apart(c.filters()));
    if (pixels == nullptr) return false;
    float* sums = pixels + of_pixels;
    for (int64_t t = 0; t < count; ++t) transform_tile(first + t, t, pixels);
    multiply(pixels, count, sums);
    for (int64_t t = 0; t < count; ++t) finish_tile(first + t, t, sums);
    return true;
  }
};

void transform_weights(const Call& call, const Convolution& c, float* out) {
  const int64_t terms = c.window.channels;
  const FilterWeights weights{.weight = c.weight.data,
                              .weight_step = c.weight.stride,
                              .terms = terms,
                              .columns = c.filters(),
                              .out = out,
                              .apart = apart_of_weights(c)};
  call.for_rows(terms, 8 * c.filters(),
                [&](int64_t from, int64_t to) { call.loops.filtering->weights(weights, from, to); });
}

}  // namespace

bool is_filtered(const Call& call, const Convolution& c) {
  // The transform of the weights takes as long as some tiles, and many transformed weights do not stay in the cache.
  constexpr int64_t kWeightsOfTile = 1024, kMostWeights = 65536;
  const ops::Window& w = c.window;
  const int64_t weights = w.channels * c.filters(), tiles = Tiles(w, 1, 1).across * Tiles(w, 1, 1).down;
  return !call.strict && call.loops.filtering != nullptr && w.kernel_h == 3 && w.kernel_w == 3 && w.stride_h == 1 && w.stride_w == 1 &&
         w.groups == 1 && !w.dilated() && c.y_step == c.filters() &&
         std::min(w.channels, c.filters()) >= kFilteringChannels &&
         weights <= std::min(kMostWeights, kWeightsOfTile * tiles);
}

void convolve_by_filtering(const Call& call, const Convolution& c) {
  const auto no_memory = [] { return Error(MK_OUT_OF_MEMORY, "conv2d: no memory for the tiles of minimal filtering"); };
  float* weights = kept_memory(kWeights, kFilteringSpace * apart_of_weights(c));
  if (weights == nullptr) throw no_memory();
  transform_weights(call, c, weights);
  const Tiles tiles(c.window, c.x.rows, call.host.concurrency());
  const Filtering filtering{call, c, tiles, weights};
  std::atomic<bool> failed{false};
  call.parallel_for(static_cast<uint64_t>(tiles.blocks), [&](uint64_t index) {
    const int64_t first = static_cast<int64_t>(index) * tiles.each;
    if (!filtering.block(first, std::min(tiles.each, tiles.all - first))) failed = true;
  });
  if (failed) throw no_memory();
}

}  // namespace mokume::host
