#include "import/model.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "import/wire.hpp"
#include "sdk/onnx.hpp"

namespace mokume::cnn::onnx {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kInt32 = 6, kMostItems = 1'000'000;  // more than any network has, and few enough for memory

std::string read_file(const fs::path& path, uint64_t first, std::optional<uint64_t> count) {
  std::error_code failed;
  if (!fs::is_regular_file(fs::status(path, failed)))
    throw Error(MK_BAD_DATA, path.string() + " cannot be opened: check the path");
  const uint64_t size = fs::file_size(path, failed), rest = first <= size ? size - first : 0;
  const uint64_t bytes = count.value_or(rest);
  if (failed || first > size || bytes > rest)
    throw Error(MK_BAD_DATA, path.string() + " is too short for the weights that it should hold: copy it again");
  std::string content(bytes, '\0');
  std::ifstream in(path, std::ios::binary);
  in.seekg(std::streamoff(first));
  in.read(content.data(), std::streamsize(bytes));
  if (!in) throw Error(MK_BAD_DATA, path.string() + " cannot be read: check the disk");
  return content;
}

class Decoder {
 public:
  explicit Decoder(fs::path path) : path_(std::move(path)) {}

  Model model(std::string_view bytes) {
    Model model;
    bool found = false;
    for (Fields f(bytes); f.next();)
      if (f.number() == 7) found = true, graph(f.text(), model);
    if (!found) Fields::damaged();
    model.numbers = numbers_;
    std::erase_if(model.inputs, [&](const ValueInfo& input) { return model.constants.count(input.name) > 0; });
    return model;
  }

 private:
  // Bounds what small files can make of many empty messages.
  void count() {
    if (++items_ > kMostItems) throw Error(MK_UNSUPPORTED, "it has more than a million nodes, names and attributes");
  }
  std::string name(const Fields& f) { return count(), std::string(f.text()); }

  void graph(std::string_view bytes, Model& model) {
    for (Fields f(bytes); f.next();) {
      if (f.number() == 1) model.nodes.push_back(node(f.text()));
      if (f.number() == 5) {
        count();
        std::string called;
        Tensor made = tensor(f.text(), &called);
        model.constants.insert_or_assign(std::move(called), std::move(made));
      }
      if (f.number() == 11) model.inputs.push_back(value_info(f.text()));
      if (f.number() == 12) model.outputs.push_back(value_info(f.text()));
      if (f.number() == 15) throw Error(MK_UNSUPPORTED, "it has sparse weights: export it with dense ones");
    }
  }

  Node node(std::string_view bytes) {
    count();
    Node node;
    for (Fields f(bytes); f.next();) {
      if (f.number() == 1) node.inputs.push_back(name(f));
      if (f.number() == 2) node.outputs.push_back(name(f));
      if (f.number() == 3) node.name = f.text();
      if (f.number() == 4) node.op = f.text();
      if (f.number() == 5) attribute(f.text(), node.attributes);
      if (f.number() == 7) node.domain = f.text();
    }
    return node;
  }

  void attribute(std::string_view bytes, std::map<std::string, Attribute>& to) {
    count();
    std::string called;
    Attribute a;
    for (Fields f(bytes); f.next();) {
      if (f.number() == 1) called = f.text();
      if (f.number() == 2) a.real = f.real();
      if (f.number() == 3) a.integer = f.integer();
      if (f.number() == 4) a.text = f.text();
      if (f.number() == 5) a.tensor = tensor(f.text(), nullptr);
      if (f.number() == 7) f.reals<float>([&](float v) { a.reals.push_back(v); });
      if (f.number() == 8) f.integers([&](int64_t v) { a.integers.push_back(v); });
      if (f.number() == 9) a.texts.push_back(name(f));
    }
    to.insert_or_assign(std::move(called), std::move(a));
  }

  ValueInfo value_info(std::string_view bytes) {
    count();
    ValueInfo info;
    for (Fields f(bytes); f.next();) {
      if (f.number() == 1) info.name = f.text();
      if (f.number() != 2) continue;
      for (Fields type(f.text()); type.next();)
        if (type.number() == 1) tensor_type(type.text(), info);
    }
    return info;
  }

  void tensor_type(std::string_view bytes, ValueInfo& info) {
    for (Fields f(bytes); f.next();) {
      if (f.number() == 1) info.type = f.integer();
      if (f.number() != 2) continue;
      info.has_shape = true;
      for (Fields shape(f.text()); shape.next();) {
        if (shape.number() != 1) continue;
        count();
        int64_t size = kBatch;
        for (Fields dim(shape.text()); dim.next();)
          if (dim.number() == 1) size = dim.integer();
        info.dims.push_back(size);
      }
    }
  }

