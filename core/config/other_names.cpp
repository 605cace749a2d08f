#include "config/other_names.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace mokume::config {
namespace {

struct Name {
  std::string_view theirs, ours;
};

constexpr std::string_view kNothing = "leave it out: results do not depend on it";

constexpr std::array kKeys = {
    // Estimators of scikit-learn, and options of LIBSVM.
    Name{"max_iter", "write max_iterations (svc) or epochs (cnn)"},
    Name{"kernel_type", "write kernel"},
    Name{"decision_function_shape", "write multiclass = \"ovr\" or \"ovo\", which is how classes are told apart"},
    Name{"probability", "write calibrate = true in [validation]"},
    Name{"random_state", "write seed at the top of the file"},
    Name{"cache_size", "write memory in [devices]: the kernel matrix takes up to that much"},
    Name{"shrinking", kNothing},
    Name{"break_ties", "leave it out: ties go to the lower class"},
    Name{"verbose", "leave it out, and start the program with --verbose"},
    Name{"n_jobs", "leave it out: all devices work, or those that use in [devices] names"},
    Name{"nu", "leave it out: svc is C-SVC, and takes C"},
    Name{"epsilon", "leave it out: svc is a classifier"},
    Name{"hidden_layer_sizes", "write [[model_options.layers]], a table for each layer"},
    Name{"learning_rate_init", "write lr in the optimizer: optimizer = { type = \"adam\", lr = 0.001 }"},
    Name{"early_stopping", "write stop = { type = \"plateau\" }"},
    // Searches of scikit-learn.
    Name{"cv", "write folds in [validation]"},
    Name{"n_splits", "write folds in [validation]"},
    Name{"test_size", "write share in [validation]"},
    Name{"n_repeats", "write repeats in [validation]"},
    Name{"scoring", "write score in [validation], and select in [search]"},
    Name{"refit", "leave it out: the best candidate is trained on all rows"},
    Name{"n_iter", "write candidates in [search]"},
    Name{"param_grid", "write [search.params]"},
    Name{"param_distributions", "write [search.params]"},
    // PyTorch and Keras.
    Name{"learning_rate", "write lr in the optimizer: optimizer = { type = \"sgd\", lr = 0.01 }"},
    Name{"num_epochs", "write epochs"},
    Name{"n_epochs", "write epochs"},
    Name{"max_epochs", "write epochs"},
    Name{"criterion", "write loss"},
    Name{"lr_scheduler", "write scheduler"},
    Name{"in_channels", "leave it out: it follows from the layer before"},
    Name{"in_features", "leave it out: it follows from the layer before"},
    Name{"filters", "write out_channels"},
    Name{"units", "write out_features"},
    Name{"activation", "write the activation as a layer of its own: type = \"relu\""},
};

struct Value {
  std::string_view key, theirs, ours;
};

constexpr std::array kValues = {
    Value{"kernel", "poly", "write \"polynomial\""},
    Value{"kernel", "gaussian", "write \"rbf\""},
    Value{"kernel", "precomputed", "there are no precomputed kernels yet"},
    Value{"gamma", "scale", "write gamma = 1 and gamma_unit = \"scale\""},
    Value{"gamma", "auto", "write gamma = 1 and gamma_unit = \"auto\""},
    Value{"multiclass", "one_vs_rest", "write \"ovr\""},
    Value{"multiclass", "one_vs_one", "write \"ovo\""},
    Value{"multiclass", "crammer_singer", "write \"ovr\" or \"ovo\""},
};

}  // namespace

std::string instead_of_key(const std::string& key) {
  const auto* const found =
      std::find_if(kKeys.begin(), kKeys.end(), [&](const Name& name) { return name.theirs == key; });
  return found == kKeys.end() ? "" : std::string(found->ours);
}

std::string instead_of_value(const std::string& key, const std::string& text) {
  const auto* const found = std::find_if(kValues.begin(), kValues.end(),
                                         [&](const Value& value) { return value.key == key && value.theirs == text; });
  return found == kValues.end() ? "" : std::string(found->ours);
}

}  // namespace mokume::config
