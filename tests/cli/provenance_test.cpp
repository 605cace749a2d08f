// Tests the RO-Crates of `mokume export --provenance`: the profile's requirements, the sums, the signature, and run
// directories that are damaged or hostile.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.hpp"
#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

using Json = nlohmann::json;
using Names = std::set<std::string>;

// Holds a crate and looks up its entities.
class Crate {
 public:
  explicit Crate(const fs::path& directory) : directory_(directory) {
    document = Json::parse(slurp(directory / "ro-crate-metadata.json"));
    for (const Json& entity : document["@graph"]) entities_[entity["@id"]] = entity;
    EXPECT_EQ(entities_.size(), document["@graph"].size()) << "two entities have one id";
  }
  const Json& at(const std::string& id) const { return entities_.at(id); }
  bool has(const std::string& id) const { return entities_.count(id) > 0; }

  // Returns the ids to which a property refers.
  Names referred(const std::string& id, const std::string& property) const {
    const Json& value = at(id)[property];
    Names ids;
    for (const Json& one : value.is_array() ? value : Json::array({value})) ids.insert(one["@id"]);
    return ids;
  }
  Names files() const {
    Names names;
    for (const auto& entry : fs::recursive_directory_iterator(directory_))
      if (entry.is_regular_file()) names.insert(entry.path().lexically_relative(directory_).string());
    return names;
  }

  Json document;

 private:
  fs::path directory_;
  std::map<std::string, Json> entities_;
};

// Checks every requirement of RO-Crate 1.1 and of Process Run Crate 0.5 that has a MUST.
void expect_conforming(const fs::path& directory) {
  const Crate crate(directory);
  EXPECT_EQ(crate.document["@context"],
            Json({"https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"}));
  EXPECT_EQ(crate.at("ro-crate-metadata.json")["@type"], "CreativeWork");
  EXPECT_EQ(crate.referred("ro-crate-metadata.json", "about"), Names{"./"});
  EXPECT_EQ(crate.referred("ro-crate-metadata.json", "conformsTo"), Names{"https://w3id.org/ro/crate/1.1"});
  EXPECT_EQ(crate.at("./")["@type"], "Dataset");
  for (const char* key : {"name", "description", "datePublished", "license"})
    EXPECT_FALSE(crate.at("./")[key].get<std::string>().empty()) << key;
  const std::string profile = "https://w3id.org/ro/wfrun/process/0.5";
  EXPECT_EQ(crate.referred("./", "conformsTo"), Names{profile});
  EXPECT_EQ(crate.at(profile)["@type"], "CreativeWork");
  EXPECT_EQ(crate.referred("./", "mentions"), Names{"#run"});
  EXPECT_EQ(crate.at("#run")["@type"], "CreateAction");
  for (const std::string& tool : crate.referred("#run", "instrument"))
    EXPECT_EQ(crate.at(tool)["@type"], "SoftwareApplication");

  Names listed = crate.referred("./", "hasPart"), there = crate.files();
  there.erase("ro-crate-metadata.json");
  EXPECT_EQ(listed, there);
  const Names kinds = {"File", "CreativeWork", "PropertyValue"};
  for (const char* property : {"object", "result"})
    for (const std::string& id : crate.referred("#run", property))
      EXPECT_TRUE(kinds.count(crate.at(id)["@type"])) << id;
  for (const std::string& name : listed) {
    const Json& file = crate.at(name);
    EXPECT_EQ(file["@type"], "File");
    if (name.starts_with("SHA256SUMS")) continue;  // they follow from the description
    EXPECT_EQ(file["sha256"], base::sha256(slurp(directory / name))) << name;
    EXPECT_EQ(file["contentSize"], std::to_string(fs::file_size(directory / name))) << name;
  }
}

class Provenance : public testing::Test {
 protected:
  void train(const std::string& experiment, int code = 0, const std::string& library = "") {
    place_.write("e.toml", experiment);
    const Ended ended =
        place_.mokume("run e.toml" + (library.empty() ? "" : " --plugins " + test::shell_word(library)));
    ASSERT_EQ(ended.code, code) << ended.err;
    run_ = place_.run("small");
  }
  Ended export_to(const std::string& more) const { return place_.mokume("export " + run_.string() + " " + more); }

