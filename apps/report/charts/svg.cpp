#include "report/charts/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/charts/style.hpp"
#include "results/format.hpp"

namespace mokume::report {
namespace {

constexpr double kEdge = 16;   // distance of the texts at the top from the left edge
constexpr double kMargin = 4;  // least distance of a text from an edge
constexpr size_t kLongestTop = 150;

bool has_class(std::string_view classes, std::string_view name) {
  return (" " + std::string(classes) + " ").find(" " + std::string(name) + " ") != std::string::npos;
}

// Returns the size of plot.css. Heads are bold, so they count as larger.
double font_size(std::string_view classes) {
  return has_class(classes, "head") ? 14 : has_class(classes, "small") ? 9 : 11;
}

// Returns where the first line of a text ends: its size, or the position of the last blank that keeps the line within
// `width` px.
size_t line_break(std::string_view text, double width) {
  if (text_width(text) <= width) return text.size();
  size_t cut = text.size();
  for (size_t at = text.find(' '); at != std::string_view::npos; at = text.find(' ', at + 1))
    if (cut == text.size() || text_width(text.substr(0, at)) <= width) cut = at;
  return cut;
}

std::string title_element(std::string_view title) {
  return title.empty() ? "" : fmt::format("<title>{}</title>", escape(title));
}

}  // namespace

std::string escape(std::string_view text) {
  constexpr std::string_view kSpecial = "&<>\"'\r";
  constexpr const char* kEntities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "&#13;"};
  std::string result;
  for (const char c : results::clean(text)) {
    const size_t at = kSpecial.find(c);
    if (at == std::string_view::npos)
      result += c;
    else
      result += kEntities[at];
  }
  return result;
}

std::string coordinate(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

Svg::Svg(double width, double height, std::string_view label, std::string_view head, std::string_view caption)
    : label_(label), right_(width), height_(height) {
  write_top(head, caption);
}

void Svg::write_top(std::string_view head, std::string_view caption) {
  const size_t cut = line_break(caption, right_ - 2 * kEdge);
  const bool two = cut < caption.size();
  if (!head.empty()) text(kEdge, two ? 18 : 22, results::elide(head, kLongestTop), "head");
  if (!caption.empty()) text(kEdge, two ? 34 : 40, results::elide(caption.substr(0, cut), kLongestTop), "caption");
  if (two) text(kEdge, 48, results::elide(caption.substr(cut + 1), kLongestTop), "caption");
}

void Svg::make_room(double left, double right) {
  left_ = std::min(left_, left - kMargin);
  right_ = std::max(right_, right + kMargin);
}

void Svg::element(std::string_view name, std::initializer_list<Attribute> attributes, const std::string& inner) {
  out_ += fmt::format("<{}", name);
  for (const Attribute& one : attributes)
    if (!one.value.empty()) out_ += fmt::format(" {}=\"{}\"", one.name, one.value);
  out_ += inner.empty() ? "/>\n" : fmt::format(">{}</{}>\n", inner, name);
}

void Svg::rect(double x, double y, double width, double height, std::string_view classes, std::string_view title,
               std::string_view fill, double radius) {
  element("rect",
          {{"x", x},
           {"y", y},
           {"width", std::max(0.0, width)},
           {"height", std::max(0.0, height)},
           {"rx", radius > 0 ? coordinate(radius) : ""},
           {"class", classes},
           {"fill", fill}},
          title_element(title));
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  element("line", {{"x1", x1}, {"y1", y1}, {"x2", x2}, {"y2", y2}, {"class", classes}});
}

void Svg::circle(double x, double y, double radius) { element("circle", {{"cx", x}, {"cy", y}, {"r", radius}}); }

void Svg::path(std::string_view commands, std::string_view classes) {
  element("path", {{"d", commands}, {"class", classes}});
}

void Svg::cross(double x, double y, double radius) {
  path(fmt::format("M{0} {2}L{1} {3}M{1} {2}L{0} {3}", coordinate(x - radius), coordinate(x + radius),
                   coordinate(y - radius), coordinate(y + radius)),
       "cross");
}

void Svg::text(double x, double y, std::string_view text, std::string_view classes, std::string_view exponent) {
  const double width = text_width(text, font_size(classes)) + text_width(exponent, 8);
  const double before = has_class(classes, "end") ? width : has_class(classes, "mid") ? width / 2 : 0;
  make_room(x - before, x - before + width);
  std::string inner = escape(text);
  if (!exponent.empty()) inner += fmt::format("<tspan dy=\"-4\" font-size=\"8\">{}</tspan>", escape(exponent));
  element("text", {{"x", x}, {"y", y}, {"class", classes}}, inner);
}

void Svg::text_up(double x, double y, std::string_view text, std::string_view classes) {
  make_room(x - font_size(classes), x);
  const std::string turned = fmt::format("translate({} {}) rotate(-90)", coordinate(x), coordinate(y));
  element("text", {{"transform", turned}, {"class", classes}}, escape(text));
}

void Svg::open(std::string_view classes, std::string_view title) {
  out_ += fmt::format("<g class=\"{}\">{}\n", classes, title_element(title));
}

void Svg::close() { out_ += "</g>\n"; }

std::string Svg::finish() && {
  const double left = std::floor(left_), width = std::ceil(right_) - left;
  std::string drawn = std::move(out_);
  out_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"mk\" width=\"{1}\" height=\"{2}\" viewBox=\"{0} 0 {1} {2}\" "
      "role=\"img\" aria-label=\"{3}\">\n<style>{4}</style>\n",
      coordinate(left), coordinate(width), coordinate(height_), escape(label_), standalone_css());
  rect(left, 0, width, height_, "bg");
  return std::move(out_) + std::move(drawn) + "</svg>\n";
}

double text_width(std::string_view utf8, double size) { return 0.64 * size * results::count_characters(utf8); }

}  // namespace mokume::report
