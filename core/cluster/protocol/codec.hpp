// Messages as bytes: a JSON object with the field "type". If floats belong to the message, a newline and the floats
// follow, in the machine's order, at an offset where floats may lie. Only processes of one version speak with each
// other.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/protocol/messages.hpp"

namespace mokume::cluster {

// Replaces the stray bytes of a driver's text, so that messages and journals can hold it.
std::string clean_text(const std::string& text);

std::string encode(const Message& message);

// Throws Error(MK_BAD_DATA) that names the field; ranges that depend on the run are the receiver's to check. Floats
// stay where they are, in the bytes that `owner` holds; without an owner a message with floats is refused.
Message decode(std::string_view bytes, const std::shared_ptr<char>& owner = nullptr);

// The same for bytes that this process owns: floats of the message keep them.
Message decode_frame(std::string bytes);

// The message if it is one of a team between nodes, else none. Takes the content out of `message`.
std::optional<TeamMessage> team_message(Message& message);

}  // namespace mokume::cluster
