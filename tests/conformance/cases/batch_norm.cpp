#include <cmath>

#include "problem.hpp"

namespace mokume::conformance {
namespace {

using ops::Activation;

struct Rows {
  std::string name;
  Size size;
  int64_t rows, columns;
  Layout x{}, other{}, out{};
  Activation activation = Activation::none;
  bool in_place = false;
  float low = -1, high = 1;
};

std::vector<Rows> shapes() {
  const Layout a{3, 5}, b{1, 2}, c{7, 3};
  const Activation relu = Activation::relu;
  return {
      {"3x17", Size::tiny, 3, 17},
      {"1x1", Size::tiny, 1, 1},
      {"1x5_relu", Size::tiny, 1, 5, {}, {}, {}, relu},
      {"64x3", Size::tiny, 64, 3},
      {"65x16_relu", Size::tiny, 65, 16, {}, {}, {}, relu},
      {"129x31_strided", Size::tiny, 129, 31, a, b, c},
      {"31x7_strided_relu", Size::tiny, 31, 7, a, b, c, relu},
      {"19x33_in_place", Size::tiny, 19, 33, {2, 3}, {1, 1}, {}, relu, true},
      {"100x4_far_from_0", Size::tiny, 100, 4, {}, {}, {}, Activation::none, false, 50, 51},
      {"5x0", Size::tiny, 5, 0},
      {"9000x16_relu", Size::normal, 9000, 16, {}, {}, {}, relu},
      {"300000x5", Size::normal, 300000, 5, {1, 0}, {2, 0}},
      {"4099x130_strided_relu", Size::normal, 4099, 130, a, b, c, relu},
      {"7x70001", Size::normal, 7, 70001},
      {"large_1100000x16", Size::large, 1100000, 16, {}, {}, {}, relu},
  };
}

// Makes a vector with one element per column, such as weight or bias.
mk_tensor vector(Problem& p, const Rows& r, float low, float high) {
  return p.random(1, r.columns, r.other, low, high);
}

Case norm_case(const Rows& r, bool predicts) {
  return {r.name + (predicts ? "_given" : ""), r.size, [=] {
            Problem p;
            const mk_tensor x = p.random(r.rows, r.columns, r.x, r.low, r.high);
            const mk_tensor weight = vector(p, r, -1, 2), bias = vector(p, r, -1, 1);
            const mk_tensor y = r.in_place ? x : p.unwritten(r.rows, r.columns, r.out);
            if (predicts) {
              const mk_tensor mean = vector(p, r, r.low, r.high), variance = vector(p, r, 0.5F, 2);
              p.op = ops::batch_norm_given(x, weight, bias, mean, variance, 1e-5, r.activation, y);
              return p;
            }
            p.op = ops::batch_norm(x, weight, bias, 1e-3, r.activation, y,
                                   p.unwritten(ops::kNormMoments, r.columns, r.out));
            return p;
          }};
}

// Returns moments that belong to no x, because the op must use the moments that it receives.
mk_tensor moments_of(Problem& p, const Rows& r) {
  return p.floats(ops::kNormMoments, r.columns, r.other, [&](int64_t row, int64_t column) {
    const auto some = static_cast<float>(column % 7) / 8;
    const float all[] = {r.low + some, 0.5F + some, 1, some - 0.4F, 0.3F - some};
    return all[row];
  });
}

Case grad_case(const Rows& r, bool dx, bool runs) {
  return {r.name + (dx ? "" : "_no_dx") + (runs ? "_running" : ""), r.size, [=] {
            Problem p;
            const mk_tensor dy = p.random(r.rows, r.columns, r.out),
                            x = p.random(r.rows, r.columns, r.x, r.low, r.high);
            const mk_tensor moments = moments_of(p, r), dweight = p.unwritten(1, r.columns, r.other),
                            dbias = p.unwritten(1, r.columns, r.x);
            const mk_tensor to = !dx ? mk_tensor{} : r.in_place ? dy : p.unwritten(r.rows, r.columns, r.x);
            if (runs)
              p.op = ops::batch_norm_grad(dy, x, moments, r.activation, dweight, dbias, to,
                                          {p.random(2, r.columns, r.other), 0.25, p.unwritten(2, r.columns, r.x)});
            else
              p.op = ops::batch_norm_grad(dy, x, moments, r.activation, dweight, dbias, to);
            return p;
          }};
}

template <class Make>
std::vector<Case> cases(const Make& make) {
  std::vector<Case> list;
  for (const Rows& r : shapes()) make(list, r);
  return list;
}

struct Column {
  double size = 0, mean = 0, variance = 0;  // size is the mean of |x|
};

Column column_of(const Problem& p, int64_t c) {
  const mk_tensor& x = p.op.inputs[0];
  Column column;
  const auto rows = static_cast<double>(x.rows);
  for (int64_t r = 0; r < x.rows; ++r) {
    column.size += std::fabs(p.at(x, r, c)) / rows;
    column.mean += p.at(x, r, c) / rows;
  }
  for (int64_t r = 0; r < x.rows; ++r) column.variance += std::pow(p.at(x, r, c) - column.mean, 2) / rows;
  if (p.op.n_inputs == 5) column = {std::fabs(p.at(p.op.inputs[3], 0, c)), 0, p.at(p.op.inputs[4], 0, c)};
  return column;
}

std::vector<double> norm_scale(const Problem& p, uint32_t output, const std::vector<Words>&, Machine&) {
  const mk_tensor& x = p.op.inputs[0];
  const int64_t rows = output == 0 ? x.rows : int64_t{ops::kNormMoments};
  std::vector<double> result(static_cast<size_t>(rows * x.columns));
  for (int64_t c = 0; c < x.columns; ++c) {
    const Column m = column_of(p, c);
    const double inverse = 1 / std::sqrt(m.variance + p.op.batch_norm.eps), q = 1 + m.size * inverse,
                 s = q * std::fabs(p.at(p.op.inputs[1], 0, c)) * inverse, bias = std::fabs(p.at(p.op.inputs[2], 0, c));
    const double moments[] = {m.size, q * inverse, q * m.variance * 2, s, bias + s * m.size};
    for (int64_t r = 0; r < rows; ++r)
      result[static_cast<size_t>(r * x.columns + c)] =
          output == 1 ? moments[r] : bias + s * (std::fabs(p.at(x, r, c)) + m.size);
  }
  return result;
}

std::vector<double> grad_scale(const Problem& p, uint32_t output, const std::vector<Words>&, Machine&) {
  const mk_tensor &dy = p.op.inputs[0], &x = p.op.inputs[1], &moments = p.op.inputs[2];
  const auto moment = [&](int row, int64_t c) { return std::fabs(p.at(moments, row, c)); };
  const auto d = [&](int64_t r, int64_t c) {
    return (std::fabs(p.at(x, r, c)) + moment(ops::kNormMean, c)) * moment(ops::kNormInverse, c);
  };
  const auto rows = static_cast<double>(x.rows);
  if (&p.op.outputs[output] == ops::norm_drunning(p.op)) {
    std::vector<double> result;
    for (int line = 0; line < 2; ++line)
      for (int64_t c = 0; c < x.columns; ++c)
        result.push_back(p.op.batch_norm.share * (std::fabs(p.at(p.op.inputs[3], line, c)) +
                                                  moment(line == 0 ? ops::kNormMean : ops::kNormVariance, c)));
    return result;
  }
  std::vector<double> result(static_cast<size_t>((output == 2 ? x.rows : 1) * x.columns));
  for (int64_t c = 0; c < x.columns; ++c) {
    double dweight = 0, dbias = 0;
    for (int64_t r = 0; r < x.rows; ++r) {
      dbias += std::fabs(p.at(dy, r, c));
      dweight += std::fabs(p.at(dy, r, c)) * d(r, c);
    }
    if (output < 2) result[static_cast<size_t>(c)] = output == 0 ? dweight : dbias;
    for (int64_t r = 0; output == 2 && r < x.rows; ++r)
      result[static_cast<size_t>(r * x.columns + c)] =
          moment(ops::kNormScale, c) * (std::fabs(p.at(dy, r, c)) + dbias / rows + d(r, c) * dweight / rows);
  }
  return result;
}

const AddCases kNorm{{MK_OP_BATCH_NORM, cases([](std::vector<Case>& list, const Rows& r) {
                        list.push_back(norm_case(r, false));
                        if (r.size != Size::large) list.push_back(norm_case(r, true));
                      }),
                      norm_scale}};
const AddCases kGrad{{MK_OP_BATCH_NORM_GRAD, cases([](std::vector<Case>& list, const Rows& r) {
                        list.push_back(grad_case(r, true, r.size != Size::tiny));
                        if (r.size != Size::tiny) return;
                        list.push_back(grad_case(r, true, true));
                        list.push_back(grad_case(r, false, false));
                        list.push_back(grad_case(r, false, true));
                      }),
                      grad_scale}};

}  // namespace
}  // namespace mokume::conformance