  void expect_refused(const std::string& more, int code, const std::string& says) const {
    const Ended ended = export_to("--provenance crate " + more);
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_TRUE(has(ended.err, says)) << says << " is not in: " << ended.err;
    EXPECT_EQ(lines_of(ended.err).size(), 1U) << ended.err;
    for (const auto& entry : fs::directory_iterator(place_.path()))
      EXPECT_FALSE(entry.path().filename().string().starts_with("crate")) << entry.path();
  }

  Place place_;
  fs::path run_;
};

TEST_F(Provenance, ACrateMeetsItsProfileAndHoldsTheResults) {
  train(small_experiment("host", 200));
  const Ended ended = export_to("--provenance crate/");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "crate/\n");
  expect_conforming(place_.path() / "crate");
  const Crate crate(place_.path() / "crate");
  for (const char* name : {"results.csv", "candidates.csv", "summary.json", "out_of_fold.csv",
                           "models/best/manifest.json", "models/best/class-3.libsvm"}) {
    EXPECT_EQ(slurp(place_.path() / "crate" / name), slurp(run_ / name)) << name;
    EXPECT_EQ(crate.referred("#run", "result").count(name), 1U) << name;
  }
  const Json record = Json::parse(base::unseal_file(slurp(run_ / "run.json"))->object);
  EXPECT_EQ(crate.at("#plan")["value"], record["plan_hash"]);
  EXPECT_EQ(crate.at("#data")["sha256"], record["data"]["sha256"]);
  EXPECT_EQ(crate.at("#device-0")["value"], record["devices"][0]["name"]);
  EXPECT_TRUE(has(crate.at("#choices-0")["value"], "numerics = fast"));
  EXPECT_EQ(crate.at("#mokume")["softwareVersion"], record["environment"]["version"]);
  EXPECT_EQ(crate.at("#run")["actionStatus"], "http://schema.org/CompletedActionStatus");
  EXPECT_FALSE(crate.at("#run").contains("error"));
  EXPECT_LE(crate.at("#run")["startTime"], crate.at("#run")["endTime"]);
  EXPECT_EQ(crate.at("#run")["endTime"].get<std::string>().size(), std::string("2026-11-29T18:07:10+00:00").size());
  EXPECT_EQ(place_.shell("cd crate && sha256sum --strict --quiet -c SHA256SUMS").code, 0);
  EXPECT_EQ(lines_of(slurp(place_.path() / "crate/SHA256SUMS")).size() + 1, crate.files().size());
  ASSERT_EQ(export_to("--provenance again").code, 0);
  EXPECT_EQ(place_.shell("diff -r crate again").code, 0);
}

TEST_F(Provenance, TheExperimentOfACrateGivesTheSameResults) {
  train(small_experiment("host", 200));
  ASSERT_EQ(export_to("--provenance crate").code, 0);
  const Ended ended = place_.mokume("run crate/experiment.toml --fresh --out again");
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (const auto& entry : fs::directory_iterator(place_.path() / "again/small"))
    EXPECT_EQ(slurp(entry.path() / "results.csv"), slurp(place_.path() / "crate/results.csv"));
}

// The tables come from the journal, whose lines have checksums, and not from files that anybody may have edited.
TEST_F(Provenance, ResultsThatSomebodyEditedAreNotExported) {
  train(small_experiment("host", 200));
  const std::string before = slurp(run_ / "results.csv");
  std::ofstream(run_ / "results.csv") << "candidate,error\n0,0\n";
  ASSERT_EQ(export_to("--provenance crate").code, 0);
  EXPECT_EQ(slurp(place_.path() / "crate/results.csv"), before);
}

