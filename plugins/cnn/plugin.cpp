#include "candidate.hpp"
#include "import/import.hpp"
#include "network/expand.hpp"
#include "saved/fitted.hpp"
#include "sdk/model.hpp"
#include "session.hpp"

namespace {

namespace cnn = mokume::cnn;

struct Model {
  using Session = cnn::CnnSession;
  using Fitted = cnn::Fitted;
  static constexpr const auto& params = cnn::kParams;
  static constexpr const auto& metrics = cnn::kMetrics;
  static constexpr const auto& regression_metrics = cnn::kRegressionMetrics;
  static constexpr auto expand = cnn::expand;
  static constexpr auto check = cnn::check;
  static constexpr auto bundle = cnn::make_bundles;
  static constexpr auto summary = cnn::summary;
  static constexpr auto steps = cnn::steps;
  static int64_t features(const Fitted& fitted) { return fitted.network.input.elements(); }
  static int64_t scores_per_row(const Fitted& fitted) { return fitted.network.outputs(); }
  static mokume::sdk::RowShape shape(const Fitted& fitted) {
    const cnn::Shape& input = fitted.network.input;
    return {input.height, input.width, input.channels};
  }
  static mk_score_kind score_kind(const Fitted&) { return MK_SCORES_LOG_PROBABILITIES; }
  static constexpr auto import_onnx = cnn::import_onnx;
  static constexpr bool teams = true;
  static constexpr bool weighs = true;
  static constexpr bool rounds = true;
  static constexpr mk_validated_kind validated = MK_VALIDATED_PROBABILITIES;
};

}  // namespace

MOKUME_MODEL(Model, "cnn", "neural networks: convolutional and fully connected, by stochastic gradients")
