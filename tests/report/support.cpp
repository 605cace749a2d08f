#include "report/support.hpp"

#include <set>

namespace mokume::report::testing {
namespace {

class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}

  std::string run() {
    for (const char c : text_) {
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r')
        return fault("a control character");
    }
    if (text_.substr(0, 9) == "<!DOCTYPE") at_ = text_.find('>') + 1;
    while (at_ < text_.size() && fault_.empty()) {
      if (text_[at_] != '<')
        character_data();
      else if (text_.substr(at_, 2) == "</")
        end_tag();
      else
        start_tag();
    }
    if (fault_.empty() && !open_.empty()) fault("<" + open_.back() + "> is never closed");
    if (fault_.empty() && roots_ != 1) fault("there must be one root element");
    return fault_;
  }

 private:
  std::string fault(const std::string& what) {
    if (fault_.empty()) fault_ = what + " at " + std::to_string(at_) + ": " + std::string(text_.substr(at_, 60));
    at_ = text_.size();
    return fault_;
  }

  // Returns whether the '&' at `place` begins a reference.
  bool reference(size_t place) const {
    const size_t end = text_.find(';', place);
    if (end == std::string_view::npos || end - place > 9) return false;
    const std::string_view name = text_.substr(place + 1, end - place - 1);
    static constexpr std::string_view kKnown[] = {"amp", "lt", "gt", "quot", "apos"};
    for (const auto known : kKnown) {
      if (name == known) return true;
    }
    return name.size() > 1 && name[0] == '#' && name.find_first_not_of("0123456789", 1) == std::string_view::npos;
  }

  void character_data() {
    for (; at_ < text_.size() && text_[at_] != '<'; ++at_) {
      const char c = text_[at_];
      if (open_.empty() && c != '\n' && c != ' ') return void(fault("text outside the root"));
      if (c == '&' && !reference(at_)) return void(fault("a bare &"));
    }
  }

  std::string name() {
    const size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '-')) ++at_;
    return std::string(text_.substr(from, at_ - from));
  }

  void spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  void end_tag() {
    at_ += 2;
    const std::string closed = name();
    if (open_.empty() || open_.back() != closed) return void(fault("</" + closed + "> closes nothing"));
    if (at_ >= text_.size() || text_[at_] != '>') return void(fault("no > after </" + closed));
    ++at_;
    open_.pop_back();
  }

  void start_tag() {
    ++at_;
    const std::string tag = name();
    if (tag.empty()) return void(fault("no tag name"));
    if (open_.empty()) ++roots_;
    std::set<std::string> seen;
    for (spaces(); at_ < text_.size() && text_[at_] != '>' && text_[at_] != '/'; spaces()) {
      const std::string attribute = name();
      if (attribute.empty() || !seen.insert(attribute).second) return void(fault("a bad or repeated attribute"));
      if (text_.substr(at_, 2) != "=\"") return void(fault("an attribute without a quoted value"));
      const size_t end = text_.find('"', at_ + 2);
      if (end == std::string_view::npos) return void(fault("an open quote"));
      for (at_ += 2; at_ < end; ++at_) {
        if (text_[at_] == '<' || (text_[at_] == '&' && !reference(at_))) return void(fault("a bad attribute value"));
      }
      ++at_;
    }
    const bool empty = text_.substr(at_, 2) == "/>";
    if (!empty && text_.substr(at_, 1) != ">") return void(fault("no > after <" + tag));
    at_ += empty ? 2 : 1;
    if (!empty) open_.push_back(tag);
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t roots_ = 0;
  std::vector<std::string> open_;
  std::string fault_;
};

}  // namespace

std::string xml_fault(std::string_view text) { return Checker(text).run(); }

}  // namespace mokume::report::testing
