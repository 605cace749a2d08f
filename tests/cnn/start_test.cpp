// Tests training that begins with the tensors of a file, and layers that do not learn.
#include "saved/start.hpp"

#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>

#include "network/description.hpp"
#include "pictures.hpp"
#include "saved/fitted.hpp"

namespace mokume::cnn_test {
namespace {

constexpr Shape kImage{6, 6, 1, false};

std::string bytes_in(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

class Starts : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    world_ = std::make_unique<World>(GetParam());
    if (!world_->present()) GTEST_SKIP() << "no OpenCL device: install pocl-opencl-icd";
    device_.emplace(world_->device());
    data_.emplace(*device_, pictures_.data);
  }

  // Trains a network. `start` holds the content of the file with which training begins.
  std::unique_ptr<Training> run(const Settings& settings, std::string_view start = {},
                                const std::string& scratch = "") {
    networks_.push_back(std::make_unique<Network>(make_network(settings, kImage, 4)));
    TrainingTask task = task_of(scratch);
    task.start = start;
    auto training =
        std::make_unique<Training>(world_->host(), *device_, *data_, *networks_.back(), settings, std::move(task));
    Sink sink{kNever};
    train(*training, sink.table());
    return training;
  }

  // Returns the content of the file of the trained network.
  std::string saved(Training& training, const Settings& settings) {
    Fitted fitted;
    fitted.settings = settings;
    fitted.network = make_network(settings, kImage, 4);
    fitted.moments = training.moments();
    fitted.parameters = training.take_parameters();
    const Scratch scratch;
    fitted.save(scratch.str());
    return bytes_in(scratch.str() + "/model.safetensors");
  }

  Pictures pictures_;
  std::unique_ptr<World> world_;
  std::optional<sdk::Device> device_;
  std::optional<ResidentData> data_;
  std::vector<std::unique_ptr<Network>> networks_;
};
INSTANTIATE_TEST_SUITE_P(Devices, Starts, testing::Values("host", "opencl"),
                         [](const auto& i) { return std::string(i.param); });

std::vector<float> part_of(const std::vector<float>& all, const Parameter& p) {
  return {all.begin() + p.offset, all.begin() + p.offset + p.size()};
}

// ---- start ---------------------------------------------------------------------------------------------------------

// The network has every kind of parameter, running moments and moments of the features.
TEST_P(Starts, HaveTheLossAtWhichTheOtherRunEnded) {
  Settings graph = graph_settings(), features = small_settings();
  features.layers = layers({normalise(0, 1, true), conv2d(3, 3, 2, 1, true), relu(), flatten(), linear(4, true)});
  for (Settings s : {graph, features}) {
    s.epochs = 2;
    const auto before = run(s);
    const Score last = before->record().validated();
    const std::string file = saved(*before, s);
    const std::vector<float> expected = before->engine().parameters().all();
    s.start = "weights.safetensors";
    s.epochs = 0;
    s.ema_decay = 0.9;  // there are no steps to average
    s.stop.kind = StopRule::Kind::plateau;
    s.stop.restore_best = true;
    const auto untrained = run(s, file);
    EXPECT_EQ(untrained->record().validated().loss, last.loss);
    EXPECT_EQ(untrained->record().validated().hits, last.hits);
    EXPECT_TRUE(untrained->record().history.train_loss.empty());
    EXPECT_EQ(untrained->take_parameters(), expected);
    s.epochs = 2;
    s.ema_decay = 0;
    s.stop = {};
    const auto on = run(s, file);
    EXPECT_LT(on->record().history.train_loss.front(), before->record().history.train_loss.front());
  }
}

TEST_P(Starts, LeaveOtherLayersTheirRandomValues) {
  Settings s = small_settings();
  s.epochs = 1;
  const auto before = run(s);
  const std::string file = saved(*before, s);
  const std::vector<float> trained = before->engine().parameters().all();
  set_layer(s, 5, called("head", linear(4, true)));
  s.start = "weights.safetensors";
  s.epochs = 0;
  const auto changed = run(s, file);
  const std::vector<float> random = all_initial_values(changed->network(), 11, 0), now = changed->take_parameters();
  for (const Parameter& p : changed->network().parameters)
    EXPECT_EQ(part_of(now, p), part_of(p.name.starts_with("head") ? random : trained, p)) << p.name;
  EXPECT_EQ(Start("w.safetensors", file, changed->network()).warning(),
            "start: w.safetensors: it has no tensor for head.weight, head.bias, which begin with random values; it has "
            "5.bias, 5.weight, for which the network has no layer");
}

// Training that ends at once shares a stack with longer training.
TEST_P(Starts, NeedNoEpochsInAStack) {
  Settings s = small_settings();
  s.epochs = 1;
  const auto before = run(s);
  const std::string file = saved(*before, s);
  Settings none = s;
  none.start = "weights.safetensors";
  none.epochs = 0;
  const Network network = make_network(s, kImage, 4), other = make_network(none, kImage, 4);
  TrainingTask task = task_of();
  task.start = file;
  Training trained(world_->host(), *device_, *data_, network, s, task_of()),
      untrained(world_->host(), *device_, *data_, other, none, task);
  Training* const stack[] = {&trained, &untrained};
  std::vector<const Training*> ended;
  Sink sink{kNever};
  train(stack, sink.table(), [&](const Training& t) { ended.push_back(&t); });
  EXPECT_EQ(ended, (std::vector<const Training*>{&untrained, &trained}));
  EXPECT_EQ(untrained.record().validated().loss, trained.record().validated().loss);
}

// Returns the message of the error that this file causes.
std::string refusal(const std::vector<LayerJson>& all, const safetensors::Writer& writer) {
  const Scratch scratch;
  const std::string path = scratch.str() + "/w.safetensors";
  writer.write(path);
  Settings s;
  s.layers = layers(all);
  const Network network = make_network(s, {1, 1, 3, true}, 4);
  try {
    Start("w.safetensors", bytes_in(path), network);
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_BAD_DATA);
    return e.what();
  }
  return "";
}

