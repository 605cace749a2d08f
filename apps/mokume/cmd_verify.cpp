// Implements the command verify, which computes results of a recorded run again and compares them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <set>

#include "base/plural.hpp"
#include "commands.hpp"
#include "config/plan.hpp"
#include "inspect/explain.hpp"
#include "journal/line.hpp"
#include "node/devices.hpp"
#include "results/format.hpp"
#include "run/recorded_run.hpp"
#include "run/view.hpp"
#include "sdk/error.hpp"
#include "signals.hpp"
#include "stored_run.hpp"
#include "verify/recompute.hpp"
#include "verify/table.hpp"
#include "verify/trace_file.hpp"
#include "verify/verdict.hpp"
#include "version.hpp"

namespace mokume::app {
namespace {

constexpr size_t kUsualFits = 10;

// Spreads a sample evenly over the recorded results. All copies of a run directory have the same sample.
std::vector<uint32_t> sampled(const std::vector<uint32_t>& slots, size_t wanted) {
  if (wanted >= slots.size()) return slots;
  std::vector<uint32_t> sample;
  for (size_t k = 0; k < wanted; ++k) sample.push_back(slots[wanted == 1 ? 0 : k * (slots.size() - 1) / (wanted - 1)]);
  return sample;
}

// Reads --fits. Returns SIZE_MAX for "all".
size_t wanted_fits(const std::optional<std::string>& text) {
  if (!text) return kUsualFits;
  if (*text == "all") return SIZE_MAX;
  size_t count = 0;
  const auto [end, code] = std::from_chars(text->data(), text->data() + text->size(), count);
  if (code != std::errc{} || end != text->data() + text->size() || count == 0)
    throw Error(MK_INVALID_ARGUMENT, "--fits " + *text + " is no number of fits: write 1 or more, or all");
  return count;
}

void check_team(const std::string& run, const config::Config& config) {
  if (config.team)
    throw Error(MK_INVALID_ARGUMENT, run +
                                         " was computed by a team of devices, whose sums depend on its members, but "
                                         "verify computes each fit on one device: compare two runs of the same team "
                                         "with `mokume compare`");
}

// Throws unless the experiment has the data, files and plan of the run, whose config is `original`. The data may be in
// other files of the same content.
void check_experiment(const std::string& run, const run::RunRecord& record, const config::Config& original,
                      const node::Experiment& experiment) {
  const std::string& data = experiment.data().sha256;
  if (data != record.data.sha256)
    throw Error(MK_BAD_DATA,
                fmt::format("the data '{}' are not those of {}: their SHA-256 is {}, and run.json has {}; restore the "
                            "data, or name a copy with --set data.path=FILE",
                            experiment.data().name, run, data, record.data.sha256));
  run::check_files(run, record, experiment.config());
  config::Config config = experiment.config();
  config.data.path = original.data.path;
  config.data.test = original.data.test;
  config.data.labels = original.data.labels;
  config.data.test_labels = original.data.test_labels;
  if (config::make_plan(config, data, experiment.data().train.rows).hash != record.plan_hash)
    throw Error(MK_INVALID_ARGUMENT, "--set makes another plan than that of " + run +
                                         ": set only data.path, data.test and keys that do not affect results");
}

// Returns the first device of each class.
std::vector<device::Listed> one_of_each_class(const std::vector<device::Listed>& listed) {
  std::vector<device::Listed> chosen;
  std::set<std::string> classes;
  for (const device::Listed& one : listed)
    if (classes.insert(one.device_class()).second) chosen.push_back(one);
  return chosen;
}

class Verification {
 public:
  // `original` is the config of the run, and `config` the one that the options have changed.
  Verification(Runtime& runtime, const VerifyOptions& options, const config::Config& original,
               const config::Config& config, StopWatch& watch)
      : runtime_(runtime),
        options_(options),
        watch_(watch),
        wanted_(wanted_fits(options.fits)),
        record_(run::read_run_record(options.run)),
        view_(run::read_view(runtime.registry(), options.run)),
        machine_(runtime.registry(), runtime.log(), config.devices),
        listed_(one_of_each_class(machine_.select(config.devices))),
        experiment_(runtime.registry(), config),
        fits_(experiment_, view_) {
    check_experiment(options.run, record_, original, experiment_);
    if (fits_.slots().empty())
      throw Error(MK_BAD_DATA, options.run +
                                   "/journal has no result that can be computed again: wait for the first "
                                   "fits of the run, or resume it");
    const std::vector<uint64_t> budgets = node::Machine::budgets(listed_, 1, config.memory_bytes);
    for (size_t d = 0; d < listed_.size(); ++d)
      sites_.push_back({&machine_, listed_[d], node::choices_of(config, record_.choices, listed_[d]), budgets[d]});
  }

