// Tests that fits resume from checkpoints to the same bits, and that no other file changes a result.
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "harness.hpp"
#include "storage/safetensors.hpp"
#include "support/sample.hpp"
#include "support/scratch.hpp"

namespace mokume::svc_test {
namespace {

namespace fs = std::filesystem;

struct SavedTask {
  const char* name;
  const char* solver;
  const char* multiclass;
  bool regression = false;
  const char* kind = "auto";
  double c = 100, tol = 1e-3;
};
constexpr SavedTask kSavedTasks[] = {{"steps_of_libsvm_ovr", "libsvm", "ovr"},
                                     {"steps_of_libsvm_ovo", "libsvm", "ovo"},
                                     {"blocked_ovr", "blocked", "ovr"},
                                     {"blocked_ovo", "blocked", "ovo"},
                                     {"regression", "libsvm", "ovr", true},
                                     {"nu_svc", "libsvm", "ovo", false, "nu_svc", 1, 1e-6},
                                     {"nu_svr", "libsvm", "ovr", true, "nu_svr", 10}};
void PrintTo(const SavedTask& task, std::ostream* out) { *out << task.name; }

Blobs rows_for(const SavedTask& task) {
  Blobs blobs(450, 6, 3, 3, 3.0);
  const sdk::Random noise(9, sdk::Purpose::digits, 0);
  for (int64_t r = 0; task.regression && r < blobs.rows; ++r)
    blobs.targets.push_back(
        static_cast<float>(double{blobs.x[static_cast<size_t>(6 * r)]} + noise.uniform(static_cast<uint32_t>(r))));
  return blobs;
}

std::vector<Candidate> candidates_for(const SavedTask& task) {
  std::vector<Candidate> candidates(2);
  for (Candidate& c : candidates) {
    c.gamma = 0.05;
    c.c = &c == candidates.data() ? task.c / 10 : task.c;
    c.tol = task.tol;
    c.solver = task.solver;
    c.multiclass = task.multiclass;
    c.kind = task.kind;
    c.nu = &c == candidates.data() ? 0.4 : 0.6;
  }
  return candidates;
}

// Counts the pieces of work of a session, and stops it after `patience` of them.
struct Stops {
  int patience = INT_MAX;
  int polls = 0;

