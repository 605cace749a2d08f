#include "data/digits.hpp"

#include "data/digit_shapes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "sdk/philox.hpp"

// This file uses only + - * / and sqrt on doubles, which IEEE 754 rounds identically everywhere, and rounds to whole
// grey values at the end. The images are therefore byte-identical on every platform.

namespace mokume::data {
namespace {

constexpr uint64_t kSeed = 0x6d6f6b756d65ULL;
constexpr int kSide = 28;
constexpr int kPixels = kSide * kSide;
constexpr int64_t kTrainRows = 2000;
constexpr int64_t kTestRows = 1000;

struct Point {
  double x, y;
};
struct Segment {
  Point a, b;
};

// These constants set the variation between writers. Unless marked as pixels, lengths are in units of the digit's box.
constexpr double kSlant = 0.36;
constexpr double kRotation = 0.18;                      // radians
constexpr double kMinWidth = 15.0, kMaxWidth = 22.0;    // width of the box, in pixels
constexpr double kMinHeight = 19.0, kMaxHeight = 23.5;  // height of the box, in pixels
constexpr double kShift = 1.8;                          // pixels
constexpr double kJitter = 0.052;                       // for each control point
constexpr double kMinRadius = 0.65, kMaxRadius = 1.35;  // radius of the pen, in pixels
constexpr double kMinInk = 150, kMaxInk = 255;
constexpr double kNoise = 14;          // standard deviation of each pixel, in grey values
constexpr double kDistractors = 0.25;  // share of images with a stray stroke
constexpr int kSteps = 6;              // segments between two control points

// Draws the random numbers of one image, in order.
class Draw {
 public:
  Draw(DigitSet set, uint32_t index) : random_(kSeed, sdk::Purpose::digits, static_cast<uint32_t>(set), index) {}

  double between(double low, double high) { return low + (high - low) * random_.uniform(next_++); }
  double around(double spread) { return between(-spread, spread); }
  size_t below(size_t bound) { return static_cast<size_t>(random_.below(next_++, bound)); }
  // Approximates a normal distribution with mean 0 and a standard deviation near 1 by the sum of four bytes. The 32-bit
  // numbers come from a different stream than the 64-bit numbers above.
  double noise(int pixel) const {
    const uint32_t bits = random_.bits(static_cast<uint32_t>(pixel));
    const uint32_t sum = (bits & 255) + (bits >> 8 & 255) + (bits >> 16 & 255) + (bits >> 24);
    return (static_cast<double>(sum) - 510.0) / 147.8;
  }

 private:
  sdk::Random random_;
  uint32_t next_ = 0;
};

// Maps the unit square to pixels, with slant, size, rotation and shift.
class Placement {
 public:
  explicit Placement(Draw& draw) {
    const double slant = draw.around(kSlant);
    const double angle = draw.around(kRotation);
    const double width = draw.between(kMinWidth, kMaxWidth);
    const double height = draw.between(kMinHeight, kMaxHeight);
    // The error of these Taylor polynomials is below 1e-6 for the small angles used here.
    const double square = angle * angle;
    const double sine = angle * (1 - square / 6 * (1 - square / 20));
    const double cosine = 1 - square / 2 * (1 - square / 12 * (1 - square / 30));
    xx_ = cosine * width;
    xy_ = -(slant * width * cosine) - sine * height;
    yx_ = sine * width;
    yy_ = cosine * height - slant * width * sine;
    center_ = {kSide * 0.5 + draw.around(kShift), kSide * 0.5 + draw.around(kShift)};
  }
  Point operator()(Point p) const {
    const double x = p.x - 0.5;
    const double y = p.y - 0.5;
    return {center_.x + xx_ * x + xy_ * y, center_.y + yx_ * x + yy_ * y};
  }

