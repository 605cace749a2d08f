// Writes structs as JSON and reads them back. A struct lists its members once, for both directions.
//
//   struct Lease {
//     uint64_t id = 0;
//     double share = 0;
//     std::vector<uint32_t> fits;
//     template <class Self, class Fields>
//     static void fields(Self& self, Fields& field) {
//       field("id", self.id);
//       field("share", self.share, 0.0, 1.0);   // range that the reader accepts
//       field.optional("fits", self.fits);      // not written if empty; may be missing
//     }
//     void check() const;                       // optional; throws if members contradict each other
//   };
//
// A member may be a bool, a number, a string, a std::vector, a std::map with string keys, a std::optional (left out if
// empty), an enumeration with names_of(), another such struct, or base::Floats (see below). Finite doubles round-trip
// bit for bit. JSON has no NaN or infinities, so strings stand for them. Bytes that are not UTF-8 become U+FFFD.
//
// The reader throws an Error(MK_BAD_DATA) that names the field if a value is missing, has the wrong type or is out of
// range. It skips unknown fields, so that an older version can read the output of a newer one. A null field counts as
// missing.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/floats.hpp"
#include "base/text.hpp"
#include "sdk/error.hpp"

namespace mokume::base {

template <class Enum>
using EnumName = std::pair<Enum, const char*>;

// Requires a function next to the enumeration that returns the names of its values:
//   std::span<const base::EnumName<Kind>> names_of(Kind);
template <class Enum>
concept NamedEnum = std::is_enum_v<Enum> && requires(Enum value) {
  names_of(value);
};

template <NamedEnum Enum>
const char* name_of(Enum value) {
  for (const auto& [known, name] : names_of(value))
    if (known == value) return name;
  return "unknown";
}

std::string quoted_json(std::string_view text);  // adds the quotation marks
bool is_utf8(std::string_view text);

class JsonWriter {
 public:
  template <class T>
  void operator()(const char* key, const T& value) {
    begin_field(key);
    write(value);
  }
  template <class T, class Bound>
  void operator()(const char* key, const T& value, Bound, Bound) {
    (*this)(key, value);
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }
  template <class T>
  void optional(const char* key, const T& value) {
    if constexpr (requires { value.empty(); }) {
      if (!value.empty()) (*this)(key, value);
    } else {
      if (!(value == T())) (*this)(key, value);
    }
  }

  // Writes {"NAME":[...],...} from a list of structs with `name` and `values`, or nothing if the list is empty.
  template <class T>
  void named(const char* key, const std::vector<T>& list) {
    if (list.empty()) return;
    begin_field(key);
    text_ += '{';
    for (const T& one : list) field_quoted(quoted_json(one.name), one.values);
    text_ += '}';
  }

  template <class T>
  void write(const T& value) {
    if constexpr (std::same_as<T, bool>) {
      text_ += value ? "true" : "false";
    } else if constexpr (std::integral<T>) {
      text_ += std::to_string(value);
    } else if constexpr (std::floating_point<T>) {
      write_real(value);
    } else if constexpr (NamedEnum<T>) {
      text_ += quoted_json(name_of(value));
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
      text_ += quoted_json(value);
    } else {
      write_object(value);
    }
  }
  template <class T>
  void write(const std::vector<T>& list) {
    text_ += '[';
    for (size_t k = 0; k < list.size(); ++k) {
      if (k > 0) text_ += ',';
      write(list[k]);
    }
    text_ += ']';
  }
  template <class T>
  void write(const std::map<std::string, T>& map) {
    text_ += '{';
    for (const auto& [key, value] : map) field_quoted(quoted_json(key), value);
    text_ += '}';
  }
  void write(const Floats& floats) {
    write(floats.size());
    floats_.push_back(floats.span());
  }
  void write(const nlohmann::ordered_json& json) {
    text_ += json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }

  std::string take_text() { return std::move(text_); }
  std::span<const std::span<const float>> floats() const { return floats_; }

 private:
  template <class T>
  void write_object(const T& value) {
    text_ += '{';
    T::fields(value, *this);
    text_ += '}';
  }
  template <class T>
  void field_quoted(const std::string& key, const T& value) {
    begin_quoted(key);
    write(value);
  }
  void begin_field(const char* key);
  void begin_quoted(std::string_view key);
  void write_real(double value);

