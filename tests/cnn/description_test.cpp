// Tests the table that a dry run shows.
#include "network/description.hpp"

#include "harness.hpp"

namespace mokume::cnn_test {
namespace {

using namespace cnn;

TEST(Description, CountsParametersMomentsProductsAndMemory) {
  Settings s;
  s.layers = R"([{"type":"conv2d","out_channels":8,"kernel_size":3,"stride":1,"padding":1,"bias":false},
                 {"type":"batch_norm","eps":1e-5,"momentum":0.1,"name":"norm"},{"type":"relu"},{"type":"flatten"},
                 {"type":"linear","out_features":4,"bias":true}])";
  const Network network = make_network(s, {16, 16, 2, false}, 4);
  const std::string text = describe(network, 64);
  // The convolution has 3 * 3 * 2 * 8 weights at 16 * 16 places, and its output is 64 images of 2,048 floats.
  EXPECT_NE(text.find("[0] conv2d                8 x 16 x 16       144        36.9 k        512 KiB\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("[2] relu                  8 x 16 x 16\n"), std::string::npos) << text;
  EXPECT_NE(
      text.find("8356 parameters and 16 running moments; for each row 45.1 k multiply-adds; for a batch of 64 rows "
                "1.13 MiB of activations\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("reads"), std::string::npos) << text;
}

TEST(Description, NamesWhatEachLayerReadsWhereTheyAreNotInALine) {
  Settings s;
  s.layers = R"([{"type":"linear","out_features":3,"bias":true,"name":"a"},{"type":"relu","name":"b"},
                 {"type":"add","inputs":"a,b"}])";
  const std::string text = describe(make_network(s, {1, 1, 5, true}, 3), 2);
  EXPECT_NE(text.find("layers                    reads output"), std::string::npos) << text;
  EXPECT_NE(text.find("[2] add                   a, b  3"), std::string::npos) << text;
}

}  // namespace
}  // namespace mokume::cnn_test
