#include "predict/predictor.hpp"

#include <set>
#include <utility>

#include "sdk/error.hpp"

namespace mokume::app {

namespace {

// A picture of ImageNet has 150,528 values, and the host predicts it in about the time in which OpenCL starts.
constexpr size_t kFewValues = size_t{1} << 18;
constexpr const char* kHost = "host";

}  // namespace

Opened::Opened(const Models& with, size_t values) {
  if (!with.options.devices && values <= kFewValues) open(with, kHost);
  if (!device_) open(with, with.options.devices.value_or("all"));
}

// Opens nothing if this machine has no host backend, and the user has not named it.
void Opened::open(const Models& with, const std::string& selection) {
  machine_.emplace(with.runtime.registry(), with.runtime.log(), selection);
  if (machine_->listed().empty() && !with.options.devices && selection == kHost) return;
  const std::vector<device::Listed> chosen{with.run.with_devices([&] { return machine_->select(selection).front(); })};
  const config::Config& config = with.run.config();
  device_ = machine_->open(chosen[0], {{"numerics", config.numerics}},
                           node::Machine::budgets(chosen, 1, config.memory_bytes)[0]);
}

data::TrainedOn trained_on(const Models& with) {
  const run::Trained& first = with.ensemble.first();
  return {first.classes,
          first.mean,
          first.scale,
          first.features,
          with.record.data.columns,
          with.record.data.shape.value_or(data::Shape{})};
}

void check_names(const std::vector<std::string>& columns) {
  std::set<std::string> seen;
  for (const std::string& name : columns)
    if (!seen.insert(name).second)
      throw Error(MK_INVALID_ARGUMENT,
                  fmt::format("--columns: two columns of the output would be called '{}'; name each column once, and "
                              "rename it in the file if the predictions have a column of that name",
                              name));
}

RowPrinter::Cell ClassTable::name_of(int32_t label) const {
  if (label < 0) return {};
  return RowPrinter::Cell(with_.ensemble.first().classes[static_cast<size_t>(label)]);
}

void ClassTable::print(const run::Combined& said, size_t r, std::vector<RowPrinter::Cell> cells, int32_t label) {
  const bool several = with_.ensemble.size() > 1;
  if (!printer_) {
    left_.emplace_back("predicted");
    if (known_) left_.emplace_back("label");
    if (several) left_.emplace_back("votes");
    left_.insert(left_.end(), said.score_names.begin(), said.score_names.end());
    check_names(left_);
    printer_.emplace(with_.options.json, left_);
  }
  cells.push_back(name_of(said.labels[r]));
  if (known_) cells.push_back(name_of(label));
  if (several) cells.emplace_back(size_t{said.votes[r]});
  const size_t scores = said.score_names.size();
  const auto add = [&](const auto& numbers) {
    const auto first = numbers.begin() + static_cast<ptrdiff_t>(r * scores);
    cells.insert(cells.end(), first, first + static_cast<ptrdiff_t>(scores));
  };
  if (said.probabilities.empty())
    add(said.scores);
  else
    add(said.probabilities);
  printer_->print(cells);
}

}  // namespace mokume::app
