// A small writer of deterministic SVG: fixed-precision coordinates, no locale, no time, no ids. Classes of plot.css
// decide on colours.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace mokume::report {

// A coordinate: two decimals at most, no "-0"; what is not finite becomes 0.
std::string coordinate(double value);

class Svg {
 public:
  // `label` describes the whole picture to a screen reader. Sizes in px. Head and caption stand at the top.
  Svg(double width, double height, std::string_view label, std::string_view head = {}, std::string_view caption = {});

  // `title` is shown while the pointer rests on the shape. `fill` is a colour like "#0a1b2c", else the class decides.
  void rect(double x, double y, double width, double height, std::string_view classes = {}, std::string_view title = {},
            std::string_view fill = {}, double radius = 0);
  void line(double x1, double y1, double x2, double y2, std::string_view classes = {});
  void circle(double x, double y, double radius);
  void path(std::string_view commands, std::string_view classes);
  void cross(double x, double y, double radius);
  // `exponent` is set raised after the text. Anchors are classes: "start" (default), "mid", "end".
  void text(double x, double y, std::string_view text, std::string_view classes = {}, std::string_view exponent = {});
  void text_up(double x, double y, std::string_view text, std::string_view classes);  // reads from bottom to top

  void open(std::string_view classes, std::string_view title = {});  // a group; close() ends it
  void close();

  std::string finish() &&;

 private:
  struct Attribute {
    Attribute(const char* key, double number) : name(key), value(coordinate(number)) {}
    Attribute(const char* key, std::string_view text) : name(key), value(text) {}
    std::string_view name;
    std::string value;  // "" leaves the attribute out
  };
  void element(std::string_view name, std::initializer_list<Attribute> attributes, const std::string& inner = {});

  std::string out_;
};

// Width of a text in px, from above, at a size in px: enough to keep labels apart.
double text_width(std::string_view utf8, double size = 11);

}  // namespace mokume::report
