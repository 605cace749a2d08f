#include <cmath>

#include "problem.hpp"

namespace mokume::conformance {
namespace {

struct Groups {
  std::string name;
  Size size;
  int64_t rows;
  ops::NormGroups groups;  // pixels, channels, groups
  Layout x{}, other{}, out{};
  bool in_place = false;
  float low = -1, high = 1;
};

std::vector<Groups> shapes() {
  const Layout a{3, 5}, b{1, 2}, c{7, 3};
  return {
      {"3x5_of_4_in_2", Size::tiny, 3, {5, 4, 2}},
      {"1x1_of_1", Size::tiny, 1, {1, 1, 1}},
      {"layer_of_17", Size::tiny, 5, {1, 17, 1}},
      {"layer_of_33_in_place", Size::tiny, 4, {1, 33, 1}, {2, 3}, {1, 1}, {}, true},
      {"instance_of_9", Size::tiny, 3, {31, 9, 9}, a, b, c},
      {"strided_18_in_3", Size::tiny, 3, {7, 18, 3}, a, b, c},
      {"flat_24_in_4", Size::tiny, 7, {1, 24, 4}, a, b, c},
      {"far_from_0", Size::tiny, 2, {20, 6, 2}, {}, {}, {}, false, 50, 51},
      {"no_rows", Size::tiny, 0, {4, 6, 2}},
      {"64_images_of_32", Size::normal, 64, {100, 32, 8}},
      {"300_layers_of_1000", Size::normal, 300, {1, 1000, 1}, a, b, c},
      {"17_images_of_130", Size::normal, 17, {49, 130, 13}, a, b, c, false},
      {"large_300x1024x64", Size::large, 300, {1024, 64, 4}},
  };
}

Case norm_case(const Groups& s) {
  return {s.name, s.size, [=] {
            Problem p;
            const ops::NormGroups& g = s.groups;
            const mk_tensor x = p.random(s.rows, g.row(), s.x, s.low, s.high),
                            weight = p.random(1, g.channels, s.other, -1, 2), bias = p.random(1, g.channels, s.out);
            const mk_tensor y = s.in_place ? x : p.unwritten(s.rows, g.row(), s.out);
            p.op = ops::group_norm(x, weight, bias, g, 1e-4, y, p.unwritten(s.rows, 2 * g.groups, s.x));
            return p;
          }};
}

Case grad_case(const Groups& s, bool dx) {
  return {s.name + (dx ? "" : "_no_dx"), s.size, [=] {
            Problem p;
            const ops::NormGroups& g = s.groups;
            const mk_tensor dy = p.random(s.rows, g.row(), s.out), x = p.random(s.rows, g.row(), s.x, s.low, s.high),
                            weight = p.random(1, g.channels, s.other, -1, 2);
            const mk_tensor moments = p.floats(s.rows, 2 * g.groups, s.other, [&](int64_t r, int64_t c) {
              const auto some = static_cast<float>((r + c) % 5) / 8;
              return c < g.groups ? s.low + some : 0.5F + some;
            });
            p.op = ops::group_norm_grad(dy, x, weight, moments, g, p.unwritten(1, g.channels, s.other),
                                        p.unwritten(1, g.channels, s.x),
                                        !dx          ? mk_tensor{}
                                        : s.in_place ? dy
                                                     : p.unwritten(s.rows, g.row(), s.x));
            return p;
          }};
}

// Calls element(index in the row, channel) for every element of a group.
template <class Element>
void for_group(const ops::NormGroups& g, int64_t group, const Element& element) {
  for (int64_t p = 0; p < g.pixels; ++p)
    for (int64_t c = group * g.each(); c < (group + 1) * g.each(); ++c) element(p * g.channels + c, c);
}

std::vector<double> norm_scale(const Problem& p, uint32_t output, const std::vector<Words>&, Machine&) {
  const ops::NormGroups g = ops::norm_groups_of(p.op);
  const mk_tensor& x = p.op.inputs[0];
  const auto terms = static_cast<double>(g.pixels * g.each());
  const int64_t columns = output == 0 ? g.row() : 2 * g.groups;
  std::vector<double> result(static_cast<size_t>(x.rows * columns));
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t group = 0; group < g.groups; ++group) {
      double size = 0, mean = 0, squares = 0;
      for_group(g, group, [&](int64_t i, int64_t) {
        size += std::fabs(p.at(x, r, i)) / terms;
        mean += p.at(x, r, i) / terms;
      });
      for_group(g, group, [&](int64_t i, int64_t) { squares += std::pow(p.at(x, r, i) - mean, 2); });
      const double inverse = 1 / std::sqrt(squares / terms + p.op.group_norm.eps), q = 1 + size * inverse;
      const auto at = [&](int64_t c) -> double& { return result[static_cast<size_t>(r * columns + c)]; };
      if (output == 1) {
        at(group) = size;
        at(g.groups + group) = q * inverse;
        continue;
      }
      for_group(g, group, [&](int64_t i, int64_t c) {
        at(i) = q * std::fabs(p.at(p.op.inputs[1], 0, c)) * inverse * (std::fabs(p.at(x, r, i)) + size) +
                std::fabs(p.at(p.op.inputs[2], 0, c));
      });
    }
  return result;
}

std::vector<double> grad_scale(const Problem& p, uint32_t output, const std::vector<Words>&, Machine&) {
  const ops::NormGroups g = ops::norm_groups_of(p.op);
  const mk_tensor &dy = p.op.inputs[0], &x = p.op.inputs[1], &weight = p.op.inputs[2], &moments = p.op.inputs[3];
  const auto inverse = [&](int64_t r, int64_t group) { return p.at(moments, r, g.groups + group); };
  const auto d = [&](int64_t r, int64_t i, int64_t group) {
    return (std::fabs(p.at(x, r, i)) + std::fabs(p.at(moments, r, group))) * inverse(r, group);
  };
  const auto grad = [&](int64_t r, int64_t i) { return std::fabs(p.at(dy, r, i)); };
  std::vector<double> result(static_cast<size_t>(output == 2 ? x.rows * g.row() : g.channels));
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t group = 0; group < g.groups; ++group) {
      const auto terms = static_cast<double>(g.pixels * g.each());
      double sum = 0, product = 0;
      for_group(g, group, [&](int64_t i, int64_t c) {
        const double weighted = grad(r, i) * std::fabs(p.at(weight, 0, c)) / terms;
        sum += weighted;
        product += weighted * d(r, i, group);
        if (output < 2) result[static_cast<size_t>(c)] += grad(r, i) * (output == 0 ? d(r, i, group) : 1);
      });
      if (output < 2) continue;
      for_group(g, group, [&](int64_t i, int64_t c) {
        result[static_cast<size_t>(r * g.row() + i)] =
            (grad(r, i) * std::fabs(p.at(weight, 0, c)) + sum + d(r, i, group) * product) * inverse(r, group);
      });
    }
  return result;
}

std::vector<Case> norm_cases() {
  std::vector<Case> list;
  for (const Groups& s : shapes()) list.push_back(norm_case(s));
  return list;
}

std::vector<Case> grad_cases() {
  std::vector<Case> list;
  for (const Groups& s : shapes()) {
    list.push_back(grad_case(s, true));
    if (s.size == Size::tiny) list.push_back(grad_case(s, false));
  }
  return list;
}

const AddCases kNorm{{MK_OP_GROUP_NORM, norm_cases(), norm_scale}};
const AddCases kGrad{{MK_OP_GROUP_NORM_GRAD, grad_cases(), grad_scale}};

}  // namespace
}  // namespace mokume::conformance
