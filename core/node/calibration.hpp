// Calibrated probabilities of a classifier that gives decision values. Its library learns them from the decisions on
// the rows that each fold of the chosen candidate validates (mk_model.calibrate); the program keeps them with its
// model.
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

// The decision values that can be calibrated: MK_SCORES_ONE_VS_REST and MK_SCORES_ONE_VS_ONE.
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

  // Returns rows x classes probabilities of `scores`, rows x decision values. Throws Error(MK_UNSUPPORTED) if the
  // model's library gives none.
  std::vector<double> probabilities(const mk_model& model, std::span<const float> scores, size_t rows,
                                    size_t classes) const;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("decisions", self.decisions);
    field("sigmoids", self.sigmoids);
  }
};

// Fits the folds of the refit's candidate again, in the session of the refit. Returns nothing if a fold failed, or the
// model already gives probabilities. Where scaling is fitted within folds, all folds use the scaling of the refit.
std::optional<Calibration> calibrate(const OpenModel& model, const cluster::Attempt& attempt,
                                     cluster::Reporter& reporter);

void write_calibration(const std::string& model_directory, const Calibration& calibration);
// Returns nothing if the model has none. Throws Error(MK_BAD_DATA) if the file is damaged or made for another number of
// decision values per row, and names it.
std::optional<Calibration> read_calibration(const std::string& model_directory, uint32_t scores_per_row);

}  // namespace mokume::node
