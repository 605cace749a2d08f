// Targets for the files of networks.
#include <algorithm>

#include "checkpoint.hpp"
#include "fitted.hpp"
#include "fuzz.hpp"
#include "safetensors.hpp"

namespace mokume::fuzz {
namespace {

namespace st = cnn::safetensors;

// Writes the tensors again; the files must be equal from then on.
std::string rewritten(const std::string& from, const std::string& to) {
  const st::Reader reader(from);
  st::Writer writer;
  std::vector<std::string> kept;
  for (const st::Tensor& tensor : reader.tensors()) {
    kept.emplace_back(tensor.bytes, '\0');
    reader.read(tensor, kept.back().data());
  }
  for (size_t i = 0; i < kept.size(); ++i)
    writer.add(reader.tensors()[i].name, reader.tensors()[i].dtype, reader.tensors()[i].shape, kept[i].data());
  for (const auto& [key, value] : reader.metadata()) writer.metadata(key, value);
  writer.checksum();
  writer.write(to);
  return contents(to);
}

FUZZ_TARGET(safetensors) {
  const std::string path = file("a.safetensors", bytes);
  accepts([&] {
    const std::string first = rewritten(path, scratch() + "/b.safetensors");
    st::Reader(scratch() + "/b.safetensors").verify();
    require(rewritten(scratch() + "/b.safetensors", scratch() + "/c.safetensors") == first,
            "tensors read back differently");
  });
  accepts([&] { st::Reader(path).verify(); });
}

// The manifest and the weights.
FUZZ_TARGET(cnn_model) {
  const auto two = parts(bytes, 2);
  file("cnn/manifest.json", two[0]);
  file("cnn/model.safetensors", two[1]);
  accepts([] {
    const cnn::Fitted read = cnn::Fitted::load(scratch() + "/cnn");
    file("cnn-again/manifest.json", "");
    read.save(scratch() + "/cnn-again");
    const std::string first = contents(scratch() + "/cnn-again/manifest.json") +
                              contents(scratch() + "/cnn-again/model.safetensors");
    cnn::Fitted::load(scratch() + "/cnn-again").save(scratch() + "/cnn-again");
    require(contents(scratch() + "/cnn-again/manifest.json") + contents(scratch() + "/cnn-again/model.safetensors") ==
                first,
            "a model reads back differently");
  });
}

}  // namespace
}  // namespace mokume::fuzz
