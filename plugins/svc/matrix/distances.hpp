// Computes the products of rows that a kernel function needs: dot products, or distances in their place.
#pragma once

#include <optional>

#include "sdk/device.hpp"
#include "sdk/plugin.hpp"
#include "settings.hpp"

namespace mokume::svc {

class Distances {
 public:
  Distances(const sdk::Host& host, const sdk::Device& device) : host_(host), device_(device) {}

  // Sets out[r][c] to the product of row r of x and row c of y. A kernel of distances takes -1/2 distance for a dot
  // product and 0 for the norms, so that an RBF kernel yields exp(-gamma * distance).
  void compute(Pairs pairs, const mk_tensor& x, const mk_tensor& y, const mk_tensor& out);

 private:
  const sdk::Program* program_of(Pairs pairs);
  void compute_on_host(Pairs pairs, const mk_tensor& x, const mk_tensor& y, const mk_tensor& out) const;

  sdk::Host host_;
  const sdk::Device& device_;
  std::optional<sdk::Program> manhattan_, chi_squared_;
};

}  // namespace mokume::svc