  void attach(Session& session) {
    session.poll = [this] { return ++polls > patience; };
  }
};

std::map<Key, std::string> notes_of(const Results& results) {
  std::map<Key, std::string> notes;
  for (const auto& [key, result] : results) notes[key] = result.note;
  return notes;
}

// Stops one session after another until all fits are reported. Returns the reports of all sessions. Adds the pieces of
// work that all of them did to `polls`, and their number to `sessions`.
Results fit_in_parts(World& world, const Experiment& experiment, const std::vector<Key>& keys,
                     const std::string& scratch, int patience, int& polls, int& sessions) {
  Results all;
  for (bool stopped = true; stopped; ++sessions) {
    if (sessions == 1000) throw Error(MK_INTERNAL, "the sessions make no progress");
    Session session(world, experiment);
    Stops stops{patience};
    stops.attach(session);
    session.scratch = scratch;
    try {
      session.fit(keys, notes_of(all));
      stopped = false;
    } catch (const Error& e) {
      if (e.status() != MK_CANCELLED) throw;
    }
    polls += stops.polls;
    for (const auto& [key, result] : session.reported) {
      EXPECT_TRUE(all.emplace(key, result).second) << "reported by two sessions";
      fs::remove_all(scratch + "/" + std::to_string(key.first) + "-" + std::to_string(key.second));
    }
  }
  return all;
}

// Sets the time between two checkpoints until the end of a scope.
class Period {
 public:
  explicit Period(const char* seconds) { setenv("MOKUME_CHECKPOINT_SECONDS", seconds, 1); }
  ~Period() { unsetenv("MOKUME_CHECKPOINT_SECONDS"); }
  Period(const Period&) = delete;
  Period& operator=(const Period&) = delete;
};

class Checkpoint : public testing::TestWithParam<std::tuple<const char*, SavedTask>> {
 protected:
  const char* const backend_ = std::get<0>(GetParam());
  const SavedTask task_ = std::get<1>(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Ways, Checkpoint,
                         testing::Combine(testing::Values("host", "opencl"), testing::ValuesIn(kSavedTasks)),
                         [](const auto& i) {
                           return std::string(std::get<0>(i.param)) + "_" + std::get<1>(i.param).name;
                         });

TEST_P(Checkpoint, FitsThatStopManyTimesHaveTheSameResults) {
  World world(backend_);
  REQUIRE_DEVICE(world);
  const Blobs blobs = rows_for(task_);
  const std::vector<Candidate> candidates = candidates_for(task_);
  const Experiment experiment(blobs, candidates, 3);
  const auto keys = all_fits(candidates.size(), 3);
  Session undisturbed(world, experiment);
  Stops whole;
  whole.attach(undisturbed);
  const Results expected = undisturbed.fit(keys);
  ASSERT_GT(whole.polls, 4) << "the fits end before they can stop";
  const Period period("1e-9");  // so that even short fits of a first pass are not repeated
  for (const int patience : {5, whole.polls / 2 + 1}) {
    const test::Scratch scratch;
    int polls = 0, sessions = 0;
    EXPECT_EQ(fit_in_parts(world, experiment, keys, scratch.path(), patience, polls, sessions), expected);
    EXPECT_GT(sessions, 1);
    // A session polls a few times while it takes solutions from checkpoints.
    EXPECT_LE(polls, whole.polls + 4 * sessions) << "work was repeated";
  }
}

TEST_P(Checkpoint, RefitsThatStopManyTimesGiveTheSameModel) {
  World world(backend_);
  REQUIRE_DEVICE(world);
  const Blobs blobs = rows_for(task_);
  const std::vector<Candidate> candidates = candidates_for(task_);
  const Experiment experiment(blobs, candidates, 3);
  Session undisturbed(world, experiment);
  Stops whole;
  whole.attach(undisturbed);
  mk_fitted* expected = undisturbed.refit(1);
  const test::Scratch scratch;
  mk_fitted* found = nullptr;
  int polls = 0, sessions = 0;
  for (; found == nullptr && sessions < 10'000; ++sessions) {
    Session session(world, experiment);
    Stops stops{2};
    stops.attach(session);
    session.scratch = scratch.path();
    try {
      found = session.refit(1);
      polls += stops.polls;
    } catch (const Error& e) {
      ASSERT_EQ(e.status(), MK_CANCELLED) << e.what();
      polls += stops.patience;
    }
  }
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(polls, whole.polls);
  EXPECT_GT(sessions, 2);
  EXPECT_EQ(saved(world, found), saved(world, expected));
  world.model().fitted_destroy(found);
  world.model().fitted_destroy(expected);
}

// A kill leaves what the directories hold at that moment, and the reports so far.
TEST_P(Checkpoint, FitsContinueAfterAKill) {
  World world(backend_);
  REQUIRE_DEVICE(world);
  const Blobs blobs = rows_for(task_);
  const std::vector<Candidate> candidates = candidates_for(task_);
  const Experiment experiment(blobs, candidates, 3);
  const auto keys = all_fits(candidates.size(), 3);
  Session undisturbed(world, experiment);
  Stops whole;
  whole.attach(undisturbed);
  const Results expected = undisturbed.fit(keys);
  const test::Scratch running, left;
  Results reported;
  {
    const Period period("1e-9");
    Session killed(world, experiment);
    killed.scratch = running.path();
    int polls = 0;
    killed.poll = [&] {
      if (++polls == whole.polls / 2) {
        fs::copy(running.path(), left.path(), fs::copy_options::recursive);
        reported = killed.reported;
      }
      return false;
    };
    EXPECT_EQ(killed.fit(keys), expected) << "writing changes the results";
  }
  EXPECT_FALSE(fs::is_empty(left.path()));
  Session resumed(world, experiment);
  resumed.scratch = left.path();
  Results all = resumed.fit(keys, notes_of(reported));
  all.merge(reported);
  EXPECT_EQ(all, expected);
}

TEST_P(Checkpoint, ShortFitsWriteNone) {
  World world(backend_);
  REQUIRE_DEVICE(world);
  const Blobs blobs = rows_for(task_);
  const std::vector<Candidate> candidates = candidates_for(task_);
  const Experiment experiment(blobs, candidates, 3);
  const test::Scratch scratch;
  Session session(world, experiment);
  session.scratch = scratch.path();
  session.fit(all_fits(candidates.size(), 3));
  world.model().fitted_destroy(session.refit(0));
  EXPECT_TRUE(fs::is_empty(scratch.path()));
}

// Fits of the first pass are solved again with smaller tolerances. A kill in a later pass repeats no earlier pass.
TEST(Checkpoints, KeepTheEarlierPassesOfIllDeterminedFits) {
  World world("host");
  for (const SavedTask& task : {kSavedTasks[0], kSavedTasks[2]}) {
    SCOPED_TRACE(task.name);
    const Blobs blobs = rows_for(task);
    std::vector<Candidate> candidates(1, candidates_for(task)[1]);
    candidates[0].tol = 0.3;
    candidates[0].tighten = true;
    const Experiment experiment(blobs, candidates, 3);
    const auto keys = all_fits(1, 3);
    Session undisturbed(world, experiment);
    const Results expected = undisturbed.fit(keys);
    const Period period("1e-9");
    const test::Scratch scratch, later;
    Session stopped(world, experiment);
    stopped.scratch = scratch.path();
    stopped.poll = [&] { return fs::exists(scratch / "0-0/checkpoint-2.safetensors"); };
    EXPECT_THROW(stopped.fit(keys), Error);
    ASSERT_LT(stopped.reported.size(), keys.size());
    fs::copy(scratch.path(), later.path(), fs::copy_options::recursive);
    for (const auto& entry : fs::directory_iterator(later.path()))
      fs::remove(entry.path() / "checkpoint-1.safetensors");
    const auto work = [&](const std::string& directory) {
      Session resumed(world, experiment);
      resumed.scratch = directory;
      Stops stops;
      stops.attach(resumed);
      Results all = resumed.fit(keys, notes_of(stopped.reported));
      all.insert(stopped.reported.begin(), stopped.reported.end());
      EXPECT_EQ(all, expected);
      return stops.polls;
    };
    EXPECT_LT(work(scratch.path()), work(later.path()));
  }
}

// If the kernel matrix does not fit into memory, a problem may wait for a row when it is saved.
TEST(Checkpoints, KeepProblemsThatWaitForRows) {
  const uint64_t matrix = 900 * 912 * sizeof(float);
  World world("opencl", 0, matrix / 2 + (1 << 20));
  REQUIRE_DEVICE(world);
  const Blobs blobs(900, 5, 3, 3, 0.7);
  for (const char* solver : {"libsvm", "blocked"}) {
    std::vector<Candidate> candidates(1);
    candidates[0].c = 10;
    candidates[0].gamma = 0.05;
    candidates[0].solver = solver;
    const Experiment experiment(blobs, candidates, 3);
    const auto keys = all_fits(1, 3);
    Stops whole;
    Results expected;
    {
      Session undisturbed(world, experiment);
      whole.attach(undisturbed);
      expected = undisturbed.fit(keys);
    }
    const Period period("1e-9");
    const test::Scratch scratch;
    int polls = 0, sessions = 0;
    EXPECT_EQ(fit_in_parts(world, experiment, keys, scratch.path(), whole.polls / 5 + 3, polls, sessions), expected);
    EXPECT_GT(sessions, 2) << solver;
  }
}

// Stops between poor rounds, and in LIBSVM's steps that follow them.
TEST(Checkpoints, KeepProblemsThatAreHandedOver) {
  for (const char* backend : {"host", "opencl"}) {
    SCOPED_TRACE(backend);
    World world(backend);
    REQUIRE_DEVICE(world);
    const Blobs blobs(3000, 20, 2, 3, 6.0);
    std::vector<Candidate> candidates(1);
    candidates[0].c = 1000;
    candidates[0].gamma = 0.004;
    candidates[0].solver = "blocked";
    candidates[0].max_iterations = 100'000;
    const Experiment experiment(blobs, candidates, 3);
    Stops whole;
    Session undisturbed(world, experiment);
    whole.attach(undisturbed);
    const Results expected = undisturbed.fit({{0, 0}});
    const Period period("1e-9");
    const test::Scratch scratch;
    int polls = 0, sessions = 0;
    EXPECT_EQ(fit_in_parts(world, experiment, {{0, 0}}, scratch.path(), 7, polls, sessions), expected);
    EXPECT_GT(sessions, 3);
    EXPECT_LE(polls, whole.polls + 4 * sessions) << "work was repeated";
  }
}

// Returns whether a checkpoint has a round of the blocked solver that its kernel left unfinished.
bool has_unfinished_round(const std::string& file) {
  if (!fs::exists(file)) return false;
  const safetensors::Reader reader(file);
  return std::any_of(reader.tensors().begin(), reader.tensors().end(), [](const safetensors::Tensor& tensor) {
    return tensor.name.ends_with(".members") && tensor.bytes > 0;
  });
}

// Returns the services of a device that passes for an emulated one, whose kernels end after 600 steps, even in the
// middle of a round.
mk_device_services with_short_launches(World& world) {
  static mk_device_info info;
  mk_device_services services = *world.device().services();
  info = *services.info(services.self);
  info.flags |= MK_DEVICE_SOFTWARE;
  services.info = [](void*) -> const mk_device_info* { return &info; };
  return services;
}

TEST(Checkpoints, KeepUnfinishedRounds) {
  for (const char* form : {"vector", "group"}) {
    World world("opencl", 0, uint64_t{2} << 30, {{"svc.blocked", form}});
    REQUIRE_DEVICE(world);
    const mk_device_services services = with_short_launches(world);
    const Period period("1e-9");
    const Blobs blobs = rows_for(kSavedTasks[2]);
    std::vector<Candidate> candidates = candidates_for(kSavedTasks[2]);
    candidates[1].kernel = "linear";  // takes many steps per round
    candidates[1].max_iterations = 20'000;
    const Experiment experiment(blobs, candidates, 3);
    const std::vector<Key> keys = {{1, 0}};
    Session undisturbed(world, experiment, &services);
    Stops whole;
    whole.attach(undisturbed);
    const Results expected = undisturbed.fit(keys);
    const test::Scratch scratch;
    int unfinished = 0;
    Results found;
    for (int sessions = 0; found.empty() && sessions < 100; ++sessions) {
      Session session(world, experiment, &services);
      Stops stops{whole.polls / 5 + 2};
      stops.attach(session);
      session.scratch = scratch.path();
      try {
        found = session.fit(keys);
      } catch (const Error& e) {
        ASSERT_EQ(e.status(), MK_CANCELLED) << e.what();
        unfinished += has_unfinished_round(scratch / "1-0/checkpoint-1.safetensors") ? 1 : 0;
      }
    }
    EXPECT_EQ(found, expected) << form;
    EXPECT_GT(unfinished, 0) << form;
  }
}

// Holds a fit that was stopped in the middle.
struct Stopped {
  World world{"host"};
  Blobs blobs;
  std::vector<Candidate> candidates;
  Experiment experiment;
  test::Scratch scratch;
  Results expected;
  std::string file, heard;
  int whole = 0;

