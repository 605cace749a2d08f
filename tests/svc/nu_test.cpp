// Tests nu-SVC, nu-SVR and one-class machines through the boundary: LIBSVM's results, equality on all devices, budgets,
// infeasible values of nu, and refusals.
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "harness.hpp"
#include "libsvm_file.hpp"
#include "rows.hpp"

namespace mokume::svc_test {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kFolds = 3;

// Describes one of LIBSVM's machines. A nu below the share of the margin errors leaves a nu-SVC without a margin, and
// its decision values mean nothing, in LIBSVM either. If the sum of the multipliers is whole, all of them may be at
// their bounds, and LIBSVM's rho depends on roundings, so these sums are not whole.
struct Machine {
  const char* kind;
  int type;  // svm-train's -s
  int32_t classes;
  const char* multiclass;
  std::vector<double> nus;
};
const Machine kMachines[] = {{"nu_svc", 1, 2, "ovo", {0.333, 0.707}},
                             {"nu_svc", 1, 3, "ovo", {0.777, 0.888}},
                             {"one_class", 2, 2, "ovo", {0.023, 0.117, 0.519}},
                             {"nu_svr", 4, 0, "ovo", {0.117, 0.519, 1.0}}};
void PrintTo(const Machine& machine, std::ostream* out) { *out << machine.kind << machine.classes; }

using DeviceAndMachine = std::tuple<const char*, Machine>;
std::string name_of_machine(const testing::TestParamInfo<DeviceAndMachine>& i) {
  const Machine& machine = std::get<1>(i.param);
  return std::string(std::get<0>(i.param)) + "_" + machine.kind + "_" + std::to_string(machine.classes);
}

class NuOnDevice : public testing::TestWithParam<DeviceAndMachine> {};
INSTANTIATE_TEST_SUITE_P(Devices, NuOnDevice,
                         testing::Combine(testing::Values("host", "opencl"), testing::ValuesIn(kMachines)),
                         name_of_machine);

// Returns rows for a machine. Both classes of a one-class machine overlap, and its rows to accept come first.
Blobs rows_for(const Machine& machine, int64_t rows) {
  Blobs blobs(rows, 4, std::max(machine.classes, 2), kFolds, machine.classes == 0 ? 2.0 : 0.6);
  const sdk::Random noise(9, sdk::Purpose::digits, 0);
  for (int64_t r = 0; r < rows && machine.classes == 0; ++r) {
    const float* const x = blobs.x.data() + r * 4;
    blobs.targets.push_back(static_cast<float>(std::sin(2 * double{x[0]}) + double{x[1]} * double{x[2]} +
                                               0.4 * (noise.uniform(static_cast<uint32_t>(r)) - 0.5)));
  }
  if (std::string(machine.kind) == "one_class") blobs.names = {"-1", "1"};
  return blobs;
}

std::vector<Candidate> candidates_for(const Machine& machine) {
  std::vector<Candidate> candidates;
  for (const double nu : machine.nus)
    for (const char* kernel : {"rbf", "linear", "polynomial"}) {
      Candidate candidate;
      candidate.kind = machine.kind;
      candidate.nu = nu;
      candidate.kernel = kernel;
      candidate.gamma = kernel == std::string("rbf") ? 0.3 : 0.1;
      candidate.coef0 = 0.5;
      candidate.tol = 1e-4;
      candidate.multiclass = machine.multiclass;
      if (machine.classes == 0) candidate.c = 2;
      candidates.push_back(candidate);
    }
  return candidates;
}

// Writes the rows inside or outside a fold, or all rows if `fold` is MK_ALL_ROWS and `inside` is false.
void write_rows_of(const std::string& path, const Blobs& blobs, int32_t fold, bool inside) {
  std::ofstream out(path);
  out.precision(9);
  for (int64_t r = 0; r < blobs.rows; ++r) {
    const auto at = static_cast<size_t>(r);
    if ((blobs.fold_of[at] == fold) != inside) continue;
    if (blobs.targets.empty())
      out << blobs.names[static_cast<size_t>(blobs.labels[at])];
    else
      out << blobs.targets[at];
    for (int64_t f = 0; f < blobs.features; ++f)
      out << " " << f + 1 << ":" << blobs.x[static_cast<size_t>(r * blobs.features + f)];
    out << "\n";
  }
}

std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  char line[256];
  while (std::fgets(&line[0], sizeof(line), pipe) != nullptr) text += &line[0];
  pclose(pipe);
  return text;
}

