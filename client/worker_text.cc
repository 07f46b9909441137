#include "client/worker_text.h"

#include <cstdint>

#include "client/values_text.h"
#include "proto/common/text_table.h"

namespace agoq {
namespace {

std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }

std::string KindText(const v1::Device& device) {
  if (device.kind() == v1::Device::KIND_CPU) return "cpu";
  return device.kind() == v1::Device::KIND_CUDA ? "cuda" : "unknown";
}

// "2 cuda"
std::string DevicesText(const v1::Worker& worker) {
  if (worker.devices().empty()) return "-";
  return std::to_string(worker.devices_size()) + " " + KindText(worker.devices(0));
}

std::string SumText(const v1::Worker& worker, std::int64_t (v1::Device::*bytes)() const) {
  std::int64_t sum = 0;
  for (const v1::Device& device : worker.devices()) sum += (device.*bytes)();
  return BytesText(sum);
}

std::string HeardText(const v1::Worker& worker, WallTime now) {
  return worker.has_last_heard_at() ? AgeText(TimeOf(worker.last_heard_at()), now) : "-";
}

std::string StateOf(const v1::Worker& worker, bool has_color) {
  return ColoredState(worker.state(), has_color) + (worker.cordoned() ? ", cordoned" : "");
}

TableRow RowOf(const v1::Worker& worker, const TextOptions& options) {
  TableRow row = {worker.name(),
                  StateOf(worker, options.has_color),
                  DevicesText(worker),
                  SumText(worker, &v1::Device::total_bytes),
                  SumText(worker, &v1::Device::free_bytes),
                  SumText(worker, &v1::Device::foreign_bytes),
                  OrDash(worker.job_id()),
                  HeardText(worker, options.now)};
  if (!options.is_wide) return row;
  row.push_back(worker.job_id().empty() ? "-" : std::to_string(worker.rank()));
  row.push_back(OrDash(worker.version()));
  row.push_back(OrDash(worker.metrics_url()));
  row.push_back(worker.message());
  return row;
}

std::string DeviceTable(const v1::Worker& worker) {
  std::vector<TableRow> rows = {{"DEVICE", "KIND", "MODEL", "UUID", "TOTAL", "FREE", "FOREIGN"}};
  for (int i = 0; i < worker.devices_size(); ++i) {
    const v1::Device& device = worker.devices(i);
    rows.push_back({std::to_string(i), KindText(device), OrDash(device.model()),
                    OrDash(device.uuid()), BytesText(device.total_bytes()),
                    BytesText(device.free_bytes()), BytesText(device.foreign_bytes())});
  }
  return AlignedText(rows);
}

}  // namespace

std::string WorkerTable(const std::vector<v1::Worker>& workers, const TextOptions& options) {
  std::vector<TableRow> rows;
  if (options.has_headers) {
    rows.push_back({"NAME", "STATE", "DEVICES", "TOTAL", "FREE", "FOREIGN", "JOB", "HEARD"});
    if (options.is_wide) {
      rows.back().insert(rows.back().end(), {"RANK", "VERSION", "METRICS", "MESSAGE"});
    }
  }
  for (const v1::Worker& worker : workers) rows.push_back(RowOf(worker, options));
  return AlignedText(rows);
}

std::string WorkerText(const v1::Worker& worker, const TextOptions& options) {
  std::vector<TableRow> rows = {{"name", worker.name()},
                                {"state", StateOf(worker, options.has_color)}};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) rows.push_back({name, value});
  };
  add("message", worker.message());
  if (!worker.job_id().empty()) {
    add("job", worker.job_id() + ", rank " + std::to_string(worker.rank()) + ", attempt " +
                   std::to_string(worker.generation()));
  }
  add("heard", HeardText(worker, options.now) + " ago");
  if (worker.has_connected_at()) add("connected", TimeText(worker.connected_at()));
  add("version", worker.version());
  add("metrics", worker.metrics_url());
  return AlignedText(rows) + "\n" + DeviceTable(worker);
}

}  // namespace agoq
