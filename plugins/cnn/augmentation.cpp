#include "augmentation.hpp"

#include <set>

#include "forms.hpp"

namespace mokume::cnn {
namespace {

struct Change {
  enum class Kind { horizontal_flip, vertical_flip, crop, rotation, colours, erasing } kind = Kind::crop;
  double p = 0.5, degrees = 0, brightness = 0, contrast = 0, saturation = 0, hue = 0;
  int64_t padding = 0, size = 0;
};

const Forms<Change>& changes() {
  using C = Change;
  const Forms<C>::Key p{real("p", 0, 1, "0.5", "share of the images that it changes"), &C::p};
  static const Forms<C> all = {{
      {"random_horizontal_flip", C::Kind::horizontal_flip, "mirrors left and right", {p}},
      {"random_vertical_flip", C::Kind::vertical_flip, "mirrors top and bottom", {p}},
      {"random_crop",
       C::Kind::crop,
       "shifts by up to `padding` pixels in each direction, and fills with zeros",
       {{integer("padding", 1, 1024, "", "pixels of the border"), &C::padding}}},
      {"random_rotation",
       C::Kind::rotation,
       "rotates about the centre with bilinear interpolation, and fills with zeros",
       {{positive("degrees", 180, "", "largest angle in either direction"), &C::degrees}}},
      {"color_jitter",
       C::Kind::colours,
       "changes brightness, contrast and saturation by factors up to this far from 1, and the hue",
       {{real("brightness", 0, 1, "0.0", "all values times a factor"), &C::brightness},
        {real("contrast", 0, 1, "0.0", "distances from the image's mean brightness times a factor"), &C::contrast},
        {real("saturation", 0, 1, "0.0", "distances from the pixel's brightness times a factor"), &C::saturation},
        {younger(real("hue", 0, 0.5, "0.0", "largest turn of the colour circle in either direction")), &C::hue}}},
      {"random_erasing",
       C::Kind::erasing,
       "sets a square to zero, which may lie partly outside the image (cutout)",
       {{integer("size", 1, 1024, "", "side of the square"), &C::size}, p}},
  }};
  return all;
}

void apply(const Change& c, ops::Augment& to) {
  switch (c.kind) {
    case Change::Kind::horizontal_flip:
      to.horizontal = c.p;
      return;
    case Change::Kind::vertical_flip:
      to.vertical = c.p;
      return;
    case Change::Kind::crop:
      to.shift = c.padding;
      return;
    case Change::Kind::rotation:
      to.degrees = c.degrees;
      return;
    case Change::Kind::colours:
      to.brightness = c.brightness;
      to.contrast = c.contrast;
      to.saturation = c.saturation;
      to.hue = c.hue;
      return;
    case Change::Kind::erasing:
      to.erase = c.size;
      to.erase_p = c.p;
  }
}

}  // namespace

mk_param augment_param() {
  mk_param param = younger(changes().param("augment", "[]", "random changes of the images that a network trains on"));
  param.type = MK_PARAM_FORMS;
  return param;
}

ops::Augment augment_of_option(const std::string& json) {
  ops::Augment all;
  std::set<std::string> seen;
  for (const auto& change : nlohmann::json::parse(json)) {
    const std::string type = change.at("type");
    if (!seen.insert(type).second)
      throw Error(MK_INVALID_ARGUMENT, "augment: " + type + " is there twice; keep one of the two");
    apply(changes().read(change.dump()), all);
  }
  return all;
}

ops::Augment augment_for(ops::Augment augment, const Shape& input) {
  if (!augment.changes()) return {};
  if (input.flat)
    throw Error(MK_INVALID_ARGUMENT, "augment changes images, but the data has rows of features; remove it");
  if ((augment.saturation > 0 || augment.hue > 0) && input.channels != 3)
    throw Error(MK_INVALID_ARGUMENT, "augment: saturation and hue need images of three colours, but these are " +
                                         text(input) + "; remove them");
  augment.height = input.height;
  augment.width = input.width;
  augment.channels = input.channels;
  return augment;
}

}  // namespace mokume::cnn