  std::string text_;
  std::vector<std::span<const float>> floats_;  // in the order of the text
};

// Supplies the values of Floats members. The JSON text holds only the number of values.
class FloatSource {
 public:
  virtual ~FloatSource() = default;
  virtual Floats take(uint64_t count) = 0;  // throws Error(MK_BAD_DATA) if too few values are left
};

[[noreturn]] void bad_field(const char* key, const std::string& wanted);

class JsonReader {
 public:
  // `object` must outlive the reader. `floats` may be null if the text has no Floats.
  JsonReader(const nlohmann::json& object, FloatSource* floats);

  template <class T>
  void operator()(const char* key, T& member) {
    read(required(key), key, member);
  }
  template <class T>
  void operator()(const char* key, T& member, std::type_identity_t<T> low, std::type_identity_t<T> high) {
    (*this)(key, member);
    if (!(member >= low && member <= high)) bad_field(key, "in range");
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& member) {
    if (const nlohmann::json* value = find(key)) read(*value, key, member.emplace());
  }
  template <class T>
  void optional(const char* key, T& member) {
    if (const nlohmann::json* value = find(key)) read(*value, key, member);
  }

  template <class T>
  void named(const char* key, std::vector<T>& list) {
    list.clear();
    const nlohmann::json* value = find(key);
    if (value == nullptr) return;
    for (const auto& [name, values] : object_of(*value, key).items()) {
      list.emplace_back().name = name;
      read(values, key, list.back().values);
    }
  }

  template <class T>
  void read(const nlohmann::json& value, const char* key, T& member) const {
    if constexpr (std::same_as<T, bool>) {
      if (!value.is_boolean()) bad_field(key, "true or false");
      member = value.get<bool>();
    } else if constexpr (std::unsigned_integral<T>) {
      if (!value.is_number_unsigned() || value.get<uint64_t>() > std::numeric_limits<T>::max())
        bad_field(key, "a whole number in range");
      member = value.get<T>();
    } else if constexpr (std::integral<T>) {
      if (!value.is_number_integer() ||
          (value.is_number_unsigned() ? value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<T>::max())
                                      : value.get<int64_t>() < std::numeric_limits<T>::min()))
        bad_field(key, "a whole number in range");
      member = value.get<T>();
    } else if constexpr (std::floating_point<T>) {
      member = real_of(value, key);
    } else if constexpr (NamedEnum<T>) {
      member = enum_of<T>(value, key);
    } else if constexpr (std::same_as<T, std::string>) {
      if (!value.is_string()) bad_field(key, "a string");
      member = value.get_ref<const std::string&>();
    } else {
      JsonReader reader(object_of(value, key), floats_);
      T::fields(member, reader);
      if constexpr (requires { member.check(); }) member.check();
    }
  }
  template <class T>
  void read(const nlohmann::json& value, const char* key, std::vector<T>& member) const {
    if (!value.is_array()) bad_field(key, "a list");
    member.clear();
    for (const nlohmann::json& one : value) read(one, key, member.emplace_back());
  }
  template <class T>
  void read(const nlohmann::json& value, const char* key, std::map<std::string, T>& member) const {
    member.clear();
    for (const auto& [name, one] : object_of(value, key).items()) read(one, key, member[name]);
  }
  void read(const nlohmann::json& value, const char* key, Floats& member) const;
  void read(const nlohmann::json& value, const char* /*key*/, nlohmann::ordered_json& member) const { member = value; }

 private:
  template <class Enum>
  static Enum enum_of(const nlohmann::json& value, const char* key) {
    std::string wanted;
    for (const auto& [known, name] : names_of(Enum())) {
      if (value == name) return known;
      wanted += (wanted.empty() ? "one of " : ", ") + std::string(name);
    }
    bad_field(key, wanted);
  }
  static const nlohmann::json& object_of(const nlohmann::json& value, const char* key);
  static double real_of(const nlohmann::json& value, const char* key);
  const nlohmann::json* find(const char* key) const;
  const nlohmann::json& required(const char* key) const;

  const nlohmann::json& object_;
  FloatSource* floats_;
};

template <class T>
std::string to_json(const T& value) {
  JsonWriter writer;
  writer.write(value);
  return writer.take_text();
}

// Parses `text`. Throws Error(MK_BAD_DATA) if `text` is not JSON.
nlohmann::json parse_json(std::string_view text);

template <class T, std::same_as<nlohmann::json> Json>  // must be exact, because a string would convert to Json
T from_json(const Json& json, FloatSource* floats = nullptr) {
  T value{};
  JsonReader(nlohmann::json::object(), floats).read(json, "it", value);
  return value;
}
template <class T>
T from_json(std::string_view text) {
  return from_json<T>(parse_json(text));
}

// Reformats the JSON with one value per line, for files that people read.
std::string indented(const std::string& json);

}  // namespace mokume::base
