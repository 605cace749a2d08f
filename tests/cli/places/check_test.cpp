// Tests that check refuses what would stop a run before its first fit, with the same exit code, and that messages say
// where a path was looked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

class Check : public testing::Test {
 protected:
  // Expects that check and run refuse the experiment with these settings alike, and returns what check says.
  std::string refused(int code, const std::string& settings) {
    place_.write("e.toml", small_experiment("host", 100));
    const Ended check = place_.mokume("check e.toml --set " + settings);
    EXPECT_EQ(check.code, code) << settings << ": " << check.err;
    EXPECT_FALSE(has(check.err, ": ok")) << check.err;
    const Ended run = place_.mokume("run e.toml --set " + settings);
    EXPECT_EQ(run.code, code) << settings << ": " << run.err;
    return check.err;
  }
  std::string here() const { return fs::canonical(place_.path()).string(); }

  Place place_;
};

TEST_F(Check, RefusesAPlaceWhereNoRunDirectoryCanBeCreated) {
  EXPECT_TRUE(has(refused(2, "output.directory=/proc/none"), "cannot create /proc/none/small/STAMP: "));
  place_.write("file", "x");
  const std::string taken = refused(2, "output.directory=file");
  EXPECT_TRUE(has(taken, "cannot create file/small/STAMP: Not a directory; choose another directory")) << taken;
  EXPECT_FALSE(has(taken, "again")) << "repeating the command does not help: " << taken;
}

TEST_F(Check, RefusesTestRowsThatTheKernelCannotCompare) {
  std::string rows;
  for (int row = 0; row < 40; ++row)
    rows += std::to_string(row % 2) + " 1:" + std::to_string(row % 5 + 1) + " 2:" + std::to_string(row % 3 + 1) + "\n";
  place_.write("train.txt", rows);
  place_.write("test.txt", "0 1:1 2:1\n1 1:2 2:-1\n");
  const std::string data = "'data={source=\"libsvm\",path=\"./train.txt\",test=\"./test.txt\"}' ";
  const std::string kernel = "'search={method=\"none\"}' 'model_options={kernel=\"chi2\"}'";
  const std::string said = refused(3, data + kernel);
  EXPECT_TRUE(has(said, "feature 2 of test row 2 is negative")) << said;
  EXPECT_FALSE(fs::exists(place_.path() / "runs/small"));
}

TEST_F(Check, SaysWhichStorageItChooses) {
  std::string rows;
  for (int row = 0; row < 40; ++row)
    rows += std::to_string(row % 2) + " " + std::to_string(row % 7 + 1) + ":1 3000000:" + std::to_string(row % 3 + 1) +
            "\n";
  place_.write("wide.txt", rows);
  const std::string data = " --set 'data={source=\"libsvm\",path=\"./wide.txt\",storage=\"auto\"}' ";
  place_.write("e.toml", small_experiment("host", 100));
  const Ended check = place_.mokume("check e.toml" + data);
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_TRUE(has(check.err, "data.storage is 'auto': the rows remain sparse, because dense ones would take"))
      << check.err;
  const Ended planned = place_.mokume("run e.toml --dry-run" + data);
  EXPECT_TRUE(has(planned.err, "the rows remain sparse")) << planned.err;
  const Ended run = place_.mokume("run e.toml" + data);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(has(run.err, "the rows remain sparse")) << run.err;
  EXPECT_TRUE(has(slurp(place_.run("small") / "config.resolved.toml"), "storage = \"sparse\""));
  const Ended again = place_.mokume("run e.toml" + data + "--set data.storage=sparse");
  EXPECT_TRUE(has(again.err, "nothing is left to compute")) << "the plan is that of the choice: " << again.err;
  EXPECT_EQ(place_.mokume("resume " + place_.run("small").string()).code, 0);
  const Ended predicted = place_.mokume("predict " + place_.run("small").string() + " --data libsvm:wide.txt");
  EXPECT_EQ(predicted.code, 0) << predicted.err;
}

