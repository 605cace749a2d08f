// augment: out row r = image index[r] of x, changed at random for training (f32).
//
//   inputs   x: M x image, index: vector of R (i32), every entry in [0, M)   outputs  out: R x image; must not overlap
//   attributes for the change: height, width, channels; shift; erase, the side of the erased square (0: none);
//            horizontal and vertical, the probabilities of flips; degrees, the largest angle (0: none); brightness,
//            contrast and saturation (0: none; at most 1); erase_p, the probability of erasing; hue (0: none; at most
//            0.5)
//            for the place: seed, step (32 bits), first_row, the place of row 0 in the whole batch
//
// Makes these changes, in this order:
//   1. flips reverse the order of the columns or of the rows;
//   2. a shift moves pixel (y + dy, x + dx) to (y, x), with dy and dx uniform in [-shift, shift], like torchvision's
//      RandomCrop of the image's own size with `shift` zeros around it;
//   3. a bilinear rotation turns the image counter-clockwise about its middle by an angle uniform in +-degrees, like
//      torchvision's RandomRotation with BILINEAR;
//   4. colours change as in torchvision's ColorJitter, but for values of any range and without clamping to [0, 1].
//      Brightness: v = b * v, with b uniform in 1 +- brightness. Contrast: v = c * v + (1 - c) * g, where g is
//      the mean brightness of the image, summed row by row. Saturation (three channels): v = s * v + (1 - s) * l, where
//      l is the brightness of the pixel. The brightness of a pixel is 0.2989 r + 0.587 g + 0.114 b with three channels,
//      and the mean of the channels otherwise. Hue (three channels): the position of the pixel on the circle of colours
//      moves by up to this share of a whole turn, in either direction; its largest and its smallest channel stay. A
//      pixel whose channels add up to a NaN stays;
//   5. erasing sets the pixels of a square to 0. The middle of the square is uniform over the pixels of the image;
//      parts outside have no effect (DeVries, Taylor: Improved Regularization of Convolutional Neural Networks with
//      Cutout. 2017). Pixels from outside the image are 0.
//
// The random numbers of a row are the words of philox({first_row + r, 2^31 + block, step, 0}, seed) for blocks 0 to 2:
// see sdk/philox.hpp and augment_draw(). They are a pure function of seed, step and place in the whole batch. All
// arithmetic consists of single additions and multiplications of floats in the order of this file and of
// backends/host/augmented.hpp, so that devices get the same bits; see tolerance_augment().
//
// The host backend rejects an index outside [0, M) with MK_INVALID_ARGUMENT. On other devices, such a row of out is
// NaN. No device reads outside x.
#pragma once

#include <cmath>

#include "sdk/ops/window.hpp"
#include "sdk/philox.hpp"

namespace mokume::ops {

struct Augment {
  MK_AUGMENT_CHANGE(MOKUME_FIELD)

