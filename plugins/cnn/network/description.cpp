#include "network/description.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

namespace mokume::cnn {
namespace {

enum Column { kLayer, kReads, kOutput, kParameters, kProducts, kMemory, kColumns };
using Row = std::array<std::string, kColumns>;

std::string short_number(double value) {
  constexpr std::array<const char*, 4> kUnits{"", " k", " M", " G"};
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return text + std::string(kUnits[unit]);
}

std::string memory(double bytes) {
  const bool small = bytes < 1 << 20;
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g %s", bytes / (small ? 1 << 10 : 1 << 20), small ? "KiB" : "MiB");
  return text;
}

// Returns the memory for the output and the buffers of a layer. A layer that another one absorbs has no output.
double bytes_of(const Network& network, const Layer& layer, int64_t batch) {
  const bool runs = std::find(network.stages.begin(), network.stages.end(), &layer) != network.stages.end();
  double elements = runs && !layer.in_place ? double(layer.out.elements()) * batch : 0;
  for (const Layer::Buffer& b : layer.buffers) elements += double(b.per_row) * batch + b.fixed;
  return sizeof(float) * elements;
}

std::string table(const std::vector<Row>& rows, bool with_reads) {
  std::array<size_t, kColumns> widths{25, 0, 17};
  for (const Row& row : rows)
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string out;
  for (const Row& row : rows) {
    std::string line = " ";
    for (size_t c = 0; c < row.size(); ++c)
      if (c != kReads || with_reads) line += " " + row[c] + std::string(widths[c] - row[c].size(), ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace

std::string describe(const Network& network, int64_t batch) {
  std::vector<Row> rows{{"layers", "reads", "output", "parameters", "multiply-adds", "memory"},
                        {"input", "", text(network.input), "", "", ""}};
  bool joined = false;  // whether a layer reads other layers than its predecessor
  double products = 0, bytes = sizeof(float) * double(network.input.elements()) * batch;
  for (const auto& layer : network.layers) {
    std::string reads;
    for (const int i : layer->inputs)
      reads += (reads.empty() ? "" : ", ") + (i < 0 ? "input" : network.layers[size_t(i)]->name);
    joined |= layer->inputs.size() > 1 || layer->inputs.front() != int(layer->index) - 1;
    const double kept = bytes_of(network, *layer, batch);
    rows.push_back(
        {"[" + layer->name + "] " + layer->type.form.name, reads, text(layer->out),
         layer->n_parameters == 0 ? "" : std::to_string(layer->n_parameters) + (layer->frozen ? ", frozen" : ""),
         layer->products == 0 ? "" : short_number(layer->products), kept == 0 ? "" : memory(kept)});
    products += layer->products;
    bytes += kept;
  }
  int64_t moments = 0;
  const int64_t frozen = network.frozen_parameters();
  for (const Parameter& p : network.parameters)
    if (p.momentum > 0) moments += p.size();
  return table(rows, joined) + "  " + std::to_string(network.n_parameters - moments) + " parameters" +
         (moments > 0 ? " and " + std::to_string(moments) + " running moments" : "") +
         (frozen > 0 ? ", " + std::to_string(frozen) + " of them frozen" : "") + "; for each row " +
         short_number(products) + " multiply-adds; for a batch of " + std::to_string(batch) + " rows " + memory(bytes) +
         " of activations\n";
}

void pass_steps(const Network& network, const std::function<void(const mk_step&)>& take) {
  take({"", "input", text(network.input).c_str(), 0, nullptr, 0, 0});
  for (const auto& layer : network.layers) {
    std::vector<uint32_t> inputs;
    for (const int i : layer->inputs) inputs.push_back(uint32_t(i + 1));
    take({layer->name.c_str(), layer->type.form.name, text(layer->out).c_str(), layer->n_parameters, inputs.data(),
          uint32_t(inputs.size()), 0});
  }
}

}  // namespace mokume::cnn
