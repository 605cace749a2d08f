#include "cluster/protocol/codec.hpp"

#include <utility>

#include "base/json.hpp"

namespace mokume::cluster {
namespace {

// Reads the floats that follow the text, one vector after another.
class Tail : public base::FloatSource {
 public:
  Tail(std::string_view bytes, const std::shared_ptr<char>& owner) : left_(bytes), owner_(owner) {}

  base::Floats take(uint64_t count) override {
    if (owner_ == nullptr || count > left_.size() / sizeof(float))
      throw Error(MK_BAD_DATA, "the floats of the message are truncated");
    if (reinterpret_cast<uintptr_t>(left_.data()) % alignof(float) != 0)
      throw Error(MK_BAD_DATA, "the floats of the message are misaligned");
    char* const first = owner_.get() + (left_.data() - owner_.get());
    left_.remove_prefix(count * sizeof(float));
    return {std::shared_ptr<float>(owner_, reinterpret_cast<float*>(first)), count};
  }
  void expect_end() const {
    if (!left_.empty()) throw Error(MK_BAD_DATA, "the message has excess bytes");
  }

 private:
  std::string_view left_;
  const std::shared_ptr<char>& owner_;
};

// Adds the field "type" to the fields of the message.
template <class Kind>
struct Typed {
  const Kind& message;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("type", Kind::kType);
    Kind::fields(self.message, field);
  }
};

void append_floats(std::string& bytes, std::span<const std::span<const float>> floats) {
  bytes.append((sizeof(float) - (bytes.size() + 1) % sizeof(float)) % sizeof(float), ' ');
  bytes += '\n';
  size_t end = bytes.size();
  for (const auto& one : floats) end += one.size_bytes();
  bytes.reserve(end);
  for (const auto& one : floats) bytes.append(reinterpret_cast<const char*>(one.data()), one.size_bytes());
}

nlohmann::json json_of(std::string_view text) {
  try {
    return base::parse_json(text);
  } catch (const Error&) {
    return nullptr;
  }
}

template <size_t kIndex = 0>
Message read_kind(const std::string& type, const nlohmann::json& object, base::FloatSource& floats) {
  if constexpr (kIndex == std::variant_size_v<Message>) {
    throw Error(MK_BAD_DATA, "the message has the unknown type '" + type + "'");
  } else {
    using MessageKind = std::variant_alternative_t<kIndex, Message>;
    if (type == MessageKind::kType) return base::from_json<MessageKind>(object, &floats);
    return read_kind<kIndex + 1>(type, object, floats);
  }
}

}  // namespace

std::string clean_text(const std::string& text) {
  return nlohmann::json::parse(base::quoted_json(text)).get<std::string>();
}

std::string encode(const Message& message) {
  return std::visit(
      [](const auto& one) {
        base::JsonWriter writer;
        writer.write(Typed<std::decay_t<decltype(one)>>{one});
        std::string bytes = writer.take_text();
        if (!writer.floats().empty()) append_floats(bytes, writer.floats());
        return bytes;
      },
      message);
}

Message decode(std::string_view bytes, const std::shared_ptr<char>& owner) {
  const size_t end = bytes.find('\n');  // the JSON text of a message contains no newline
  const nlohmann::json object = json_of(bytes.substr(0, end));
  if (!object.is_object()) throw Error(MK_BAD_DATA, "the message is not a JSON object");
  const auto type = object.find("type");
  if (type == object.end() || !type->is_string()) base::bad_field("type", "a text");
  Tail tail(end == std::string_view::npos ? std::string_view() : bytes.substr(end + 1), owner);
  Message message = read_kind(type->get_ref<const std::string&>(), object, tail);
  tail.expect_end();
  return message;
}

Message decode_frame(std::string bytes) {
  const auto kept = std::make_shared<std::string>(std::move(bytes));
  return decode(*kept, {kept, kept->data()});
}

std::optional<TeamMessage> team_message(Message& message) {
  return std::visit(
      [](auto& one) -> std::optional<TeamMessage> {
        if constexpr (std::is_constructible_v<TeamMessage, decltype(one)>) {
          return std::move(one);
        } else {
          return std::nullopt;
        }
      },
      message);
}

}  // namespace mokume::cluster
