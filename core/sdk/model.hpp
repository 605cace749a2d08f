// Builds the C table of a model from the author's own types, so that no boundary code is written by hand.
//
//   struct Model {
//     using Session = ...;
//     //   Session(const sdk::Host&, const mk_experiment&, const mk_device_services*)   arguments outlive the session
//     //   void fit(std::span<const mk_fit>, const mk_fit_sink&)
//     //   std::unique_ptr<Fitted> refit(const mk_fit&, const mk_fit_sink&)
//     using Fitted = ...;  // movable
//     //   std::vector<std::string> class_names; std::vector<double> mean, scale;       see take_description()
//     //   void predict(const sdk::Device&, const float* x, int64_t rows, int32_t* labels, float* scores) const
//     //                                    or with (const sdk::Host&, const sdk::Device&, ...), to compute on the host
//     //   void predict_sparse(const sdk::Host&, const sdk::Device&, const mk_data& rows, int32_t*, float*) const
//     //                                    optional: the model takes sparse rows
//     //   void save(const std::string& directory) const
//     //   static Fitted load(const std::string& directory)
//     //   void export_onnx(const std::string& path) const                              optional; see sdk/onnx.hpp
//     static constexpr ... params, metrics, regression_metrics;  // std::arrays; the last is optional
//     static std::string expand(const std::string& param, const std::string& options);  // optional
//     static void check(const mk_experiment&);       // or (const sdk::Host&, const mk_experiment&), for warnings
//     static void bundle(const mk_experiment&, uint32_t parts, const mk_bundle_sink&);
//     static std::string summary(const mk_experiment&, uint32_t candidate);            // optional
//     static void steps(const mk_experiment&, uint32_t candidate,
//                       const std::function<void(const mk_step&)>& take);              // optional
//     static int64_t features(const Fitted&);        // required number of features of a row
//     static int64_t scores_per_row(const Fitted&);
//     static sdk::RowShape shape(const Fitted&);     // optional: without it, a row is not known to be an image
//     static mk_score_kind score_kind(const Fitted&);  // optional: without it, scores have no known meaning
//     static void import_onnx(const std::string& path, const std::string& directory,
//                             const std::function<void(const mk_imported&)>& take);    // optional
//     static void calibrate(const mk_validated&, int64_t n, size_t classes, mk_sigmoid*);           // optional, with
//     static void probabilities(std::span<const mk_sigmoid>, mk_score_kind, const float* row, size_t classes, double*);
//     static constexpr bool teams = true;            // optional: devices can train one model together
//     static constexpr bool seedless = true;         // optional: fits need no random numbers (mk_model.seedless)
//     static constexpr bool weighs = true;           // optional: fits use the weights of rows
//     static constexpr bool rounds = true;           // optional: devices may round operands of products
//     static constexpr mk_validated_kind validated = ...;  // optional: fit() reports mk_fit_result.validated
//   };
//   MOKUME_MODEL(Model, "name", "one line")
//
// All functions may throw Error. abi/model.h specifies the duties and the thread of each function.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "abi/model.h"
#include "sdk/device.hpp"
#include "sdk/plugin.hpp"

namespace mokume::sdk {

// Gives a trained model its class names and the scaling of its training rows.
template <class Fitted>
void take_description(const mk_experiment& experiment, Fitted& fitted) {
  const mk_data& data = *experiment.train;
  for (int32_t c = 0; c < data.n_classes; ++c) fitted.class_names.emplace_back(data.class_names[c]);
  if (experiment.n_scaling == 0) return;
  fitted.mean.assign(experiment.scaling_mean, experiment.scaling_mean + experiment.n_scaling);
  fitted.scale.assign(experiment.scaling_scale, experiment.scaling_scale + experiment.n_scaling);
}

// Returns whether a bootstrap has fits of this candidate.
inline bool has(const mk_experiment& experiment, uint32_t candidate, uint32_t bootstrap) {
  return experiment.own_candidates == 0 || candidate / experiment.own_candidates == bootstrap;
}

// Returns whether a fit of this fold validates this place of the sample instead of training on it.
inline bool is_held_out(const mk_sample& sample, int64_t place, int32_t fold) {
  return fold != MK_ALL_ROWS && sample.fold_of[place] == fold;
}

// Holds the shape of a row, as in mk_data.
struct RowShape {
  int64_t height, width, channels;
};

template <class Model>
class ModelTable {
 public:
  // Implements mk_plugin_header::start.
  static int32_t start(const mk_host* host, const void** table, mk_error* error) {
    return guard(error, [&] {
      auto made = std::make_unique<ModelTable>(host);
      *table = &made.release()->table_;
    });
  }

