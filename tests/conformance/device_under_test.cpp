#include "device_under_test.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "sdk/error.hpp"
#include "sdk/operands.hpp"
#include "support/paths.hpp"

namespace mokume::conformance {
namespace {

std::string identifier(std::string text) {
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return text;
}

// Reads MOKUME_TEST_CHOICES ("key=value,key=value"), which selects variants that a device does not choose by itself.
std::vector<mk_choice> choices_to_test() {
  std::vector<mk_choice> choices;
  const char* given = std::getenv("MOKUME_TEST_CHOICES");
  std::istringstream text(given == nullptr ? "" : given);
  for (std::string one; std::getline(text, one, ',');) {
    const size_t equals = one.find('=');
    if (equals == std::string::npos)
      throw Error(MK_INVALID_ARGUMENT, "MOKUME_TEST_CHOICES: " + one + " is not key=value");
    mk_choice choice{};
    std::snprintf(choice.key, sizeof(choice.key), "%s", one.substr(0, equals).c_str());
    std::snprintf(choice.value, sizeof(choice.value), "%s", one.substr(equals + 1).c_str());
    choices.push_back(choice);
  }
  return choices;
}

}  // namespace

DeviceUnderTest::DeviceUnderTest(std::string backend, uint32_t index, const mk_backend* table,
                                 const mk_device_info& info)
    : backend_(std::move(backend)),
      index_(index),
      table_(table),
      info_(info),
      label_(backend_ + std::to_string(index) + "_" + identifier(info.platform)) {}

DeviceUnderTest::~DeviceUnderTest() {
  if (device_ == nullptr) return;
  table_->queue_destroy(queue_);
  table_->close(device_);
}

void DeviceUnderTest::open() {
  if (device_ != nullptr) return;
  mk_device* opened = nullptr;
  const std::vector<mk_choice> choices = choices_to_test();
  sdk::call(table_->open, table_->self, index_, choices.data(), static_cast<uint32_t>(choices.size()), &opened);
  device_ = opened;
  sdk::call(table_->queue_create, device_, MK_QUEUE_PROFILING, &queue_);
}

mk_device* DeviceUnderTest::device() {
  open();
  return device_;
}

mk_queue* DeviceUnderTest::queue() {
  open();
  return queue_;
}

uint64_t DeviceUnderTest::bytes_of(mk_buffer* buffer) const {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end()) throw Error(MK_INVALID_ARGUMENT, "a buffer of another device");
  return found->second;
}

Buffer::Buffer(DeviceUnderTest& dut, uint64_t bytes) : dut_(dut), bytes_(bytes) {
  sdk::call(dut.table().buffer_create, dut.device(), bytes, &handle_);
  dut.add(handle_, bytes);
}

void Buffer::write(const Words& content) {
  mk_copy what{};
  what.kind = MK_COPY_WRITE;
  what.to = handle_;
  what.host = const_cast<uint32_t*>(content.data());
  what.bytes = content.size() * 4;
  must(copy(dut_, what));
  finish(dut_);
}

Words Buffer::read() const {
  Words content(bytes_ / 4);
  mk_copy what{};
  what.kind = MK_COPY_READ;
  what.from = handle_;
  what.host = content.data();
  what.bytes = bytes_;
  must(copy(dut_, what));
  finish(dut_);
  return content;
}

bool all_supported(DeviceUnderTest& dut, const std::vector<mk_op>& ops) {
  return std::all_of(ops.begin(), ops.end(),
                     [&](const mk_op& op) { return dut.table().supports(dut.device(), &op) != MK_SUPPORT_NO; });
}

Outcome submit(DeviceUnderTest& dut, const mk_op& op) {
  Outcome outcome{};
  outcome.status = sdk::guard(&outcome.error, [&] {
    ops::check(op);
    ops::check_operands(op, [&](mk_buffer* buffer) { return dut.bytes_of(buffer); });
  });
  if (outcome.status != MK_OK) return outcome;
  outcome.status = dut.table().submit(dut.queue(), &op, nullptr, &outcome.error);
  return outcome;
}

Outcome copy(DeviceUnderTest& dut, const mk_copy& what) {
  Outcome outcome{};
  outcome.status = dut.table().copy(dut.queue(), &what, nullptr, &outcome.error);
  return outcome;
}

void must(const Outcome& outcome) { sdk::check(outcome.status, outcome.error); }

void finish(DeviceUnderTest& dut) { sdk::call(dut.table().finish, dut.queue()); }

Machine::Machine() : registry_(host_.table(), {test::libraries()}) {
  for (const std::string& name : registry_.available(MK_PLUGIN_BACKEND)) {
    const mk_backend* table = registry_.load(MK_PLUGIN_BACKEND, name).backend();
    uint32_t count = 0;
    sdk::call(table->enumerate, table->self, static_cast<mk_device_info*>(nullptr), 0U, &count);
    std::vector<mk_device_info> infos(count);
    sdk::call(table->enumerate, table->self, infos.data(), count, &count);
    if (count != infos.size()) throw Error(MK_INTERNAL, name + ": enumerate gives two numbers of devices");
    for (uint32_t i = 0; i < count; ++i)
      devices_.push_back(std::make_unique<DeviceUnderTest>(name, i, table, infos[i]));
  }
}

DeviceUnderTest* Machine::find(const std::string& backend, uint32_t index) {
  for (auto& device : devices_)
    if (device->backend() == backend && device->index() == index) return device.get();
  return nullptr;
}

DeviceUnderTest& Machine::oracle() {
  DeviceUnderTest* device = find("host", 1);
  if (device == nullptr) throw Error(MK_INTERNAL, "the host backend with its oracle is not built");
  return *device;
}

}  // namespace mokume::conformance
