// Tests that bad input gives one clear sentence and the right exit code.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

void expect(const Ended& ended, int code, const std::string& phrase) {
  EXPECT_EQ(ended.code, code) << ended.out << ended.err;
  EXPECT_NE((ended.out + ended.err).find(phrase), std::string::npos) << ended.out << ended.err;
}

TEST(Usage, BadInputGivesASentenceAndAnExitCode) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  std::string typo = small_experiment("host");
  typo.replace(typo.find("gamma"), 5, "gama");
  place.write("typo.toml", typo);
  std::string csv = small_experiment("host");
  csv.replace(csv.find("source = \"digits\"\nlimit = 500"), 29, "source = \"csv\"\npath = \"bad.csv\"");
  place.write("csv.toml", csv);
  place.write("bad.csv", "a,b,label\n1,2,x\n3,oops,y\n");

  expect(place.mokume(""), 2, "--help");
  expect(place.mokume("fly"), 2, "--help");
  expect(place.mokume("run"), 2, "CONFIG");
  expect(place.mokume("run nothing.toml"), 2, "nothing.toml");
  expect(place.mokume("check typo.toml"), 2, "did you mean 'gamma'?");
  expect(place.mokume("check e.toml"), 0, "ok");
  expect(place.mokume("check e.toml --set validation.folds=x"), 2, "--set argument 1");
  expect(place.mokume("run e.toml --devices quantum"), 4, "quantum");
  expect(place.mokume("run e.toml --max-time soon"), 2, "11h30m");
  expect(place.mokume("run csv.toml"), 3, "bad.csv");
  expect(place.mokume("data info csv:gone.csv"), 3, "no file or data set 'gone.csv' in the working directory /");
  expect(place.mokume("resume ."), 2, "not a run directory");
  expect(place.mokume("status ."), 2, "not a run directory");
  expect(place.mokume("init nomodel"), 2, "nomodel");
  expect(place.mokume("data fetch nothing"), 2, "mnist");
  expect(place.mokume("data info digits,limit=10"), 0, "10 training rows");
  EXPECT_FALSE(fs::exists(place.path() / "runs")) << "nothing above should have started a run";
}

TEST(Usage, DryRunShowsThePlanAndWritesNothing) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  expect(place.mokume("run e.toml --dry-run"), 0, "12 candidates x 3 folds = 36 fits");
  EXPECT_FALSE(fs::exists(place.path() / "runs"));
}

TEST(Usage, FormationsArePredictedFromMeasuredTimes) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  const std::string cache = "XDG_CACHE_HOME=$PWD/cache " + Place::program() + " ";
  expect(place.mokume("run e.toml --formations 1x3"), 2, "--dry-run");
  expect(place.mokume("run e.toml --dry-run --formations 3y1"), 2, "'3y1' is not a formation");
  expect(place.shell(cache + "run e.toml --dry-run --formations 1x3,4x3"), 0, "times are unknown");
  ASSERT_EQ(place.shell(cache + "run e.toml").code, 0);
  expect(place.shell(cache + "run e.toml --dry-run --formations 1x3"), 0, "36 of 36 fits as timed in runs/small/");
  expect(place.shell(cache + "run e.toml --dry-run --formations 1x3 --seed 8"), 0, "at the speed of earlier runs");
}

TEST(Usage, DevicesDoctorSchemaAndInitSucceed) {
  const Place place;
  const Ended devices = place.mokume("devices --json");
  ASSERT_EQ(devices.code, 0) << devices.err;
  bool host = false;
  for (const auto& d : nlohmann::json::parse(devices.out)) host = host || d["id"] == "host:0";
  EXPECT_TRUE(host);
  expect(place.mokume("doctor"), 0, "library search path");
  const Ended schema = place.mokume("schema");
  EXPECT_TRUE(nlohmann::json::parse(schema.out).contains("properties"));
  const Ended init = place.mokume("init svc");
  place.write("mine.toml", init.out);
  expect(place.mokume("check mine.toml"), 0, "ok");
}

