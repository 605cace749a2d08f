#include "storage/safetensors.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

namespace mokume::safetensors {
namespace {

namespace fs = std::filesystem;

class Safetensors : public testing::Test {
 protected:
  Safetensors() {
    std::string name = testing::TempDir() + "mokume-safetensors-XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~Safetensors() override { fs::remove_all(directory_); }

  std::string path() const { return directory_ + "/x.safetensors"; }

  std::string bytes() const {
    std::ifstream in(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  void put(const std::string& content) const { std::ofstream(path(), std::ios::binary) << content; }

  // Writes a file with this header and `data` bytes of data.
  void put(const std::string& json, size_t data) const {
    const uint64_t length = json.size();
    put(std::string(reinterpret_cast<const char*>(&length), 8) + json + std::string(data, '\1'));
  }

  std::string directory_;
};

std::string message_of(mk_status status, const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), status) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

Writer example(const std::vector<float>& weights, const std::vector<int32_t>& counts, const int64_t* step) {
  Writer writer;
  writer.add("weight", {2, 3}, weights.data());
  writer.add("counts", {5}, counts.data());
  writer.add("step", {}, step);
  writer.add("empty", {4, 0}, static_cast<const float*>(nullptr));
  writer.metadata("made by", "mokume \"test\"\n");
  writer.metadata("a", "");
  return writer;
}

const std::vector<float> kWeights = {1.5F, -0.0F, 3e-42F, std::numeric_limits<float>::infinity(), 7.0F, -1e30F};
const std::vector<int32_t> kCounts = {0, -1, 2147483647, -2147483647 - 1, 5};
constexpr int64_t kStep = -9007199254740993;

TEST_F(Safetensors, ReadsBackWhatWasWritten) {
  example(kWeights, kCounts, &kStep).write(path());
  const Reader reader(path());
  ASSERT_EQ(reader.tensors().size(), 4U);
  EXPECT_EQ(reader.metadata(), (Metadata{{"a", ""}, {"made by", "mokume \"test\"\n"}}));
  std::vector<float> weights(6);
  reader.read("weight", {2, 3}, weights.data());
  EXPECT_EQ(std::memcmp(weights.data(), kWeights.data(), 24), 0);
  std::vector<int32_t> counts(5);
  reader.read("counts", {5}, counts.data());
  EXPECT_EQ(counts, kCounts);
  int64_t step = 0;
  reader.read("step", {}, &step);
  EXPECT_EQ(step, kStep);
  ASSERT_NE(reader.find("empty"), nullptr);
  EXPECT_EQ(reader.find("empty")->shape, (Shape{4, 0}));
  EXPECT_EQ(reader.find("empty")->bytes, 0U);
  EXPECT_EQ(reader.find("absent"), nullptr);
}

TEST_F(Safetensors, TheBytesMatchTheFormatsOwnLibrary) {
  Writer writer;
  const float b[] = {1, 2};
  const int64_t i[] = {3};
  writer.add("b", {1, 2}, b);
  writer.add("a", {1}, i);
  writer.metadata("k", "v");
  writer.write(path());
  std::string json = R"({"__metadata__":{"k":"v"},"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
                     R"("b":{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]}})";
  json.append((8 - json.size() % 8) % 8, ' ');
  const std::string length = {static_cast<char>(json.size()), 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(bytes(), length + json + std::string("\3\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\x40", 16));
}

TEST_F(Safetensors, TheOrderOfCallsDoesNotMatter) {
  example(kWeights, kCounts, &kStep).write(path());
  const std::string first = bytes();
  Writer other;
  other.metadata("a", "overwritten");
  other.metadata("a", "");
  other.add("empty", {4, 0}, kWeights.data());
  other.add("step", {}, &kStep);
  other.add("counts", {5}, kCounts.data());
  other.metadata("made by", "mokume \"test\"\n");
  other.add("weight", {2, 3}, kWeights.data());
  other.write(path());
  EXPECT_EQ(bytes(), first);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1);  // no temporary file remains
}

TEST_F(Safetensors, PiecesGiveTheSameBytesAndAreRead) {
  example(kWeights, kCounts, &kStep).write(path());
  const std::string first = bytes();
  Writer other;
  other.metadata("a", "");
  other.metadata("made by", "mokume \"test\"\n");
  other.add("counts", {5}, kCounts.data());
  other.add("empty", Dtype::f32, {4, 0}, [](const Writer::Put&) {});
  other.add("step", {}, &kStep);
  other.add("weight", Dtype::f32, {2, 3}, [](const Writer::Put& put) {
    std::vector<float> piece(2);  // reused for every piece
    for (size_t k = 0; k < 6; k += 2) {
      std::copy_n(&kWeights[k], 2, piece.begin());
      put(piece.data(), 8);
    }
  });
  other.write(path());
  EXPECT_EQ(bytes(), first);
  const Reader reader(path());
  float middle[2] = {};
  reader.read(*reader.find("weight"), 12, 8, &middle[0]);
  EXPECT_EQ(std::memcmp(&middle[0], &kWeights[3], 8), 0);
}

TEST_F(Safetensors, ASourceThatFailsOrMiscountsLeavesTheOldFile) {
  example(kWeights, kCounts, &kStep).write(path());
  const std::string old = bytes();
  for (const uint64_t given : {uint64_t{20}, uint64_t{28}}) {
    Writer writer;
    writer.add("x", Dtype::f32, {6}, [&](const Writer::Put& put) {
      const std::string data(given, 'x');
      put(data.data(), given);
    });
    const std::string said = message_of(MK_INVALID_ARGUMENT, [&] { writer.write(path()); });
    EXPECT_NE(said.find("'x' received more or fewer bytes"), std::string::npos) << said;
  }
  Writer writer;
  writer.add("x", Dtype::f32, {6}, [](const Writer::Put&) { throw Error(MK_DEVICE_ERROR, "gone"); });
  EXPECT_EQ(message_of(MK_DEVICE_ERROR, [&] { writer.write(path()); }), "gone");
  EXPECT_EQ(bytes(), old);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), 1)
      << "what it had begun is left";
}

TEST_F(Safetensors, AFileMayHaveNoTensors) {
  Writer().write(path());
  const Reader reader(path());
  EXPECT_TRUE(reader.tensors().empty());
  EXPECT_TRUE(reader.metadata().empty());
}

TEST_F(Safetensors, TheWriterRefusesContentThatCannotBeRead) {
  Writer writer;
  writer.add("x", {1}, kWeights.data());
  const auto add = [&](const std::string& name, const Shape& shape, const float* data) {
    return message_of(MK_INVALID_ARGUMENT, [&] { writer.add(name, shape, data); });
  };
  EXPECT_NE(add("x", {1}, kWeights.data()).find("'x' was already added"), std::string::npos);
  EXPECT_NE(add("__metadata__", {1}, kWeights.data()).find("reserved"), std::string::npos);
  EXPECT_NE(add("y", {2, -1}, kWeights.data()).find("[2, -1]"), std::string::npos);
  EXPECT_NE(add("y", {int64_t{1} << 40, int64_t{1} << 40}, kWeights.data()).find("overflow"), std::string::npos);
  EXPECT_NE(add("y", {2}, nullptr).find("no data"), std::string::npos);
  EXPECT_NE(add("\xff", {1}, kWeights.data()).find("UTF-8"), std::string::npos);
  message_of(MK_INVALID_ARGUMENT, [&] { writer.metadata("k", "\xc3"); });
}

TEST_F(Safetensors, AFailedWriteNamesThePathAndLeavesNothing) {
  const std::string nowhere = directory_ + "/absent/x.safetensors";
  EXPECT_NE(message_of(MK_INVALID_ARGUMENT, [&] { Writer().write(nowhere); }).find(nowhere), std::string::npos);
  fs::create_directory(path());  // makes the rename fail
  message_of(MK_INVALID_ARGUMENT, [&] { Writer().write(path()); });
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), 1)
      << "what it had begun is left";
}

