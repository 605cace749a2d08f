// Sends messages over a stream socket between two processes of one machine. A message is a length (32 bits, native byte
// order) and that many bytes. A socket has one writer and one reader at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mokume::base {

inline constexpr uint32_t kMaxFrameBytes = uint32_t{1} << 29;

// Returns once the system has accepted the whole message, which may require the reader to make room. Throws
// Error(MK_DEVICE_ERROR) if the text is too long or the other process cannot be reached.
void send_frame(int socket, std::string_view text);

// Waits for a whole frame. Returns no value if the other end closed the socket between frames. Throws
// Error(MK_DEVICE_ERROR) if the other end sent an incomplete frame or announced more than kMaxFrameBytes.
std::optional<std::string> receive_frame(int socket);

// Returns whether receive_frame() can read data or the end of the stream within the time `most`.
bool frame_waits(int socket, std::chrono::milliseconds most);

}  // namespace mokume::base
