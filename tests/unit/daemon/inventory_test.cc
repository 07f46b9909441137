#include "worker/daemon/inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/temporary_folder.h"

namespace agoq {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr std::int64_t kKiB = 1024;

// Folders as the kernel shows them: 1000 KiB of memory, 700 of them available.
class CpuInventoryTest : public testing::Test {
 protected:
  CpuInventoryTest() {
    Write("proc/meminfo", "MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:  700 kB\n");
    Write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Quick One\n");
  }
  void Write(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  v1::Device Read(std::int64_t memory_bytes, const std::vector<HeldMemory>& held = {}) {
    const auto inventory = NewInventory({.device = "cpu",
                                         .memory_bytes = memory_bytes,
                                         .proc = folder_ / "proc",
                                         .cgroup = folder_ / "cgroup"});
    EXPECT_TRUE(inventory.ok()) << inventory.status();
    const DeviceReading reading = (*inventory)->Read(held);
    EXPECT_EQ(reading.problem, "");
    EXPECT_EQ(reading.devices.size(), 1u);
    return reading.devices.at(0);
  }
  TemporaryFolder folder_;
};

TEST_F(CpuInventoryTest, AConfiguredBudgetBelongsToTheWorkerAlone) {
  const v1::Device device = Read(5000);
  EXPECT_EQ(device.kind(), v1::Device::KIND_CPU);
  EXPECT_EQ(device.uuid(), "cpu");
  EXPECT_EQ(device.model(), "Quick One");
  EXPECT_EQ(device.total_bytes(), 5000);
  EXPECT_EQ(device.free_bytes(), 5000);
  EXPECT_EQ(device.foreign_bytes(), 0);
}

TEST_F(CpuInventoryTest, BudgetsOfRunningRanksAreNotFree) {
  EXPECT_EQ(Read(5000, {{.budget_bytes = 3000}, {.budget_bytes = 500}}).free_bytes(), 1500);
  EXPECT_EQ(Read(5000, {{.budget_bytes = 6000}}).free_bytes(), 0);
}

TEST_F(CpuInventoryTest, WithoutABudgetTheMachineCounts) {
  const v1::Device device = Read(0);
  EXPECT_EQ(device.total_bytes(), 1000 * kKiB);
  EXPECT_EQ(device.foreign_bytes(), 300 * kKiB);
  EXPECT_EQ(device.free_bytes(), 700 * kKiB);
}

TEST_F(CpuInventoryTest, WhatTheOwnRanksUseIsNotForeign) {
  Write("proc/77/statm", "100 10 1 1 0 1 0\n");
  const std::int64_t resident = 10 * ::sysconf(_SC_PAGESIZE);
  const v1::Device device = Read(0, {{.budget_bytes = 200 * kKiB, .pid = 77}});
  EXPECT_EQ(device.foreign_bytes(), 300 * kKiB - resident);
  EXPECT_EQ(device.free_bytes(), 500 * kKiB + resident);
}

TEST_F(CpuInventoryTest, ASmallerGroupLimitCounts) {
  Write("proc/self/cgroup", "0::/pod/box\n");
  Write("cgroup/pod/box/memory.max", "max\n");
  Write("cgroup/pod/memory.max", "409600\n");
  Write("cgroup/pod/memory.current", "150000\n");
  Write("cgroup/pod/memory.stat", "anon 1\ninactive_file 50000\n");
  const v1::Device device = Read(0);
  EXPECT_EQ(device.total_bytes(), 409600);
  EXPECT_EQ(device.foreign_bytes(), 100000);
}

TEST_F(CpuInventoryTest, AGroupWithoutALimitDoesNotCount) {
  Write("proc/self/cgroup", "0::/\n");
  Write("cgroup/memory.max", "max\n");
  EXPECT_EQ(Read(0).total_bytes(), 1000 * kKiB);
}

TEST_F(CpuInventoryTest, LimitsOfVersionOneCount) {
  Write("proc/self/cgroup", "5:cpu,cpuacct:/x\n3:memory:/docker/1\n");
  Write("cgroup/memory/memory.limit_in_bytes", "500000\n");  // the container's own root
  Write("cgroup/memory/memory.usage_in_bytes", "1000\n");
  EXPECT_EQ(Read(0).total_bytes(), 500000);
  Write("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(Read(0).total_bytes(), 1000 * kKiB);
}

TEST_F(CpuInventoryTest, AMachineThatTellsNothingNeedsTheSetting) {
  Write("proc/meminfo", "");
  const auto inventory = NewInventory({.device = "cpu", .proc = folder_ / "proc"});
  EXPECT_THAT(std::string(inventory.status().message()), HasSubstr("memory_bytes"));
}

TEST(InventoryTest, B03CudaWithoutADriverSaysWhatIsMissing) {
  const auto inventory = NewInventory({.device = "cuda", .nvml = "libno-such-nvml.so"});
  EXPECT_TRUE(absl::IsFailedPrecondition(inventory.status()));
  EXPECT_THAT(std::string(inventory.status().message()), HasSubstr("NVML cannot be loaded"));
}

TEST(InventoryTest, AutoWithoutADriverIsTheCpu) {
  const auto inventory =
      NewInventory({.device = "auto", .memory_bytes = 1, .nvml = "libno-such-nvml.so"});
  ASSERT_TRUE(inventory.ok());
  EXPECT_EQ((*inventory)->Read({}).devices.at(0).kind(), v1::Device::KIND_CPU);
}

TEST(InventoryTest, AnotherWordIsNoDevice) {
  EXPECT_TRUE(absl::IsInvalidArgument(NewInventory({.device = "tpu"}).status()));
}

// The library of fake_nvml.cc: one GPU of 1000 bytes with 600 free; process 11 uses 300. It is lost
// while the file named by AGOQ_FAKE_NVML_LOST exists.
class NvmlInventoryTest : public testing::Test {
 protected:
  NvmlInventoryTest() {
    ::setenv("AGOQ_FAKE_NVML_LOST", (folder_ / "lost").c_str(), 1);
    auto inventory = NewInventory({.device = "auto", .nvml = FAKE_NVML});
    EXPECT_TRUE(inventory.ok()) << inventory.status();
    inventory_ = *std::move(inventory);
  }
  TemporaryFolder folder_;
  std::unique_ptr<Inventory> inventory_;
};

TEST_F(NvmlInventoryTest, ReadsWhatTheDriverSays) {
  const DeviceReading reading = inventory_->Read({});
  ASSERT_EQ(reading.devices.size(), 1u);
  const v1::Device& device = reading.devices[0];
  EXPECT_EQ(device.kind(), v1::Device::KIND_CUDA);
  EXPECT_EQ(device.uuid(), "GPU-fake");
  EXPECT_EQ(device.model(), "Fake One");
  EXPECT_EQ(device.driver_version(), "580.1");
  EXPECT_EQ(device.total_bytes(), 1000);
  EXPECT_EQ(device.free_bytes(), 600);
  EXPECT_EQ(device.foreign_bytes(), 400);
}

TEST_F(NvmlInventoryTest, WhatTheOwnRanksUseIsNotForeignButPromised) {
  const DeviceReading reading = inventory_->Read({{.budget_bytes = 500, .pid = 11}});
  EXPECT_EQ(reading.devices.at(0).foreign_bytes(), 100);
  EXPECT_EQ(reading.devices.at(0).free_bytes(), 400);
}

TEST_F(NvmlInventoryTest, ALostGpuIsAProblemAndHasNothingFree) {
  inventory_->Read({});
  std::ofstream(folder_ / "lost") << "";
  const DeviceReading reading = inventory_->Read({});
  EXPECT_THAT(reading.problem, HasSubstr("GPU 0 does not answer (GPU is lost, NVML error 15)"));
  ASSERT_EQ(reading.devices.size(), 1u);
  EXPECT_EQ(reading.devices[0].uuid(), "GPU-fake");
  EXPECT_EQ(reading.devices[0].free_bytes(), 0);
}

}  // namespace
}  // namespace agoq
