#include "runtime/recording.hpp"

#include <cstring>

namespace mokume::opencl {

void Recording::clear() {
  launches_.clear();
  words_.clear();
  buffers_.clear();
  refused_ = false;
}

void Recording::add(const LibraryKernel& kernel, const Range& range, const Arguments& arguments) {
  const size_t first = words_.size(), n_words = arguments.values.size() / sizeof(int64_t);
  launches_.push_back({&kernel, range, arguments.type, arguments.local_floats, first, n_words, buffers_.size(),
                       arguments.buffers.size()});
  words_.resize(first + n_words);
  std::memcpy(words_.data() + first, arguments.values.data(), arguments.values.size());
  buffers_.insert(buffers_.end(), arguments.buffers.begin(), arguments.buffers.end());
}

}  // namespace mokume::opencl