TEST_F(Check, MakesRowsDenseForModelsThatNeedThem) {
  std::string rows;
  for (int row = 0; row < 40; ++row)
    rows += std::to_string(row % 2) + " 1:1 2000:" + std::to_string(row % 3 + 1) + "\n";
  place_.write("rows.txt", rows);
  place_.write("e.toml", small_experiment("host", 100));
  const std::string data = "check e.toml --set 'data={source=\"libsvm\",path=\"./rows.txt\",storage=\"auto\"}' ";
  const Ended small = place_.mokume(data);
  EXPECT_TRUE(has(small.err, "the rows become dense, because they then take only")) << small.err;
  const Ended network =
      place_.mokume(data +
                    "--set model=cnn 'search={method=\"none\"}' "
                    "'model_options={batch_size=10,layers=[{type=\"linear\",out_features=2},{type=\"log_softmax\"}]}'");
  EXPECT_TRUE(has(network.err, "the rows become dense, because the model 'cnn' takes no sparse rows")) << network.err;
  std::string wide;
  for (int row = 0; row < 1000; ++row) {
    wide += std::to_string(row % 2);
    for (int k = 1; k < 10; ++k) wide += " " + std::to_string(1000 * k + row) + ":1";
    wide += " 70000:1\n";
  }
  place_.write("rows.txt", wide);
  const Ended kernel = place_.mokume(data + "--set 'search={method=\"none\"}' 'model_options={kernel=\"laplacian\"}'");
  EXPECT_EQ(kernel.code, 0) << kernel.err;
  EXPECT_TRUE(has(kernel.err, "the rows become dense, because the kernels laplacian and chi2 compare dense rows\n"))
      << kernel.err;
  const Ended other = place_.mokume(data + "--set 'search={method=\"none\"}' 'model_options={kernel=\"rbf\"}'");
  EXPECT_TRUE(has(other.err, "the rows remain sparse")) << other.err;
}

TEST_F(Check, RefusesOuterFoldsThatCannotBegin) {
  EXPECT_TRUE(has(refused(2, "validation.outer=200"), "validation.outer is 200 for 100 training rows"));
  const std::string inner = refused(2, "validation.outer=2 validation.folds=70");
  EXPECT_TRUE(has(inner, "outer fold 1 of 2: validation.folds is 70 for 50 training rows")) << inner;
}

TEST_F(Check, TriesEveryOuterFoldOfGroups) {
  std::string rows = "a,b,kind,g\n";
  for (int r = 0; r < 60; ++r)
    rows += std::to_string(r % 7) + ',' + std::to_string(r % 5) + (r % 2 == 0 ? ",x" : ",y") + ",g" +
            std::to_string(std::max(r, 29) / 10) + '\n';
  place_.write("t.csv", rows);
  const std::string said = refused(2,
                                   "'data={source=\"csv\",path=\"./t.csv\",target=\"kind\"}' validation.group=g "
                                   "validation.outer=2 validation.folds=2");
  EXPECT_TRUE(has(said, "outer fold 2 of 2: validation.folds is 2 for 1 groups"))
      << "the second fold holds all groups but one: " << said;
}

TEST_F(Check, NamesAClassThatOneOuterFoldHolds) {
  std::string rows = "a,b,kind,g\n";
  for (int r = 0; r < 60; ++r)
    rows += std::to_string(r % 7) + ',' + std::to_string(r % 5) +
            (r < 10       ? ",z"
             : r % 2 == 0 ? ",x"
                          : ",y") +
            ",g" + std::to_string(r / 10) + '\n';
  place_.write("t.csv", rows);
  place_.write("e.toml", small_experiment("host", 100));
  const Ended check = place_.mokume(
      "check e.toml --set 'data={source=\"csv\",path=\"./t.csv\",target=\"kind\"}' validation.group=g "
      "validation.outer=3 validation.folds=2");
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_TRUE(has(check.err, "holds all rows of the class 'z', so the run without it cannot learn the class"))
      << check.err;
  EXPECT_FALSE(has(check.err, "class 'x'")) << check.err;
}

