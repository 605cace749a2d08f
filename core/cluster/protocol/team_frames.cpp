#include "cluster/protocol/team_frames.hpp"

#include <nlohmann/json.hpp>
#include <span>

#include "cluster/protocol/messages.hpp"
#include "cluster/transport/side_channel.hpp"
#include "journal/fields.hpp"
#include "sdk/error.hpp"

namespace mokume::cluster {
namespace {

using journal::array_field;
using journal::real_field;
using journal::text_field;
using journal::u32_field;
using journal::whole_field;
using nlohmann::json;

// The mark, a line of JSON, and the floats that it announces. Spaces bring these to a place where floats may lie.
std::string frame_of(const json& head, const std::vector<std::span<const float>>& floats = {}) {
  std::string bytes(1, SideChannel::kMark);
  bytes += head.dump();
  bytes.append((sizeof(float) - (bytes.size() + 1) % sizeof(float)) % sizeof(float), ' ');
  bytes += '\n';
  size_t end = bytes.size();
  for (const auto& one : floats) end += one.size_bytes();
  bytes.reserve(end);
  for (const auto& one : floats) bytes.append(reinterpret_cast<const char*>(one.data()), one.size_bytes());
  return bytes;
}

struct Encoder {
  std::string operator()(const TeamStart& f) const {
    json members = json::array();
    for (const TeamMember& m : f.members)
      members.push_back({{"node", m.node}, {"device", m.device}, {"speed", m.speed}});
    return frame_of(
        {{"type", "start"}, {"attempt", f.attempt}, {"members", members}, {"item", encode(Grant{0, 0, f.item})}});
  }
  std::string operator()(const TeamGift& f) const {
    std::vector<mk_block> blocks;
    for (const Block& b : f.gift.blocks) blocks.push_back({b.first, b.size, b.values.span().data()});
    return encode_gift(f.attempt, f.gift.member, f.gift.number, f.gift.count, blocks);
  }
  std::string operator()(const TeamSum& f) const {
    return frame_of({{"type", "sum"}, {"attempt", f.attempt}, {"number", f.number}, {"count", f.sum.size()}},
                    {f.sum.span()});
  }
  std::string operator()(const TeamBreak& f) const {
    return frame_of({{"type", "break"}, {"attempt", f.attempt}, {"why", clean_text(f.why)}});
  }
  std::string operator()(const TeamEnded& f) const {
    return frame_of({{"type", "ended"},
                     {"attempt", f.attempt},
                     {"member", f.member},
                     {"status", f.status},
                     {"text", clean_text(f.text)}});
  }
};

// The floats behind the head, one vector after the other.
class Payload {
 public:
  Payload(std::string_view bytes, const std::shared_ptr<char>& owner) : left_(bytes), owner_(owner) {}

  Floats take(uint64_t count) {
    if (count > left_.size() / sizeof(float)) throw Error(MK_BAD_DATA, "a frame of a team is cut off");
    if (reinterpret_cast<uintptr_t>(left_.data()) % alignof(float) != 0)
      throw Error(MK_BAD_DATA, "the floats of a team's frame are out of place");
    char* const first = owner_.get() + (left_.data() - owner_.get());
    left_.remove_prefix(count * sizeof(float));
    return {std::shared_ptr<float>(owner_, reinterpret_cast<float*>(first)), count};
  }
  void expect_end() const {
    if (!left_.empty()) throw Error(MK_BAD_DATA, "a frame of a team is longer than it says");
  }

 private:
  std::string_view left_;
  const std::shared_ptr<char>& owner_;
};

TeamFrame read_start(const json& head) {
  TeamStart start{whole_field(head, "attempt", UINT64_MAX), {}, {}};
  for (const json& one : array_field(head, "members"))
    start.members.push_back({u32_field(one, "node"), u32_field(one, "device"), real_field(one, "speed")});
  const Message item = decode(text_field(head, "item"));
  if (!std::holds_alternative<Grant>(item)) throw Error(MK_BAD_DATA, "a team was started without an item");
  start.item = std::get<Grant>(item).item;
  return start;
}

TeamFrame read_gift(const json& head, Payload& payload) {
  TeamGift f{
      whole_field(head, "attempt", UINT64_MAX),
      {u32_field(head, "member"), whole_field(head, "number", UINT64_MAX), whole_field(head, "count", UINT32_MAX), {}}};
  for (const json& one : array_field(head, "blocks"))
    f.gift.blocks.push_back({u32_field(one, "first"), u32_field(one, "size"), payload.take(f.gift.count)});
  return f;
}

}  // namespace

std::string encode_gift(uint64_t attempt, uint32_t member, uint64_t number, uint64_t count,
                        std::span<const mk_block> blocks) {
  json heads = json::array();
  std::vector<std::span<const float>> floats;
  for (const mk_block& b : blocks) {
    heads.push_back({{"first", b.first}, {"size", b.size}});
    floats.emplace_back(b.values, count);
  }
  return frame_of({{"type", "gift"},
                   {"attempt", attempt},
                   {"member", member},
                   {"number", number},
                   {"count", count},
                   {"blocks", heads}},
                  floats);
}

std::string encode_frame(const TeamFrame& frame) { return std::visit(Encoder(), frame); }

TeamFrame decode_frame(std::string_view bytes, const std::shared_ptr<char>& owner) {
  const size_t end = bytes.find('\n');
  if (bytes.empty() || bytes.front() != SideChannel::kMark || end == std::string_view::npos)
    throw Error(MK_BAD_DATA, "what came over the side channel is no frame of a team");
  const json head = json::parse(bytes.begin() + 1, bytes.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
  if (!head.is_object()) throw Error(MK_BAD_DATA, "the head of a team's frame is no JSON object");
  Payload payload(bytes.substr(end + 1), owner);
  const std::string type = text_field(head, "type");
  const uint64_t attempt = whole_field(head, "attempt", UINT64_MAX);
  TeamFrame frame = [&]() -> TeamFrame {
    if (type == "start") return read_start(head);
    if (type == "gift") return read_gift(head, payload);
    if (type == "sum")
      return TeamSum{attempt, whole_field(head, "number", UINT64_MAX),
                     payload.take(whole_field(head, "count", UINT32_MAX))};
    if (type == "break") return TeamBreak{attempt, text_field(head, "why")};
    if (type == "ended")
      return TeamEnded{attempt, u32_field(head, "member"), static_cast<int32_t>(whole_field(head, "status", INT32_MAX)),
                       text_field(head, "text")};
    throw Error(MK_BAD_DATA, "a team's frame is of the unknown type '" + type + "'");
  }();
  payload.expect_end();
  return frame;
}

}  // namespace mokume::cluster
