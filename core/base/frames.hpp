// Texts over a stream socket between two processes of one machine: a length (32 bits, in the machine's order) and as
// many bytes. A frame has one writer and one reader at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mokume::base {

inline constexpr uint32_t kMaxFrameBytes = uint32_t{1} << 29;

// Returns once the system has taken it all, which may wait for the reader. Error(MK_DEVICE_ERROR) if the text is too
// long or the other end is gone.
void send_frame(int socket, std::string_view text);

// Waits for a whole frame. No value: the other end is gone, and left nothing unfinished. Error(MK_DEVICE_ERROR): it
// left a piece of a frame, or announced one of more than kMaxFrameBytes.
std::optional<std::string> receive_frame(int socket);

// Whether receive_frame() has something to look at, or the end, within that time.
bool frame_waits(int socket, std::chrono::milliseconds most);

}  // namespace mokume::base
