// Implements mixup and cutmix, by which a batch learns from mixtures of two of its rows and from both labels (Zhang,
// Cisse, Dauphin, Lopez-Paz: mixup: Beyond Empirical Risk Minimization, 2018; Yun, Han, Oh, Chun, Choe, Yoo: CutMix,
// 2019). As in torchvision, a row's partner is the previous row of the batch (the last row for the first row), and all
// rows of a batch have the same share.
#pragma once

#include <cstdint>
#include <functional>

#include "layers/parameter.hpp"
#include "memory.hpp"

namespace mokume::cnn {

// Returns the share of a row in its mixture, from a Beta distribution with both parameters `alpha` > 0. The share is a
// pure function of seed, stream and batch.
double mixup_share(double alpha, uint64_t seed, uint32_t stream, int64_t batch);

// Describes the rectangle of an image that comes from another image.
struct CutBox {
  int64_t top = 0, left = 0, height = 0, width = 0;

  // Returns the share of an image that stays.
  double share(const Shape& image) const { return 1 - double(height * width) / double(image.height * image.width); }
};

// Returns the rectangle of a batch. As in torchvision, its area has the share 1 - mixup_share(), before the borders of
// the image cut it off, and its middle is uniform over the image.
CutBox cutmix_box(double alpha, const Shape& image, uint64_t seed, uint32_t stream, int64_t batch);

class Mixup {
 public:
  using Submit = std::function<void(const mk_op&)>;

  Mixup() = default;
  // Allocates memory for batches of up to `rows` rows.
  Mixup(const sdk::Device& device, int64_t rows, int64_t features, int64_t outputs, StackMemory& memory);
  static int64_t elements(int64_t rows, int64_t features, int64_t outputs) {
    return rows * (features + outputs + 2) + 1 + 2 * features;
  }

  // Computes x = share * x + (1 - share) * partners for a dense x of rows x features.
  void mix(const mk_tensor& x, double share, const Submit& submit) const;

  // Replaces the pixels in the box by those of the partners, for dense images.
  void cut(const mk_tensor& x, const Shape& image, const CutBox& box, const Submit& submit) const;

  // Returns the op for the loss of rows [first, first + count) of the batch, whose labels begin at `place` in the
  // epoch's order. The op writes the loss and its gradient to the given tensors.
  using Loss = std::function<mk_op(int64_t first, int64_t count, int64_t place, const mk_tensor& results,
                                   const mk_tensor& gradient)>;
  // Adds the loss and the gradient for the labels of the partners to those for the rows' own labels. The losses get the
  // factors 1 - share and share, which the gradients already have. The second column of `results` stays. The batch
  // begins at place `begin` of the epoch's order.
  void add_partners(const mk_tensor& results, const mk_tensor& gradient, double share, int64_t begin, const Loss& loss,
                    const Submit& submit) const;

 private:
  Slice partners_, gradient_, results_, one_;
  Slice inside_, outside_;  // factors of an image, which are 1 in the rectangle or outside of it
};

}  // namespace mokume::cnn
