// Tests initial values and files of weights: their bytes, in any pieces, also beyond 2^32 elements.
#include "network/initial.hpp"

#include <fstream>

#include "harness.hpp"
#include "network/normal.hpp"
#include "network/whitening.hpp"
#include "saved/fitted.hpp"
#include "sdk/ops.hpp"
#include "train/checkpoint.hpp"

namespace mokume::cnn_test {
namespace {

using namespace cnn;
namespace fs = std::filesystem;

// Returns the FNV-1a hash of the bytes.
template <class T>
uint64_t digest(const T& values) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  for (size_t i = 0; i < values.size() * sizeof(values[0]); ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
  return hash;
}

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class InitialValues : public testing::Test {
 protected:
  InitialValues() : directory_(fs::temp_directory_path() / ("mokume-initial-test-" + std::to_string(getpid()))) {
    fs::create_directories(directory_);
    settings_.layers = layers(
        {conv2d(5, 3, 1, 1, true), relu(), max_pool2d(2, 2, 0), flatten(), linear(300, true), relu(), linear(4, true)});
    network_ = make_network(settings_, {6, 6, 3, false}, 4);
  }
  ~InitialValues() override { fs::remove_all(directory_); }

  std::string checkpoint_file() const { return directory_.string() + "/checkpoint.safetensors"; }

  fs::path directory_;
  Settings settings_;
  Network network_;
  World world_{"host"};
};

// The digests come from a version that created whole vectors element by element.
TEST_F(InitialValues, KeepTheirBytes) {
  const std::vector<float> values = all_initial_values(network_, 3, 7);
  EXPECT_EQ(digest(values), 0xe2224f506e4db5b4U);
  EXPECT_EQ(values[140], 0.0751392469F);
}

TEST_F(InitialValues, AreTheSameInAnyPieces) {
  const std::vector<float> whole = all_initial_values(network_, 3, 7);
  for (const size_t each : {1U, 7U, 299U, 4000U}) {
    std::vector<float> joined(whole.size());
    for (size_t first = 0; first < whole.size(); first += each)
      initial_values(network_.parameters, 3, 7, static_cast<int64_t>(first),
                     std::span(joined).subspan(first, std::min(each, whole.size() - first)));
    EXPECT_TRUE(joined == whole) << each;
  }
}

// Each entry has the root mean square and the largest magnitude (0 stands for no limit) of the weights of a convolution
// with 32 x 3 x 3 inputs and 48 filters.
TEST_F(InitialValues, FollowTorchNnInit) {
  struct Expected {
    LayerJson keys;
    double deviation, most;
  };
  const double in = 32 * 9, all = 32 * 9 + 48 * 9;
  const std::vector<Expected> expected = {
      {{{"initialisation", "default"}}, 1 / std::sqrt(3 * in), 1 / std::sqrt(in)},
      {{{"initialisation", "kaiming_uniform"}}, std::sqrt(2 / in), std::sqrt(6 / in)},
      {{{"initialisation", "kaiming_normal"}}, std::sqrt(2 / in), 0},
      {{{"initialisation", "xavier_uniform"}, {"init_gain", 2.0}}, 2 * std::sqrt(2 / all), 2 * std::sqrt(6 / all)},
      {{{"initialisation", "xavier_normal"}}, std::sqrt(2 / all), 0},
      {{{"initialisation", "normal"}, {"init_std", 0.05}}, 0.05, 0},
      {{{"initialisation", "trunc_normal"}, {"init_std", 0.02}}, 0.02, 0},
      {{{"initialisation", "trunc_normal"}, {"init_std", 2.0}}, 2 * 0.53956, 2},
      {{{"initialisation", "zeros"}, {"bias_initialisation", "ones"}}, 0, 0}};
  for (const Expected& e : expected) {
    SCOPED_TRACE(e.keys.dump());
    settings_.layers = layers({with(conv2d(48, 3, 1, 0, true), e.keys), flatten(), linear(4, true)});
    const Network network = make_network(settings_, {6, 6, 32, false}, 4);
    const std::vector<float> values = all_initial_values(network, 3, 7);
    const Parameter &w = network.parameters[0], &b = network.parameters[1];
    double squares = 0, fourth = 0, most = 0;
    for (int64_t i = 0; i < w.size(); ++i) {
      const double v = static_cast<double>(values[static_cast<size_t>(i)]);
      squares += v * v, fourth += v * v * v * v, most = std::max(most, std::fabs(v));
    }
    const auto n = static_cast<double>(w.size());
    EXPECT_NEAR(std::sqrt(squares / n), e.deviation, 0.03 * e.deviation);
    if (e.most > 0) {
      EXPECT_LE(most, e.most);
      EXPECT_GT(most, 0.99 * e.most);
    }
    if (e.most == 0 && e.deviation > 0) {
      EXPECT_NEAR(fourth / n / std::pow(e.deviation, 4), 3, 0.3) << "of a normal distribution";
      EXPECT_GT(most, 3 * e.deviation);
    }
    const float bias = values[static_cast<size_t>(b.offset)];
    EXPECT_EQ(bias == 1.0F, e.keys.contains("bias_initialisation"));
    EXPECT_TRUE(bias == 1.0F || std::fabs(bias) <= 1 / std::sqrt(in));
  }
}

TEST_F(InitialValues, OfOrthogonalWeightsAreOrthogonal) {
  for (const int64_t outputs : {7, 27, 40}) {
    settings_.layers =
        layers({with(conv2d(outputs, 3, 1, 0, true), {{"initialisation", "orthogonal"}, {"init_gain", 1.5}}), flatten(),
                linear(4, true)});
    const Network network = make_network(settings_, {6, 6, 3, false}, 4);
    const Engine engine(world_.device(), network, 4, true);
    write_initial_values(world_.host(), network.parameters, 3, 7, engine.parameters());
    const Parameter& w = network.parameters[0];
    std::vector<float> torch(static_cast<size_t>(w.size()));
    to_torch(w, engine.parameters().all(), 0, w.outputs, torch.data());
    const int64_t rows = w.rows(), count = std::min(outputs, rows), length = std::max(outputs, rows);
    const auto at = [&](int64_t v, int64_t i) {
      return static_cast<double>(torch[static_cast<size_t>(outputs <= rows ? v * rows + i : i * rows + v)]);
    };
    for (int64_t v = 0; v < count; ++v)
      for (int64_t u = 0; u <= v; ++u) {
        double sum = 0;
        for (int64_t i = 0; i < length; ++i) sum += at(v, i) * at(u, i);
        ASSERT_NEAR(sum, u == v ? 1.5 * 1.5 : 0, 1e-5) << outputs << " " << v << " " << u;
      }
    // The values of other parameters do not depend on the layer.
    EXPECT_EQ(engine.parameters().all().back(), all_initial_values(network, 3, 7).back());
  }
}

TEST_F(InitialValues, OfNormsMayBeZero) {
  for (const LayerJson& norm : {batch_norm(), group_norm(3), layer_norm()})
    for (const char* how : {"ones", "zeros"}) {
      settings_.layers = layers({with(norm, {{"initialisation", how}}), flatten(), linear(4, true)});
      const Network network = make_network(settings_, {6, 6, 3, false}, 4);
      EXPECT_EQ(all_initial_values(network, 3, 7)[0], how == std::string("ones") ? 1.0F : 0.0F);
      EXPECT_EQ(all_initial_values(network, 3, 7)[static_cast<size_t>(network.parameters[1].offset)], 0.0F);
    }
}

TEST(Normal, QuantilesInvertTheShare) {
  for (const double p :
       {0x1p-54, 1e-12, 1e-7, 0.001, 0.02, 0.074, 0.076, 0.3, 0.5, 0.6, 0.92, 0.93, 0.999, 1 - 0x1p-53}) {
    const double x = normal_quantile(p);
    EXPECT_NEAR(normal_share(p < 0.5 ? x : -x) / (p < 0.5 ? p : 1 - p), 1, 1e-13) << p;
  }
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
}

TEST_F(InitialValues, DoNotRepeatBeyond32Bits) {
  settings_.layers = layers({linear(70000, true), linear(4, true)});
  const Network network = make_network(settings_, {1, 1, 70000, true}, 4);
  const sdk::Random random(3, sdk::Purpose::weights, 7, 0);
  const int64_t input = 5, output = 65000;
  const auto place = static_cast<uint64_t>(output * 70000 + input);  // the element's index in PyTorch
  ASSERT_GT(place, uint64_t{1} << 32);
  const auto value = [&](uint64_t at) { return static_cast<float>((2 * random.uniform(at) - 1) / std::sqrt(70000.0)); };
  float made = 0;
  initial_values(network.parameters, 3, 7, input * 70000 + output, {&made, 1});
  EXPECT_FLOAT_EQ(made, value(place));
  EXPECT_NE(made, value(place - (uint64_t{1} << 32)));
}

TEST_F(InitialValues, KeepTheBytesOfFiles) {
  const ops::OptimizerSettings adam{ops::Optimizer::adam, 0.1};
  const Engine engine(world_.device(), network_, 4, true, adam), other(world_.device(), network_, 4, true, adam);
  write_initial_values(world_.host(), network_.parameters, 3, 7, engine.parameters());
  for (uint32_t k = 0; k < 2; ++k) engine.states()[k].write(0, all_initial_values(network_, 3, 8 + k));
  Checkpoint c;
  c.fingerprint = "the fit";
  c.batch_size = 4;
  c.epoch = 2;
  c.batch = 1;
  c.history.train_loss = {0.5, 0.25};
  c.results = {1, 2, 3, 4};
  save_checkpoint(world_.host(), directory_.string(), c, engine);
  EXPECT_EQ(digest(content(checkpoint_file())), 12247251140316633343U);

  const auto found = find_checkpoint(world_.host(), directory_.string(), "the fit", other);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->checkpoint.epoch, 2);
  EXPECT_EQ(found->checkpoint.history.train_loss, c.history.train_loss);
  EXPECT_EQ(found->checkpoint.results, c.results);
  found->read_into(other);
  EXPECT_EQ(other.parameters().all(), engine.parameters().all());
  for (size_t k = 0; k < 2; ++k) EXPECT_EQ(other.states()[k].all(), engine.states()[k].all());

