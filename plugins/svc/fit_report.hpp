// Turns the decision values of validated rows into the report of a fit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "abi/model.h"
#include "rows.hpp"
#include "settings.hpp"

namespace mokume::svc {

// Holds the predictions of a classifier for the rows that a fold validates.
struct Classes {
  std::vector<int32_t> labels, predicted;
  std::vector<float> decisions;  // rows x problems
  uint32_t problems = 0;
  int64_t errors = 0;
  int64_t unsure = 0;  // number of rows whose class the tolerance leaves open, see is_unsure()
  bool finite = true;  // whether all decision values are finite
};

// `decisions` has one list for each problem, with one value per row of the fold.
Classes classify(const RowOrder& order, const Settings& settings, uint32_t fold,
                 const std::vector<const float*>& decisions);

// Names a fit, and says how it ended. Fits whose values are not finite are reported as failed.
struct Ending {
  uint32_t fit = 0;  // index that the sink receives
  mk_fit_status status = MK_FIT_OK;
  std::string note;
};
void report_classes(const mk_fit_sink& sink, const RowOrder& order, const Settings& settings, uint32_t fold,
                    const Classes& classes, Ending ending);
// `predicted` has one value per row of the fold, without the mean of the targets.
void report_numbers(const mk_fit_sink& sink, const RowOrder& order, const Settings& settings, uint32_t fold,
                    const std::vector<float>& predicted, Ending ending);

}  // namespace mokume::svc