void svm_train(const Machine& machine, const Candidate& k, const std::string& from, const std::string& to) {
  const std::map<std::string, int> kinds = {{"linear", 0}, {"polynomial", 1}, {"rbf", 2}};
  std::ostringstream command;
  command << "svm-train -q -e 1e-4 -s " << machine.type << " -t " << kinds.at(k.kernel) << " -c " << k.c << " -n "
          << k.nu << " -g " << k.gamma << " -r " << k.coef0 << " " << from << " " << to;
  ASSERT_EQ(std::system(command.str().c_str()), 0) << command.str();
}

// Returns the wrong rows or the mean squared error of svm-predict.
double svm_predict(const std::string& test, const std::string& model) {
  const std::string text = output_of("svm-predict " + test + " " + model + " " + test + ".out");
  long right = 0, all = 0;
  double error = -1;
  if (const size_t at = text.find("= "); std::sscanf(text.c_str() + at, "= %lf", &error) == 1 &&
                                         text.find("Accuracy") == 0 && text.find('(') != std::string::npos &&
                                         std::sscanf(text.c_str() + text.find('('), "(%ld/%ld)", &right, &all) == 2)
    return static_cast<double>(all - right);
  return error;
}

struct NuScratch {
  fs::path path = fs::temp_directory_path() / ("mokume-nu-" + std::to_string(getpid()));
  NuScratch() { fs::create_directories(path); }
  ~NuScratch() { fs::remove_all(path); }
  std::string operator/(const char* name) const { return path / name; }
};

bool has_libsvm() { return std::system("command -v svm-train >/dev/null") == 0; }
#define REQUIRE_LIBSVM \
  if (!has_libsvm()) GTEST_SKIP() << "svm-train is missing: install libsvm-tools"

TEST_P(NuOnDevice, HasTheErrorsOfLibsvm) {
  REQUIRE_LIBSVM;
  const auto& [backend, machine] = GetParam();
  World world(backend);
  REQUIRE_DEVICE(world);
  const Blobs blobs = rows_for(machine, 600);
  const std::vector<Candidate> candidates = candidates_for(machine);
  const Experiment experiment(blobs, candidates, kFolds);
  Session session(world, experiment);
  const Results results = session.fit(all_fits(candidates.size(), kFolds));
  const NuScratch scratch;
  for (int32_t fold = 0; fold < static_cast<int32_t>(kFolds); ++fold) {
    write_rows_of(scratch / "train", blobs, fold, false);
    write_rows_of(scratch / "test", blobs, fold, true);
    for (uint32_t c = 0; c < candidates.size(); ++c) {
      svm_train(machine, candidates[c], scratch / "train", scratch / "model");
      const double expected = svm_predict(scratch / "test", scratch / "model");
      const double off = machine.classes == 0 ? 2e-3 * expected : 1;
      EXPECT_NEAR(results.at({c, fold}).value, expected, off) << candidates[c].kernel << " nu=" << candidates[c].nu
                                                              << " fold " << fold << ": " << results.at({c, fold}).note;
    }
  }
}

// The order of the rows in a fold differs from LIBSVM's, which ties show, so steps may differ in the end.
TEST_P(NuOnDevice, ReachesTheModelOfSvmTrain) {
  REQUIRE_LIBSVM;
  const auto& [backend, machine] = GetParam();
  World world(backend);
  REQUIRE_DEVICE(world);
  const Blobs blobs = rows_for(machine, 300);
  const std::vector<Candidate> candidates = candidates_for(machine);
  const Experiment experiment(blobs, candidates, kFolds);
  Session session(world, experiment);
  const NuScratch scratch;
  write_rows_of(scratch / "train", blobs, MK_ALL_ROWS, false);
  for (uint32_t c = 0; c < candidates.size(); ++c) {
    mk_fitted* fitted = session.refit(c);
    sdk::call(world.model().save, static_cast<const mk_fitted*>(fitted), scratch.path.c_str());
    world.model().fitted_destroy(fitted);
    svm_train(machine, candidates[c], scratch / "train", scratch / "theirs");
    const svc::LibsvmModel theirs = svc::read_libsvm(scratch / "theirs", blobs.features);
    const svc::LibsvmModel ours = svc::read_libsvm(scratch / "model.libsvm", blobs.features);
    EXPECT_EQ(ours.kind, theirs.kind);
    EXPECT_NEAR(static_cast<double>(ours.n_vectors()), static_cast<double>(theirs.n_vectors()),
                2 + 0.01 * static_cast<double>(theirs.n_vectors()))
        << candidates[c].kernel << " nu=" << candidates[c].nu;
    ASSERT_EQ(ours.rho.size(), theirs.rho.size());
    // svm-train numbers the classes as they appear.
    const double sign = machine.type == 1 && theirs.labels != ours.labels ? -1 : 1;
    for (size_t k = 0; k < theirs.rho.size(); ++k)
      EXPECT_NEAR(ours.rho[k], sign * theirs.rho[k], 4e-3 * (1 + std::fabs(theirs.rho[k])))
          << candidates[c].kernel << " nu=" << candidates[c].nu << " problem " << k;
    // Programs of LIBSVM read the saved model and predict with it.
    const double wrong = svm_predict(scratch / "train", scratch / "model.libsvm");
    const double expected = svm_predict(scratch / "train", scratch / "theirs");
    EXPECT_NEAR(wrong, expected, machine.classes == 0 ? 2e-3 * expected : 2);
  }
}

