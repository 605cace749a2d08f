#include "data/digit_shapes.hpp"

namespace mokume::data {
namespace {

using P = ControlPoint;

constexpr P k0Loop[] = {{54, 10}, {34, 16}, {24, 38}, {24, 62}, {34, 84}, {52, 90},
                        {70, 82}, {77, 60}, {75, 34}, {64, 15}, {50, 10}};
constexpr P k0Slim[] = {{58, 12}, {42, 20}, {34, 46}, {36, 74}, {48, 89}, {60, 80}, {66, 52}, {62, 24}, {52, 10}};
constexpr P k0Open[] = {{66, 18}, {46, 10}, {28, 26}, {22, 54}, {32, 82},
                        {54, 90}, {74, 74}, {78, 46}, {70, 22}, {58, 14}};
constexpr Stroke k0a[] = {k0Loop};
constexpr Stroke k0b[] = {k0Slim};
constexpr Stroke k0c[] = {k0Open};
constexpr Glyph k0[] = {k0a, k0b, k0c};

constexpr P k1Stem[] = {{52, 10}, {50, 36}, {50, 64}, {49, 90}};
constexpr P k1Flag[] = {{33, 30}, {43, 22}, {53, 10}};
constexpr P k1Foot[] = {{34, 90}, {50, 90}, {66, 89}};
constexpr Stroke k1a[] = {k1Stem};
constexpr Stroke k1b[] = {k1Flag, k1Stem};
constexpr Stroke k1c[] = {k1Flag, k1Stem, k1Foot};
constexpr Glyph k1[] = {k1a, k1b, k1c};

constexpr P k2Neck[] = {{25, 28}, {36, 13}, {56, 10}, {72, 22}, {69, 42}, {52, 62}, {34, 78}, {22, 89}};
constexpr P k2Base[] = {{22, 89}, {42, 87}, {60, 89}, {80, 86}};
constexpr P k2Looped[] = {{28, 24}, {48, 10}, {68, 20}, {66, 44}, {48, 68}, {30, 86},
                          {22, 80}, {32, 72}, {50, 82}, {66, 90}, {80, 84}};
constexpr Stroke k2a[] = {k2Neck, k2Base};
constexpr Stroke k2b[] = {k2Looped};
constexpr Glyph k2[] = {k2a, k2b};

constexpr P k3Upper[] = {{27, 18}, {46, 10}, {66, 16}, {70, 30}, {60, 43}, {42, 47}};
constexpr P k3Lower[] = {{42, 47}, {64, 50}, {75, 64}, {70, 82}, {48, 90}, {24, 80}};
constexpr P k3Roof[] = {{27, 13}, {48, 12}, {72, 12}};
constexpr P k3Fall[] = {{72, 12}, {60, 27}, {44, 43}};
constexpr P k3Belly[] = {{44, 43}, {66, 48}, {75, 64}, {68, 82}, {46, 90}, {24, 82}};
constexpr Stroke k3a[] = {k3Upper, k3Lower};
constexpr Stroke k3b[] = {k3Roof, k3Fall, k3Belly};
constexpr Glyph k3[] = {k3a, k3b};

constexpr P k4Angle[] = {{34, 12}, {30, 30}, {24, 52}};
constexpr P k4Bar[] = {{24, 52}, {50, 55}, {80, 51}};
constexpr P k4Stem[] = {{67, 14}, {65, 50}, {62, 90}};
constexpr P k4Slope[] = {{62, 10}, {42, 34}, {20, 61}};
constexpr P k4Floor[] = {{20, 61}, {50, 62}, {82, 60}};
constexpr P k4Post[] = {{62, 10}, {61, 50}, {60, 90}};
constexpr P k4Round[] = {{30, 14}, {24, 38}, {34, 52}, {52, 50}, {68, 34}};
constexpr P k4Tail[] = {{72, 12}, {68, 34}, {64, 62}, {60, 90}};
constexpr Stroke k4a[] = {k4Angle, k4Bar, k4Stem};
constexpr Stroke k4b[] = {k4Slope, k4Floor, k4Post};
constexpr Stroke k4c[] = {k4Round, k4Tail};
constexpr Glyph k4[] = {k4a, k4b, k4c};

constexpr P k5Roof[] = {{34, 13}, {54, 13}, {75, 11}};
constexpr P k5Neck[] = {{34, 13}, {32, 28}, {29, 44}};
constexpr P k5Belly[] = {{29, 44}, {48, 39}, {68, 47}, {74, 65}, {64, 83}, {44, 90}, {24, 81}};
constexpr P k5Sweep[] = {{74, 13}, {50, 14}, {36, 26}, {40, 42}, {60, 50}, {70, 66}, {60, 84}, {40, 89}, {24, 82}};
constexpr Stroke k5a[] = {k5Roof, k5Neck, k5Belly};
constexpr Stroke k5b[] = {k5Sweep};
constexpr Glyph k5[] = {k5a, k5b};

constexpr P k6Curl[] = {{66, 12}, {46, 22}, {31, 44}, {27, 66}, {36, 86}, {54, 90},
                        {70, 79}, {70, 62}, {56, 52}, {38, 57}, {29, 70}};
constexpr P k6Tall[] = {{54, 10}, {40, 32}, {32, 58}, {34, 80}, {48, 90}, {62, 82}, {64, 68}, {52, 60}, {36, 70}};
constexpr Stroke k6a[] = {k6Curl};
constexpr Stroke k6b[] = {k6Tall};
constexpr Glyph k6[] = {k6a, k6b};

constexpr P k7Roof[] = {{23, 14}, {48, 13}, {77, 12}};
constexpr P k7Fall[] = {{77, 12}, {62, 38}, {50, 64}, {43, 90}};
constexpr P k7Cross[] = {{40, 52}, {56, 51}, {71, 49}};
constexpr P k7Hook[] = {{24, 26}, {30, 13}, {50, 15}, {73, 12}, {64, 36}, {54, 62}, {50, 90}};
constexpr Stroke k7a[] = {k7Roof, k7Fall};
constexpr Stroke k7b[] = {k7Roof, k7Fall, k7Cross};
constexpr Stroke k7c[] = {k7Hook};
constexpr Glyph k7[] = {k7a, k7b, k7c};

constexpr P k8Cross[] = {{68, 20}, {50, 10}, {32, 20}, {36, 37}, {52, 48}, {68, 61}, {70, 78},
                         {52, 90}, {32, 80}, {32, 63}, {50, 48}, {66, 36}, {69, 20}};
constexpr P k8Upper[] = {{50, 47}, {34, 39}, {32, 20}, {50, 10}, {67, 20}, {65, 38}, {50, 47}};
constexpr P k8Lower[] = {{50, 47}, {30, 58}, {28, 78}, {50, 90}, {72, 78}, {70, 58}, {50, 47}};
constexpr Stroke k8a[] = {k8Cross};
constexpr Stroke k8b[] = {k8Upper, k8Lower};
constexpr Glyph k8[] = {k8a, k8b};

constexpr P k9Head[] = {{70, 22}, {54, 10}, {36, 18}, {29, 36}, {38, 52}, {56, 50}, {68, 36}, {71, 20}};
constexpr P k9Tail[] = {{71, 20}, {69, 46}, {64, 70}, {58, 90}};
constexpr P k9Hook[] = {{71, 20}, {72, 50}, {68, 76}, {50, 90}, {32, 84}};
constexpr Stroke k9a[] = {k9Head, k9Tail};
constexpr Stroke k9b[] = {k9Head, k9Hook};
constexpr Glyph k9[] = {k9a, k9b};

}  // namespace

std::span<const Glyph> glyphs(int digit) {
  switch (digit) {
    case 0:
      return k0;
    case 1:
      return k1;
    case 2:
      return k2;
    case 3:
      return k3;
    case 4:
      return k4;
    case 5:
      return k5;
    case 6:
      return k6;
    case 7:
      return k7;
    case 8:
      return k8;
    default:
      return k9;
  }
}

}  // namespace mokume::data
