#include "strict_product.hpp"

#include <atomic>

#include "isa/products.hpp"
#include "kept_memory.hpp"

namespace mokume::host {
namespace {

constexpr int64_t kMostRows = 504, kMostColumns = 512;  // a block of b stays in the second-level cache
constexpr int64_t kRowStep = kBlockTerms + 16;          // keeps equal terms of copied rows in different cache sets
constexpr int64_t kCloseSets = 128;                     // rows at multiples of these floats share few cache sets
constexpr int64_t kNear = 256;                          // rows of b at such distances need no packing
constexpr int64_t kFewRows = 12;                        // so few rows of a do not repay packing b
constexpr int64_t kFewColumns = 96;                     // so few columns of b do not repay copying a

int64_t round_up_columns(int64_t columns) { return (columns + kPanelColumns - 1) / kPanelColumns * kPanelColumns; }

// Divides a side into `count` equal parts of at most `most` and of a multiple of `step` elements.
struct Parts {
  int64_t count, each;

  Parts(int64_t side, int64_t most, int64_t step) : count((side + most - 1) / most) {
    each = ((side + count - 1) / count + step - 1) / step * step;
    count = (side + each - 1) / each;
  }
};

// Divides the output, and the blocks of terms if the parts of the output are fewer than the threads.
struct Division {
  static constexpr int64_t kWork = 65536;  // products that repay a hand-over to another thread
  static constexpr int64_t kMostSums = int64_t{1} << 22;

  Parts rows, columns, blocks;

  Division(const StrictProduct& p, int64_t threads)
      : rows(p.out.rows, kMostRows, 1),
        columns(p.out.columns, kMostColumns, kPanelColumns),
        blocks((p.k + kBlockTerms - 1) / kBlockTerms, (p.k + kBlockTerms - 1) / kBlockTerms, 1) {
    const int64_t work = p.out.rows * p.out.columns * p.k, all = blocks.each;
    const int64_t wanted = threads == 1 ? 1 : std::min(2 * threads, work / kWork);
    for (int64_t most = kMostColumns / 2; rows.count * columns.count < wanted && most >= kPanelColumns; most /= 2)
      columns = Parts(p.out.columns, most, kPanelColumns);
    for (int64_t most = kMostRows / 2; rows.count * columns.count < wanted && most >= kFewRows; most /= 2)
      rows = Parts(p.out.rows, most, 1);
    if (rows.count * columns.count < std::min(threads, wanted) && p.out.rows * p.out.columns * all <= kMostSums)
      blocks = Parts(all, std::max<int64_t>(1, all * rows.count * columns.count / wanted), 1);
  }
};

class Multiplication {
 public:
  Multiplication(const Call& call, const StrictProduct& p)
      : call_(call), loops_(*call.loops.products), p_(p), parts_(p, call.host.concurrency()) {
    if (parts_.blocks.count > 1) sums_ = scratch_of(blocks() * size());
    failed_ = parts_.blocks.count > 1 && sums_ == nullptr;
  }

  void run() {
    const Parts &rows = parts_.rows, &columns = parts_.columns;
    const int64_t count = failed_ ? 0 : rows.count * columns.count * parts_.blocks.count;
    const auto part = [&](uint64_t index) {
      const auto at = static_cast<int64_t>(index), place = at / parts_.blocks.count;
      if (!multiply(place / columns.count * rows.each, place % columns.count * columns.each,
                    at % parts_.blocks.count * parts_.blocks.each))
        failed_ = true;
    };
    if (count == 1)
      part(0);
    else
      call_.parallel_for(static_cast<uint64_t>(count), part);
    if (failed_) throw Error(MK_OUT_OF_MEMORY, "gemm: no memory to pack parts of the operands");
    if (parts_.blocks.count == 1) return;
    call_.for_rows(p_.out.rows, blocks() * p_.out.columns, [&](int64_t from, int64_t to) {
      for (int64_t r = from; r < to; ++r)
        loops_.add_blocks({sums_.get() + r * p_.out.columns,
                           size(),
                           blocks(),
                           p_.out.columns,
                           p_.out.row(r),
                           {p_.alpha, p_.beta, p_.bias, p_.relu}});
    });
  }

