// Tests that the author of a run directory or an experiment file does not choose the code that runs here.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/processes.hpp"
#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

constexpr const char* kTwoRanks =
    "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -np 2 ";

class Trust : public testing::Test {
 protected:
  Trust() {
    fs::copy(marked_library(), library(), fs::copy_options::recursive);
    place.write("rows.csv", "a,y\n1,5.0\n2,6.0\n3,5.5\n4,5.25\n5,5.75\n6,5.5\n7,5.0\n8,6.0\n");
    setenv("MOKUME_MARK", (place.path() / "mark").c_str(), 1);
  }
  ~Trust() override { unsetenv("MOKUME_MARK"); }

  // Returns a path that a shell must quote.
  fs::path library() const { return place.path() / "its owner's libraries"; }
  std::string directories() const { return "plugins.directories = [\"" + library().string() + "\"]\n"; }
  std::string with_model(const std::string& devices = "host", const std::string& more = "") const {
    return directories() + "name = \"small\"\nmodel = \"mean\"\ndevices.use = \"" + devices + "\"\n" + more +
           "data = { source = \"csv\", path = \"" + (place.path() / "rows.csv").string() + "\" }\n" +
           "validation.folds = 2\n";
  }
  std::string with_backend(const std::string& devices) const { return directories() + small_experiment(devices); }

  // Returns whether a library has been loaded since the last call.
  bool marked() const { return fs::remove(place.path() / "mark"); }

  // Runs the experiment, whose file may name its libraries.
  std::string run_of(const std::string& experiment) const {
    place.write("e.toml", experiment);
    const Ended ended = place.mokume("run e.toml");
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(marked()) << "the file that `run` is given names its libraries";
    return place.run("small").string();
  }

  // Expects that the command loads nothing and exits with `code` and one sentence. Also expects that the command in
  // this sentence, run unchanged, loads the libraries and succeeds.
  void expect_cure(const std::string& arguments, int code) const {
    const Ended refused = place.mokume(arguments);
    EXPECT_EQ(refused.code, code) << arguments << "\n" << refused.err;
    EXPECT_FALSE(marked()) << arguments << "\n" << refused.err;
    const size_t command = refused.err.rfind(Place::program());
    ASSERT_NE(command, std::string::npos) << arguments << "\n" << refused.err;
    EXPECT_LT(refused.err.find(library().string()), command) << refused.err;
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
    const Ended cured = place.shell(refused.err.substr(command, refused.err.find('\n', command) - command));
    EXPECT_EQ(cured.code, 0) << arguments << "\n" << cured.err;
    EXPECT_TRUE(marked()) << arguments;
  }

  Place place;
};

TEST_F(Trust, NoCommandLoadsTheModelThatARunRecorded) {
  const std::string run = run_of(with_model());
  for (const std::string& command :
       {"status " + run, "status --json " + run, "explain " + run, "explain " + run + " 0,0", "report " + run,
        "compare " + run + " " + run, "predict " + run + " --data csv:./rows.csv --devices host", "resume " + run}) {
    expect_cure(command, 4);
    const Ended named =
        place.shell("MOKUME_PLUGIN_PATH=\"" + library().string() + "\" " + Place::program() + " " + command);
    EXPECT_EQ(named.code, 0) << named.err;
    EXPECT_TRUE(marked()) << command;
  }
  EXPECT_EQ(place.mokume("status --plugins \"its owner's libraries\" " + run).code, 0) << "a path from here";
}

TEST_F(Trust, RunningTheSameFileAgainResumesBecauseItNamesItsLibraries) {
  place.write("e.toml", with_backend("fault:0"));
  EXPECT_NE(place.shell("MOKUME_FAULT=crash:20 " + Place::program() + " run e.toml").code, 0);
  EXPECT_TRUE(marked());
  const Ended again = place.mokume("run e.toml");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(marked());
}

