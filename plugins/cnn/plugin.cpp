// The cnn model: the table that crosses the boundary, over Session and Fitted.
#include <memory>

#include "fitted.hpp"
#include "sdk/plugin.hpp"
#include "session.hpp"

namespace {

using mokume::Error;
using mokume::sdk::guard;
namespace cnn = mokume::cnn;

// What mk_fitted points to: the model, and C strings for describe().
struct FittedHandle {
  cnn::Fitted fitted;
  std::vector<const char*> names;

  explicit FittedHandle(cnn::Fitted f) : fitted(std::move(f)) {
    for (const std::string& name : fitted.class_names) names.push_back(name.c_str());
  }
};

struct Plugin {
  mokume::sdk::Host host;
  mk_model table{};
};

Plugin* plugin(void* self) { return static_cast<Plugin*>(self); }
cnn::Session* session(mk_session* s) { return reinterpret_cast<cnn::Session*>(s); }
const FittedHandle* handle(const mk_fitted* f) { return reinterpret_cast<const FittedHandle*>(f); }

int32_t check(void*, const mk_experiment* experiment, mk_error* error) {
  return guard(error, [&] { cnn::check(*experiment); });
}

int32_t bundle(void*, const mk_experiment* experiment, uint32_t, const mk_bundle_sink* sink, mk_error* error) {
  return guard(error, [&] { cnn::make_bundles(*experiment, *sink); });
}

int32_t summary(void*, const mk_experiment* experiment, uint32_t candidate, void* taker,
                void (*take)(void* taker, const char* text), mk_error* error) {
  return guard(error, [&] { take(taker, cnn::summary(*experiment, candidate).c_str()); });
}

int32_t session_create(void* self, const mk_experiment* experiment, const mk_device_services* device, mk_session** out,
                       mk_error* error) {
  return guard(error, [&] {
    auto made = std::make_unique<cnn::Session>(plugin(self)->host, *experiment, device);
    *out = reinterpret_cast<mk_session*>(made.release());
  });
}

void session_destroy(mk_session* s) { delete session(s); }

int32_t fit(mk_session* s, const mk_fit* fits, uint32_t n, const mk_fit_sink* sink, mk_error* error) {
  return guard(error, [&] { session(s)->fit({fits, n}, *sink); });
}

int32_t refit(mk_session* s, const mk_fit* fit, const mk_fit_sink* sink, mk_fitted** out, mk_error* error) {
  return guard(error, [&] {
    auto made = std::make_unique<FittedHandle>(std::move(*session(s)->refit(*fit, *sink)));
    *out = reinterpret_cast<mk_fitted*>(made.release());
  });
}

int32_t predict(void*, const mk_fitted* fitted, const mk_device_services* device, const float* x, int64_t rows,
                int64_t features, int32_t* labels, float* scores, mk_error* error) {
  return guard(error, [&] {
    const cnn::Fitted& f = handle(fitted)->fitted;
    if (features != f.network.input.elements())
      throw Error(MK_BAD_DATA, "the model was trained on " + std::to_string(f.network.input.elements()) +
                                   " features and these rows have " + std::to_string(features));
    f.predict(mokume::sdk::Device(device), x, rows, labels, scores);
  });
}

uint32_t scores_per_row(const mk_fitted* fitted) {
  return static_cast<uint32_t>(handle(fitted)->fitted.network.outputs());
}

int32_t save(const mk_fitted* fitted, const char* directory, mk_error* error) {
  return guard(error, [&] { handle(fitted)->fitted.save(directory); });
}

int32_t load(void*, const char* directory, mk_fitted** out, mk_error* error) {
  return guard(error, [&] {
    auto made = std::make_unique<FittedHandle>(cnn::Fitted::load(directory));
    *out = reinterpret_cast<mk_fitted*>(made.release());
  });
}

int32_t describe(const mk_fitted* fitted, mk_data* out, const double** mean, const double** scale, uint32_t* n) {
  const FittedHandle& h = *handle(fitted);
  *out = {};
  out->features = h.fitted.network.input.elements();
  out->n_classes = static_cast<int32_t>(h.names.size());
  out->class_names = h.names.data();
  *mean = h.fitted.mean.data();
  *scale = h.fitted.scale.data();
  *n = static_cast<uint32_t>(h.fitted.mean.size());
  return MK_OK;
}

void fitted_destroy(mk_fitted* fitted) { delete reinterpret_cast<FittedHandle*>(fitted); }

void shutdown(void* self) { delete plugin(self); }

int32_t start(const mk_host* host, const void** table, mk_error* error) {
  return guard(error, [&] {
    auto made = std::make_unique<Plugin>();
    made->host = mokume::sdk::Host(host);
    made->table = {sizeof(mk_model),
                   MK_ABI_MAJOR,
                   MK_ABI_MINOR,
                   made.get(),
                   cnn::kParams.data(),
                   static_cast<uint32_t>(cnn::kParams.size()),
                   static_cast<uint32_t>(cnn::kMetrics.size()),
                   cnn::kMetrics.data(),
                   cnn::kRegressionMetrics.data(),
                   static_cast<uint32_t>(cnn::kRegressionMetrics.size()),
                   0,
                   check,
                   bundle,
                   summary,
                   session_create,
                   session_destroy,
                   fit,
                   refit,
                   predict,
                   scores_per_row,
                   save,
                   load,
                   describe,
                   fitted_destroy,
                   shutdown};
    *table = &made.release()->table;
  });
}

}  // namespace

MOKUME_PLUGIN(MK_PLUGIN_MODEL, "cnn", "neural networks: convolutional and fully connected, by stochastic gradients",
              start)
