#include "calibration.hpp"
#include "checks.hpp"
#include "fitted.hpp"
#include "sdk/model.hpp"
#include "session.hpp"

namespace {

namespace svc = mokume::svc;

struct Model {
  using Session = svc::SvcSession;
  using Fitted = svc::Fitted;
  static constexpr const auto& params = svc::kParams;
  static constexpr const auto& metrics = svc::kMetrics;
  static constexpr const auto& regression_metrics = svc::kRegressionMetrics;
  static void check(const mokume::sdk::Host& host, const mk_experiment& experiment) { svc::check(host, experiment); }
  static void bundle(const mk_experiment& experiment, uint32_t parts, const mk_bundle_sink& sink) {
    svc::make_bundles(experiment, parts, sink);
  }
  static int64_t features(const Fitted& fitted) { return fitted.features; }
  static int64_t scores_per_row(const Fitted& fitted) { return fitted.problems(); }
  static constexpr bool seedless = true;
  static constexpr bool weighs = true;
  static constexpr mk_validated_kind validated = MK_VALIDATED_SCORES;
  static mk_score_kind score_kind(const Fitted& fitted) {
    return svc::score_kind(fitted.settings.multiclass, fitted.classes());
  }
  static constexpr auto calibrate = svc::calibrate;
  static constexpr auto probabilities = svc::probabilities;
};

}  // namespace

MOKUME_MODEL(Model, "svc", "support vector machines of LIBSVM's five kinds by dual SMO")
