// Fresh readings of this worker's devices.
#pragma once

#include "worker/daemon/inventory.h"
#include "worker/daemon/supervisor.h"
#include "worker/daemon/worker_metrics.h"

namespace agoq {

// Thread-safe. Its parts outlive it.
class DeviceMonitor {
 public:
  DeviceMonitor(Inventory& inventory, const Supervisor& supervisor, WorkerMetrics& metrics)
      : inventory_(inventory), supervisor_(supervisor), metrics_(metrics) {}

  // Also shows it in the metrics.
  DeviceReading Read() {
    DeviceReading reading = inventory_.Read(supervisor_.Memory());
    metrics_.SetDevices(reading.devices);
    return reading;
  }

 private:
  Inventory& inventory_;
  const Supervisor& supervisor_;
  WorkerMetrics& metrics_;
};

}  // namespace agoq