  Tensor tensor(std::string_view bytes, std::string* called) {
    Tensor t;
    int64_t type = 0, location = 0;
    std::string_view raw;
    std::map<std::string, std::string> external;
    std::vector<int64_t> narrow;
    for (Fields f(bytes); f.next();) {
      if (f.number() == 1) f.integers([&](int64_t v) { count(), t.dims.push_back(v); });
      if (f.number() == 2) type = f.integer();
      if (f.number() == 4) f.reals<float>([&](float v) { t.floats.push_back(v); });
      if (f.number() == 5) f.integers([&](int64_t v) { narrow.push_back(v); });
      if (f.number() == 7) f.integers([&](int64_t v) { t.integers.push_back(v); });
      if (f.number() == 8 && called != nullptr) *called = f.text();
      if (f.number() == 9) raw = f.text();
      if (f.number() == 10) f.reals<double>([&](double v) { t.doubles.push_back(v); });
      if (f.number() == 13) entry(f.text(), external);
      if (f.number() == 14) location = f.integer();
    }
    if (type == kInt32 && t.integers.empty()) t.integers = std::move(narrow);
    const std::string data = location == 1 ? outside(external) : std::string();
    fill(t, type, location == 1 ? std::string_view(data) : raw);
    numbers_ += t.size();
    if (!t.known) return {std::move(t.dims), {}, {}, {}, false};
    check_size(t, called == nullptr ? "a constant" : "the weight '" + *called + "'");
    return t;
  }

  void entry(std::string_view bytes, std::map<std::string, std::string>& to) {
    count();
    std::string key, value;
    for (Fields f(bytes); f.next();) {
      if (f.number() == 1) key = f.text();
      if (f.number() == 2) value = f.text();
    }
    to[key] = value;
  }

  // Weights in a file next to the model. The name comes from the model, so it must not lead anywhere else.
  std::string outside(const std::map<std::string, std::string>& external) const {
    const auto text = [&](const char* key) {
      const auto found = external.find(key);
      return found == external.end() ? std::string() : found->second;
    };
    const auto number = [&](const char* key) -> std::optional<uint64_t> {
      const std::string digits = text(key);
      if (digits.empty()) return std::nullopt;
      if (digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos) Fields::damaged();
      return std::stoull(digits);
    };
    const std::string file = text("location");
    const fs::path path = path_.parent_path() / file;
    std::error_code failed;
    if (file.empty() || file.front() == '.' || file.find('/') != std::string::npos ||
        file.find('\0') != std::string::npos || fs::is_symlink(path, failed))
      throw Error(MK_BAD_DATA,
                  "its weights are in a file that is not next to it: export it with all weights in one file");
    return read_file(path, number("offset").value_or(0), number("length"));
  }

  static void fill(Tensor& t, int64_t type, std::string_view raw) {
    const auto take = [&]<class From, class To>(From, std::vector<To>& to) {
      if (raw.size() % sizeof(From) != 0) Fields::damaged();
      for (size_t at = 0; at < raw.size(); at += sizeof(From))
        to.push_back(static_cast<To>(Fields::number_of<From>(raw.substr(at))));
    };
    if (type == sdk::onnx::kFloat)
      take(float{}, t.floats);
    else if (type == sdk::onnx::kDouble)
      take(double{}, t.doubles);
    else if (type == sdk::onnx::kInt64)
      take(int64_t{}, t.integers);
    else if (type == kInt32)
      take(int32_t{}, t.integers);
    else
      t.known = false;
    const int kinds = int(!t.floats.empty()) + int(!t.doubles.empty()) + int(!t.integers.empty());
    if (kinds > 1) Fields::damaged();
  }

  static void check_size(const Tensor& t, const std::string& title) {
    uint64_t size = 1;
    for (const int64_t dim : t.dims) {
      if (dim < 0 || (dim > 0 && size > (uint64_t{1} << 40) / uint64_t(dim))) Fields::damaged();
      size *= uint64_t(dim);
    }
    if (size != t.size())
      throw Error(MK_BAD_DATA, title + " has more or fewer numbers than its shape needs: export it again");
  }

  const fs::path path_;
  int64_t items_ = 0;
  uint64_t numbers_ = 0;
};

const Attribute* find(const Node& node, const char* attribute) {
  const auto found = node.attributes.find(attribute);
  return found == node.attributes.end() ? nullptr : &found->second;
}

}  // namespace

int64_t Node::integer(const char* attribute, int64_t fallback) const {
  const Attribute* a = find(*this, attribute);
  return a == nullptr ? fallback : a->integer;
}

double Node::real(const char* attribute, double fallback) const {
  const Attribute* a = find(*this, attribute);
  return a == nullptr ? fallback : double{a->real};
}

std::string Node::text(const char* attribute, const char* fallback) const {
  const Attribute* a = find(*this, attribute);
  return a == nullptr ? fallback : a->text;
}

std::vector<int64_t> Node::integers(const char* attribute, const std::vector<int64_t>& fallback) const {
  const Attribute* a = find(*this, attribute);
  return a == nullptr || a->integers.empty() ? fallback : a->integers;
}

std::string Node::title() const { return (name.empty() ? "a node" : "the node '" + name + "'") + " (" + op + ")"; }

Model Model::read(const std::string& path) {
  try {
    return Decoder(path).model(read_file(path, 0, std::nullopt));
  } catch (const Error& e) {
    const std::string text = e.what();
    throw Error(e.status(), text.starts_with(path) ? text : path + ": " + text);
  }
}

}  // namespace mokume::cnn::onnx