TEST(Start, RefusesTensorsThatDoNotFit) {
  const float values[12] = {1, 2, 3}, wrong[12] = {1, NAN};
  const int32_t whole[12] = {};
  const std::vector<LayerJson> net{linear(4, false)};
  const auto with = [&](const char* name, const safetensors::Shape& shape, const auto* data) {
    safetensors::Writer writer;
    writer.add(name, shape, data);
    return writer;
  };
  EXPECT_EQ(refusal(net, with("0.weight", {4, 3}, &values[0])), "");
  EXPECT_EQ(refusal(net, with("0.weight", {3, 4}, &values[0])),
            "start: the tensor 0.weight of w.safetensors is 3 x 4, but the network needs 4 x 3: change the layer, or "
            "rename it so that it keeps its random values");
  EXPECT_EQ(refusal(net, with("fc.weight", {4, 3}, &values[0])),
            "start: w.safetensors has no tensor for any layer of the network, which needs 0.weight, but it has "
            "fc.weight: name the layers as the file does");
  EXPECT_NE(refusal(net, with("0.weight", {4, 3}, &wrong[0])).find("a value that is not finite"), std::string::npos);
  EXPECT_NE(refusal(net, with("0.weight", {4, 3}, &whole[0])).find("has whole numbers"), std::string::npos);
  Settings s;
  s.layers = layers(net);
  const Network network = make_network(s, {1, 1, 3, true}, 4);
  for (const char* damaged : {"", "short", "\x10\0\0\0\0\0\0\0{"})
    EXPECT_THROW(Start("w.safetensors", damaged, network), Error);
}

// ---- freeze --------------------------------------------------------------------------------------------------------

// The bits stay the same whatever the optimizer, its decay, the average and the norm of the gradients do. The layers
// around a frozen layer learn.
TEST_P(Starts, KeepTheBitsOfFrozenLayers) {
  Settings s = graph_settings();
  s.freeze = "stem,1,main,9,13";  // a convolution, batch norms, a group norm and a layer norm
  s.epochs = 2;
  s.optimizer = {ops::Optimizer::adamw, 0.02, 0.1, 0.9, 0.999, 1e-8, false, 0.3};
  s.ema_decay = 0.8;
  s.stop.kind = StopRule::Kind::plateau;
  s.stop.restore_best = true;
  data_->inputs(), data_->targets();
  const uint64_t before = world_->allocated_bytes();
  const auto training = run(s);
  EXPECT_LE(world_->allocated_bytes() - before, Training::bytes(training->network(), s, kRows));
  const Outcome outcome = outcome_of(*training);
  const std::vector<float> initial = all_initial_values(training->network(), 11, 0);
  int frozen = 0;
  for (const Parameter& p : training->network().parameters) {
    EXPECT_EQ(part_of(outcome.parameters, p) == part_of(initial, p), p.frozen) << p.name;
    EXPECT_EQ(part_of(outcome.result, p) == part_of(initial, p), p.frozen) << p.name;
    frozen += p.frozen ? 1 : 0;
  }
  EXPECT_EQ(frozen, 13);
  EXPECT_LT(outcome.train_loss.back(), outcome.train_loss.front());
}