TEST_F(Check, LeavesNothingWhereARunWouldWrite) {
  place_.write("e.toml", small_experiment("host", 100));
  ASSERT_EQ(place_.mokume("check e.toml").code, 0);
  EXPECT_FALSE(fs::exists(place_.path() / "runs"));
  for (const auto& entry : fs::directory_iterator(place_.path()))
    EXPECT_FALSE(has(entry.path().filename().string(), "check")) << entry.path();
}

TEST_F(Check, RefusesDevicesThatAreAbsentOrTooSmall) {
  EXPECT_TRUE(has(refused(4, "devices.use=quantum"), "no device matches 'quantum'"));
  EXPECT_TRUE(has(refused(4, "devices.memory=\"'64 KiB'\""), "the largest budget of a device is 64.0 KiB"));
}

TEST_F(Check, RefusesSplitsOfARunThatIsNone) {
  const std::string net =
      "model=cnn 'search={}' 'model_options={layers=[{type=\"flatten\"},{type=\"linear\","
      "out_features=10}],epochs=1,batch_size=10,parallel={type=\"synchronous\"}}' "
      "devices.team=true devices.repeat_splits=";
  const std::string said = refused(2, net + "nowhere");
  EXPECT_TRUE(has(said, "'nowhere', and there is no such directory, relative to the working directory " + here()))
      << said;
  fs::create_directory(place_.path() / "empty");
  EXPECT_TRUE(has(refused(2, net + "empty"), "not a run of a team"));
}

TEST_F(Check, SaysThatOnlyARunKnowsTheDevicesOfATeam) {
  place_.write("e.toml", small_experiment("host", 100));
  const std::string team =
      " e.toml --set model=cnn 'search={}' 'model_options={layers=[{type=\"flatten\"},{type=\"linear\","
      "out_features=10}],epochs=1,batch_size=10,parallel={type=\"synchronous\"}}' devices.team=true";
  const std::string said =
      "e.toml: ok; `mokume run` also checks the number of devices in the team, which depends on "
      "the nodes";
  Ended check = place_.mokume("check" + team);
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_TRUE(has(check.err, said + "\n")) << check.err;
  ASSERT_EQ(place_.mokume("run" + team + " devices.use=host:0,host:1").code, 0);
  check = place_.shell(Place::program() + " check" + team + " devices.repeat_splits=$(echo runs/small/*)");
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_TRUE(has(check.err, said + " and must be 2 for devices.repeat_splits\n")) << check.err;
}

TEST_F(Check, SaysWhereAPathWasLookedFor) {
  const std::string relative = "relative to the working directory " + here();
  EXPECT_TRUE(has(refused(3, "'data={source=\"csv\",path=\"./gone.csv\"}'"), "'./gone.csv' cannot be opened: "));
  for (const char* command :
       {"run gone.toml", "check gone.toml", "data info csv:./gone.csv", "data info images:./gone",
        "check e.toml --set validation.file=gone.txt", "status gone", "resume gone", "list gone", "report gone/run",
        "predict gone a.png", "import gone.onnx", "data info idx:./gone", "devices --plugins gone",
        "check e.toml --set data.test=gone.csv data.source=csv "
        "data.path=t.csv"}) {
    place_.write("t.csv", "a,y\n1,x\n2,y\n");
    const Ended ended = place_.mokume(command);
    EXPECT_TRUE(ended.code == 2 || ended.code == 3) << command << ": " << ended.code << ended.err;
    EXPECT_TRUE(has(ended.err, relative)) << command << ": " << ended.err;
  }
  const Ended named = place_.mokume("data info csv:gone.csv");
  EXPECT_TRUE(has(named.err, "'gone.csv' in the working directory " + here() + ", ")) << named.err;
  EXPECT_FALSE(has(place_.mokume("run /gone.toml").err, "relative to")) << "the path is absolute";
}

TEST_F(Check, NamesTheClassOfAWeightOfZero) {
  const std::string said = refused(2, "model_options.multiclass=ovo model_options.class_weight=\"'3=0'\"");
  EXPECT_TRUE(has(said, "class_weight: '3=0' leaves out the class '3'")) << said;
}

}  // namespace
}  // namespace mokume::cli_test
