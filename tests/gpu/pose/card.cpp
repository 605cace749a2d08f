#include "card.hpp"

#include <toml++/toml.h>
#include <algorithm>
#include <map>
#include <stdexcept>

namespace mokume::pose {
namespace {

class Table {
 public:
  Table(const toml::table& file, const std::string& path, const char* name)
      : path_(path), name_(name), table_(file[name].as_table()) {
    if (table_ == nullptr) fail("", "a table");
  }

  std::string text(const char* key) const { return value<std::string>(key, "a text"); }
  bool flag(const char* key) const { return value<bool>(key, "true or false"); }
  int64_t number(const char* key) const {
    const auto n = value<int64_t>(key, "a number of at least 0");
    if (n < 0) fail(key, "a number of at least 0");
    return n;
  }

  template <size_t N>
  std::array<size_t, N> numbers(const char* key) const {
    const std::vector<size_t> all = list<int64_t, size_t>(key);
    if (all.size() != N) fail(key, (std::to_string(N) + " numbers").c_str());
    std::array<size_t, N> numbers{};
    std::copy(all.begin(), all.end(), numbers.begin());
    return numbers;
  }

  template <class Item, class As = Item>
  std::vector<As> list(const char* key) const {
    const toml::array* items = (*table_)[key].as_array();
    if (items == nullptr) fail(key, "a list");
    std::vector<As> all;
    for (const toml::node& item : *items) {
      const auto one = item.value<Item>();
      if (!one) fail(key, "a list of one type");
      all.push_back(static_cast<As>(*one));
    }
    return all;
  }

  bool has(const char* key) const { return table_->contains(key); }

  cl_int error(const char* key) const {
    static const std::map<std::string, cl_int> codes{{"CL_INVALID_VALUE", CL_INVALID_VALUE},
                                                     {"CL_OUT_OF_RESOURCES", CL_OUT_OF_RESOURCES},
                                                     {"CL_INVALID_WORK_GROUP_SIZE", CL_INVALID_WORK_GROUP_SIZE},
                                                     {"CL_INVALID_GLOBAL_WORK_SIZE", CL_INVALID_GLOBAL_WORK_SIZE},
                                                     {"CL_INVALID_ARG_SIZE", CL_INVALID_ARG_SIZE}};
    const auto found = codes.find(text(key));
    if (found == codes.end()) fail(key, "the name of an error that a launch may have");
    return found->second;
  }

 private:
  [[noreturn]] void fail(const std::string& key, const char* wanted) const {
    throw std::runtime_error(path_ + ": " + name_ + (key.empty() ? "" : "." + key) + " must be " + wanted);
  }

  template <class T>
  T value(const char* key, const char* wanted) const {
    const auto found = (*table_)[key].value<T>();
    if (!found) fail(key, wanted);
    return *found;
  }

  const std::string& path_;
  std::string name_;
  const toml::table* table_;
};

constexpr cl_ulong kMiB = cl_ulong{1} << 20;

void read_device(const Table& t, Card& card) {
  card.name = t.text("name");
  card.vendor = t.text("vendor");
  card.version = t.text("version");
  card.driver = t.text("driver");
  card.vendor_id = static_cast<cl_uint>(t.number("vendor_id"));
  card.compute_units = static_cast<cl_uint>(t.number("compute_units"));
  card.wave = static_cast<cl_uint>(t.number("wave"));
  card.sub_groups = t.list<int64_t, size_t>("sub_groups");
  card.fp64 = t.flag("fp64");
  card.fma = t.flag("fma");
  card.shared_memory = t.flag("shared_memory");
  card.memory_bytes = static_cast<cl_ulong>(t.number("memory_mib")) * kMiB;
  card.buffer_bytes = static_cast<cl_ulong>(t.number("buffer_mib")) * kMiB;
  card.extensions = t.list<std::string>("extensions");
  const auto pci = t.numbers<4>("pci");
  std::transform(pci.begin(), pci.end(), card.pci.begin(), [](size_t n) { return static_cast<cl_uint>(n); });
  if (!t.has("compute_capability")) return;
  const auto capability = t.numbers<2>("compute_capability");
  card.compute_capability = {static_cast<cl_uint>(capability[0]), static_cast<cl_uint>(capability[1])};
}

void read_limits(const Table& t, Card& card) {
  card.work_group = static_cast<size_t>(t.number("work_group"));
  card.work_item_sizes = t.numbers<3>("work_item_sizes");
  card.groups = t.numbers<3>("groups");
  card.local_bytes = static_cast<size_t>(t.number("local_bytes"));
  card.parameter_bytes = static_cast<size_t>(t.number("parameter_bytes"));
  card.groups_error = t.error("groups_error");
  card.local_error = t.error("local_error");
  card.parameter_error = t.error("parameter_error");
}

}  // namespace

bool Card::has_extension(const std::string& extension) const {
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

std::string Card::extension_text() const {
  std::string text;
  for (const std::string& extension : extensions) text += (text.empty() ? "" : " ") + extension;
  return text;
}

Card read_card(const std::string& path) {
  try {
    const toml::table file = toml::parse_file(path);
    Card card;
    const Table platform(file, path, "platform");
    card.platform = {platform.text("name"), platform.text("vendor"), platform.text("version")};
    read_device(Table(file, path, "device"), card);
    read_limits(Table(file, path, "limits"), card);
    return card;
  } catch (const toml::parse_error& e) {
    throw std::runtime_error(path + " is not a card: " + std::string(e.description()));
  }
}

}  // namespace mokume::pose