// Makes a tree that contains the script of continuous integration and replacements for the scripts that it runs.
void imitate_tree(const Place& place, const std::string& quickstart, const std::string& test) {
  const std::pair<const char*, std::string> scripts[] = {
      {"quickstart",
       "mkdir -p build/release/apps build/release/backends build/release/core build/release/plugins\n" + quickstart},
      {"format", ""},
      {"docs", ""},
      {"self-contained", ""},
      {"lint", ""},
      {"install-tools", ""},
      {"test", test}};
  fs::remove_all(place.path() / "tree");
  fs::create_directories(place.path() / "tree/.ci");
  fs::create_directories(place.path() / "tree/scripts");
  fs::copy_file(test::source_directory() + "/.ci/run", place.path() / "tree/.ci/run");
  for (const auto& [name, text] : scripts) {
    place.write(std::string("tree/scripts/") + name, "#!/bin/sh\n" + text);
    fs::permissions(place.path() / "tree/scripts" / name, fs::perms::owner_all);
  }
}

const std::string kReports = "echo page >page.html\necho report: page.html\n";

TEST(Usage, ContinuousIntegrationFindsSharedData) {
  const Place place;
  const auto data_of = [&](const std::string& command) {
    imitate_tree(place, kReports, "echo \"data: ${MOKUME_DATA-none}\"\n");
    const std::string out = place.shell(command).out;
    const size_t at = out.find("data: ");
    return at == std::string::npos ? out : out.substr(at + 6);
  };
  EXPECT_EQ(data_of("unset MOKUME_DATA; tree/.ci/run"), "none\n");
  fs::create_directories(place.path() / "shared/data");
  const std::string shared = (fs::canonical(place.path()) / "shared/data").string() + "\n";
  EXPECT_EQ(data_of("unset MOKUME_DATA; tree/.ci/run"), shared);
  EXPECT_EQ(data_of("unset MOKUME_DATA; cd tree/.ci && ./run"), shared);
  EXPECT_EQ(data_of("MOKUME_DATA=/mine tree/.ci/run"), "/mine\n") << "what is set stays";
}

TEST(Usage, ContinuousIntegrationBeginsWithTheQuickstart) {
  const Place place;
  imitate_tree(place, kReports, "exit 0\n");
  EXPECT_EQ(place.shell("tree/.ci/run").code, 0);
  expect(place.shell("tree/.ci/run"), 1, "CI starts with an empty build folder");
  imitate_tree(place, "echo ready\n", "exit 0\n");
  expect(place.shell("tree/.ci/run"), 1, "names no report");
  imitate_tree(place, kReports + "exit 3\n", "exit 0\n");
  EXPECT_EQ(place.shell("tree/.ci/run").code, 3) << "a failure is not lost in a pipe";
  imitate_tree(place, kReports, "sleep 0.01\n: >build/release/core/a.o\n");
  expect(place.shell("tree/.ci/run"), 1, "compiled sources of the program again");
}

TEST(Usage, AnOutputThatCannotBeWrittenIsAFailure) {
  const Place place;
  expect(place.shell(Place::program() + " data info digits,limit=10 >/dev/full"), 75, "cannot write the output");
  expect(place.shell(Place::program() + " data list >/dev/full"), 75, "the disk is full");
}

TEST(Usage, AReaderThatClosesItsPipeIsNotAnError) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  const std::string closed = "mkfifo p && { sh -c 'exec 3<p' & } && exec 4>p && wait && " + Place::program();
  EXPECT_EQ(place.shell(closed + " data info digits,limit=10 >&4").code, 0);
  fs::remove(place.path() / "p");
  EXPECT_EQ(place.shell(closed + " run e.toml 2>&4").code, 0);
}

TEST(Usage, APluginThatOthersCanWriteIsRefused) {
  const Place place;
  fs::create_directories(place.path() / "lib/backends");
  fs::copy_file(test::build_directory() + "/lib/mokume/backends/null.so", place.path() / "lib/backends/open.so");
  fs::permissions(place.path() / "lib/backends/open.so", fs::perms::all);
  expect(place.shell("MOKUME_PLUGIN_PATH=$PWD/lib " + Place::program() + " doctor"), 4, "REFUSED");
}

}  // namespace
}  // namespace mokume::cli_test
