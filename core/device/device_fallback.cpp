// Runs unsupported ops on the host device, and copies their operands there and back.
#include <algorithm>
#include <cstddef>

#include "device/device.hpp"
#include "sdk/error.hpp"
#include "sdk/ops.hpp"

namespace mokume::device {
namespace {

// Holds a range of one buffer, in elements, that operands of the op use. Overlapping operands (an op in place) share a
// piece, so that their copies overlap, too. Other operands get separate pieces, because panels of one buffer may be far
// apart.
struct Piece {
  mk_buffer* buffer;
  int64_t begin, end;
  bool written;
  mk_buffer* copy = nullptr;

  uint64_t offset_bytes() const { return static_cast<uint64_t>(begin) * sdk::kElementBytes; }
  uint64_t bytes() const { return static_cast<uint64_t>(end - begin) * sdk::kElementBytes; }
  bool holds(const mk_tensor& t) const { return t.buffer == buffer && t.offset >= begin && sdk::extent(t) <= end; }
};

std::vector<Piece> pieces_of(const mk_op& op) {
  std::vector<Piece> touched;
  const auto add = [&](const mk_tensor& t, bool written) {
    if (!sdk::empty(t)) touched.push_back({t.buffer, t.offset, sdk::extent(t), written});
  };
  for (uint32_t i = 0; i < op.n_inputs; ++i) add(op.inputs[i], false);
  for (uint32_t i = 0; i < op.n_outputs; ++i) add(op.outputs[i], true);
  std::sort(touched.begin(), touched.end(), [](const Piece& a, const Piece& b) {
    return a.buffer != b.buffer ? std::less<>()(a.buffer, b.buffer) : a.begin < b.begin;
  });
  std::vector<Piece> pieces;
  for (const Piece& next : touched) {
    Piece* last = pieces.empty() ? nullptr : &pieces.back();
    if (last == nullptr || last->buffer != next.buffer || next.begin >= last->end) {
      pieces.push_back(next);
      continue;
    }
    last->end = std::max(last->end, next.end);
    last->written = last->written || next.written;
  }
  return pieces;
}

// Owns copies of the pieces on the host device for the duration of the op.
class Staged {
 public:
  Staged(Device& device, Device& host, const mk_op& op) : device_(device), host_(host), pieces_(pieces_of(op)) {}
  ~Staged() {
    for (const Piece& piece : pieces_) host_.buffer_destroy(piece.copy);
  }
  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;

  // Copies outputs as well, because gemm with beta reads its output and the gaps between strided rows must not change.
  void bring() {
    for (Piece& piece : pieces_) {
      piece.copy = host_.buffer_create(piece.bytes());
      std::byte* memory = memory_of(piece);
      device_.read(piece.buffer, piece.offset_bytes(), memory, piece.bytes());
      if (memory == spare_.data()) host_.write(piece.copy, 0, memory, piece.bytes());
    }
  }

  void take_back() {
    for (const Piece& piece : pieces_) {
      if (!piece.written) continue;
      std::byte* memory = memory_of(piece);
      if (memory == spare_.data()) host_.read(piece.copy, 0, memory, piece.bytes());
      device_.write(piece.buffer, piece.offset_bytes(), memory, piece.bytes());
    }
  }

  // Returns the op with the copies as its operands.
  mk_op moved(const mk_op& op) const {
    mk_op result = op;
    for (uint32_t i = 0; i < op.n_inputs; ++i) result.inputs[i] = moved(op.inputs[i]);
    for (uint32_t i = 0; i < op.n_outputs; ++i) result.outputs[i] = moved(op.outputs[i]);
    return result;
  }

 private:
  mk_tensor moved(const mk_tensor& t) const {
    mk_tensor result = t;
    result.buffer = nullptr;
    if (sdk::empty(t)) return result;
    const auto piece = std::find_if(pieces_.begin(), pieces_.end(), [&](const Piece& p) { return p.holds(t); });
    result.buffer = piece->copy;
    result.offset -= piece->begin;
    return result;
  }

  // Returns the memory of the copy if the host device exposes it, else a spare block.
  std::byte* memory_of(const Piece& piece) {
    const mk_device_services* services = host_.services();
    if (void* memory = services->host_pointer(services->self, piece.copy)) return static_cast<std::byte*>(memory);
    spare_.resize(std::max<size_t>(spare_.size(), piece.bytes()));
    return spare_.data();
  }

  Device& device_;
  Device& host_;
  std::vector<Piece> pieces_;
  std::vector<std::byte> spare_;
};

}  // namespace

void Device::submit_on_fallback(const mk_op& op) {
  if (!fallback_)
    throw Error(MK_UNSUPPORTED, listed_.id() + " does not support " + ops::text(op) +
                                    ", and there is no host backend to fall back to: see 'mokume doctor'");
  const std::lock_guard turn(fallback_->turn_);
  const mk_backend* host = fallback_->listed_.table;
  if (host->supports(fallback_->device_, &op) == MK_SUPPORT_NO)
    throw Error(MK_UNSUPPORTED, std::string("neither ") + listed_.id() + " nor " + fallback_->listed_.id() +
                                    " supports " + ops::text(op));
  Staged staged(*this, *fallback_, op);
  staged.bring();
  fallback_->submit(staged.moved(op));
  fallback_->finish();
  staged.take_back();
  ++fallbacks_[ops::rule(op.code).name];
}

}  // namespace mokume::device