  fs::resize_file(checkpoint_file(), fs::file_size(checkpoint_file()) / 2);
  try {
    found->read_into(other);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_BAD_DATA);
    EXPECT_NE(std::string(e.what()).find(checkpoint_file()), std::string::npos) << e.what();
  }

  Fitted fitted;
  fitted.settings = settings_;
  fitted.network = network_;
  fitted.parameters = all_initial_values(network_, 3, 7);
  fitted.class_names = {"a", "b", "c", "d"};
  fitted.moments.feature_mean = {1, 2};
  fitted.moments.feature_deviation = {3, 4};
  fitted.save(directory_.string());
  EXPECT_EQ(digest(content(directory_.string() + "/model.safetensors")), 0xf5b20ba2bfe2de97U);
}

// The parameters exceed one piece, so that every path between the device and the files takes several pieces.
TEST_F(InitialValues, PassThroughFilesInPieces) {
  settings_.layers = layers({flatten(), linear(4200, true), linear(4, true)});
  Fitted fitted;
  fitted.settings = settings_;
  fitted.network = network_ = make_network(settings_, {70, 60, 1, false}, 4);
  ASSERT_GT(network_.n_parameters, kChunk);
  fitted.class_names = {"a", "b", "c", "d"};
  {
    const Engine engine(world_.device(), network_, 1, false);
    write_initial_values(world_.host(), network_.parameters, 3, 7, engine.parameters());
    fitted.parameters = engine.parameters().all();
    EXPECT_TRUE(fitted.parameters == all_initial_values(network_, 3, 7));
    Checkpoint start;
    start.batch_size = 1;
    save_checkpoint(world_.host(), directory_.string(), start, engine);
  }
  const Engine engine(world_.device(), network_, 1, false);
  find_checkpoint(world_.host(), directory_.string(), "", engine).value().read_into(engine);
  EXPECT_TRUE(engine.parameters().all() == fitted.parameters);
  fitted.save(directory_.string());
  EXPECT_TRUE(Fitted::load(directory_.string()).parameters == fitted.parameters);
}