TEST_F(Trust, DirectoriesOfTheCommandLineAreRecordedToo) {
  place.write("e.toml", with_model().substr(directories().size()));
  EXPECT_EQ(place.mokume("run e.toml").code, 2);
  const Ended ended = place.mokume("run e.toml --plugins \"$PWD/its owner's libraries\"");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(marked());
  expect_cure("status " + place.run("small").string(), 4);
}

TEST_F(Trust, NoCommandLoadsTheBackendThatARunRecorded) {
  const std::string run = run_of(with_backend("fault:0"));
  for (const std::string& command : {"status " + run, "report " + run, "explain " + run}) {
    const Ended ended = place.mokume(command);
    EXPECT_EQ(ended.code, 0) << "this needs no device\n" << ended.err;
    EXPECT_EQ(ended.err.find("warning"), std::string::npos) << ended.err;
    EXPECT_FALSE(marked()) << command;
  }
  expect_cure("predict " + run + " --data digits,limit=20 --devices fault:0", 4);
  expect_cure("resume " + run, 4);
}

TEST_F(Trust, DevicesInSeparateProcessesLoadTheLibrariesThatTheCommandNames) {
  const std::string run = run_of(with_model("host", "devices.isolation = \"process\"\n"));
  fs::remove_all(run + "/models");
  expect_cure("resume " + run, 4);
  EXPECT_TRUE(fs::exists(run + "/models/best")) << "a child has trained it";
}

TEST_F(Trust, OtherDevicesTakeOverWithAWarning) {
  const std::string run = run_of(with_backend("every"));
  const Ended ended = place.mokume("resume " + run);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_FALSE(marked()) << ended.err;
  EXPECT_NE(ended.err.find("used devices of the backend 'fault', and the directory " + library().string()),
            std::string::npos)
      << ended.err;
}

TEST_F(Trust, AModelOfTheSameNameIsNotTakenFromARun) {
  const std::string run = run_of(with_backend("fault:0"));
  fs::copy_file(library() / "plugins/mean.so", library() / "plugins/svc.so");
  for (const std::string& command : {"status " + run, "report " + run}) {
    const Ended ended = place.mokume(command);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.err.find("has its own model 'svc'"), std::string::npos) << ended.err;
    EXPECT_FALSE(marked()) << command;
  }
}

TEST_F(Trust, RanksLoadTheLibrariesThatTheCommandNames) {
  if (!have("mpirun")) GTEST_SKIP() << "mpirun is missing: install openmpi-bin";
  const std::string run = run_of(with_model());
  fs::remove_all(run + "/models");
  const Ended refused = place.shell(kTwoRanks + Place::program() + " resume " + run);
  EXPECT_EQ(refused.code, 4) << refused.err;
  EXPECT_FALSE(marked()) << refused.err;
  const Ended named =
      place.shell(kTwoRanks + Place::program() + " resume " + run + " --plugins \"" + library().string() + "\"");
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_TRUE(marked());
}

TEST_F(Trust, CheckLoadsNothingThatTheFileNames) {
  place.write("e.toml", with_model());
  const Ended ended = place.mokume("check e.toml");
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_FALSE(marked());
  EXPECT_NE(ended.err.find("the keys of the model 'mean' are not checked"), std::string::npos) << ended.err;
  const size_t command = ended.err.rfind(Place::program());
  ASSERT_NE(command, std::string::npos) << ended.err;
  const Ended cured = place.shell(ended.err.substr(command, ended.err.find('\n', command) - command));
  EXPECT_EQ(cured.code, 0) << cured.err;
  EXPECT_EQ(cured.err, "e.toml: ok\n");
  EXPECT_TRUE(marked());
  EXPECT_EQ(place.mokume("check e.toml --set 'plugins.directories=[\"/none\"]'").code, 2);
  EXPECT_FALSE(marked());
  const std::string named = "check e.toml --set \"plugins.directories=[\\\"" + library().string() + "\\\"]\"";
  EXPECT_EQ(place.mokume(named).code, 0) << "the command names them";
  EXPECT_TRUE(marked());

  place.write("e.toml", with_backend("fault:0"));
  const Ended known = place.mokume("check e.toml");
  EXPECT_EQ(known.code, 0) << known.err;
  EXPECT_NE(known.err.find("check loads nothing from directories that the file names"), std::string::npos) << known.err;
  EXPECT_FALSE(marked());
}

