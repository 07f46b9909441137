#include "worker/train/safetensors.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "worker/train/sha256.h"

namespace agoq {
namespace {

using ::testing::HasSubstr;

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class SafetensorsTest : public testing::Test {
 protected:
  std::string path() const { return folder_ / "x.safetensors"; }

  // A file with this header, and `num_bytes` zeros of tensors.
  void WriteRaw(std::uint64_t header_length, const std::string& header, std::size_t num_bytes) {
    std::ofstream file(path(), std::ios::binary);
    file.write(reinterpret_cast<const char*>(&header_length), sizeof(header_length));
    file << header << std::string(num_bytes, '\0');
  }

  TemporaryFolder folder_;
};

TEST_F(SafetensorsTest, AnIndependentReaderFindsTheTensors) {
  const at::Tensor whole = at::randn({6, 8}, at::kFloat);
  const std::vector<NamedTensor> tensors = {{"strided", whole.narrow(1, 2, 3)},
                                            {"bf16", at::randn({5}, at::kFloat).to(at::kBFloat16)},
                                            {"double", at::randn({2, 2}, at::kDouble)},
                                            {"bytes", at::arange(7, at::kByte)},
                                            {"long", at::arange(3, at::kLong)}};
  const SafetensorsSummary summary = WriteSafetensors(path(), tensors);
  const std::string bytes = ReadAll(path());
  EXPECT_EQ(summary.num_bytes, static_cast<std::int64_t>(bytes.size()));
  EXPECT_EQ(summary.sha256, Sha256Hex(std::as_bytes(std::span(bytes))));
  std::uint64_t header_length = 0;
  std::memcpy(&header_length, bytes.data(), 8);
  const auto header = nlohmann::json::parse(bytes.substr(8, header_length));
  EXPECT_EQ(header.at("__metadata__").at("format"), "pt");
  const std::map<std::string, std::string> types = {
      {"strided", "F32"}, {"bf16", "BF16"}, {"double", "F64"}, {"bytes", "U8"}, {"long", "I64"}};
  for (const auto& [name, tensor] : tensors) {
    const auto& entry = header.at(name);
    EXPECT_EQ(entry.at("dtype"), types.at(name));
    EXPECT_EQ(entry.at("shape").get<std::vector<std::int64_t>>(), tensor.sizes().vec());
    const auto begin = entry.at("data_offsets")[0].get<std::size_t>();
    const auto end = entry.at("data_offsets")[1].get<std::size_t>();
    const at::Tensor packed = tensor.contiguous();
    ASSERT_EQ(end - begin, packed.nbytes());
    EXPECT_EQ(std::memcmp(bytes.data() + 8 + header_length + begin, packed.const_data_ptr(),
                          packed.nbytes()),
              0)
        << name;
  }
}

TEST_F(SafetensorsTest, LoadsWhatWasWritten) {
  const at::Tensor x = at::randn({3, 4}, at::kDouble);
  WriteSafetensors(path(), std::vector<NamedTensor>{{"x", x}, {"empty", x.narrow(0, 0, 0)}});
  const SafetensorsFile file(path());
  EXPECT_TRUE(file.Load("x").equal(x));
  EXPECT_EQ(file.Load("empty").numel(), 0);
  EXPECT_THROW(file.Load("y"), std::out_of_range);
}

TEST_F(SafetensorsTest, LoadsEachTypeAndAnyStrides) {
  const at::Tensor whole = at::randn({6, 8}, at::kFloat);
  const std::vector<NamedTensor> tensors = {{"transposed", whole.t()},
                                            {"every second", whole.slice(1, 1, 8, 2)},
                                            {"expanded", whole.narrow(1, 0, 1).expand({6, 3})},
                                            {"scalar", whole.select(0, 0).select(0, 0)},
                                            {"bf16", whole.to(at::kBFloat16).t()},
                                            {"double", whole.to(at::kDouble)},
                                            {"bytes", at::arange(7, at::kByte)},
                                            {"long", at::arange(-3, 3, at::kLong)}};
  WriteSafetensors(path(), tensors);
  const SafetensorsFile file(path());
  EXPECT_EQ(file.entries().size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor loaded = file.Load(name);
    EXPECT_EQ(loaded.scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(loaded.equal(tensor)) << name;
  }
}

TEST_F(SafetensorsTest, RefusesANameTwice) {
  const at::Tensor x = at::randn({3}, at::kFloat);
  EXPECT_THROW(WriteSafetensors(path(), std::vector<NamedTensor>{{"x", x}, {"x", x}}),
               std::invalid_argument);
}

TEST_F(SafetensorsTest, M03EveryDamageOfTheHeaderIsAClearErrorAtOnce) {
  const std::string good = R"({"x":{"dtype":"F32","shape":[32,8],"data_offsets":[0,1024]}})";
  struct Damage {
    std::uint64_t header_length;
    std::string header;
    std::string finding;
  };
  const auto with = [](const std::string& header, const std::string& finding) {
    return Damage{header.size(), header, finding};
  };
  const std::vector<Damage> damages = {
      {~std::uint64_t{0}, good, "header length is 18446744073709551615"},
      {0, good, "header length is 0"},
      {1 << 20, good, "header length is 1048576"},
      {100'000'001, good, "header length is 100000001"},
      with("not JSON at all", "not a JSON object"),
      with(R"([1])", "not a JSON object"),
      with(R"({"x":{"dtype":"F32","shape":[32,8],"data_offsets":[0,65536]}})", "data_offsets"),
      with(R"({"x":{"dtype":"F32","shape":[32,8],"data_offsets":[1024,0]}})", "data_offsets"),
      with(R"({"x":{"dtype":"F32","shape":[32,8],"data_offsets":[-4,1020]}})", "data_offsets"),
      with(R"({"x":{"dtype":"F32","shape":[32,9],"data_offsets":[0,1024]}})", "its shape needs"),
      with(R"({"x":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,1024]}})",
           "more than any file has"),
      with(R"({"x":{"dtype":"F32","shape":[-32,8],"data_offsets":[0,1024]}})", "shape"),
      with(R"({"x":{"dtype":"F31","shape":[32,8],"data_offsets":[0,1024]}})", "dtype"),
      with(R"({"x":{"shape":[32,8],"data_offsets":[0,1024]}})", "dtype"),
      with(R"({"x":{"dtype":"F32","shape":[32,4],"data_offsets":[0,512]},)"
           R"("y":{"dtype":"F32","shape":[32,4],"data_offsets":[256,768]}})",
           "overlap"),
  };
  for (const Damage& damage : damages) {
    WriteRaw(damage.header_length, damage.header, 1024);
    const auto start = std::chrono::steady_clock::now();
    try {
      const SafetensorsFile file(path());
      ADD_FAILURE() << "no error for " << damage.header;
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr(damage.finding));
      EXPECT_THAT(error.what(), HasSubstr(path()));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  }
  WriteRaw(good.size(), good, 1024);
  EXPECT_EQ(SafetensorsFile(path()).Load("x").numel(), 256);
}

// The file is as long as it says, so that only the cap can refuse it.
TEST_F(SafetensorsTest, M03AHeaderAboveTheCapIsRefusedThoughTheFileHasIt) {
  const std::uint64_t length = kMaxSafetensorsHeaderBytes + 1;
  WriteRaw(length, "{}", 0);
  std::filesystem::resize_file(path(), sizeof(length) + length);
  try {
    const SafetensorsFile file(path());
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("header length is 100000001, not 2 to 100000000"));
  }
}

// A shape without elements passes no matter what its other sizes are, unless they are looked at
// too.
TEST_F(SafetensorsTest, M03HugeSizesBesideAZeroAreDamage) {
  const std::string header =
      R"({"x":{"dtype":"F32","shape":[0,4611686018427387904,4],"data_offsets":[0,0]}})";
  WriteRaw(header.size(), header, 0);
  EXPECT_THROW(SafetensorsFile file(path()), std::runtime_error);
}

TEST_F(SafetensorsTest, M03DamageCostsNoMemory) {
  rusage before = {};
  getrusage(RUSAGE_SELF, &before);
  const std::string header = R"({"x":{"dtype":"F32","shape":[536870912],"data_offsets":[0,64]}})";
  for (const std::uint64_t length : {header.size(), std::size_t{99'000'000}, ~std::size_t{0}}) {
    WriteRaw(length, header, 1024);
    EXPECT_THROW(SafetensorsFile file(path()), std::runtime_error);
  }
  rusage after = {};
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 200 * 1024);
}

TEST_F(SafetensorsTest, M03ADeeplyNestedHeaderCostsNoMemory) {
  const std::string brackets(20'000'000, '[');
  for (const std::string& header : {brackets, R"({"x":)" + brackets}) {
    WriteRaw(header.size(), header, 0);
    rusage before = {};
    getrusage(RUSAGE_SELF, &before);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THROW(SafetensorsFile file(path()), std::runtime_error);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
    rusage after = {};
    getrusage(RUSAGE_SELF, &after);
    EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 200 * 1024);
  }
}