TEST_F(Provenance, ACrateNamesNeitherPlacesNorHostNorCommand) {
  std::string rows = "a,b,class\n";
  for (int r = 0; r < 60; ++r)
    rows += std::to_string(r % 7) + ',' + std::to_string(r % 5) + ',' + (r % 2 ? "x\n" : "y\n");
  place_.write("rows.csv", rows);
  const std::string here = place_.path().string();
  train("name = \"small\"\nmodel = \"svc\"\nvalidation.folds = 2\ndevices.use = \"host\"\noutput.directory = \"" +
        here + "/runs\"\nplugins.directories = [\"" + test_library() + "\"]\ndata = { source = \"csv\", path = \"" +
        here + "/rows.csv\" }\n");
  const Json record = Json::parse(base::unseal_file(slurp(run_ / "run.json"))->object);
  const std::string host = record["environment"]["host"];
  rewrite(run_ / "run.json", "\"host\": \"" + host + '"', "\"host\": \"host-of-mine\"");  // it may be a common word
  ASSERT_EQ(export_to("--provenance crate").code, 0);
  ASSERT_TRUE(has(slurp(run_ / "run.json"), "host-of-mine"));
  ASSERT_TRUE(has(slurp(run_ / "config.resolved.toml"), here));
  for (const std::string& word :
       {here, test_library(), std::string("host-of-mine"), record["environment"]["command"].get<std::string>()})
    EXPECT_EQ(place_.shell("grep -rF " + test::shell_word(word) + " crate").code, 1) << word;
  EXPECT_TRUE(has(slurp(place_.path() / "crate/experiment.toml"), "path = \"rows.csv\""));
}

TEST_F(Provenance, AnEnsembleHasAllItsMembers) {
  train(small_experiment("host", 200) + "[bagging]\nbootstraps = 2\n");
  ASSERT_EQ(export_to("--provenance crate").code, 0);
  expect_conforming(place_.path() / "crate");
  const Crate crate(place_.path() / "crate");
  for (const char* name :
       {"models/vote.json", "models/member-000/test.npy", "models/member-001/manifest.json", "ensemble.csv"})
    EXPECT_TRUE(crate.has(name)) << name;
}

TEST_F(Provenance, ARunWithFailedFitsSaysSo) {
  train(
      "name = \"small\"\nmodel = \"mean\"\ndata.source = \"digits\"\ndata.limit = 60\nvalidation.folds = 2\n"
      "devices.use = \"host\"\nmodel_options.reports = \"nan\"\n",
      5, test_library());
  const Ended ended = export_to("--provenance crate --plugins " + test::shell_word(test_library()));
  ASSERT_EQ(ended.code, 0) << ended.err;
  expect_conforming(place_.path() / "crate");
  const Crate crate(place_.path() / "crate");
  EXPECT_EQ(crate.at("#run")["actionStatus"], "http://schema.org/FailedActionStatus");
  EXPECT_TRUE(has(crate.at("#run")["error"], "2 fits and ")) << crate.at("#run")["error"];
}

TEST_F(Provenance, ASignatureIsOneThatSshKeygenVerifies) {
  if (!have("ssh-keygen")) GTEST_SKIP() << "ssh-keygen is not installed";
  train(small_experiment("host", 200));
  ASSERT_EQ(place_.shell("ssh-keygen -q -t ed25519 -N '' -C '' -f key && echo \"me $(cat key.pub)\" >signers").code, 0);
  const Ended ended = export_to("--provenance crate --sign key");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.err, "");
  expect_conforming(place_.path() / "crate");
  const std::string verify =
      "ssh-keygen -Y verify -f signers -I me -n mokume -s crate/SHA256SUMS.sig <crate/SHA256SUMS";
  EXPECT_EQ(place_.shell(verify).code, 0);
  EXPECT_EQ(place_.shell("cd crate && sha256sum --strict --quiet -c SHA256SUMS").code, 0);
  std::ofstream(place_.path() / "crate/SHA256SUMS", std::ios::app) << std::string(64, '0') << "  more.csv\n";
  EXPECT_NE(place_.shell(verify).code, 0);
}

