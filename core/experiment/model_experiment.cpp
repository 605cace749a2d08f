#include "experiment/model_experiment.hpp"

#include <algorithm>

#include "sdk/error.hpp"

namespace mokume::experiment {

ModelExperiment::ModelExperiment(const Config& config, const search::Plan& plan, const data::Dataset& data,
                                 const std::vector<int32_t>& fold_of, const mk_model& model) {
  const auto to_value = [&](const search::Value& value, int32_t type) {
    mk_value out{};
    if (type == MK_PARAM_REAL) {
      const auto* whole = std::get_if<int64_t>(&value);
      out.real = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
    } else if (type == MK_PARAM_INTEGER) {
      out.integer = std::get<int64_t>(value);
    } else if (type == MK_PARAM_BOOL) {
      out.integer = std::get<bool>(value) ? 1 : 0;
    } else {
      texts_.push_back(std::make_unique<std::string>(std::get<std::string>(value)));
      out.text = texts_.back()->c_str();
    }
    return out;
  };
  for (const auto& candidate : plan.candidates) {
    for (uint32_t p = 0; p < model.n_params; ++p) {
      const mk_param& param = model.params[p];
      const auto searched = std::find(plan.params.begin(), plan.params.end(), param.name);
      if (searched != plan.params.end()) {
        values_.push_back(to_value(candidate[static_cast<size_t>(searched - plan.params.begin())], param.type));
        continue;
      }
      const auto option = config.options.find(param.name);
      if (option == config.options.end()) throw Error(MK_INTERNAL, std::string("no value for parameter ") + param.name);
      values_.push_back(to_value(option->second, param.type));
    }
  }
  for (const std::string& name : data.class_names) class_names_.push_back(name.c_str());
  train_.rows = data.train.rows;
  train_.features = data.train.features;
  train_.x = data.train.x.data();
  train_.labels = data.train.labels.empty() ? nullptr : data.train.labels.data();
  train_.targets = data.train.targets.empty() ? nullptr : data.train.targets.data();
  train_.n_classes = static_cast<int32_t>(class_names_.size());
  train_.class_names = class_names_.data();
  experiment_.struct_size = sizeof(mk_experiment);
  experiment_.n_candidates = static_cast<uint32_t>(plan.candidates.size());
  experiment_.values = values_.data();
  experiment_.train = &train_;
  experiment_.fold_of = fold_of.data();
  experiment_.n_folds = plan.folds;
  experiment_.seed = config.seed;
  experiment_.scaling_mean = data.mean.data();
  experiment_.scaling_scale = data.scale.data();
  experiment_.n_scaling = static_cast<uint32_t>(data.mean.size());
}

}  // namespace mokume::experiment
