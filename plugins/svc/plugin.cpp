// The svc model: the table that crosses the boundary, over Session and Fitted.
#include <memory>

#include "fitted.hpp"
#include "sdk/plugin.hpp"
#include "session.hpp"

namespace {

using mokume::Error;
using mokume::sdk::guard;
namespace svc = mokume::svc;

// What mk_fitted points to: the model, and C strings for describe().
struct FittedHandle {
  svc::Fitted fitted;
  std::vector<const char*> names;

  explicit FittedHandle(svc::Fitted f) : fitted(std::move(f)) {
    for (const std::string& name : fitted.class_names) names.push_back(name.c_str());
  }
};

struct Plugin {
  mokume::sdk::Host host;
  mk_model table{};
};

Plugin* plugin(void* self) { return static_cast<Plugin*>(self); }
svc::Session* session(mk_session* s) { return reinterpret_cast<svc::Session*>(s); }
const FittedHandle* handle(const mk_fitted* f) { return reinterpret_cast<const FittedHandle*>(f); }

int32_t check(void*, const mk_experiment* experiment, mk_error* error) {
  return guard(error, [&] { svc::check(*experiment); });
}

int32_t bundle(void*, const mk_experiment* experiment, uint32_t parts, const mk_bundle_sink* sink, mk_error* error) {
  return guard(error, [&] { svc::make_bundles(*experiment, parts, *sink); });
}

int32_t session_create(void* self, const mk_experiment* experiment, const mk_device_services* device, mk_session** out,
                       mk_error* error) {
  return guard(error, [&] {
    auto made = std::make_unique<svc::Session>(plugin(self)->host, *experiment, device);
    *out = reinterpret_cast<mk_session*>(made.release());
  });
}

void session_destroy(mk_session* s) { delete session(s); }

int32_t fit(mk_session* s, const mk_fit* fits, uint32_t n, const mk_fit_sink* sink, mk_error* error) {
  return guard(error, [&] { session(s)->fit({fits, n}, *sink); });
}

int32_t refit(mk_session* s, const mk_fit* fit, const mk_fit_sink* sink, mk_fitted** out, mk_error* error) {
  return guard(error, [&] {
    auto made = std::make_unique<FittedHandle>(std::move(*session(s)->refit(fit->candidate, *sink)));
    *out = reinterpret_cast<mk_fitted*>(made.release());
  });
}

int32_t predict(void*, const mk_fitted* fitted, const mk_device_services* device, const float* x, int64_t rows,
                int64_t features, int32_t* labels, float* scores, mk_error* error) {
  return guard(error, [&] {
    const svc::Fitted& f = handle(fitted)->fitted;
    if (features != f.features)
      throw Error(MK_BAD_DATA, "the model was trained on " + std::to_string(f.features) +
                                   " features and these rows have " + std::to_string(features));
    f.predict(mokume::sdk::Device(device), x, rows, labels, scores);
  });
}

uint32_t scores_per_row(const mk_fitted* fitted) { return static_cast<uint32_t>(handle(fitted)->fitted.problems()); }

int32_t save(const mk_fitted* fitted, const char* directory, mk_error* error) {
  return guard(error, [&] { handle(fitted)->fitted.save(directory); });
}

int32_t load(void*, const char* directory, mk_fitted** out, mk_error* error) {
  return guard(error, [&] {
    auto made = std::make_unique<FittedHandle>(svc::Fitted::load(directory));
    *out = reinterpret_cast<mk_fitted*>(made.release());
  });
}

int32_t describe(const mk_fitted* fitted, mk_data* out, const double** mean, const double** scale, uint32_t* n) {
  const FittedHandle& h = *handle(fitted);
  *out = {};
  out->features = h.fitted.features;
  out->n_classes = h.fitted.classes();
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
                   svc::kParams.data(),
                   static_cast<uint32_t>(svc::kParams.size()),
                   static_cast<uint32_t>(svc::kMetrics.size()),
                   svc::kMetrics.data(),
                   nullptr,
                   0,
                   0,
                   check,
                   bundle,
                   nullptr,
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

MOKUME_PLUGIN(MK_PLUGIN_MODEL, "svc", "C-support vector classification by dual SMO (grid search, cross-validation)",
              start)
