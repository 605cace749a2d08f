// Combines the predictions of a run's trained models: models/member-000, models/member-001, ... if the run has several,
// otherwise models/best as an ensemble of one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "abi/model.h"
#include "data/dataset.hpp"
#include "node/calibration.hpp"
#include "results/view.hpp"

namespace mokume::run {

// Owns a trained model in host memory, loaded from its files. The class is thread-compatible.
class Trained {
 public:
  // `directory` was written by mk_model.save below the run directory `run`. Throws Error(MK_BAD_DATA) with instructions
  // for replacing a damaged model.
  Trained(const mk_model& model, const std::string& directory, const std::string& run);

  const mk_fitted* get() const { return fitted_.get(); }

  std::vector<std::string> classes;  // in label order; empty for regression
  int64_t features = 0;
  data::Shape shape;                             // shape of a row as the model saw it; channels is 0 if unknown
  std::vector<double> mean, scale;               // scaling x' = (x - mean) / scale; one value, one per feature, or none
  std::optional<node::Calibration> calibration;  // turns decision values into probabilities
  bool checked = false;                          // true if SHA256SUMS, which older models lack, was checked

 private:
  std::unique_ptr<mk_fitted, void (*)(mk_fitted*)> fitted_;
};

// Returns the directories of a run's models in ascending order, without members that could not be trained, or `run`
// itself if it is the directory of a single model. Throws Error(MK_INVALID_ARGUMENT) if there is no model yet.
std::vector<std::string> model_directories(const std::string& run);

inline bool is_error(int32_t said, int32_t label) { return label != data::kNoLabel && said != label; }

class Ensemble {
 public:
  // Reads the first member. `model` must outlive the ensemble. Throws the errors of Trained and model_directories().
  Ensemble(const mk_model& model, const std::string& run);

  size_t size() const { return directories_.size(); }
  const Trained& first() const { return first_; }  // all members share its classes, features and scaling
  // Calls body(member) for each member in turn. At most one member is in memory in addition to the first. Throws
  // Error(MK_BAD_DATA) for a member whose classes, features or scaling differ from those of the first.
  void for_each(const std::function<void(const Trained&)>& body) const;

 private:
  const mk_model& model_;
  std::string run_;
  std::vector<std::string> directories_;
  Trained first_;
};

// Returns the certainties of every member for row 0.
results::Certainty certainty_of(const mk_model& model, const Ensemble& ensemble, const mk_device_services* device,
                                const data::Table& rows);

// Holds the predictions of an ensemble for a table of rows. Those of a single member are its own labels or numbers.
struct Combined {
  std::vector<int32_t> labels;  // for classes: one label per row (see results::majority)
  std::vector<uint32_t> votes;  // number of votes for that label
  std::vector<double> numbers;  // for regression: one mean over the members per row
  std::vector<double> sd;       // sample standard deviation over members; 0 for one member
  std::vector<int64_t> errors;  // for classes with labels: number of errors of each member
  // These fields hold the names (score_names.hpp) and values that decide a class: the vote shares of several members,
  // or the probabilities or decision values of one. They are empty if the meaning of its scores is unknown.
  std::vector<std::string> score_names;
  std::vector<float> scores;          // rows x names; empty if the model gives probabilities
  std::vector<double> probabilities;  // rows x names; NaN in a row where the model's probabilities are not finite
};
Combined combine(const mk_model& model, const Ensemble& ensemble, const mk_device_services* device,
                 const data::Table& rows);

}  // namespace mokume::run
