// Keeps what fits predict for the rows that validate them, in files below DIRECTORY/validated, until the run knows its
// best candidate. Each attempt at fits has a file of its own, so that writers share none.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "abi/model.h"
#include "base/below.hpp"
#include "cluster/protocol/work.hpp"
#include "node/experiment.hpp"

namespace mokume::node {

// Returns the training rows that validate a fit of the plan, in ascending order.
std::vector<uint32_t> validated_rows(const Experiment& experiment, uint32_t fit);

// Appends the predictions of one attempt. If the file cannot be written, it stays without them, and the run without a
// table of its predictions: nothing else depends on it.
class OutOfFoldWriter {
 public:
  // Creates nothing on disk before the first call of add(). Keeps nothing if `run_directory` is "".
  OutOfFoldWriter(std::string run_directory, const cluster::Attempt& attempt);

  // `values` holds one class, or one number, for each of the `n` rows that check() in validated.hpp has passed. Throws
  // Error(MK_INTERNAL) unless these are the rows that validate the fit.
  void add(const Experiment& experiment, uint32_t fit, const mk_validated& rows, int64_t n);

 private:
  void write(const std::string& record);

  base::Below file_;
  base::FileDescriptor open_;
  bool failed_ = false;
};

// Predictions for the validated rows of one fit, in ascending order of the rows.
using Predicted = std::vector<float>;

// Reads the predictions of the `wanted` fits that have the expected number of rows, by fit, and are accepted. Ignores
// files that are damaged or too large, because an interrupted run leaves torn ones.
std::map<uint32_t, Predicted> read_out_of_fold(const std::string& run_directory,
                                               const std::map<uint32_t, size_t>& wanted,
                                               const std::function<bool(uint32_t, const Predicted&)>& accept);

// Replaces all files by one with these predictions, which other runs may take over. Removes all if there are none.
void keep_out_of_fold(const std::string& run_directory, const std::map<uint32_t, Predicted>& predictions);

}  // namespace mokume::node