  explicit Stopped(const SavedTask& task = kSavedTasks[0])
      : blobs(rows_for(task)), candidates(candidates_for(task)), experiment(blobs, candidates, 3) {
    Session undisturbed(world, experiment);
    Stops all;
    all.attach(undisturbed);
    expected = undisturbed.fit(kKeys);
    whole = all.polls;
    Session session(world, experiment);
    Stops stops{whole / 2};
    stops.attach(session);
    session.scratch = scratch.path();
    EXPECT_THROW(session.fit(kKeys), Error);
    file = scratch / "1-0/checkpoint-1.safetensors";
    EXPECT_TRUE(fs::exists(file));
    world.hear_warnings(heard, MK_LOG_INFO);
  }
  static const std::vector<Key> kKeys;
  std::string content() const {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void set(const std::string& bytes) const { std::ofstream(file, std::ios::binary) << bytes; }
  // Fits to the end, and returns the number of pieces of work.
  int resume(World& by, const Experiment& of, const Results& results) {
    Session session(by, of);
    Stops stops;
    stops.attach(session);
    session.scratch = scratch.path();
    EXPECT_EQ(session.fit(kKeys), results);
    return stops.polls;
  }
};
const std::vector<Key> Stopped::kKeys = {{1, 0}};

TEST(Checkpoints, OfAFitSaveItsSteps) {
  Stopped fit;
  EXPECT_LE(fit.resume(fit.world, fit.experiment, fit.expected), fit.whole - fit.whole / 2 + 2);
}

TEST(Checkpoints, ThatAreDamagedAreSetAside) {
  Stopped fit;
  const std::string good = fit.content(), aside = fit.file + ".damaged";
  const auto starts_over = [&](const std::string& bytes) {
    fit.heard.clear();
    fit.set(bytes);
    EXPECT_EQ(fit.resume(fit.world, fit.experiment, fit.expected), fit.whole);
    EXPECT_TRUE(fs::exists(aside));
    EXPECT_NE(fit.heard.find("renamed to " + aside), std::string::npos) << fit.heard;
    fs::remove(aside);
  };
  starts_over("");
  starts_over("nonsense");
  starts_over(good.substr(0, good.size() / 2));
  for (size_t at = 0; at < good.size(); at += test::sample(997, 1)) {
    std::string flipped = good;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    starts_over(flipped);
    if (testing::Test::HasFailure()) FAIL() << "byte " << at;
  }
  fit.set(good);
  EXPECT_LT(fit.resume(fit.world, fit.experiment, fit.expected), fit.whole);
}

// Rewrites a checkpoint with a valid checksum.
void rewrite(const std::string& file, const std::function<void(std::string& name, std::vector<char>& data)>& change,
             const std::function<void(safetensors::Metadata&)>& describe) {
  namespace st = safetensors;
  const st::Reader reader(file);
  st::Writer writer;
  std::vector<std::vector<char>> all(reader.tensors().size());
  for (size_t k = 0; k < all.size(); ++k) {
    const st::Tensor& tensor = reader.tensors()[k];
    std::string name = tensor.name;
    all[k].resize(tensor.bytes);
    reader.read(tensor, all[k].data());
    change(name, all[k]);
    const int64_t each = tensor.dtype == st::Dtype::i64 ? 8 : 4;
    writer.add(name, tensor.dtype, {static_cast<int64_t>(all[k].size()) / each}, all[k].data());
  }
  st::Metadata described = reader.metadata();
  describe(described);
  for (const auto& [key, value] : described) writer.metadata(key, value);
  writer.checksum();
  writer.write(file);
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// The checksum of these files is right, as if another program had made them.
TEST(Checkpoints, ThatNoSolverCanHaveWrittenAreNotUsed) {
  for (const SavedTask& task : {kSavedTasks[0], kSavedTasks[2]}) {
    SCOPED_TRACE(task.name);
    Stopped fit(task);
    const std::string good = fit.content();
    const auto keeps = [](std::string&, std::vector<char>&) {};
    const auto says = [](safetensors::Metadata&) {};
    const auto text = [&](const std::string& from, const std::string& to) {
      fit.set(good);
      bool found = false;
      rewrite(fit.file, keeps, [&](safetensors::Metadata& all) {
        const std::string before = all.at("solves");
        replace_all(all.at("solves"), from, to);
        found = all.at("solves") != before;
      });
      ASSERT_TRUE(found) << from;
      fit.resume(fit.world, fit.experiment, fit.expected);
    };
    text("\"status\":0", "\"status\":1");
    text("\"status\":0", "\"status\":2");
    text("\"status\":0", "\"status\":77");
    text("\"best\":", "\"best\":9");
    text("\"best\":", "\"best\":-9");
    text("\"need\":-1", "\"need\":-2");
    text("\"need\":-1", "\"need\":123456789");
    text("\"need\":-1", "\"need\":1e300");
    text("\"steps\":", "\"steps\":-");
    text("\"poor_rounds\":", "\"poor_rounds\":99");
    text("\"problem\":", "\"problem\":9");
    text("\"c\":", "\"d\":");
    for (const char* array : {"0.flags", "0.f", "0.a", "0.numbers"}) {
      fit.set(good);
      rewrite(
          fit.file,
          [&](const std::string& name, std::vector<char>& data) {
            if (name == array) data.resize(4);
          },
          says);
      fit.resume(fit.world, fit.experiment, fit.expected);
      if (array == std::string("0.flags")) continue;
      fit.set(good);
      const float nan = std::nanf("");
      rewrite(
          fit.file,
          [&](const std::string& name, std::vector<char>& data) {
            if (name == array) std::memcpy(data.data(), &nan, sizeof(nan));
          },
          says);
      fit.resume(fit.world, fit.experiment, fit.expected);
    }
  }
}

TEST(Checkpoints, OfOtherFitsAreRemoved) {
  Stopped fit;
  World opencl("opencl");
  const std::string good = fit.content();
  const auto removes = [&](World& world, const Experiment& experiment, const char* what) {
    SCOPED_TRACE(what);
    Session undisturbed(world, experiment);
    const Results expected = undisturbed.fit(Stopped::kKeys);
    fit.heard.clear();
    world.hear_warnings(fit.heard, MK_LOG_INFO);
    fit.set(good);
    fit.resume(world, experiment, expected);
    EXPECT_FALSE(fs::exists(fit.file));
    EXPECT_NE(fit.heard.find("it was removed, and the fit starts over"), std::string::npos) << fit.heard;
  };
  if (opencl.present()) removes(opencl, fit.experiment, "another class of device");
  Blobs others = fit.blobs;
  others.x[7] += 0.25F;
  removes(fit.world, Experiment(others, fit.candidates, 3), "other inputs");
  others = fit.blobs;
  others.labels[7] = (others.labels[7] + 1) % 3;
  removes(fit.world, Experiment(others, fit.candidates, 3), "other labels");
  others = fit.blobs;
  others.weights.assign(static_cast<size_t>(others.rows), 1);
  others.weights[7] = 2;
  removes(fit.world, Experiment(others, fit.candidates, 3), "other weights");
  others = fit.blobs;
  std::swap(others.fold_of[0], others.fold_of[449]);
  removes(fit.world, Experiment(others, fit.candidates, 3), "other folds");
  std::vector<Candidate> candidates = fit.candidates;
  candidates[1].tol = 2e-4;
  removes(fit.world, Experiment(fit.blobs, candidates, 3), "another tolerance");
  candidates = fit.candidates;
  candidates[1].c = 101;
  removes(fit.world, Experiment(fit.blobs, candidates, 3), "another C");
  candidates = fit.candidates;
  for (Candidate& candidate : candidates) candidate.kernel_storage = "fp16";
  removes(fit.world, Experiment(fit.blobs, candidates, 3), "another storage of kernel values");
}

}  // namespace
}  // namespace mokume::svc_test