LayerJson conv_beginning(const char* how, int64_t out, int64_t kernel) {
  return with(conv2d(out, kernel, 1, 1, false), {{"initialisation", how}});
}

TEST_F(InitialValues, DiracFiltersPassOnTheirChannel) {
  settings_.layers = layers({conv_beginning("dirac", 5, 3), flatten(), linear(4, true)});
  const Network network = make_network(settings_, {6, 6, 3, false}, 4);
  const std::vector<float> values = all_initial_values(network, 3, 7);
  double others = 0;
  for (int64_t row = 0; row < 27; ++row)
    for (int64_t filter = 0; filter < 5; ++filter) {
      const float value = values[row * 5 + filter];
      if (filter >= 3) {
        others = std::max(others, std::fabs(double{value}));
      } else {
        EXPECT_EQ(value, row == 4 * 3 + filter ? 1 : 0) << row << ", " << filter;
      }
    }
  EXPECT_GT(others, 0.1);
  EXPECT_LE(others, 1 / std::sqrt(27.0));
}

TEST_F(InitialValues, WhiteningFiltersOfPatchesAreUncorrelated) {
  const Shape image{5, 4, 2, false};
  settings_.layers = layers({conv_beginning("whitening", 16, 2), flatten(), linear(4, true)});
  const Network network = make_network(settings_, image, 4);
  // Neighbouring pixels are alike.
  std::vector<float> x = random_floats(40 * 40, 5);
  for (size_t k = 3; k < x.size(); ++k) x[k] = 0.6F * x[k - 1] + 0.3F * x[k - 3] + x[k];
  std::vector<int32_t> rows(30);
  for (int32_t k = 0; k < 30; ++k) rows[k] = (k * 7) % 40;
  const std::vector<float> w = whitening_values(world_.host(), network.parameters[0], image, x.data(), rows);
  ASSERT_EQ(w.size(), 8U * 16);
  std::vector<double> products(16 * 16);
  for (const int32_t row : rows)
    for (int64_t top = 0; top < 4; ++top)
      for (int64_t left = 0; left < 3; ++left) {
        std::vector<double> out(16);
        for (int64_t k = 0; k < 8; ++k) {
          const int64_t pixel = (top + k / 4) * 4 + left + k / 2 % 2;
          for (int64_t f = 0; f < 16; ++f) out[f] += double{x[row * 40 + pixel * 2 + k % 2]} * w[k * 16 + f];
        }
        for (int64_t a = 0; a < 16; ++a)
          for (int64_t b = 0; b < 16; ++b) products[a * 16 + b] += out[a] * out[b] / (30 * 12);
      }
  for (int64_t a = 0; a < 16; ++a)
    for (int64_t b = 0; b < 16; ++b)
      EXPECT_NEAR(products[a * 16 + b], a == b ? 1 : a % 8 == b % 8 ? -1 : 0, 2e-3) << a << ", " << b;
}

TEST_F(InitialValues, WhiteningIsForTheFirstConvolution) {
  const auto refused = [&](const std::vector<LayerJson>& all, const std::string& why) {
    settings_.layers = layers(all);
    try {
      make_network(settings_, {6, 6, 3, false}, 4);
      ADD_FAILURE() << why;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
    }
  };
  const LayerJson end = linear(4, true);
  refused({conv2d(3, 1, 1, 0, true), conv_beginning("whitening", 24, 2), flatten(), end},
          "the initialisation whitening needs the images of the data, but another layer comes before");
  refused({conv_beginning("whitening", 23, 2), flatten(), end},
          "whitening gives two filters for each number of its window, but out_channels is 23; set out_channels to 24");
  refused({with(conv_beginning("dirac", 6, 3), {{"groups", 3}}), flatten(), end},
          "the initialisation dirac needs filters that see all channels; set groups to 1");
}

}  // namespace
}  // namespace mokume::cnn_test