// ---- every command

// Holds a command on a run directory or on a file from elsewhere, both of which name a directory with libraries.
// filled() replaces RUN, OTHER, MODEL and FILE.
struct Attempt {
  std::string arguments;
};

const std::vector<Attempt>& attempts() {
  static const std::vector<Attempt> kAll = {
      {"resume RUN"},
      {"resume RUN --devices every"},
      {"status RUN"},
      {"status --json RUN"},
      {"explain RUN"},
      {"explain RUN 0,0"},
      {"explain RUN refit"},
      {"explain RUN --columns --data csv:rows.csv"},
      {"curve RUN --points 2"},
      {"report RUN"},
      {"report --watch RUN"},
      {"compare RUN OTHER"},
      {"compare OTHER RUN"},
      {"predict RUN --data csv:rows.csv"},
      {"predict RUN --data csv:rows.csv --devices every"},
      {"predict RUN picture.png"},
      {"predict MODEL --data csv:rows.csv"},
      {"export RUN"},
      {"export RUN --onnx new.onnx"},
      {"export RUN --provenance crate"},
      {"verify RUN"},
      {"verify RUN --devices every"},
      {"import FILE"},
      {"import RUN/experiment.toml --out imported"},
      {"list runs"},
      {"list --json runs"},
      {"list RUN"},
      {"prune runs --keep 0"},
      {"prune runs --keep 9 --unfinished --yes"},
      {"doctor --out runs"},
      {"check FILE"},
      {"check FILE --set seed=8"},
      {"check RUN/experiment.toml"},
      {"check RUN/config.resolved.toml"},
      {"data info csv:rows.csv"},
      {"data info csv:FILE"},
      {"data list"},
      {"data fetch digits --from file:RUN"},
      {"devices"},
      {"schema"},
      {"init mean"},
  };
  return kAll;
}

class EveryCommand : public Trust {
 protected:
  void prepare(const std::string& experiment) {
    fs::remove_all(place.path() / "runs");
    run_ = fs::relative(run_of(experiment), place.path()).string();
    other_ = run_ + "-other";
    fs::copy(place.path() / run_, place.path() / other_, fs::copy_options::recursive);
    place.write("from-elsewhere.toml", experiment);
    const std::string name = "[\"" + library().string() + "\"]";
    EXPECT_NE(slurp(place.path() / run_ / "config.resolved.toml").find(name), std::string::npos) << "it is recorded";
    rewrite(place.path() / run_ / "run.json", "{", "{\"plugins\":" + name + ",\"plugin_directories\":" + name + ",");
  }

  std::string filled(std::string arguments) const {
    for (const auto& [word, by] : std::vector<std::pair<std::string, std::string>>{
             {"RUN", run_}, {"OTHER", other_}, {"MODEL", run_ + "/models/best"}, {"FILE", "from-elsewhere.toml"}})
      for (size_t at = arguments.find(word); at != std::string::npos; at = arguments.find(word, at + by.size()))
        arguments.replace(at, word.size(), by);
    return arguments;
  }

  std::string run_, other_;
};

TEST_F(EveryCommand, LoadsNothingThatARunOrAFileFromElsewhereNames) {
  // Without its directory, the first model is not found. The second is mokume's own, so the command gets further.
  for (const std::string& experiment : {with_model("host,fault:0"), with_backend("fault:0")}) {
    prepare(experiment);
    for (const Attempt& attempt : attempts()) {
      const Ended ended = place.mokume(filled(attempt.arguments));
      EXPECT_FALSE(marked()) << attempt.arguments << "\n" << ended.err;
      EXPECT_NE(ended.code, 1) << "a fault or a difference is not expected: " << attempt.arguments << "\n" << ended.err;
    }
  }
}

