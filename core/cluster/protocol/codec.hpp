// Encodes messages as a JSON object with the field "type". If a message contains floats, a newline and the floats
// follow, in native byte order and with the alignment of float. Only processes of the same version communicate.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/protocol/messages.hpp"

namespace mokume::cluster {

// Replaces invalid bytes in a driver's text, so that messages and journals can hold it.
std::string clean_text(const std::string& text);

std::string encode(const Message& message);

// Throws Error(MK_BAD_DATA) that names the field. Ranges that depend on the run are checked by the receiver. Floats are
// not copied: they refer to the bytes that `owner` keeps alive. Without an owner, a message with floats is refused.
Message decode(std::string_view bytes, const std::shared_ptr<char>& owner = nullptr);

// As above, for bytes owned by this process; floats of the message keep them alive.
Message decode_frame(std::string bytes);

// Returns the message if it is a team message between nodes, moving the content out of `message`; else nothing.
std::optional<TeamMessage> team_message(Message& message);

}  // namespace mokume::cluster