 private:
  double xx_, xy_, yx_, yy_;
  Point center_;
};

double catmull_rom(double p0, double p1, double p2, double p3, double t) {
  return 0.5 * (2 * p1 + t * ((p2 - p0) + t * ((2 * p0 - 5 * p1 + 4 * p2 - p3) + t * (3 * p1 - p0 - 3 * p2 + p3))));
}

// Adds a spline as in Catmull and Rom, "A class of local interpolating splines", 1974, with doubled end points.
void add_curve(const std::vector<Point>& points, const Placement& place, std::vector<Segment>& segments) {
  const size_t last = points.size() - 1;
  Point from = place(points[0]);
  for (size_t i = 0; i < last; ++i) {
    const Point& p0 = points[i == 0 ? 0 : i - 1];
    const Point& p3 = points[std::min(i + 2, last)];
    for (int step = 1; step <= kSteps; ++step) {
      const double t = static_cast<double>(step) / kSteps;
      const Point to = place({catmull_rom(p0.x, points[i].x, points[i + 1].x, p3.x, t),
                              catmull_rom(p0.y, points[i].y, points[i + 1].y, p3.y, t)});
      segments.push_back({from, to});
      from = to;
    }
  }
}

std::vector<Segment> write_digit(int digit, Draw& draw) {
  const auto ways = glyphs(digit);
  const Glyph glyph = ways[draw.below(ways.size())];
  const Placement place(draw);
  std::vector<Segment> segments;
  std::vector<Point> points;
  for (const Stroke stroke : glyph) {
    points.clear();
    for (const ControlPoint p : stroke)
      points.push_back({p.x * 0.01 + draw.around(kJitter), p.y * 0.01 + draw.around(kJitter)});
    add_curve(points, place, segments);
  }
  if (draw.between(0, 1) < kDistractors) {
    const Point start{draw.between(0, 1), draw.between(0, 1)};
    const Point end{start.x + draw.around(0.35), start.y + draw.around(0.35)};
    add_curve({start, end}, place, segments);
  }
  return segments;
}

double square_distance(Point p, const Segment& s) {
  const double dx = s.b.x - s.a.x;
  const double dy = s.b.y - s.a.y;
  const double length = dx * dx + dy * dy;
  double t = length > 0 ? ((p.x - s.a.x) * dx + (p.y - s.a.y) * dy) / length : 0;
  t = std::clamp(t, 0.0, 1.0);
  const double ex = p.x - (s.a.x + t * dx);
  const double ey = p.y - (s.a.y + t * dy);
  return ex * ex + ey * ey;
}

int pixel_at(double v) { return static_cast<int>(std::clamp(v, 0.0, static_cast<double>(kSide))); }

// Returns squared distances from pixel centres to the nearest stroke, up to the reach of the pen.
std::array<double, kPixels> distances(const std::vector<Segment>& segments, double reach) {
  std::array<double, kPixels> nearest;
  nearest.fill(reach * reach);
  for (const Segment& s : segments) {
    const int left = pixel_at(std::min(s.a.x, s.b.x) - reach);
    const int right = pixel_at(std::max(s.a.x, s.b.x) + reach + 1);
    const int top = pixel_at(std::min(s.a.y, s.b.y) - reach);
    const int bottom = pixel_at(std::max(s.a.y, s.b.y) + reach + 1);
    for (int y = top; y < bottom; ++y)
      for (int x = left; x < right; ++x) {
        double& best = nearest[static_cast<size_t>(y * kSide + x)];
        best = std::min(best, square_distance({x + 0.5, y + 0.5}, s));
      }
  }
  return nearest;
}

void paint(const std::vector<Segment>& segments, Draw& draw, float* pixels) {
  const double radius = draw.between(kMinRadius, kMaxRadius);
  const double ink = draw.between(kMinInk, kMaxInk);
  const double reach = radius + 0.5;
  const std::array<double, kPixels> nearest = distances(segments, reach);
  for (int i = 0; i < kPixels; ++i) {
    const double cover = std::clamp(reach - std::sqrt(nearest[static_cast<size_t>(i)]), 0.0, 1.0);
    const double grey = std::clamp(ink * cover + kNoise * draw.noise(i), 0.0, 255.0);
    pixels[i] = static_cast<float>(static_cast<int>(grey + 0.5));
  }
}

}  // namespace

RawTable draw_digits(DigitSet set, int64_t limit) {
  const int64_t all = set == DigitSet::train ? kTrainRows : kTestRows;
  RawTable part;
  part.path = "digits";
  part.table.rows = limit > 0 ? std::min(limit, all) : all;
  part.table.features = kPixels;
  part.shape = {kSide, kSide, 1};
  part.table.x.resize(static_cast<size_t>(part.table.rows * kPixels));
  for (int64_t i = 0; i < all; ++i) {
    Draw draw(set, static_cast<uint32_t>(i));
    const int digit = static_cast<int>(draw.below(10));
    part.labels.values.push_back(digit);
    if (i < part.table.rows) paint(write_digit(digit, draw), draw, part.table.x.data() + i * kPixels);
  }
  return part;
}

}  // namespace mokume::data