  explicit ModelTable(const mk_host* host) : host_(host) {
    table_.struct_size = sizeof(mk_model);
    table_.abi_major = MK_ABI_MAJOR;
    table_.abi_minor = MK_ABI_MINOR;
    table_.self = this;
    table_.params = Model::params.data();
    table_.n_params = static_cast<uint32_t>(Model::params.size());
    table_.metrics = Model::metrics.data();
    table_.n_metrics = static_cast<uint32_t>(Model::metrics.size());
    if constexpr (requires { Model::regression_metrics; }) {
      table_.regression_metrics = Model::regression_metrics.data();
      table_.n_regression_metrics = static_cast<uint32_t>(Model::regression_metrics.size());
    }
    if constexpr (requires { Model::teams; }) table_.teams = Model::teams ? 1 : 0;
    if constexpr (requires { Model::seedless; }) table_.seedless = Model::seedless ? 1 : 0;
    if constexpr (requires { Model::weighs; }) table_.weighs = Model::weighs ? 1 : 0;
    if constexpr (requires { Model::rounds; }) table_.rounds = Model::rounds ? 1 : 0;
    if constexpr (requires { Model::validated; }) table_.validated = Model::validated;
    if constexpr (requires { &Model::expand; }) table_.expand = expand;
    table_.check = check;
    table_.bundle = bundle;
    if constexpr (requires { &Model::summary; }) table_.summary = summary;
    if constexpr (requires { &Model::steps; }) table_.steps = steps;
    table_.session_create = session_create;
    table_.session_destroy = [](mk_session* s) { delete session(s); };
    table_.fit = fit;
    table_.refit = refit;
    table_.predict = [](void* self, const mk_fitted* fitted, const mk_device_services* device, const float* x,
                        int64_t rows, int64_t features, int32_t* labels, float* scores, mk_error* error) -> int32_t {
      return guard(error, [&] {
        const auto& table = *static_cast<const ModelTable*>(self);
        table.predict(handle(fitted)->fitted, Device(device), x, rows, features, labels, scores);
      });
    };
    if constexpr (requires { &Fitted::predict_sparse; }) table_.predict_sparse = predict_sparse;
    table_.scores_per_row = [](const mk_fitted* f) {
      return static_cast<uint32_t>(Model::scores_per_row(handle(f)->fitted));
    };
    table_.score_kind = [](const mk_fitted* f) -> int32_t {
      if constexpr (requires { Model::score_kind(handle(f)->fitted); })
        return Model::score_kind(handle(f)->fitted);
      else
        return static_cast<void>(f), MK_SCORES_UNKNOWN;
    };
    table_.save = save;
    table_.load = load;
    if constexpr (requires(const Fitted& f) { f.export_onnx(std::string()); })
      table_.export_onnx = [](const mk_fitted* f, const char* path, mk_error* error) -> int32_t {
        return guard(error, [&] { handle(f)->fitted.export_onnx(path); });
      };
    if constexpr (requires { &Model::import_onnx; }) table_.import_onnx = import_onnx;
    if constexpr (requires { &Model::calibrate; }) {
      table_.calibrate = calibrate;
      table_.probabilities = probabilities;
    }
    table_.describe = describe;
    table_.fitted_destroy = [](mk_fitted* f) { delete reinterpret_cast<Handle*>(f); };
    table_.shutdown = [](void* self) { delete static_cast<ModelTable*>(self); };
  }

 private:
  using Session = typename Model::Session;
  using Fitted = typename Model::Fitted;

  // Holds the object of an mk_fitted: the model, and C strings for describe().
  struct Handle {
    Fitted fitted;
    std::vector<const char*> names;

    explicit Handle(Fitted f) : fitted(std::move(f)) {
      for (const std::string& name : fitted.class_names) names.push_back(name.c_str());
    }
  };

  static Session* session(mk_session* s) { return reinterpret_cast<Session*>(s); }
  static const Handle* handle(const mk_fitted* f) { return reinterpret_cast<const Handle*>(f); }
  static mk_fitted* own(Fitted fitted) {
    return reinterpret_cast<mk_fitted*>(std::make_unique<Handle>(std::move(fitted)).release());
  }

  static int32_t expand(const char* param, const char* options, void* taker,
                        void (*take)(void* taker, const char* answer), mk_error* error) {
    return guard(error, [&] { take(taker, Model::expand(param, options).c_str()); });
  }

  static int32_t check([[maybe_unused]] void* self, const mk_experiment* experiment, mk_error* error) {
    return guard(error, [&] {
      if constexpr (requires { Model::check(static_cast<ModelTable*>(self)->host_, *experiment); })
        Model::check(static_cast<ModelTable*>(self)->host_, *experiment);
      else
        Model::check(*experiment);
    });
  }

  static int32_t bundle(void*, const mk_experiment* experiment, uint32_t parts, const mk_bundle_sink* sink,
                        mk_error* error) {
    return guard(error, [&] { Model::bundle(*experiment, parts, *sink); });
  }

  static int32_t summary(void*, const mk_experiment* experiment, uint32_t candidate, void* taker,
                         void (*take)(void* taker, const char* text), mk_error* error) {
    return guard(error, [&] { take(taker, Model::summary(*experiment, candidate).c_str()); });
  }