TEST_F(Safetensors, ATensorOfAnotherShapeOrTypeIsNotRead) {
  example(kWeights, kCounts, &kStep).write(path());
  const Reader reader(path());
  std::vector<float> weights(6);
  const auto read = [&](const char* name, const Shape& shape) {
    return message_of(MK_BAD_DATA, [&] { reader.read(name, shape, weights.data()); });
  };
  EXPECT_NE(read("weight", {3, 2}).find("'weight' of F32[2, 3] where F32[3, 2] is needed"), std::string::npos);
  EXPECT_NE(read("step", {}).find("'step' of I64[] where F32[] is needed"), std::string::npos);
  EXPECT_NE(read("bias", {1}).find("no tensor 'bias'"), std::string::npos);
}

TEST_F(Safetensors, EveryKindOfDamageIsNamed) {
  struct Case {
    std::string json;
    size_t data;
    std::string said;
  };
  const auto tensor = [](const std::string& name, const std::string& shape, const std::string& offsets) {
    return "\"" + name + R"(":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
  };
  const std::string deep(5000, '[');
  const std::vector<Case> cases = {
      {"", 0, "not a JSON object"},
      {"[]", 0, "not a JSON object"},
      {" {}", 0, "not a JSON object"},
      {"{\"a\":", 0, "not JSON"},
      {"{} x", 0, "not JSON"},
      {"{\"\xff\":1}", 0, "not JSON"},
      {"{\"a\":" + deep, 0, "nested too deeply"},
      {"{\"a\":1}", 0, "'a' that is not an object"},
      {"{\"a\":{}}", 0, "'a' without 'dtype'"},
      {R"({"a":{"dtype":"F32","data_offsets":[0,0]}})", 0, "without 'shape'"},
      {R"({"a":{"dtype":"F32","shape":[0]}})", 0, "without 'data_offsets'"},
      {R"({"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})", 8, "dtype 'F64': only F32, I32 and I64"},
      {R"({"a":{"dtype":7,"shape":[1],"data_offsets":[0,8]}})", 8, "dtype '?'"},
      {R"({"__metadata__":[]})", 0, "metadata values that are not strings"},
      {R"({"__metadata__":{"a":1}})", 0, "metadata values that are not strings"},
      {R"({"__metadata__":{"a":"1","a":"2"}})", 0, "names 'a' twice"},
      {"{" + tensor("a", "[1]", "[0,4]") + "," + tensor("a", "[1]", "[0,4]") + "}", 4, "names 'a' twice"},
      {"{" + tensor("a", "3", "[0,4]") + "}", 4, "shape is not a list"},
      {"{" + tensor("a", "[-1]", "[0,4]") + "}", 4, "not an integer"},
      {"{" + tensor("a", "[1.0]", "[0,4]") + "}", 4, "not an integer"},
      {"{" + tensor("a", "[18446744073709551615]", "[0,4]") + "}", 4, "not an integer"},
      {"{" + tensor("a", "[4294967296,4294967296]", "[0,0]") + "}", 0, "shape overflows"},
      {"{" + tensor("a", "[4611686018427387904]", "[0,0]") + "}", 0, "shape overflows"},
      {"{" + tensor("a", "[1]", "[0]") + "}", 4, "offsets are not a pair"},
      {"{" + tensor("a", "[1]", "[0,4,8]") + "}", 4, "offsets are not a pair"},
      {"{" + tensor("a", "[1]", "[8,4]") + "}", 4, "ends before it begins"},
      {"{" + tensor("a", "[1]", "[0,8]") + "}", 8, "shape and offsets disagree"},
      {"{" + tensor("a", "[2]", "[0,8]") + "}", 7, "ends inside tensor 'a'"},
      {"{" + tensor("a", "[2]", "[0,8]") + "}", 9, "bytes after its last tensor"},
      {"{" + tensor("a", "[1]", "[4,8]") + "}", 8, "gap before tensor 'a'"},
      {"{" + tensor("a", "[2]", "[0,8]") + "," + tensor("b", "[2]", "[4,12]") + "}", 12, "'b' that overlaps another"},
      {"{" + tensor("a", "[1]", "[0,4]") + "," + tensor("b", "[1]", "[0,4]") + "}", 4, "'b' that overlaps another"},
      {"{" + tensor("a", "[2]", "[9223372036854775800,9223372036854775807]") + "}", 4, "disagree"},
      {"{" + tensor("a", "[2]", "[9223372036854775799,9223372036854775807]") + "}", 4, "gap"},
  };
  for (const Case& one : cases) {
    put(one.json, one.data);
    const std::string message = message_of(MK_BAD_DATA, [&] { Reader{path()}; });
    EXPECT_NE(message.find(one.said), std::string::npos) << one.json.substr(0, 100) << "\n" << message;
    EXPECT_EQ(message.rfind(path(), 0), 0U) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST_F(Safetensors, AHeaderLengthIsNotTrusted) {
  for (const uint64_t length : {uint64_t{3}, uint64_t{1000}, UINT64_MAX, UINT64_MAX - 7}) {
    put(std::string(reinterpret_cast<const char*>(&length), 8) + "{}");
    message_of(MK_BAD_DATA, [&] { Reader{path()}; });
  }
  const uint64_t length = kMaxHeaderBytes + 1;
  put(std::string(reinterpret_cast<const char*>(&length), 8) + "{}");
  fs::resize_file(path(), length + 8);
  EXPECT_NE(message_of(MK_BAD_DATA, [&] { Reader{path()}; }).find("16777217 bytes"), std::string::npos);
}

TEST_F(Safetensors, APathThatIsNotAFileIsRefused) {
  message_of(MK_BAD_DATA, [&] { Reader{path()}; });
  message_of(MK_BAD_DATA, [&] { Reader{directory_}; });
  put("");
  EXPECT_NE(message_of(MK_BAD_DATA, [&] { Reader{path()}; }).find("too short"), std::string::npos);
}

TEST_F(Safetensors, AFileCutAnywhereIsRefused) {
  example(kWeights, kCounts, &kStep).write(path());
  const std::string whole = bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    put(whole.substr(0, size));
    message_of(MK_BAD_DATA, [&] { Reader{path()}; });
  }
}

