// Encodes messages as JSON objects with the field "type". If a message contains floats, a newline and the floats
// follow, in native byte order and with the alignment of float. Only processes of the same version communicate.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/protocol/messages.hpp"

namespace mokume::cluster {

// Replaces invalid bytes in a driver's text, so that messages and journals can hold the text.
std::string clean_text(const std::string& text);

std::string encode(const Message& message);

// Throws Error(MK_BAD_DATA) that names the field. The receiver checks ranges that depend on the run. Does not copy
// floats: they refer to the bytes that `owner` keeps alive. Without an owner, a message with floats is an error.
Message decode(std::string_view bytes, const std::shared_ptr<char>& owner = nullptr);

// Decodes bytes that this process owns. The floats of the message keep the bytes alive.
Message decode_frame(std::string bytes);

// Moves a team message between nodes out of `message`. Returns nothing if `message` is of another kind.
std::optional<TeamMessage> team_message(Message& message);

}  // namespace mokume::cluster