  static int32_t steps(void*, const mk_experiment* experiment, uint32_t candidate, void* taker,
                       void (*take)(void* taker, const mk_step* step), mk_error* error) {
    return guard(error,
                 [&] { Model::steps(*experiment, candidate, [&](const mk_step& step) { take(taker, &step); }); });
  }

  static int32_t session_create(void* self, const mk_experiment* experiment, const mk_device_services* device,
                                mk_session** out, mk_error* error) {
    return guard(error, [&] {
      const Host& host = static_cast<ModelTable*>(self)->host_;
      *out = reinterpret_cast<mk_session*>(std::make_unique<Session>(host, *experiment, device).release());
    });
  }

  static int32_t fit(mk_session* s, const mk_fit* fits, uint32_t n, const mk_fit_sink* sink, mk_error* error) {
    return guard(error, [&] { session(s)->fit(std::span<const mk_fit>(fits, n), *sink); });
  }

  static int32_t refit(mk_session* s, const mk_fit* fit, const mk_fit_sink* sink, mk_fitted** out, mk_error* error) {
    return guard(error, [&] { *out = own(std::move(*session(s)->refit(*fit, *sink))); });
  }

  static void check_width(const Fitted& f, int64_t features) {
    if (const int64_t wanted = Model::features(f); features != wanted)
      throw Error(MK_BAD_DATA, "the model was trained on " + std::to_string(wanted) + " features and these rows have " +
                                   std::to_string(features));
  }

  void predict(const Fitted& f, const Device& device, const float* x, int64_t rows, int64_t features, int32_t* labels,
               float* scores) const {
    check_width(f, features);
    if constexpr (requires { f.predict(host_, device, x, rows, labels, scores); })
      f.predict(host_, device, x, rows, labels, scores);
    else
      f.predict(device, x, rows, labels, scores);
  }

  static int32_t predict_sparse(void* self, const mk_fitted* fitted, const mk_device_services* device,
                                const mk_data* rows, int32_t* labels, float* scores, mk_error* error) {
    return guard(error, [&] {
      const Fitted& f = handle(fitted)->fitted;
      check_width(f, rows->features);
      f.predict_sparse(static_cast<const ModelTable*>(self)->host_, Device(device), *rows, labels, scores);
    });
  }

  static int32_t save(const mk_fitted* fitted, const char* directory, mk_error* error) {
    return guard(error, [&] { handle(fitted)->fitted.save(directory); });
  }

  static int32_t load(void*, const char* directory, mk_fitted** out, mk_error* error) {
    return guard(error, [&] { *out = own(Fitted::load(directory)); });
  }

  static int32_t import_onnx(void*, const char* path, const char* directory, void* taker,
                             void (*take)(void* taker, const mk_imported* imported), mk_error* error) {
    return guard(error, [&] {
      Model::import_onnx(path, directory, [&](const mk_imported& imported) { take(taker, &imported); });
    });
  }

  static int32_t calibrate(void*, const mk_validated* rows, int64_t n, int32_t classes, mk_sigmoid* to,
                           mk_error* error) {
    return guard(error, [&] { Model::calibrate(*rows, n, static_cast<size_t>(classes), to); });
  }

  static int32_t probabilities(void*, const mk_sigmoid* sigmoids, uint32_t n, int32_t kind, const float* scores,
                               int64_t rows, int32_t classes, double* to, mk_error* error) {
    return guard(error, [&] {
      for (int64_t r = 0; r < rows; ++r)
        Model::probabilities({sigmoids, n}, static_cast<mk_score_kind>(kind), scores + r * n,
                             static_cast<size_t>(classes), to + r * classes);
    });
  }

  static int32_t describe(const mk_fitted* fitted, mk_data* out, const double** mean, const double** scale,
                          uint32_t* n) {
    const Handle& h = *handle(fitted);
    *out = {};
    out->features = Model::features(h.fitted);
    if constexpr (requires { Model::shape(h.fitted); }) {
      const RowShape shape = Model::shape(h.fitted);
      out->height = static_cast<int32_t>(shape.height);
      out->width = static_cast<int32_t>(shape.width);
      out->channels = static_cast<int32_t>(shape.channels);
    }
    out->n_classes = static_cast<int32_t>(h.names.size());
    out->class_names = h.names.data();
    *mean = h.fitted.mean.data();
    *scale = h.fitted.scale.data();
    *n = static_cast<uint32_t>(h.fitted.mean.size());
    return MK_OK;
  }

  Host host_;
  mk_model table_{};
};

}  // namespace mokume::sdk

// Defines the one exported symbol of a model.
#define MOKUME_MODEL(MODEL, NAME, DESCRIPTION) \
  MOKUME_PLUGIN(MK_PLUGIN_MODEL, NAME, DESCRIPTION, mokume::sdk::ModelTable<MODEL>::start)