TEST_F(EveryCommand, IsTried) {
  const std::string help = place.mokume("--help").out;
  size_t commands = 0;
  bool listed = false;
  for (const std::string& line : lines_of(help)) {
    if (line == "Subcommands:") {
      listed = true;
      continue;
    }
    if (!listed || !line.starts_with("  ") || line[2] == ' ') continue;
    const std::string name = line.substr(2, line.find(' ', 2) - 2);
    if (line.starts_with("   ")) continue;
    ++commands;
    const bool tried = std::any_of(attempts().begin(), attempts().end(), [&](const Attempt& attempt) {
      return attempt.arguments.starts_with(name + " ") || attempt.arguments == name;
    });
    EXPECT_TRUE(tried || name == "run") << "add `" << name << "` to the attempts; only `run` trusts its file";
    if (name == "data") break;  // the last command
  }
  EXPECT_GE(commands, 16U) << help;
}

// ---- resuming a run with its libraries

class Ending : public Trust {
 protected:
  // Runs the command that `text` recommends for the libraries of the run.
  Ended follow(const std::string& text, const std::string& verb) const {
    const std::string start = Place::program() + " " + verb + " --plugins '" + "";
    const size_t command = text.rfind(start);
    EXPECT_NE(command, std::string::npos) << text;
    if (command == std::string::npos) return {};
    EXPECT_TRUE(marked());
    const Ended ended = place.shell(text.substr(command, text.find('\n', command) - command));
    EXPECT_TRUE(marked()) << "it loads the libraries";
    return ended;
  }
};

TEST_F(Ending, AStoppedRunSaysHowToResumeItWithItsLibraries) {
  place.write("e.toml", directories() + small_experiment("fault:0", 1500));
  const pid_t pid = place.start({"run", "e.toml"});
  EXPECT_TRUE(eventually([&] {
    std::error_code none;
    const fs::directory_iterator runs(place.path() / "runs/small", none);
    return !none && runs != fs::directory_iterator() && fs::exists(runs->path() / "journal/node-0000.ndjson");
  }));
  kill(pid, SIGTERM);
  ASSERT_EQ(Place::wait(pid), 75);
  EXPECT_EQ(follow(slurp(place.path() / "child.txt"), "resume").code, 0);
}

TEST_F(Ending, AFailedRunSaysHowToResumeItWithItsLibraries) {
  place.write("e.toml", with_backend("fault:0"));
  const Ended failed = place.shell("MOKUME_FAULT=fail:1 " + Place::program() + " run e.toml");
  EXPECT_NE(failed.code, 0);
  const Ended resumed = follow(failed.err, failed.code == 5 ? "status" : "resume");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
}

TEST_F(Ending, AFinishedRunSaysHowToReadIt) {
  place.write("e.toml", with_model().substr(directories().size()));
  const std::string run = "run e.toml --plugins \"$PWD/its owner's libraries\"";
  const Ended finished = place.mokume(run);
  ASSERT_EQ(finished.code, 0) << finished.err;
  const Ended status = follow(finished.err, "status");
  EXPECT_EQ(status.code, 0) << status.err;
  const Ended quiet = place.mokume(run + " --fresh --quiet");
  EXPECT_EQ(quiet.err.find("--plugins"), std::string::npos) << quiet.err;
  const Ended events = place.mokume(run + " --fresh --json");
  EXPECT_NE(events.out.find("\"resume\":\"" + Place::program() + " resume --plugins '"), std::string::npos)
      << events.out;
}

TEST_F(Ending, ARunWithoutLibrariesOfItsOwnSaysNothing) {
  place.write("e.toml", small_experiment("host"));
  const Ended ended = place.mokume("run e.toml");
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.err.find("--plugins"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace mokume::cli_test