TEST_P(Starts, KeepTheBitsOfFrozenLayersWithMuonAndSummedBatches) {
  Settings s = graph_settings();
  s.freeze = "stem,1,main";
  s.epochs = 2;
  s.optimizer = {ops::Optimizer::adamw, 0.02, 0.1, 0.9, 0.999, 1e-8};
  s.muon = {0.02, 0.1, 0.95, true, 5, "original"};
  s.accumulate = 2;
  data_->inputs(), data_->targets();
  const uint64_t before = world_->allocated_bytes();
  const auto training = run(s);
  EXPECT_LE(world_->allocated_bytes() - before, Training::bytes(training->network(), s, kRows));
  const Outcome outcome = outcome_of(*training);
  const std::vector<float> initial = all_initial_values(training->network(), 11, 0);
  for (const Parameter& p : training->network().parameters)
    EXPECT_EQ(part_of(outcome.parameters, p) == part_of(initial, p), p.frozen) << p.name;
}

// The layer's moments do not depend on the batch, so training and prediction have the same outputs.
TEST_P(Starts, NormaliseByTheRunningMomentsOfAFrozenLayer) {
  Settings s = small_settings();
  s.layers = layers({conv2d(4, 3, 1, 1, true), batch_norm(), relu(), flatten(), linear(4, true)});
  s.freeze = "1";
  const Network network = make_network(s, kImage, 4);
  const Engine engine(*device_, network, 5, true);
  engine.parameters().write(0, random_floats(size_t(network.n_parameters), 3, 0.2F, 1));
  const std::vector<float> x = random_floats(5 * 36, 8);
  const auto outputs = [&](const ops::DropoutPlace* place) {
    engine.write_input(x.data(), 5);
    std::vector<float> out(20);
    engine.read(engine.forward(5, place), out.data());
    return out;
  };
  const ops::DropoutPlace place{1, 0, 0, 0};
  EXPECT_EQ(outputs(&place), outputs(nullptr));
}

TEST(Freeze, SkipsGradientsThatAreNotNeeded) {
  Settings s = small_settings();
  const Network all = make_network(s, kImage, 4);
  s.freeze = "0";
  const Network head = make_network(s, kImage, 4);
  EXPECT_EQ(all.gradient_flow.steps.size(), 4U);
  EXPECT_EQ(head.gradient_flow.steps.size(), 1U) << "only the linear layer";
  EXPECT_FALSE(same_shape(all, s, head, s));
  EXPECT_LT(Training::bytes(head, s, kRows), Training::bytes(all, s, kRows));
  EXPECT_NE(describe(head, 1).find("40, frozen "), std::string::npos) << describe(head, 1);
  EXPECT_NE(describe(head, 1).find("parameters, 40 of them frozen; "), std::string::npos) << describe(head, 1);
}

TEST(Freeze, StandsForTheLayersOfABlock) {
  Settings s = small_settings();
  s.layers = layers({called("stage.0.main", conv2d(4, 3, 1, 1, true)), called("stage.10", batch_norm()),
                     called("stages", batch_norm()), called("flat", flatten()), called("head", linear(4, true))});
  const auto frozen = [&](const char* names) {
    s.freeze = names;
    std::string all;
    for (const auto& layer : make_network(s, kImage, 4).layers) all += layer->frozen ? layer->name + " " : "";
    return all;
  };
  EXPECT_EQ(frozen(""), "");
  EXPECT_EQ(frozen("stage"), "stage.0.main stage.10 ");
  EXPECT_EQ(frozen("stage.0,head"), "stage.0.main head ");
  // Another candidate of a search has more repetitions of the block.
  s.absent = {"stage.20.main", "deep.0"};
  EXPECT_EQ(frozen("stage.20,deep,head"), "head ");
  s.freeze = "stage,flat";
  try {
    make_network(s, kImage, 4);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "freeze: no layer with parameters is called 'flat'; these layers have some: stage.0.main, stage.10, "
                 "stages, head");
  }
}

}  // namespace
}  // namespace mokume::cnn_test