TEST_F(Safetensors, AFileThatShrinksWhileItIsReadIsRefused) {
  example(kWeights, kCounts, &kStep).write(path());
  const Reader reader(path());
  fs::resize_file(path(), fs::file_size(path()) - 1);
  std::vector<int32_t> counts(5);
  EXPECT_NE(message_of(MK_BAD_DATA, [&] { reader.read("counts", {5}, counts.data()); }).find("ends inside tensor"),
            std::string::npos);
}

// After any change of bytes, the reader throws Error(MK_BAD_DATA), or all tensors lie inside the file.
TEST_F(Safetensors, MutatedBytesAreReadOrRefused) {
  example(kWeights, kCounts, &kStep).write(path());
  const std::string whole = bytes();
  std::mt19937 random(20240906);
  const auto below = [&](size_t n) { return random() % n; };
  size_t refused = 0, read = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string mutant = whole;
    for (size_t k = 1 + below(3); k > 0; --k) {
      const size_t at = below(mutant.size());
      switch (below(5)) {
        case 0:
          mutant[at] = static_cast<char>(below(256));
          break;
        case 1:
          mutant[at] = "{}[]\",:0189-.eE \\"[below(17)];
          break;
        case 2:
          mutant.insert(at, mutant.substr(below(mutant.size()), below(40)));
          break;
        case 3:
          mutant.erase(at, 1 + below(20));
          break;
        default:
          mutant[below(8)] = static_cast<char>(below(256));
      }
      if (mutant.empty()) mutant = "x";
    }
    put(mutant);
    try {
      const Reader reader(path());
      for (const Tensor& tensor : reader.tensors()) {
        ASSERT_LE(tensor.bytes, mutant.size());
        std::vector<char> data(tensor.bytes);
        reader.read(tensor, data.data());
      }
      ++read;
    } catch (const Error& e) {
      ASSERT_EQ(e.status(), MK_BAD_DATA) << e.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_GT(read, 100U);
}

TEST_F(Safetensors, AChecksumDetectsEveryFlippedBit) {
  Writer writer = example(kWeights, kCounts, &kStep);
  writer.checksum();
  writer.write(path());
  const std::string whole = bytes();
  {
    const Reader reader(path());
    reader.verify();
    EXPECT_EQ(reader.metadata(), (Metadata{{"a", ""}, {"made by", "mokume \"test\"\n"}}))
        << "it is no text of the user's";
  }
  for (size_t at = 0; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      put(flipped);
      message_of(MK_BAD_DATA, [&] { Reader(path()).verify(); });
    }
  put(whole);
  Reader(path()).verify();
  writer.write(path());
  EXPECT_EQ(bytes(), whole) << "the same content, the same bytes";
}

TEST_F(Safetensors, AFileWithoutAChecksumIsReadAndNotVerified) {
  example(kWeights, kCounts, &kStep).write(path());
  const Reader reader(path());
  EXPECT_NE(message_of(MK_BAD_DATA, [&] { reader.verify(); }).find("has no checksum"), std::string::npos);
  Writer writer;
  message_of(MK_INVALID_ARGUMENT, [&] { writer.metadata("mokume_crc32", "1"); });
}

}  // namespace
}  // namespace mokume::safetensors