// Loads all there is; the error if it is refused.
std::string ErrorOfLoading(const std::string& path) {
  try {
    const SafetensorsFile file(path);
    for (const SafetensorsEntry& entry : file.entries()) file.Load(entry);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST_F(SafetensorsTest, M03AnyByteOfTheHeaderMayBeWrong) {
  const at::Tensor x = at::randn({3, 4}, at::kFloat);
  const std::vector<NamedTensor> tensors = {{"x", x}, {"y", x.to(at::kDouble)}};
  WriteSafetensors(path(), tensors);
  const std::string whole = ReadAll(path());
  const std::size_t header_end = whole.size() - x.nbytes() * 3;
  for (std::size_t place = 0; place < header_end; ++place) {
    for (const char byte : {'\0', '0', '9', '-', '"', '}', ',', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[place] = byte;
      std::ofstream(path(), std::ios::binary) << damaged;
      const std::string error = ErrorOfLoading(path());
      EXPECT_TRUE(error.empty() || error.starts_with(path())) << place << ": " << error;
    }
  }
}

TEST_F(SafetensorsTest, M03AFileCutAnywhereIsDamage) {
  WriteSafetensors(path(), std::vector<NamedTensor>{{"x", at::arange(6, at::kFloat)}});
  const std::string whole = ReadAll(path());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(path(), std::ios::binary) << whole.substr(0, size);
    EXPECT_THAT(ErrorOfLoading(path()), HasSubstr(path())) << size;
  }
}

}  // namespace
}  // namespace agoq