// Models of svm-train, of every kind and with LIBSVM's probabilities, predict what svm-predict does.
TEST(LibsvmModels, OfEveryKindPredictAsSvmPredictDoes) {
  REQUIRE_LIBSVM;
  World world("host");
  const Machine machines[] = {{"c_svc", 0, 3, "ovo", {0.5}},
                              {"nu_svc", 1, 3, "ovo", {0.777}},
                              {"one_class", 2, 2, "ovo", {0.117}},
                              {"epsilon_svr", 3, 0, "ovo", {0.5}},
                              {"nu_svr", 4, 0, "ovo", {0.519}}};
  for (const Machine& machine : machines) {
    const NuScratch scratch;
    const Blobs blobs = rows_for(machine, 150);
    write_rows_of(scratch / "train", blobs, MK_ALL_ROWS, false);
    const std::string probabilities = machine.type == 2 ? "" : " -b 1";
    ASSERT_EQ(
        std::system(("svm-train -q -s " + std::to_string(machine.type) + probabilities + " -n " +
                     std::to_string(machine.nus[0]) + " " + (scratch / "train") + " " + (scratch / "model.libsvm"))
                        .c_str()),
        0);
    std::string classes;
    for (size_t k = 0; k < blobs.names.size() && machine.classes > 0; ++k)
      classes += (k > 0 ? ", \"" : "\"") + blobs.names[k] + "\"";
    std::ofstream(scratch / "manifest.json")
        << R"({"format": "mokume-svc", "version": 1, "multiclass": "ovo", "features": 4, "C": 1, "classes": [)"
        << classes << R"(], "scaling": {"mean": [], "scale": []}})";
    mk_fitted* fitted = nullptr;
    sdk::call(world.model().load, world.model().self, scratch.path.c_str(), &fitted);
    std::vector<int32_t> labels(150);
    std::vector<float> scores(150 * world.model().scores_per_row(fitted));
    sdk::call(world.model().predict, world.model().self, static_cast<const mk_fitted*>(fitted),
              world.device().services(), blobs.x.data(), blobs.rows, blobs.features, labels.data(), scores.data());
    world.model().fitted_destroy(fitted);
    svm_predict(scratch / "train", scratch / "model.libsvm");
    std::ifstream theirs(scratch / "train.out");
    for (size_t r = 0; r < 150; ++r) {
      std::string word;
      ASSERT_TRUE(theirs >> word) << machine.kind;
      if (machine.classes == 0)
        EXPECT_NEAR(static_cast<double>(scores[r]), std::stod(word), 1e-4) << machine.kind;
      else
        EXPECT_EQ(blobs.names[static_cast<size_t>(labels[r])], word) << machine.kind << " row " << r;
    }
  }
}

TEST(LibsvmModels, WithKernelsOfNumbersOfRowsAreRefused) {
  const NuScratch scratch;
  std::ofstream(scratch / "model") << "svm_type c_svc\nkernel_type precomputed\nnr_class 2\n";
  try {
    svc::read_libsvm(scratch / "model", 4);
    ADD_FAILURE() << "the model was taken";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("model:2: its kernel is precomputed"), std::string::npos) << e.what();
  }
}

