// Describes keys whose values are tables, such as an optimizer. The keys of a table set members of a struct.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "keys.hpp"
#include "sdk/error.hpp"

namespace mokume::cnn {

// Holds the tables that a key accepts, distinguished by "type". Each table describes one kind of T, and its keys set
// members of T. Members without a key keep their initial values.
template <class T>
class Forms {
 public:
  struct Key {
    mk_param param;
    std::variant<int64_t T::*, double T::*, bool T::*, std::string T::*> member;
  };
  struct Form {
    const char* name;
    decltype(T::kind) kind;
    const char* doc;
    std::vector<Key> keys;
  };

  Forms(std::vector<Form> forms) : forms_(std::move(forms)), params_(forms_.size()) {
    for (size_t f = 0; f < forms_.size(); ++f) {
      for (const Key& key : forms_[f].keys) params_[f].push_back(key.param);
      table_.push_back({forms_[f].name, forms_[f].doc, params_[f].data(), uint32_t(params_[f].size()), 0});
    }
  }

  mk_param param(const char* name, const char* fallback, const char* doc) const {
    return {name, MK_PARAM_FORM, 0, 0, 0, fallback, "", doc, table_.data(), uint32_t(table_.size()), 0};
  }

  // Reads JSON that has every key of its form, except that missing younger keys take their defaults. Throws
  // nlohmann::json::exception.
  T read(const std::string& json) const {
    const auto values = nlohmann::json::parse(json);
    const std::string type = values.at("type");
    for (const Form& form : forms_) {
      if (form.name != type) continue;
      T made;
      made.kind = form.kind;
      for (const Key& key : form.keys)
        std::visit([&](auto member) { take(value_of(values, key.param), made.*member); }, key.member);
      return made;
    }
    throw Error(MK_INTERNAL, "cnn received the unknown type '" + type + "'");
  }

 private:
  template <class Member>
  static void take(const nlohmann::json& value, Member& member) {
    value.get_to(member);
  }
  // Accepts booleans, because the flags of ops are integers.
  static void take(const nlohmann::json& value, int64_t& member) {
    member = value.is_boolean() ? int64_t{value.get<bool>()} : value.get<int64_t>();
  }

  std::vector<Form> forms_;
  std::vector<std::vector<mk_param>> params_;
  std::vector<mk_form> table_;
};

}  // namespace mokume::cnn
