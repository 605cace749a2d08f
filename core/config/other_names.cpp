#include "config/other_names.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace mokume::config {
namespace {

struct OtherKey {
  std::string_view theirs, ours;
};

constexpr std::string_view kNothing = "leave it out: results do not depend on it";

constexpr std::array kKeys = {
    // Estimators of scikit-learn and LIBSVM use these names.
    OtherKey{"max_iter", "write max_iterations (svc) or epochs (cnn)"},
    OtherKey{"kernel_type", "write kernel"},
    OtherKey{"decision_function_shape", "write multiclass = \"ovr\" or \"ovo\", which selects the multiclass scheme"},
    OtherKey{"probability", "write calibrate = true in [validation]"},
    OtherKey{"random_state", "write seed at the top of the file"},
    OtherKey{"cache_size", "write memory in [devices]: the kernel matrix takes up to that much"},
    OtherKey{"shrinking", kNothing},
    OtherKey{"break_ties", "leave it out: ties go to the lower class"},
    OtherKey{"verbose", "leave it out, and start the program with --verbose"},
    OtherKey{"n_jobs", "leave it out: all devices work, or those that use in [devices] names"},
    OtherKey{"svm_type", "write kind, with LIBSVM's name of the machine, e.g. kind = \"nu_svc\""},
    OtherKey{"sample_weight", "write weight in [data]: the column with the weights"},
    OtherKey{"hidden_layer_sizes", "write [[model_options.layers]], a table for each layer"},
    OtherKey{"learning_rate_init", "write lr in the optimizer: optimizer = { type = \"adam\", lr = 0.001 }"},
    OtherKey{"early_stopping", "write stop = { type = \"plateau\" }"},
    // Searches of scikit-learn use these names.
    OtherKey{"cv", "write folds in [validation]"},
    OtherKey{"n_splits", "write folds in [validation]"},
    OtherKey{"test_size", "write share in [validation]"},
    OtherKey{"n_repeats", "write repeats in [validation]"},
    OtherKey{"scoring", "write score in [validation], and select in [search]"},
    OtherKey{"refit", "leave it out: the best candidate is trained on all rows"},
    OtherKey{"n_iter", "write candidates in [search]"},
    OtherKey{"param_grid", "write [search.params]"},
    OtherKey{"param_distributions", "write [search.params]"},
    // PyTorch and Keras use these names.
    OtherKey{"learning_rate", "write lr in the optimizer: optimizer = { type = \"sgd\", lr = 0.01 }"},
    OtherKey{"num_epochs", "write epochs"},
    OtherKey{"n_epochs", "write epochs"},
    OtherKey{"max_epochs", "write epochs"},
    OtherKey{"criterion", "write loss"},
    OtherKey{"lr_scheduler", "write scheduler"},
    OtherKey{"in_channels", "leave it out: it follows from the layer before"},
    OtherKey{"in_features", "leave it out: it follows from the layer before"},
    OtherKey{"filters", "write out_channels"},
    OtherKey{"units", "write out_features"},
    OtherKey{"activation", "write the activation as a layer of its own: type = \"relu\""},
};

struct OtherValue {
  std::string_view key, theirs, ours;
};

constexpr std::array kValues = {
    OtherValue{"kernel", "poly", "write \"polynomial\""},
    OtherValue{"kernel", "gaussian", "write \"rbf\""},
    OtherValue{"gamma", "scale", "write gamma = 1 and gamma_unit = \"scale\""},
    OtherValue{"gamma", "auto", "write gamma = 1 and gamma_unit = \"auto\""},
    OtherValue{"multiclass", "one_vs_rest", "write \"ovr\""},
    OtherValue{"multiclass", "one_vs_one", "write \"ovo\""},
    OtherValue{"multiclass", "crammer_singer", "write \"ovr\" or \"ovo\""},
};

}  // namespace

std::string instead_of_key(const std::string& key) {
  const auto* const found =
      std::find_if(kKeys.begin(), kKeys.end(), [&](const OtherKey& one) { return one.theirs == key; });
  return found == kKeys.end() ? "" : std::string(found->ours);
}

std::string instead_of_value(const std::string& key, const std::string& text) {
  const auto* const found = std::find_if(kValues.begin(), kValues.end(),
                                         [&](const OtherValue& one) { return one.key == key && one.theirs == text; });
  return found == kValues.end() ? "" : std::string(found->ours);
}

}  // namespace mokume::config