 private:
  int64_t blocks() const { return (p_.k + kBlockTerms - 1) / kBlockTerms; }
  int64_t size() const { return p_.out.rows * p_.out.columns; }

  // Multiplies the blocks of one part for the rows and columns of another. Returns false if there is no memory.
  bool multiply(int64_t row, int64_t column, int64_t block) const {
    const int64_t rows = std::min(parts_.rows.each, p_.out.rows - row);
    const int64_t columns = std::min(parts_.columns.each, p_.out.columns - column);
    const bool packs = p_.transpose_b || columns < kFewestInPlace || (rows > kFewRows && p_.b.stride > kNear);
    const bool copies = columns >= kFewColumns && rows > 1 && (p_.transpose_a || p_.a.stride % kCloseSets == 0);
    float* const packed =
        kept_memory(Use::product_parts, (copies ? rows * kRowStep : 0) + round_up_columns(columns) * kBlockTerms);
    if (packed == nullptr) return false;
    float* const copied = packed + round_up_columns(columns) * kBlockTerms;
    for (int64_t b = block; b < std::min(block + parts_.blocks.each, blocks()); ++b) {
      const int64_t first = b * kBlockTerms, terms = std::min(kBlockTerms, p_.k - first);
      const float* a = p_.transpose_a ? p_.a.row(first) + row : p_.a.row(row) + first;
      const float* columns_of_b = p_.transpose_b ? p_.b.row(column) + first : p_.b.row(first) + column;
      ProductBlock product{.a = a,
                           .a_row = p_.transpose_a ? 1 : p_.a.stride,
                           .a_k = p_.transpose_a ? p_.a.stride : 1,
                           .b = columns_of_b,
                           .b_row = p_.b.stride,
                           .packed = packs,
                           .rows = rows,
                           .columns = columns,
                           .k = terms,
                           .out = p_.out.row(row) + column,
                           .out_step = p_.out.stride,
                           .end = end_of(b, column)};
      if (packs) {
        loops_.pack({columns_of_b, p_.b.stride, p_.transpose_b, terms, columns}, packed);
        product.b = packed;
      }
      if (copies) {
        loops_.copy({a, p_.a.stride, p_.transpose_a, rows, terms}, copied, kRowStep);
        product.a = copied;
        product.a_row = kRowStep;
        product.a_k = 1;
      }
      if (sums_ != nullptr) {
        product.out = sums_.get() + b * size() + row * p_.out.columns + column;
        product.out_step = p_.out.columns;
        product.end = {1, 0, nullptr, false};
      }
      loops_.multiply(product);
    }
    return true;
  }

  ProductEnd end_of(int64_t block, int64_t column) const {
    const bool last = block + 1 == blocks();
    return {p_.alpha, block == 0 ? p_.beta : 1.0F, last && p_.bias != nullptr ? p_.bias + column : nullptr,
            last && p_.relu};
  }

  const Call& call_;
  const ProductLoops& loops_;
  const StrictProduct& p_;
  const Division parts_;
  Scratch sums_;
  std::atomic<bool> failed_{false};
};

}  // namespace

// Treats a column as a row, because the loops write rows in vectors.
void multiply_strictly(const Call& call, const StrictProduct& p) {
  if (p.out.columns > 1 || p.out.stride != 1 || p.bias != nullptr) return Multiplication(call, p).run();
  const StrictProduct turned{.transpose_a = !p.transpose_b,
                             .transpose_b = !p.transpose_a,
                             .alpha = p.alpha,
                             .beta = p.beta,
                             .k = p.k,
                             .a = p.b,
                             .b = p.a,
                             .out = {p.out.data, 1, p.out.rows, p.out.rows},
                             .relu = p.relu};
  Multiplication(call, turned).run();
}

}  // namespace mokume::host
