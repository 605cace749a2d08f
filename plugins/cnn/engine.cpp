#include "engine.hpp"

#include <algorithm>
#include <bit>

#include "sdk/ops/bias_act.hpp"
#include "sdk/ops/fill.hpp"
#include "sdk/ops/gemm.hpp"

namespace mokume::cnn {
namespace {

size_t end_of(const Network& network, const Part& part) { return std::min(part.end, network.stages.size()); }

std::span<const Layer* const> stages_of(const Network& network, const Part& part) {
  return std::span(network.stages).subspan(part.first, end_of(network, part) - part.first);
}

// Returns the size of the largest gradient in the backward pass.
int64_t flow_elements(const Network& network, const Part& part, int64_t batch) {
  if (stages_of(network, part).empty()) return 0;
  int64_t most = network.shape_of(part.first).elements();
  for (const Layer* s : stages_of(network, part)) most = std::max(most, s->out.elements());
  return most * batch;
}

std::vector<int> stepped_parameters(const Network& network, int64_t batch, bool training,
                                    const ops::OptimizerSettings& optimizer, const EngineOptions& options) {
  std::vector<int> stepped;
  for (const Layer* s : network.stages)
    stepped.push_back(training && !options.gradients && !s->frozen ? s->stepped_parameter(optimizer, batch) : -1);
  return stepped;
}

bool in_place(const Layer& layer, bool training) { return training ? layer.in_place : layer.in_place_to_predict; }

// These values replace the momentum of a running mean for frozen parameters and for the weights that Muon steps.
constexpr double kFrozen = -1, kOfMuon = -2;

// Returns the parameters of the stages outside of the part.
std::vector<int> elsewhere(const Network& network, const Part& part) {
  std::vector<int> all;
  for (size_t k = 0; k < network.stages.size(); ++k) {
    const Layer& s = *network.stages[k];
    if (k >= part.first && k < part.end) continue;
    for (int p = s.parameters_begin; p < s.parameters_end; ++p) all.push_back(p);
  }
  return all;
}

// Returns the parameters without gradients and optimizer states. A frozen layer may have gradients, because computing
// them yields the gradient of its input.
std::vector<int> without_gradients(const Network& network, const Part& part) {
  std::vector<int> all = elsewhere(network, part);
  for (size_t k = part.first; k < end_of(network, part); ++k) {
    const Layer& s = *network.stages[k];
    if (!s.frozen || (!s.backward_alone && network.trained[k + 1])) continue;
    for (int p = s.parameters_begin; p < s.parameters_end; ++p) all.push_back(p);
  }
  return all;
}

// Returns a bound on the number of optimizer states of one kind.
int64_t states_elements(const Network& network, const Part& part, int64_t learning) {
  if (part.has_all_states()) return learning;
  const Segments layout(network.parameters, UINT64_MAX, without_gradients(network, part), part.states_first,
                        part.states_end);
  int64_t all = 0;
  for (size_t s = 0; s < layout.count(); ++s) all += layout.size(s);
  return all;
}

int64_t size_of(const Network& network, std::span<const int> parameters) {
  int64_t size = 0;
  for (const int p : parameters) size += network.parameters[p].size();
  return size;
}

int levels(int64_t leaves) { return std::countr_zero(uint64_t(leaves)); }

}  // namespace

uint64_t Engine::bytes(const Network& network, int64_t batch, bool training, const ops::OptimizerSettings& optimizer,
                       const EngineOptions& options) {
  const Part& part = options.part;
  const uint64_t norm = training && optimizer.clip > 0
                            ? 4 * GradientNorm::elements(network.n_parameters, int64_t(network.parameters.size()))
                            : 0;
  if (stages_of(network, part).empty()) return norm;
  const int64_t parameters = network.n_parameters - size_of(network, elsewhere(network, part));
  const int64_t learning = network.n_parameters - size_of(network, without_gradients(network, part));
  int64_t per_row = network.shape_of(part.first).elements(), fixed = 0, workspace = 0, gradients = learning;
  for (const Layer* s : stages_of(network, part)) {
    if (!in_place(*s, training)) per_row += s->out.elements();
    workspace = std::max(workspace, s->workspace);
    for (const Layer::Buffer& b : s->buffers) per_row += b.per_row, fixed += b.fixed;
  }
  for (const int p : stepped_parameters(network, batch, training, optimizer, options))
    if (p >= 0) gradients -= network.parameters[p].size();
  const double whole = training ? 1.0 + (options.average > 0 ? 1 : 0) + (options.best ? 1 : 0) : 1.0;
  const double partial = training ? levels(options.leaves) + (options.accumulate ? 1 : 0) : 0;
  double elements = whole * parameters + partial * learning + part.in_flight * (per_row * batch + fixed) + workspace;
  if (training) elements += double(optimizer.states()) * states_elements(network, part, learning);
  if (training) elements += network.gradient_flow.slots * flow_elements(network, part, batch) + batch + gradients;
  if (training && options.muon.used()) elements += MuonStep::elements(network.parameters);
  return uint64_t(4 * elements) + norm;
}

uint64_t Engine::flow_bytes(const Network& network, const Part& part, int64_t batch) {
  return 4 * flow_elements(network, part, batch);
}

Engine::Engine(const sdk::Device& device, const Network& network, int64_t batch, bool training,
               const ops::OptimizerSettings& optimizer, const EngineOptions& options, StackMemory* memory)
    : device_(device),
      network_(network),
      batch_(batch),
      options_(options),
      first_(options.part.first),
      end_(end_of(network, options.part)),
      stepped_(stepped_parameters(network, batch, training, optimizer, options)) {
  const Part& part = options.part;
  check_memory(bytes(network, batch, training, optimizer, options));
  StackMemory own(device);
  StackMemory& from = memory != nullptr ? *memory : own;
  const uint64_t segment = std::min(options.segment_bytes, device.info().max_buffer_bytes);
  const std::vector<int> outside = elsewhere(network, part);
  parameters_ = ParameterVector(device, Segments(network.parameters, segment, outside), from);
  take_activations(from, training);
  keeps_gradients_ = std::all_of(stepped_.begin(), stepped_.end(), [](int p) { return p < 0; });
  if (training) take_training_memory(optimizer, segment, from);
}

// Throws if the device has less memory than `wanted`.
void Engine::check_memory(uint64_t wanted) const {
  const int64_t flow = flow_elements(network_, options_.part, batch_);
  const uint64_t most = device_.info().max_buffer_bytes;
  if (wanted <= device_.budget_bytes() && uint64_t(4 * flow) <= most) return;
  const auto mib = [](uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; };
  throw Error(MK_OUT_OF_MEMORY,
              "the network needs " + mib(wanted) + " (" + mib(4 * network_.n_parameters) + " of parameters, " +
                  mib(4 * flow) + " in one piece for a batch) at batch_size " + std::to_string(batch_) + ", but " +
                  device_.info().name + " gives it " + mib(device_.budget_bytes()) + " (" + mib(most) +
                  " in one piece): lower batch_size, make the layers smaller, name another device, or "
                  "split it among several with [devices] team = true");
}

void Engine::take_training_memory(const ops::OptimizerSettings& optimizer, uint64_t segment, StackMemory& from) {
  const Network& network = network_;
  const EngineOptions& options = options_;
  const Part& part = options.part;
  // Frozen parameters are in the last segments, so a layout without them does not move other parameters.
  const std::vector<int> skipped = without_gradients(network, part);
  const Segments learning(network.parameters, segment, skipped);
  const Segments stepping(network.parameters, segment, skipped, part.states_first, part.states_end);
  std::vector<int> without = skipped;
  without.insert(without.end(), stepped_.begin(), stepped_.end());
  gradients_ = ParameterVector(device_, Segments(network.parameters, segment, without), from);
  std::vector<double> momenta;
  for (const Parameter& p : network.parameters) momenta.push_back(p.frozen ? kFrozen : p.momentum);
  if (options.muon.used() && first_ < end_) {
    muon_ = MuonStep(device_, network.parameters, parameters_.layout(), from);
    for (const int p : muon_weights(network.parameters)) momenta[p] = kOfMuon;
  }
  steps_ = common_runs(parameters_.layout(), gradients_.layout(), stepping, momenta);
  std::erase_if(steps_, [](const CommonRun& run) { return run.apart != 0; });
  moments_ = common_runs(parameters_.layout(), gradients_.layout(), learning, momenta);
  std::erase_if(moments_, [](const CommonRun& run) { return !(run.apart > 0); });
  for (uint32_t s = 0; s < optimizer.states(); ++s) states_.emplace_back(device_, stepping, from);
  for (int k = 0; k < levels(options.leaves); ++k) halves_.emplace_back(device_, learning, from);
  if (options.average > 0) average_ = ParameterVector(device_, parameters_.layout(), from);
  if (options.accumulate) accumulated_ = ParameterVector(device_, gradients_.layout(), from);
  if (options.best) best_ = ParameterVector(device_, parameters_.layout(), from);
  if (optimizer.clip > 0) norm_ = GradientNorm(device_, network, part, gradients_.layout(), from);
  if (first_ == end_) return;
  const int64_t flow = flow_elements(network, part, batch_);
  for (int slot = 0; slot < network.gradient_flow.slots; ++slot) flow_.push_back(from.take(flow));
  if (has_output()) output_slot_ = 0;
  for (const GradientFlow::Step& step : network.gradient_flow.steps) {
    if (step.stage + 1 == end_) output_slot_ = step.dy;
    if (step.stage + 1 == first_) input_slot_ = step.dy;
  }
  ones_ = from.take(batch_);
  device_.submit(ops::fill(ones_.vector(batch_), 1.0F));
}

void Engine::take_activations(StackMemory& from, bool training) {
  for (int64_t k = 0; k < options_.part.in_flight; ++k) {
    auto& [values, buffers, outside] = in_flight_.emplace_back();
    values.resize(network_.stages.size() + 1);
    std::vector<size_t> holder(values.size());  // the first value in the memory of each
    buffers.resize(network_.stages.size());
    if (first_ == end_) continue;
    values[first_] = from.take(batch_ * input_elements());
    holder[first_] = first_;
    for (size_t stage = first_; stage < end_; ++stage) {
      const Layer& s = *network_.stages[stage];
      values[stage + 1] = in_place(s, training) ? values[s.reads.front()] : from.take(batch_ * s.out.elements());
      holder[stage + 1] = in_place(s, training) ? holder[s.reads.front()] : stage + 1;
      for (const Layer::Buffer& b : s.buffers) buffers[stage].push_back(from.take(batch_ * b.per_row + b.fixed));
      s.fill_buffers(device_, buffers[stage]);
    }
    for (const size_t h : holder) outside.push_back(h == first_ || h == holder[end_]);
  }
}

void Engine::write_input(const float* x, int64_t rows) const {
  now().values[first_].write(device_, x, rows * input_elements());
}

void Engine::read(const mk_tensor& outputs, float* to) const {
  now().values[end_].read(device_, to, outputs.rows * outputs.columns);
}

void Engine::write_output_gradient(const float* gradient, int64_t rows) const {
  flow_[output_slot_].write(device_, gradient, rows * output_elements());
}

void Engine::read_input_gradient(float* gradient, int64_t rows) const {
  input_gradient_.read(device_, gradient, rows * input_elements());
}

void Engine::set_moments(const std::vector<float>& mean, const std::vector<float>& deviation) const {
  if (!has_input()) return;
  for (const Activations& one : in_flight_) network_.stages[0]->use_moments(device_, one.buffers[0], mean, deviation);
}

mk_tensor Engine::value(size_t value, int64_t rows) const {
  const int64_t elements = network_.shape_of(value).elements();
  return now().values[value].matrix(rows, elements, now().outside[value] ? first_row_ * elements : 0);
}

Pass Engine::pass(size_t k, int64_t rows, const ops::DropoutPlace* dropout) const {
  const std::vector<size_t>& reads = network_.stages[k]->reads;
  const ParameterVector& weights = uses_average_ ? average_ : parameters_;
  Pass p{device_, queue_, weights, now().buffers[k], dropout, value(reads.front(), rows), value(k + 1, rows)};
  for (size_t i = 1; i < reads.size(); ++i) p.more_x.push_back(value(reads[i], rows));
  return p;
}

mk_tensor Engine::forward(int64_t rows, const ops::DropoutPlace* dropout) const {
  for (size_t k = first_; k < end_; ++k) network_.stages[k]->forward(pass(k, rows, dropout));
  return value(end_, rows);
}

// Returns the rows whose values take a few megabytes for each core, but enough of them that products do not wait for
// their weights. The host divides products into tiles of kTile rows, and each core needs one. A device without launches
// is one whose buffers are host memory.
int64_t Engine::rows_at_once() const {
  constexpr int64_t kFloats = int64_t{1} << 20, kFewest = 32, kTile = 256;
  if (first_ == end_ || !now().values[first_].in_host_memory(device_)) return batch_;
  int64_t elements = 0;
  for (size_t stage = first_; stage < end_; ++stage)
    if (!in_place(*network_.stages[stage], false)) elements += network_.stages[stage]->out.elements();
  const int64_t cores = std::max<int64_t>(1, device_.info().compute_units);
  const int64_t rows = std::max(kFewest, kFloats * cores / std::max<int64_t>(1, elements)), whole = kTile * cores;
  return rows <= kTile ? rows : (rows + whole - 1) / whole * whole;
}

void Engine::record(int64_t rows) {
  const int64_t each = rows_at_once();
  recorded_.clear();
  put_ops(&recorded_);
  for (first_row_ = 0; first_row_ < rows; first_row_ += each) forward(std::min(each, rows - first_row_), nullptr);
  put_ops(nullptr);
  first_row_ = 0;
}

mk_tensor Engine::predict(int64_t rows) {
  if (rows != recorded_rows_) {
    record(rows);
    recorded_rows_ = rows;
  }
  const mk_op* const member = recorded_.data();
  device_.submit_group({&member, 1}, recorded_.size());
  return value(end_, rows);
}

void Engine::backward(int64_t rows, const ops::DropoutPlace& dropout, const ParameterVector& to,
                      std::span<const Add> adds, const Summed& summed, double share) const {
  if (!keeps_gradients_)
    throw Error(MK_INTERNAL, "this engine keeps no gradients: make it with EngineOptions::gradients");
  const auto gradients = [&](const Layer& layer, const Pass& p) {
    layer.gradients(p, to);
    for (const Add& a : adds) add(layer, *a.what, *a.to);
    summed(layer);
  };
  go_back(rows, dropout, nullptr, gradients, share);
}

void Engine::add(const Layer& layer, const ParameterVector& what, const ParameterVector& to) const {
  for (int p = layer.parameters_begin; p < layer.parameters_end; ++p)
    for (const Extent& e : to.extents(p)) {
      const mk_tensor sum = to.run(e.segment, e.at, e.size());
      submit(ops::bias_act(sum, what.run(e.segment, e.at, e.size()), ops::Activation::none, sum));
    }
}

void Engine::train_back(int64_t rows, const ops::DropoutPlace& dropout, const ops::OptimizerSettings& settings,
                        int64_t t) const {
  const OwnStep step{settings, t, gradients_, states_};
  go_back(
      rows, dropout, &step, [&](const Layer& layer, const Pass& p) { layer.gradients(p, gradients_); }, 1);
}

void Engine::go_back(int64_t rows, const ops::DropoutPlace& dropout, const OwnStep* step, const Gradients& gradients,
                     double share) const {
  std::vector<Slice> slots = flow_;
  std::vector<bool> relu_done(network_.stages.size());  // whether a later stage has applied the gradient of this relu
  for (const GradientFlow::Step& at : network_.gradient_flow.steps) {
    const size_t k = at.stage;
    if (k < first_ || k >= end_) continue;
    const Layer& s = *network_.stages[k];
    Pass p = pass(k, rows, &dropout);
    p.ones = &ones_;
    p.share = share;
    const mk_tensor dy = slots[at.dy].matrix(rows, s.out.elements());
    place_gradients(at, slots, rows, p);
    if (s.activation != ops::Activation::none && !s.grads_activation && !relu_done[k])
      submit(ops::act_grad(dy, p.y, s.activation, p.dy));
    if (stepped_[k] >= 0) {
      s.backward_with_step(p, *step);
    } else {
      if (s.n_parameters > 0 && !(s.frozen && s.backward_alone)) gradients(s, p);
      if (!s.passes_gradient && std::any_of(at.dx.begin(), at.dx.end(), [](int slot) { return slot >= 0; }))
        s.backward(p);
    }
    if (p.relu_done) relu_done[s.reads.front() - 1] = true;
    if (p.dx_over_x) slots[at.dx[0]] = now().values[s.reads.front()];
    add_up(at, slots, rows);
  }
  if (has_input_gradient()) input_gradient_ = slots[input_slot_];
}

// Tells a stage where its gradients lie, and whether its input is the output of a relu.
void Engine::place_gradients(const GradientFlow::Step& at, std::vector<Slice>& slots, int64_t rows, Pass& p) const {
  const Layer& s = *network_.stages[at.stage];
  if (at.activated != at.dy) slots[at.activated] = flow_[at.activated];
  p.dy = slots[at.activated].matrix(rows, s.out.elements());
  for (size_t i = 0; i < s.reads.size(); ++i) {
    const int slot = at.dx[i];
    if (slot >= 0 && slot != at.activated) slots[slot] = flow_[slot];
    const mk_tensor dx = slot < 0 ? mk_tensor{} : slots[slot].matrix(rows, network_.shape_of(s.reads[i]).elements());
    i == 0 ? void(p.dx = dx) : p.more_dx.push_back(dx);
  }
  const size_t x = s.reads.front();
  if (at.dx[0] < 0 || x == first_ || network_.readers[x] != 1) return;
  const Layer& before = *network_.stages[x - 1];
  p.x_is_relu = before.ends_in_relu() && !before.relu_before && !before.grads_activation;
}

// Adds the gradients of values that several stages read.
void Engine::add_up(const GradientFlow::Step& step, std::vector<Slice>& slots, int64_t rows) const {
  const std::vector<size_t>& reads = network_.stages[step.stage]->reads;
  size_t i = 0;
  for (const GradientFlow::Sum& sum : step.sums) {
    while (step.dx[i] != sum.b) ++i;
    const int64_t columns = network_.shape_of(reads[i]).elements();
    if (sum.to != sum.a && sum.to != sum.b) slots[sum.to] = flow_[sum.to];
    mk_tensor a = slots[sum.a].matrix(rows, columns), b = slots[sum.b].matrix(rows, columns);
    if (sum.to == sum.b) std::swap(a, b);  // bias_act may overwrite only its first input
    submit(ops::bias_act(a, b, ops::Activation::none, slots[sum.to].matrix(rows, columns)));
  }
}

std::vector<std::pair<std::string, const ParameterVector*>> Engine::state() const {
  std::vector<std::pair<std::string, const ParameterVector*>> all = {{"parameters", &parameters_}};
  for (const ParameterVector& s : states_) all.emplace_back("state" + std::to_string(all.size() - 1), &s);
  if (options_.average > 0) all.emplace_back("average", &average_);
  if (options_.best) all.emplace_back("best", &best_);
  if (options_.accumulate) all.emplace_back("accumulated", &accumulated_);
  return all;
}

void Engine::end_training() {
  steps_.clear();
  moments_.clear();
  states_.clear();
  halves_.clear();
  gradients_ = ParameterVector();
  accumulated_ = ParameterVector();
  muon_ = MuonStep();
}

void Engine::copy(const ParameterVector& from, const ParameterVector& to) const {
  for (size_t s = 0; s < from.layout().count(); ++s) {
    const int64_t size = from.layout().size(s);
    submit(ops::bias_act(from.run(s, 0, size), {}, ops::Activation::none, to.run(s, 0, size)));
  }
}

void Engine::keep_best() const { copy(predicting(), best_); }

// Computes average = share * average + (1 - share) * parameters, including running moments, like PyTorch's
// torch.optim.swa_utils.AveragedModel with use_buffers = True and get_ema_multi_avg_fn(share). The ops are products
// with a 1 x 1 matrix of one. Skips frozen parameters, which equal their average, because rounding would change it.
void Engine::take_average(bool first) const {
  if (first) return copy(parameters_, average_);
  const auto kept = float(options_.average), taken = float(1 - options_.average);
  for (size_t s = 0; s < average_.layout().moving(); ++s) {
    const int64_t size = average_.layout().size(s);
    submit(ops::gemm(ones_.matrix(1, 1), false, parameters_.run(s, 0, size), false, average_.run(s, 0, size), taken,
                     kept));
  }
}

void Engine::accumulate(bool first) const {
  for (size_t s = 0; s < gradients_.layout().learned(); ++s) {
    const int64_t size = gradients_.layout().size(s);
    const mk_tensor batch = gradients_.run(s, 0, size), sum = accumulated_.run(s, 0, size);
    submit(ops::bias_act(first ? batch : sum, first ? mk_tensor{} : batch, ops::Activation::none, sum));
  }
  follow_moments();
}

void Engine::follow_moments() const {
  for (const CommonRun& r : moments_) {
    ops::OptimizerSettings follow;
    follow.lr = r.apart;
    submit(
        ops::optimizer_step(gradients_.run(r.gradient, r.size), parameters_.run(r.weight, r.size), {}, {}, follow, 1));
  }
}

mk_tensor Engine::gradient_norm(const ParameterVector& gradients) const {
  if (!sum_up_ && first_ == end_) return {};
  if (!sum_up_) return norm_.measure(gradients, [this](const mk_op& op) { submit(op); });
  if (queue_ != nullptr) {
    for (const mk_op& op : *queue_) device_.submit(op);
    queue_->clear();
  }
  return norm_.measure(device_, gradients, sum_up_);
}

void Engine::step(const ops::OptimizerSettings& settings, int64_t t, double muon_lr) const {
  const ParameterVector& gradients = options_.accumulate ? accumulated_ : gradients_;
  mk_tensor norm2{};
  if (settings.clip > 0) norm2 = gradient_norm(gradients);
  if (options_.muon.used() && first_ < end_)
    muon_.take(options_.muon, {parameters_, gradients, states_[0], settings.clip, norm2, muon_lr, t},
               [this](const mk_op& op) { submit(op); });
  for (const CommonRun& r : steps_) {
    const auto run = [&](size_t state) {
      return state < states_.size() ? states_[state].run(r.state, r.size) : mk_tensor{};
    };
    submit(ops::optimizer_step(gradients.run(r.gradient, r.size), parameters_.run(r.weight, r.size), run(0), run(1),
                               settings, t, norm2, run(2)));
  }
  if (!options_.accumulate) follow_moments();
  if (options_.part.has_all_states()) follow(t);
}

}  // namespace mokume::cnn
