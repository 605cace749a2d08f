// Calibrates the probabilities of a classifier that gives decision values. The model's library learns them from the
// decision values of the rows that the folds of the chosen candidate validate (mk_model.calibrate). The program keeps
// them with the trained model.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "abi/model.h"
#include "base/json.hpp"
#include "node/fit.hpp"

namespace mokume::node {

// Names the decision values that can be calibrated: MK_SCORES_ONE_VS_REST and MK_SCORES_ONE_VS_ONE.
enum class Decisions { one_vs_rest, one_vs_one };

inline std::span<const base::EnumName<Decisions>> names_of(Decisions) {
  static constexpr base::EnumName<Decisions> kNames[] = {{Decisions::one_vs_rest, "one_vs_rest"},
                                                         {Decisions::one_vs_one, "one_vs_one"}};
  return kNames;
}

struct Sigmoid : mk_sigmoid {
  Sigmoid() : mk_sigmoid{} {}

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("a", self.a);
    field("b", self.b);
  }
};

struct Calibration {
  Decisions decisions = Decisions::one_vs_one;
  std::vector<Sigmoid> sigmoids;  // one per decision value of a row

  // Returns the probabilities (rows x classes) of `scores` (rows x decision values). Throws Error(MK_UNSUPPORTED) if
  // the model's library cannot compute them.
  std::vector<double> probabilities(const mk_model& model, std::span<const float> scores, size_t rows,
                                    size_t classes) const;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("decisions", self.decisions);
    field("sigmoids", self.sigmoids);
  }
};

// Fits the folds of the refit's candidate again, in the session of the refit. Returns nothing if a fold failed or gave
// no scores, or if the model cannot calibrate. If scaling is fitted within folds, all folds here use that of the refit.
std::optional<Calibration> calibrate(const OpenModel& model, const cluster::Attempt& attempt,
                                     cluster::Reporter& reporter);

void write_calibration(const std::string& model_directory, const Calibration& calibration);
// Returns nothing if the model has no calibration. Throws Error(MK_BAD_DATA) that names the file if it is damaged or
// was made for another number of decision values per row.
std::optional<Calibration> read_calibration(const std::string& model_directory, uint32_t scores_per_row);

}  // namespace mokume::node