  int run() {
    tell_circumstances();
    if (options_.trace || options_.against) return run_traced();
    slots_ = options_.fit ? std::vector{named_slot(*options_.fit)} : sampled(fits_.slots(), wanted_);
    table_.emplace(fits_, sites_, slots_);
    table_->print_header();
    for (const Site& site : sites_) compute_on(site);
    say(stdout, "\n{}\n", summary());
    if (const Row* const row = first_that_differs()) find_step(*row);
    return exit_code();
  }

 private:
  struct Row {
    uint32_t slot;
    size_t site;
    Judged judged;
    std::optional<journal::FitRecord> record;  // empty if failed
  };

  void tell_circumstances() const {
    for (const std::string& notice : view_.notices) runtime_.log().warn("journal", notice);
    for (const std::string& note : experiment_.data().notes) say(stderr, "{}\n", note);
    if (record_.environment.version != kVersion)
      runtime_.log().warn("verify", fmt::format("{} was computed by mokume {}, and this is {}: versions may differ in "
                                                "their bits",
                                                options_.run, record_.environment.version, kVersion));
  }

  uint32_t named_slot(const std::string& text) const {
    const uint32_t slot = inspect::parse_fit(view_.plan, text);
    if (fits_.find(slot) == nullptr)
      throw Error(MK_INVALID_ARGUMENT, "the journal of " + options_.run + " has no result of " +
                                           results::fit_name(view_.plan, slot) + ": `mokume explain` shows why");
    return slot;
  }

  void compute_on(const Site& site) {
    std::optional<Recomputation> device;
    std::string why;
    try {
      device.emplace(fits_, site, watch_.stop());
    } catch (const Error& e) {
      why = e.what();
    }
    for (const uint32_t slot : slots_) {
      Row row{slot, static_cast<size_t>(&site - sites_.data()), {Verdict::failed, "failed: " + why}, {}};
      if (device) compute_row(*device, row);
      table_->print(slot, site, row.judged.text);
      rows_.push_back(std::move(row));
    }
  }

  void compute_row(Recomputation& device, Row& row) const {
    try {
      row.record = device.compute(row.slot);
      row.judged = judge(fits_, *row.record);
    } catch (const Error& e) {
      if (e.status() == MK_CANCELLED) throw Error(MK_CANCELLED, "stopped on request: " + watch_.cause());
      runtime_.log().place("verify", e);
      row.judged.text = std::string("failed: ") + e.what();
    }
  }

  size_t count(Verdict verdict) const {
    return static_cast<size_t>(
        std::count_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.judged.verdict == verdict; }));
  }

  std::string summary() const {
    std::string text = fmt::format("{} of {} equal", count(Verdict::equal), base::counted(rows_.size(), "result"));
    if (const size_t within = count(Verdict::within); within > 0) text += fmt::format(", {} within tolerance", within);
    if (const size_t differ = count(Verdict::differs); differ > 0) text += fmt::format(", {} differ", differ);
    if (const size_t failed = count(Verdict::failed); failed > 0) text += fmt::format(", {} failed", failed);
    return text;
  }

  int exit_code() const {
    return count(Verdict::differs) > 0 ? kDiffers : count(Verdict::failed) > 0 ? kDevice : kDone;
  }

  const Row* first_that_differs() const {
    const auto found =
        std::find_if(rows_.begin(), rows_.end(), [](const Row& row) { return row.judged.verdict == Verdict::differs; });
    return found == rows_.end() ? nullptr : &*found;
  }

  // Returns another result of the same fit with other bits, preferably one that equals the record.
  const Row* other_result(const Row& row) const {
    const Row* other = nullptr;
    for (const Row& one : rows_)
      if (one.slot == row.slot && one.record && !journal::same_result(*one.record, *row.record) &&
          (other == nullptr || one.judged.verdict == Verdict::equal))
        other = &one;
    return other;
  }

  // Computes a fit on two devices again with traces, and tells where they part.
  void find_step(const Row& row) {
    const Row* const other = other_result(row);
    if (other == nullptr) {
      say(stdout,
          "\nNo device here computes another result of {}. To find the first step that differs, write a trace of it "
          "where the run was computed, and compare: mokume verify RUN --fit {} --trace FILE, and here with --against "
          "FILE\n",
          results::fit_name(view_.plan, row.slot), row.slot);
      return;
    }
    say(stdout, "\n{} on {} and {}:\n", results::fit_name(view_.plan, row.slot), sites_[row.site].listed.id(),
        sites_[other->site].listed.id());
    const FitTrace first = traced(row.slot, sites_[other->site]).trace,
                   second = traced(row.slot, sites_[row.site]).trace;
    const TracesCompared compared = compare_traces(first, second, first.header.device, second.header.device);
    tell(compared, first.header, second.header);
    if (!compared.differ && first.header.complete)
      say(stdout, "so the difference does not repeat: check the memory and the clocks of these devices\n");
  }

