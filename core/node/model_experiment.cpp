#include "node/model_experiment.hpp"

#include "config/tagged_table.hpp"
#include "sdk/error.hpp"

namespace mokume::node {
namespace {

mk_data inputs_for_model(const data::Table& table) {
  mk_data inputs{};
  inputs.rows = table.rows;
  inputs.features = table.features;
  inputs.x = table.x.data();
  if (!table.sparse()) return inputs;
  inputs.starts = table.starts.data();
  inputs.column = table.column.data();
  return inputs;
}

}  // namespace

ModelExperiment::ModelExperiment(const config::Config& config, const search::Plan& plan, const data::Dataset& data,
                                 const Splits& splits, const mk_model& model, const ModelFiles& files) {
  for (const auto& candidate : plan.candidates)
    for (uint32_t p = 0; p < model.n_params; ++p) values_.push_back(value_of(model.params[p], config, plan, candidate));
  for (const std::string& name : data.class_names) class_names_.push_back(name.c_str());
  train_ = inputs_for_model(data.train);
  train_.labels = data.train.labels.empty() ? nullptr : data.train.labels.data();
  train_.targets = data.train.targets.empty() ? nullptr : data.train.targets.data();
  train_.weights = data.train.weights.empty() ? nullptr : data.train.weights.data();
  train_.height = data.shape.height;
  train_.width = data.shape.width;
  train_.channels = data.shape.channels;
  train_.n_classes = static_cast<int32_t>(class_names_.size());
  train_.class_names = class_names_.data();
  experiment_.struct_size = sizeof(mk_experiment);
  experiment_.n_candidates = static_cast<uint32_t>(plan.candidates.size());
  experiment_.values = values_.data();
  experiment_.train = &train_;
  if (data.test.rows > 0) {
    test_ = inputs_for_model(data.test);
    experiment_.test = &test_;
  }
  for (const data::Sample& sample : splits.samples())
    samples_.push_back({static_cast<int64_t>(sample.row.size()), sample.row.data(), sample.fold_of.data()});
  experiment_.samples = samples_.data();
  experiment_.n_bootstraps = static_cast<uint32_t>(samples_.size());
  experiment_.own_candidates = plan.own_candidates;
  experiment_.n_folds = splits.folds();
  experiment_.seed = config.seed;
  experiment_.scaling_mean = data.mean.data();
  experiment_.scaling_scale = data.scale.data();
  experiment_.n_scaling = static_cast<uint32_t>(data.mean.size());
  for (const auto& [path, file] : files) files_.push_back({path.c_str(), file.bytes.data(), file.bytes.size()});
  experiment_.n_files = static_cast<uint32_t>(files_.size());
  experiment_.files = files_.data();
}

const char* ModelExperiment::keep(std::string text) { return texts_.insert(std::move(text)).first->c_str(); }

mk_value ModelExperiment::value_of(const mk_param& param, const config::Config& config, const search::Plan& plan,
                                   const std::vector<search::Value>& candidate) {
  mk_value out{};
  if (param.type == MK_PARAM_FORM || param.type == MK_PARAM_FORMS) {
    const auto tagged = config.tagged.find(param.name);
    if (tagged == config.tagged.end()) throw Error(MK_INTERNAL, std::string("no value for parameter ") + param.name);
    out.text = keep(config::json_text(tagged->second, plan.params, candidate));
    return out;
  }
  config::Field field{param.name, false, param.name};  // keeps the searched type, without conversion to real
  if (const auto reference = config.references.find(param.name); reference != config.references.end())
    field.reference = reference->second;
  if (const auto option = config.options.find(param.name); option != config.options.end())
    field = {param.name, option->second, ""};
  const search::Value value = config::resolve(field, plan.params, candidate);
  if (param.type == MK_PARAM_REAL) {
    const auto* whole = std::get_if<int64_t>(&value);
    out.real = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
  } else if (param.type == MK_PARAM_INTEGER) {
    out.integer = std::get<int64_t>(value);
  } else if (param.type == MK_PARAM_BOOL) {
    out.integer = std::get<bool>(value) ? 1 : 0;
  } else {
    out.text = keep(std::get<std::string>(value));
  }
  return out;
}

}  // namespace mokume::node
