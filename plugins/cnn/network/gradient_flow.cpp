#include "network/gradient_flow.hpp"

#include <algorithm>

#include "layers/layer.hpp"

namespace mokume::cnn {
namespace {

class Planner {
 public:
  Planner(const std::vector<const Layer*>& stages, const std::vector<bool>& trained, size_t output)
      : stages_(stages), trained_(trained), gradient_(stages.size() + 1, -1) {
    gradient_[output] = take();
  }

  GradientFlow plan() {
    for (size_t k = stages_.size(); k-- > 0;)
      if (trained_[k + 1] && gradient_[k + 1] >= 0) flow_.steps.push_back(step(k));
    flow_.slots = int(holders_.size());
    return std::move(flow_);
  }

 private:
  int take() {
    const auto free = std::find(holders_.begin(), holders_.end(), 0);
    const int slot = int(free - holders_.begin());
    free == holders_.end() ? holders_.push_back(1) : void(*free = 1);
    return slot;
  }
  void release(int slot) { --holders_[slot]; }

  GradientFlow::Step step(size_t k) {
    const Layer& s = *stages_[k];
    GradientFlow::Step step{k, gradient_[k + 1], gradient_[k + 1], {}, {}};
    if (s.activation != ops::Activation::none && holders_[step.dy] > 1) {
      release(step.dy);
      step.activated = take();
    }
    for (size_t i = 0; i < s.reads.size(); ++i) step.dx.push_back(input_gradient(s, i, step.activated));
    for (size_t i = 0; i < s.reads.size(); ++i)
      if (step.dx[i] >= 0) add(s.reads[i], step.dx[i], step.sums);
    release(step.activated);
    return step;
  }

  // Returns the slot that the stage writes or shares for its input i.
  int input_gradient(const Layer& s, size_t i, int activated) {
    if (!trained_[s.reads[i]]) return -1;
    if (!s.passes_gradient && !(s.in_place && holders_[activated] == 1)) return take();
    ++holders_[activated];
    return activated;
  }

  void add(size_t value, int part, std::vector<GradientFlow::Sum>& sums) {
    int& sum = gradient_[value];
    if (sum < 0) return void(sum = part);
    // The sum may overwrite only a slot that nothing else uses.
    const int to = holders_[sum] == 1 ? sum : holders_[part] == 1 ? part : take();
    sums.push_back({sum, part, to});
    for (const int slot : {sum, part})
      if (slot != to) release(slot);
    sum = to;
  }

  const std::vector<const Layer*>& stages_;
  const std::vector<bool>& trained_;
  std::vector<int> gradient_;  // slot of each value, or -1
  std::vector<int> holders_;  // for each slot, the number of values whose gradient it holds, plus 1 in the current step
  GradientFlow flow_;
};

}  // namespace

GradientFlow gradient_flow(const std::vector<const Layer*>& stages, const std::vector<bool>& trained, size_t output) {
  return Planner(stages, trained, output).plan();
}

}  // namespace mokume::cnn