  static void tell(const TracesCompared& compared, const FitTrace::Header& a, const FitTrace::Header& b) {
    say(stdout, "{}", compared.text);
    if (compared.differ && a.device_class != b.device_class && a.numerics != "strict")
      say(stdout, "With fast numerics, devices of different classes may differ in the last bits of every step.\n");
  }

  struct Traced {
    FitTrace trace;
    std::optional<journal::FitRecord> record;  // empty if the trace is full before the end
  };

  Traced traced(uint32_t slot, const Site& site) const {
    device::Trace steps(options_.trace_steps);
    Traced made;
    {
      Recomputation device(fits_, site, watch_.stop(), &steps);
      made.record = device.compute(slot);
      made.trace.header = {1,
                           kVersion,
                           view_.plan_hash,
                           slot,
                           site.listed.id(),
                           device.info().device_class,
                           experiment_.config().numerics,
                           steps.lines().size(),
                           made.record && !steps.full()};
    }
    made.trace.lines = steps.lines();
    return made;
  }

  int run_traced() {
    std::optional<FitTrace> theirs;
    if (options_.against) theirs = read_trace(*options_.against);
    if (theirs) check_trace(theirs->header);
    const uint32_t slot = theirs         ? theirs->header.fit
                          : options_.fit ? named_slot(*options_.fit)
                                         : fits_.slots().front();
    slots_ = {slot};
    sites_.erase(sites_.begin() + 1, sites_.end());
    table_.emplace(fits_, sites_, slots_);
    table_->print_header();
    const Traced mine = traced(slot, sites_.front());
    Row row{slot, 0, {Verdict::equal, "the trace ends before the result"}, mine.record};
    if (mine.record) row.judged = judge(fits_, *mine.record);
    table_->print(slot, sites_.front(), row.judged.text);
    rows_.push_back(std::move(row));
    if (options_.trace) {
      write_trace(*options_.trace, mine.trace);
      say(stdout, "{}: {} of {}{}\n", *options_.trace, base::counted(mine.trace.lines.size(), "step"),
          results::fit_name(view_.plan, slot), mine.trace.header.complete ? "" : ", which has more");
    }
    if (!theirs) return exit_code();
    const TracesCompared compared =
        compare_traces(mine.trace, *theirs, mine.trace.header.device + " here", theirs->header.device + " there");
    tell(compared, mine.trace.header, theirs->header);
    return compared.differ ? kDiffers : exit_code();
  }

  void check_trace(const FitTrace::Header& header) const {
    const std::string& path = *options_.against;
    if (header.plan_hash != view_.plan_hash)
      throw Error(MK_INVALID_ARGUMENT,
                  path + " is the trace of a run with another plan: write it with a copy of " + options_.run);
    if (options_.fit && named_slot(*options_.fit) != header.fit)
      throw Error(MK_INVALID_ARGUMENT,
                  path + " is the trace of another fit: leave out --fit, or write the trace again");
    if (fits_.find(header.fit) == nullptr)
      throw Error(MK_BAD_DATA,
                  fmt::format("{} is the trace of fit {}, which has no result in {}: copy the run directory "
                              "again, or write another trace",
                              path, header.fit, options_.run));
    if (header.version != kVersion)
      runtime_.log().warn("verify",
                          fmt::format("{} is by mokume {}, and this is {}: versions may differ in their steps", path,
                                      header.version, kVersion));
  }

  Runtime& runtime_;
  const VerifyOptions& options_;
  StopWatch& watch_;
  const size_t wanted_;
  const run::RunRecord record_;
  const results::RunView view_;
  const node::Machine machine_;
  const std::vector<device::Listed> listed_;
  const node::Experiment experiment_;
  const RecordedFits fits_;
  std::vector<Site> sites_;
  std::vector<uint32_t> slots_;
  std::optional<ResultTable> table_;
  std::vector<Row> rows_;
};

}  // namespace

int verify(Runtime& runtime, const VerifyOptions& options) {
  StopWatch watch(std::nullopt);
  runtime.watch_stop(watch.stop());
  RunOptions run_options;
  run_options.devices = options.devices.value_or("all");
  run_options.sets = options.sets;
  const StoredRun stored(runtime, options.run, run_options);
  stored.warn();
  stored.warn_of_backends();
  check_team(options.run, stored.config());
  watch.announce();
  const StoredRun original(runtime, options.run);
  return stored.with_devices(
      [&] { return Verification(runtime, options, original.config(), stored.config(), watch).run(); });
}

}  // namespace mokume::app
