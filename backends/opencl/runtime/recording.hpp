// Records the launches of one or several ops in order, for code that launches them in another way (see group/).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/launch.hpp"
#include "runtime/program.hpp"

namespace mokume::opencl {

class Recording {
 public:
  struct Launch {
    const LibraryKernel* kernel;
    Range range;
    const char* type;
    int64_t local_floats;
    size_t first_word, n_words, first_buffer, n_buffers;
  };

  void clear();
  void add(const LibraryKernel& kernel, const Range& range, const Arguments& arguments);
  // Marks the recording as unusable because a command cannot be recorded.
  void refuse() { refused_ = true; }
  bool refused() const { return refused_; }
  const std::vector<Launch>& launches() const { return launches_; }
  // Returns a launch's struct of arguments as longs.
  std::span<const int64_t> words(const Launch& l) const { return std::span(words_).subspan(l.first_word, l.n_words); }
  std::span<const cl_mem> buffers(const Launch& l) const {
    return std::span(buffers_).subspan(l.first_buffer, l.n_buffers);
  }

 private:
  std::vector<Launch> launches_;
  std::vector<int64_t> words_;
  std::vector<cl_mem> buffers_;
  bool refused_ = false;
};

}  // namespace mokume::opencl
