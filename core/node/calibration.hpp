// Calibrated probabilities of a classifier that gives decision values: learnt from the decisions on the rows that each
// fold of the chosen candidate validates, and kept with its model.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "data/scores/calibration.hpp"
#include "node/fit.hpp"

namespace mokume::node {

// The decision values that can be calibrated: MK_SCORES_ONE_VS_REST and MK_SCORES_ONE_VS_ONE.
enum class Decisions { one_vs_rest, one_vs_one };

inline std::span<const base::EnumName<Decisions>> names_of(Decisions) {
  static constexpr base::EnumName<Decisions> kNames[] = {{Decisions::one_vs_rest, "one_vs_rest"},
                                                         {Decisions::one_vs_one, "one_vs_one"}};
  return kNames;
}

struct Calibration {
  Decisions decisions = Decisions::one_vs_one;
  std::vector<data::Sigmoid> sigmoids;  // one per decision value of a row

  // Writes one probability per class to `to`; they sum to 1.
  void apply(std::span<const float> row, size_t classes, double* to) const;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("decisions", self.decisions);
    field("sigmoids", self.sigmoids);
  }
};

// Fits the folds of the refit's candidate again, in the session of the refit. Nothing if a fold failed, or the model
// already gives probabilities. Where scaling is fitted within folds, all of these share that of the refit.
std::optional<Calibration> calibrate(const OpenModel& model, const cluster::Attempt& attempt,
                                     cluster::Reporter& reporter);

// The file in a model's directory.
void write_calibration(const std::string& model_directory, const Calibration& calibration);
// Nothing if the model has none. Throws Error(MK_BAD_DATA) that names a damaged file, or one for another number of
// decision values per row.
std::optional<Calibration> read_calibration(const std::string& model_directory, uint32_t scores_per_row);

}  // namespace mokume::node