TEST_F(Provenance, AKeyThatCannotSignLeavesNoCrate) {
  if (!have("ssh-keygen")) GTEST_SKIP() << "ssh-keygen is not installed";
  train(small_experiment("host", 200));
  expect_refused("--sign no-such-key", 2, "ssh-keygen cannot sign with 'no-such-key': ");
  place_.write("odd", "not a key\n");
  expect_refused("--sign odd", 2, "ssh-keygen cannot sign with 'odd': ");
  const Ended ended =
      place_.shell("PATH=/nowhere " + Place::program() + " export " + run_.string() + " --provenance crate --sign odd");
  EXPECT_EQ(ended.code, 2);
  EXPECT_TRUE(has(ended.err, "install it (openssh-client in Debian)")) << ended.err;
}

TEST_F(Provenance, ACrateIsNotOverwritten) {
  train(small_experiment("host", 200));
  place_.write("kept", "mine");
  for (const char* name : {"kept", "link"}) {
    if (name == std::string("link")) fs::create_symlink("nowhere", place_.path() / name);
    const Ended ended = export_to(std::string("--provenance ") + name);
    EXPECT_EQ(ended.code, 2);
    EXPECT_TRUE(has(ended.err, std::string(name) + " exists already: remove it")) << ended.err;
  }
  EXPECT_EQ(slurp(place_.path() / "kept"), "mine");
  EXPECT_EQ(export_to("--provenance no/such/parent").code, 2);
}

TEST_F(Provenance, AnUnfinishedRunIsRefused) {
  train(small_experiment("host", 200));
  rewrite(run_ / "run.json", "\"state\": \"done\"", "\"state\": \"stopped\"");
  expect_refused("", 2, "is unfinished, so its results may still change: `mokume resume ");
}

TEST_F(Provenance, ADamagedOrHostileRunIsRefusedInOneSentence) {
  train(small_experiment("host", 200));
  fs::rename(run_, place_.path() / "whole");
  const auto spoiled = [&](const char* name, const auto& spoil) {
    fs::remove_all(place_.path() / "d");
    fs::copy(place_.path() / "whole", place_.path() / "d", fs::copy_options::recursive);
    run_ = "d";
    spoil(place_.path() / "d" / name);
  };
  const auto overwrite = [](const fs::path& file) { std::ofstream(file) << "odd"; };
  const auto remove = [](const fs::path& file) { fs::remove_all(file); };
  const auto link = [](const fs::path& file) {
    fs::remove_all(file);
    fs::create_symlink("/etc/passwd", file);
  };
  const auto pipe = [](const fs::path& file) {
    fs::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  };
  spoiled("run.json", overwrite);
  expect_refused("", 3, "d/run.json is damaged");
  spoiled("run.json", remove);
  expect_refused("", 2, "d is not a run directory");
  spoiled("journal", remove);
  expect_refused("", 3, "d/journal is missing");
  spoiled("config.resolved.toml", overwrite);
  expect_refused("", 3, "d/config.resolved.toml has changed");
  spoiled("models/best/class-3.libsvm", overwrite);
  expect_refused("", 3, "class-3.libsvm was changed after it was written");
  spoiled("models/best/class-3.libsvm", remove);
  expect_refused("", 3, "class-3.libsvm");
  spoiled("models/best/more\nlines.csv", overwrite);
  expect_refused("", 3, "d/models/best has a file that no model has");
  for (const char* name : {"out_of_fold.csv", "models/best/manifest.json", "models/best", "models", "journal"}) {
    spoiled(name, link);
    expect_refused("", 3, std::string("d/") + name + " is a symbolic link");
  }
  spoiled("out_of_fold.csv", pipe);
  expect_refused("", 3, "cannot read 'd/out_of_fold.csv': it is not a regular file");
}

TEST_F(Provenance, OptionsThatDoNotFitAreRefused) {
  EXPECT_EQ(place_.mokume("export r --sign key").code, 2);
  EXPECT_EQ(place_.mokume("export r --onnx a.onnx --provenance c").code, 2);
}

}  // namespace
}  // namespace mokume::cli_test
