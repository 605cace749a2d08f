// Writes deterministic SVG: coordinates have a fixed precision, and the text contains no times or ids. Classes of
// plot.css determine the colours.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace mokume::report {

// Applies results::clean() and replaces & < > " ' and carriage returns with entities. The result is safe as element
// text and as an attribute value, in XML and HTML.
std::string escape(std::string_view text);

// Formats a coordinate with at most two decimals and without "-0". Values that are not finite become 0.
std::string coordinate(double value);

class Svg {
 public:
  // `label` describes the whole picture for screen readers. Sizes are in px. `head` and `caption` appear at the top; a
  // caption that exceeds the width has two lines. The picture becomes wider if a text would otherwise be cut.
  Svg(double width, double height, std::string_view label, std::string_view head = {}, std::string_view caption = {});

  // `title` appears while the pointer is over the shape. `fill` is a colour like "#0a1b2c"; if it is empty, the class
  // determines the colour.
  void rect(double x, double y, double width, double height, std::string_view classes = {}, std::string_view title = {},
            std::string_view fill = {}, double radius = 0);
  void line(double x1, double y1, double x2, double y2, std::string_view classes = {});
  void circle(double x, double y, double radius);
  void path(std::string_view commands, std::string_view classes);
  void cross(double x, double y, double radius);
  // `exponent` is a superscript after the text. The class "mid" or "end" sets the anchor, which is otherwise the start.
  void text(double x, double y, std::string_view text, std::string_view classes = {}, std::string_view exponent = {});
  void text_up(double x, double y, std::string_view text, std::string_view classes);  // reads from bottom to top

  void open(std::string_view classes, std::string_view title = {});  // begins a group, which close() ends
  void close();

  std::string finish() &&;

 private:
  struct Attribute {
    Attribute(const char* key, double number) : name(key), value(coordinate(number)) {}
    Attribute(const char* key, std::string_view text) : name(key), value(text) {}
    std::string_view name;
    std::string value;  // "" omits the attribute
  };
  void element(std::string_view name, std::initializer_list<Attribute> attributes, const std::string& inner = {});
  void write_top(std::string_view head, std::string_view caption);
  void make_room(double left, double right);

  std::string label_, out_;
  double left_ = 0, right_, height_;
};

// Returns an upper bound in px for the width of a text at a font size in px. It serves to keep labels apart.
double text_width(std::string_view utf8, double size = 11);

}  // namespace mokume::report