  operator mk_augment_change() const { return std::bit_cast<mk_augment_change>(*this); }
  int64_t image() const { return height * width * channels; }
  bool operator==(const Augment&) const = default;
  bool recolours() const { return brightness > 0 || contrast > 0 || saturation > 0 || hue > 0; }
  bool changes() const {
    return shift > 0 || (erase > 0 && erase_p > 0) || horizontal > 0 || vertical > 0 || degrees > 0 || recolours();
  }
};

using AugmentPlace = mk_augment_place;

inline mk_op augment(const mk_tensor& x, const mk_tensor& index, const Augment& a, const AugmentPlace& place,
                     const mk_tensor& out) {
  mk_op op = sdk::make_op(MK_OP_AUGMENT, {x, index}, {out});
  op.augment = {a, place};
  return op;
}

inline Augment augment_of(const mk_op& op) { return std::bit_cast<Augment>(op.augment.change); }

// Holds the random changes of one row.
struct AugmentDraw {
  bool flip_x = false, flip_y = false;
  int64_t dy = 0, dx = 0;
  float sine = 0, cosine = 1;
  float brightness = 1, contrast = 1, saturation = 1;  // factors
  float hue = 0;                                       // sixths of a turn
  int64_t top = 0, left = 0, bottom = 0, right = 0;    // bounds of the erased pixels
};

// Returns the bound below which random words make a change of probability p happen.
inline int64_t augment_threshold(double p) { return static_cast<int64_t>(std::floor(p * 0x1p32 + 0.5)); }
inline float augment_radians(const Augment& a) {
  return static_cast<float>(a.degrees * (3.14159265358979323846 / 180));
}

// Returns the largest change of the hue, in sixths of a turn.
inline float augment_hue(const Augment& a) { return static_cast<float>(a.hue * 6); }

// Computes the sine and the cosine of an angle of at most pi within 2^-21, from Taylor polynomials of half the angle.
inline void augment_turn(float angle, float& sine, float& cosine) {
  const float t = angle * 0.5F, z = t * t;
  float s = 1.6059044e-10F;  // 1 / 13!
  for (const float term : {-2.5052108e-8F, 2.7557319e-6F, -1.9841270e-4F, 8.3333333e-3F, -1.6666667e-1F, 1.0F})
    s = s * z + term;
  float c = 2.0876757e-9F;  // 1 / 12!
  for (const float term : {-2.7557319e-7F, 2.4801587e-5F, -1.3888889e-3F, 4.1666667e-2F, -0.5F, 1.0F}) c = c * z + term;
  s = s * t;
  sine = 2.0F * s * c;
  cosine = c * c - s * s;
}

inline AugmentDraw augment_draw(const mk_op& op, int64_t r) {
  const Augment a = augment_of(op);
  const AugmentPlace& at = op.augment.place;
  const auto words = [&](uint32_t block) {
    return sdk::philox(
        {static_cast<uint32_t>(at.first_row + r), 0x80000000U + block, static_cast<uint32_t>(at.step), 0},
        {static_cast<uint32_t>(at.seed), static_cast<uint32_t>(at.seed >> 32)});
  };
  const auto happens = [](uint32_t word, double p) { return int64_t{word} < augment_threshold(p); };
  const auto below = [](uint32_t word, int64_t bound) {
    return static_cast<int64_t>((uint64_t{word} * static_cast<uint64_t>(bound)) >> 32);
  };
  // Returns a number in [-1, 1).
  const auto even = [](uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-23F - 1.0F; };
  const sdk::PhiloxCounter place = words(0), colour = words(1), erased = words(2);
  AugmentDraw d;
  d.flip_x = happens(place[0], a.horizontal);
  d.flip_y = happens(place[1], a.vertical);
  d.dy = below(place[2], 2 * a.shift + 1) - a.shift;
  d.dx = below(place[3], 2 * a.shift + 1) - a.shift;
  if (a.degrees > 0) augment_turn(even(colour[0]) * augment_radians(a), d.sine, d.cosine);
  d.brightness = 1.0F + even(colour[1]) * static_cast<float>(a.brightness);
  d.contrast = 1.0F + even(colour[2]) * static_cast<float>(a.contrast);
  d.saturation = 1.0F + even(colour[3]) * static_cast<float>(a.saturation);
  d.hue = even(erased[3]) * augment_hue(a);
  if (a.erase > 0 && happens(erased[0], a.erase_p)) {
    d.top = below(erased[1], a.height) - a.erase / 2;
    d.left = below(erased[2], a.width) - a.erase / 2;
    d.bottom = d.top + a.erase;
    d.right = d.left + a.erase;
  }
  return d;
}

MOKUME_ATTRIBUTES(kAugmentAttributes, mk_augment, MK_AUGMENT(MOKUME_ATTRIBUTE, MOKUME_PART));

[[noreturn]] inline void refuse_augment(const std::string& why) { throw Error(MK_INVALID_ARGUMENT, "augment: " + why); }

inline void check_colours(const Augment& a) {
  for (const double change : {a.brightness, a.contrast, a.saturation})
    if (!(change >= 0 && change <= 1)) refuse_augment("changes of colours must be from 0 to 1");
  if (!(a.hue >= 0 && a.hue <= 0.5)) refuse_augment("the change of the hue must be from 0 to 0.5");
  if ((a.saturation != 0 || a.hue != 0) && a.channels != 3) refuse_augment("saturation and hue need three channels");
}

inline void check_augment(const mk_op& op) {
  const auto refuse = refuse_augment;
  const Augment a = augment_of(op);
  for (const int64_t side : {a.height, a.width, a.channels})
    if (side < 1 || side > kMaxSide) refuse("a side of an image is not from 1 to 2^20");
  if (a.shift < 0 || a.shift > kMaxSide || a.erase < 0 || a.erase > kMaxSide)
    refuse("the shift and the erased square must be from 0 to 2^20");
  for (const double share : {a.horizontal, a.vertical, a.erase_p})
    if (!(share >= 0 && share <= 1)) refuse("probabilities must be from 0 to 1");
  if (!(a.degrees >= 0 && a.degrees <= 180)) refuse("the angle must be from 0 to 180");
  check_colours(a);
  constexpr int64_t kWords = int64_t{1} << 32;
  const AugmentPlace& at = op.augment.place;
  if (at.step < 0 || at.step >= kWords) refuse("step must be from 0 to 2^32 - 1");
  if (at.first_row < 0 || at.first_row > kWords - op.outputs[0].rows) refuse("rows must be below 2^32");
  sdk::check_operand("augment", "x", op.inputs[0], op.inputs[0].rows, a.image());
  sdk::check_operand("augment", "index", op.inputs[1], 1, op.outputs[0].rows, MK_I32);
  sdk::check_operand("augment", "out", op.outputs[0], op.outputs[0].rows, a.image());
}

// The op is exact on every device, except for hue, whose quotients devices round differently, and for contrast together
// with saturation, where Intel's OpenCL for CPUs rounds differently. The tolerance is relative to eight times the
// largest |x|, because three factors are at most 2 each.
inline double tolerance_augment(const mk_op& op) {
  const Augment a = augment_of(op);
  return a.hue > 0 || (a.contrast > 0 && a.saturation > 0) ? 64.0 * 0x1p-24 : 0.0;
}

inline sdk::Cost cost_augment(const mk_op& op) {
  const double e = static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns);
  return {8 * e, 8 * e};
}

}  // namespace mokume::ops