// With a budget for half a matrix, kernel rows replace each other while problems wait for them.
TEST_P(NuOnDevice, ComputesKernelRowsOnTheFlyWithTheSameErrors) {
  const auto& [backend, machine] = GetParam();
  World large(backend);
  REQUIRE_DEVICE(large);
  const Blobs blobs = rows_for(machine, 1500);
  std::vector<Candidate> candidates;
  for (const Candidate& c : candidates_for(machine))
    if (std::string(c.kernel) == "rbf") candidates.push_back(c);
  const Experiment experiment(blobs, candidates, kFolds);
  Session session(large, experiment);
  const Results expected = session.fit(all_fits(candidates.size(), kFolds));
  const uint64_t matrix = uint64_t{1500} * 1504 * sizeof(float);
  World small(backend, 0, matrix / 2 + (2 << 20));
  Session other(small, experiment);
  const Results results = other.fit(all_fits(candidates.size(), kFolds));
  EXPECT_EQ(small.device().choices().at("svc.kernel"), "on_the_fly");
  for (const auto& [key, result] : results)
    EXPECT_NEAR(result.value, expected.at(key).value, machine.classes == 0 ? 1e-3 * result.value : 1) << key.first;
}

// A launch looks at a limited number of rows. In fold 0, the first row of the start comes after this limit.
TEST(Nu, LooksForItsStartInSeveralLaunches) {
  World host("host", 0, 64 << 20), opencl("opencl", 0, 64 << 20);
  REQUIRE_DEVICE(opencl);
  const Blobs blobs = rows_for(kMachines[2], 54'000);
  std::vector<Candidate> candidates(1);
  candidates[0].kind = "one_class";
  candidates[0].nu = 0.001;
  const Experiment experiment(blobs, candidates, kFolds);
  Session ours(opencl, experiment), theirs(host, experiment);
  const Result result = ours.fit({{0, 0}}).at({0, 0}), expected = theirs.fit({{0, 0}}).at({0, 0});
  EXPECT_EQ(result.status, MK_FIT_OK) << result.note;
  EXPECT_NEAR(result.value, expected.value, 2);
}

// A fit with an infeasible nu fails by name, and the others are not affected.
TEST(Nu, MayBeInfeasible) {
  World world("host");
  Blobs blobs = rows_for(kMachines[0], 300);
  for (int64_t r = 0; r < 300; ++r) blobs.labels[static_cast<size_t>(r)] = r % 5 == 0 ? 1 : 0;
  std::vector<Candidate> candidates(2);
  for (Candidate& c : candidates) c.kind = "nu_svc";
  candidates[0].nu = 0.39;
  candidates[1].nu = 0.41;
  const Experiment experiment(blobs, candidates, kFolds);
  Session session(world, experiment);
  const Results results = session.fit(all_fits(candidates.size(), kFolds));
  for (int32_t fold = 0; fold < static_cast<int32_t>(kFolds); ++fold) {
    EXPECT_EQ(results.at({0, fold}).status, MK_FIT_OK);
    EXPECT_EQ(results.at({1, fold}).status, MK_FIT_FAILED);
    EXPECT_EQ(results.at({1, fold}).note,
              "nu = 0.41 is infeasible: the smaller side of a binary problem has 40 of 200 rows, so nu can be at most "
              "0.4");
  }
  world.model().fitted_destroy(session.refit(0));
  EXPECT_THROW(session.refit(1), Error);
}

// The check tells before the search what fails in it: it refuses an experiment only if all its fits would fail.
TEST(Nu, ThatIsInfeasibleIsForeseen) {
  World world("host");
  std::string warnings;
  world.hear_warnings(warnings);
  Blobs blobs = rows_for(kMachines[0], 300);
  for (int64_t r = 0; r < 300; ++r) blobs.labels[static_cast<size_t>(r)] = r % 5 == 0 ? 1 : 0;
  std::vector<Candidate> candidates(2);
  for (Candidate& c : candidates) c.kind = "nu_svc";
  const auto check = [&](double nu, double other) {
    candidates[0].nu = nu;
    candidates[1].nu = other;
    const Experiment experiment(blobs, candidates, kFolds);
    sdk::call(world.model().check, world.model().self, experiment.get());
  };
  const std::string sentence =
      "is infeasible: the smaller side of a binary problem has 40 of 200 rows, so nu can be at most 0.4";
  check(0.3, 0.39);
  EXPECT_EQ(warnings, "");
  check(0.41, 0.39);
  EXPECT_NE(warnings.find("nu = 0.41 " + sentence), std::string::npos) << warnings;
  try {
    check(0.41, 0.5);
    ADD_FAILURE() << "the experiment was taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.what(), "nu = 0.41 " + sentence + ": lower nu");
  }
}

// A row of weight 2 counts like two rows, as in scikit-learn.
TEST_P(NuOnDevice, CountsWeightsLikeCopies) {
  const auto& [backend, machine] = GetParam();
  World world(backend);
  REQUIRE_DEVICE(world);
  Blobs weighted = rows_for(machine, 240), copied = rows_for(machine, 240);
  for (int64_t r = 0; r < 240; ++r) {
    const bool twice = r % 7 == 0;
    weighted.weights.push_back(twice ? 2 : 1);
    if (!twice) continue;
    const auto at = static_cast<size_t>(r);
    for (int64_t f = 0; f < 4; ++f) copied.x.push_back(copied.x[static_cast<size_t>(4 * r + f)]);
    copied.labels.push_back(copied.labels[at]);
    copied.fold_of.push_back(copied.fold_of[at]);
    if (machine.classes == 0) copied.targets.push_back(copied.targets[at]);
    ++copied.rows;
  }
  std::vector<Candidate> candidates;
  for (Candidate c : candidates_for(machine)) {
    if (std::string(c.kernel) != "rbf") continue;
    c.tol = 1e-5;
    candidates.push_back(c);
  }
  const Experiment a(weighted, candidates, kFolds), b(copied, candidates, kFolds);
  Session of_weights(world, a), of_copies(world, b);
  const NuScratch scratch;
  for (uint32_t c = 0; c < candidates.size(); ++c) {
    std::vector<svc::LibsvmModel> models;
    for (Session* session : {&of_weights, &of_copies}) {
      mk_fitted* fitted = session->refit(c);
      sdk::call(world.model().save, static_cast<const mk_fitted*>(fitted), scratch.path.c_str());
      world.model().fitted_destroy(fitted);
      models.push_back(svc::read_libsvm(scratch / "model.libsvm", 4));
    }
    for (size_t k = 0; k < models[0].rho.size(); ++k)
      EXPECT_NEAR(models[0].rho[k], models[1].rho[k], 1e-3 * (1 + std::fabs(models[1].rho[k]))) << candidates[c].nu;
  }
}

std::string refusal_of(const Blobs& blobs, const std::vector<Candidate>& candidates) {
  World world("host");
  const Experiment experiment(blobs, candidates, kFolds);
  try {
    sdk::call(world.model().check, world.model().self, experiment.get());
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Nu, RefusesWhatHasNoEffect) {
  const Blobs classes = rows_for(kMachines[0], 30), numbers = rows_for(kMachines[3], 30);
  const auto with = [](const char* kind, const auto& change) {
    Candidate candidate;
    candidate.kind = kind;
    change(candidate);
    return std::vector<Candidate>{candidate};
  };
  const auto nothing = [](Candidate&) {};
  const auto nu = [](Candidate& c) { c.nu = 0.2; };
  const auto c = [](Candidate& k) { k.c = 10; };
  EXPECT_EQ(refusal_of(classes, with("nu_svc", nu)), "");
  EXPECT_EQ(refusal_of(numbers, with("nu_svr", c)), "");
  EXPECT_NE(refusal_of(classes, with("c_svc", nu)).find("nu has no effect on C-SVC"), std::string::npos);
  EXPECT_NE(refusal_of(classes, with("nu_svc", c)).find("takes the place of C"), std::string::npos);
  EXPECT_NE(refusal_of(numbers, with("nu_svr", [](Candidate& k) { k.epsilon = 0.2; })).find("remove epsilon"),
            std::string::npos);
  EXPECT_NE(refusal_of(classes, with("nu_svc", [](Candidate& k) { k.class_weight = "balanced"; })).find("class_weight"),
            std::string::npos);
  EXPECT_NE(refusal_of(numbers, with("nu_svc", nothing)).find("the targets are numbers"), std::string::npos);
  EXPECT_NE(refusal_of(classes, with("nu_svr", nothing)).find("the targets are classes"), std::string::npos);
  EXPECT_NE(refusal_of(classes, with("one_class", nothing)).find("data.task to \"one_class\""), std::string::npos);
  EXPECT_EQ(refusal_of(rows_for(kMachines[2], 30), with("one_class", nu)), "");
  Blobs alike = classes;
  for (auto& label : alike.labels) label = 1;
  EXPECT_NE(refusal_of(alike, with("c_svc", nothing)).find("set kind to \"one_class\""), std::string::npos);
}

TEST(Nu, AOneClassMachineRejectsARowOnItsBorder) {
  svc::Settings settings;
  settings.kind = svc::Kind::one_class;
  for (const float decision : {0.0F, 0.5F}) EXPECT_EQ(svc::predict_class(&decision, 2, settings), 0) << decision;
  const float inside = -0.5F;
  EXPECT_EQ(svc::predict_class(&inside, 2, settings), 1);
}

}  // namespace
}  // namespace mokume::svc_test
