// Compares the oracle's op augment with its definition in sdk/ops/augment.hpp, computed in another way.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "problem.hpp"
#include "suite.hpp"

namespace mokume::conformance {
namespace {

using Values = std::vector<double>;
using Value = Problem::Value;

// Holds the op and the results of `rows` rows that all read one image.
struct Changed {
  Changed(Machine& machine, const ops::Augment& change, int64_t rows, const ops::AugmentPlace& place,
          const Value& value)
      : each(change.image()) {
    const mk_tensor x = problem.floats(1, each, {}, value);
    const mk_tensor index = problem.indices(std::vector<int32_t>(static_cast<size_t>(rows), 0));
    problem.op = ops::augment(x, index, change, place, problem.unwritten(rows, each));
    values = values_of(problem.op.outputs[0], run(machine.oracle(), problem));
  }
  double at(int64_t row, int64_t element) const { return values[static_cast<size_t>(row * each + element)]; }
  Values row(int64_t r) const { return {values.begin() + r * each, values.begin() + (r + 1) * each}; }

  int64_t each;
  Problem problem;
  Values values;
};

constexpr ops::AugmentPlace kPlace{77, 3, 0};

float counting(int64_t, int64_t c) { return static_cast<float>(c + 1); }
float ones(int64_t, int64_t) { return 1; }

void flips_by_hand(Machine& machine) {
  EXPECT_EQ(Changed(machine, {2, 3, 1, 0, 0, 1, 0}, 1, kPlace, counting).values, (Values{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(Changed(machine, {2, 3, 1, 0, 0, 0, 1}, 1, kPlace, counting).values, (Values{4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(Changed(machine, {1, 2, 3, 0, 0, 1, 1}, 1, kPlace, counting).values, (Values{4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(Changed(machine, {2, 3, 1}, 1, kPlace, counting).values, (Values{1, 2, 3, 4, 5, 6}));
  const Changed some(machine, {1, 2, 1, 0, 0, 0.3}, 2000, kPlace, counting);
  int64_t flipped = 0;
  for (int64_t r = 0; r < 2000; ++r) flipped += some.at(r, 0) == 2 ? 1 : 0;
  EXPECT_NEAR(flipped, 600, 85);  // four standard deviations
}

void every_shift_occurs(Machine& machine) {
  const Changed shifted(machine, {3, 3, 1, 1}, 300, kPlace, counting);
  std::set<Values> possible, seen;
  for (int64_t dy = -1; dy <= 1; ++dy)
    for (int64_t dx = -1; dx <= 1; ++dx) {
      Values image;
      for (int64_t y = dy; y < dy + 3; ++y)
        for (int64_t x = dx; x < dx + 3; ++x)
          image.push_back(y < 0 || y > 2 || x < 0 || x > 2 ? 0 : static_cast<double>(3 * y + x + 1));
      possible.insert(image);
    }
  for (int64_t r = 0; r < 300; ++r) seen.insert(shifted.row(r));
  EXPECT_EQ(seen, possible);
}

// Bilinear interpolation does not change a linear function.
void rotations_keep_linear_functions(Machine& machine) {
  constexpr int64_t kSide = 21, kRows = 200, kMiddle = kSide / 2;
  constexpr double kDegrees = 40;
  const Changed turned(machine, {kSide, kSide, 1, 0, 0, 0, 0, kDegrees}, kRows, kPlace, [](int64_t, int64_t c) {
    return 2.0F * static_cast<float>(c / kSide) + 0.5F * static_cast<float>(c % kSide);
  });
  double largest = 0;
  for (int64_t r = 0; r < kRows; ++r) {
    const ops::AugmentDraw d = ops::augment_draw(turned.problem.op, r);
    const double angle = std::atan2(d.sine, d.cosine);
    largest = std::max(largest, std::fabs(angle) * 180 / M_PI);
    EXPECT_NEAR(std::hypot(d.sine, d.cosine), 1, 1e-6);
    for (int64_t v = -6; v <= 6; ++v)
      for (int64_t u = -6; u <= 6; ++u) {
        const auto across = static_cast<double>(u), down = static_cast<double>(v);
        const double x = std::cos(angle) * across - std::sin(angle) * down + kMiddle;
        const double y = std::sin(angle) * across + std::cos(angle) * down + kMiddle;
        EXPECT_NEAR(turned.at(r, (kMiddle + v) * kSide + kMiddle + u), 2 * y + 0.5 * x, 1e-4) << r;
      }
  }
  EXPECT_LE(largest, kDegrees + 1e-4);
  EXPECT_GT(largest, 0.9 * kDegrees);
}

// Tests the sine and the cosine over the whole range of angles.
void turns_are_those_of_the_library(Machine&) {
  for (int i = -1000; i <= 1000; ++i) {
    const auto angle = static_cast<float>(i * M_PI / 1000);
    float sine = 0, cosine = 0;
    ops::augment_turn(angle, sine, cosine);
    EXPECT_NEAR(sine, std::sin(static_cast<double>(angle)), 0x1p-21) << i;
    EXPECT_NEAR(cosine, std::cos(static_cast<double>(angle)), 0x1p-21) << i;
  }
}

void colours_by_hand(Machine& machine) {
  const Value pixels = [](int64_t, int64_t c) { return std::vector<float>{0.2F, 0.5F, 0.9F, 0.4F, 0.1F, 0.3F}[c]; };
  const ops::Augment all{1, 2, 3, 0, 0, 0, 0, 0, 0.4, 0.3, 0.8};
  const Changed changed(machine, all, 50, kPlace, pixels);
  const auto grey = [](const double* p) { return 0.2989 * p[0] + 0.587 * p[1] + 0.114 * p[2]; };
  float brightest = 1, darkest = 1;
  for (int64_t r = 0; r < 50; ++r) {
    const ops::AugmentDraw d = ops::augment_draw(changed.problem.op, r);
    brightest = std::max(brightest, d.brightness);
    darkest = std::min(darkest, d.brightness);
    double v[6];
    for (int64_t c = 0; c < 6; ++c) v[c] = static_cast<double>(d.brightness * pixels(0, c));
    const double mean = (grey(v) + grey(v + 3)) / 2;
    for (double& value : v) value = d.contrast * value + (1 - d.contrast) * mean;
    for (const int64_t p : {0, 3}) {
      const double own = grey(v + p);
      for (int64_t k = p; k < p + 3; ++k)
        EXPECT_NEAR(changed.at(r, k), d.saturation * v[k] + (1 - d.saturation) * own, 1e-6);
    }
  }
  EXPECT_TRUE(brightest > 1.3F && brightest <= 1.4F && darkest < 0.7F && darkest >= 0.6F) << brightest << darkest;
}

// Returns the colour at a place on the circle of colours, in sixths of a turn from red, with channels from 0.1 to 0.9.
std::array<float, 3> colour_at(double place) {
  place -= 6 * std::floor(place / 6);
  const auto sextant = static_cast<int>(place);
  const double part = place - sextant, up = 0.1 + 0.8 * part, down = 0.9 - 0.8 * part;
  const double table[6][3] = {{0.9, up, 0.1},   {down, 0.9, 0.1}, {0.1, 0.9, up},
                              {0.1, down, 0.9}, {up, 0.1, 0.9},   {0.9, 0.1, down}};
  const double* c = table[sextant];
  return {static_cast<float>(c[0]), static_cast<float>(c[1]), static_cast<float>(c[2])};
}

void hues_by_hand(Machine& machine) {
  constexpr int64_t kPixels = 25;  // the last pixel is grey
  const auto place = [](int64_t pixel) { return 0.25 * static_cast<double>(pixel) + 0.1; };
  const Value pixels = [&](int64_t, int64_t c) {
    return c / 3 == kPixels - 1 ? 0.4F : colour_at(place(c / 3))[static_cast<size_t>(c % 3)];
  };
  const ops::Augment hue{1, kPixels, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5};
  const Changed changed(machine, hue, 40, kPlace, pixels);
  float most = 0, least = 0;
  for (int64_t r = 0; r < 40; ++r) {
    const double turn = static_cast<double>(ops::augment_draw(changed.problem.op, r).hue);
    most = std::max(most, static_cast<float>(turn));
    least = std::min(least, static_cast<float>(turn));
    for (int64_t c = 0; c < 3 * kPixels; ++c) {
      const double expected =
          c / 3 == kPixels - 1 ? 0.4 : static_cast<double>(colour_at(place(c / 3) + turn)[static_cast<size_t>(c % 3)]);
      EXPECT_NEAR(changed.at(r, c), expected, 2e-6) << c;
    }
  }
  EXPECT_TRUE(most > 2.5F && most <= 3 && least < -2.5F && least >= -3) << most << " " << least;
}

// Zeros form a square that is cut off at the edges.
void erases_a_square(Machine& machine) {
  constexpr int64_t kSide = 8, kRows = 400;
  const Changed erased(machine, {kSide, kSide, 1, 0, 3, 0, 0, 0, 0, 0, 0, 0.75}, kRows, kPlace, ones);
  int64_t changed = 0;
  std::set<std::pair<int64_t, int64_t>> corners;
  for (int64_t r = 0; r < kRows; ++r) {
    int64_t top = kSide, left = kSide, bottom = -1, right = -1, zeros = 0;
    for (int64_t e = 0; e < kSide * kSide; ++e) {
      if (erased.at(r, e) != 0) continue;
      ++zeros;
      top = std::min(top, e / kSide);
      bottom = std::max(bottom, e / kSide);
      left = std::min(left, e % kSide);
      right = std::max(right, e % kSide);
    }
    if (zeros == 0) continue;
    ++changed;
    corners.insert({top, left});
    EXPECT_EQ(zeros, (bottom - top + 1) * (right - left + 1));
    EXPECT_TRUE(bottom - top == 2 || ((top == 0 || bottom == kSide - 1) && bottom - top == 1)) << top << bottom;
    EXPECT_TRUE(right - left == 2 || ((left == 0 || right == kSide - 1) && right - left == 1)) << left << right;
  }
  EXPECT_NEAR(changed, 300, 36);
  EXPECT_GT(corners.size(), 40U) << "of 49";
}

// A part of a batch changes as it does in the whole batch, and every step has other numbers.
void depends_on_the_place_in_the_batch(Machine& machine) {
  const ops::Augment all{6, 5, 3, 2, 2, 0.5, 0.5, 20, 0.2, 0.2, 0.2, 0.5};
  const Changed whole(machine, all, 9, kPlace, counting), part(machine, all, 5, {77, 3, 4}, counting);
  EXPECT_EQ(part.values, Values(whole.values.begin() + 4 * whole.each, whole.values.end()));
  EXPECT_NE(whole.row(0), whole.row(1));
  EXPECT_NE(whole.values, Changed(machine, all, 9, {77, 4, 0}, counting).values);
  EXPECT_NE(whole.values, Changed(machine, all, 9, {78, 3, 0}, counting).values);
}

}  // namespace

void add_augment_oracle_tests(Machine& machine) {
  const auto add = [&machine](const char* name, void (*body)(Machine&)) {
    add_test("oracle", name, [&machine, body] { body(machine); });
  };
  add("augment_flips_by_hand", flips_by_hand);
  add("augment_every_shift_occurs", every_shift_occurs);
  add("augment_rotations_keep_linear_functions", rotations_keep_linear_functions);
  add("augment_turns_are_those_of_the_library", turns_are_those_of_the_library);
  add("augment_colours_by_hand", colours_by_hand);
  add("augment_hues_by_hand", hues_by_hand);
  add("augment_erases_a_square", erases_a_square);
  add("augment_depends_on_the_place_in_the_batch", depends_on_the_place_in_the_batch);
}

}  // namespace mokume::conformance
