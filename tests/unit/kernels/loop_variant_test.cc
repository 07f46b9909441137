// The baseline and the AVX2 build of each loop give the same bits.
#include "kernels/ref/loop_variant.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/ref/adam_loops.h"
#include "kernels/ref/codec_loops.h"
#include "kernels/ref/convert_loops.h"
#include "kernels/ref/squared_norm_loops.h"

namespace agoq::ref {
namespace {

template <class T>
bool Same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T>
std::vector<T> Normal(std::int64_t n, double magnitude, std::mt19937& engine) {
  std::normal_distribution<double> normal;
  std::vector<T> values(static_cast<std::size_t>(n));
  for (T& value : values) value = static_cast<T>(normal(engine) * magnitude);
  return values;
}

class LoopVariantTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!IsAvailable(LoopVariant::kAvx2)) GTEST_SKIP() << "this build or CPU has no AVX2 loops";
  }
  // Any length of 1..kMaxBlock, so that tails of all sizes are met.
  std::int64_t Length() { return 1 + engine_() % kMaxBlock; }
  double Magnitude() { return std::ldexp(1.0, static_cast<int>(engine_() % 250) - 140); }

  std::mt19937 engine_{1};
};

template <class Loops>
const Loops& Baseline() {
  return LoopsOf<Loops>(LoopVariant::kBaseline);
}
template <class Loops>
const Loops& Avx2() {
  return LoopsOf<Loops>(LoopVariant::kAvx2);
}

TEST_F(LoopVariantTest, BestVariantIsAvx2WhereThereIsOne) {
  EXPECT_EQ(BestVariant(), LoopVariant::kAvx2);
}

TEST_F(LoopVariantTest, CodecGivesTheSameBits) {
  for (int round = 0; round < 2000; ++round) {
    const std::int64_t n = Length();
    const Format format = kAllFormats[round % 2];
    std::vector<float> x = Normal<float>(n, Magnitude(), engine_);
    if (round % 50 == 0) x.back() = NAN;
    const auto bytes = static_cast<std::size_t>(CodeBytes({.format = format}, n));
    std::vector<std::uint8_t> a(bytes), b(bytes);
    const std::vector<float> scale_a{Baseline<CodecLoops>().encode(format, x.data(), n, a.data())};
    const std::vector<float> scale_b{Avx2<CodecLoops>().encode(format, x.data(), n, b.data())};
    ASSERT_TRUE(Same(a, b));
    ASSERT_TRUE(Same(scale_a, scale_b));
    std::vector<float> y(x.size()), z(x.size());
    Baseline<CodecLoops>().decode(format, a.data(), n, scale_a[0], y.data());
    Avx2<CodecLoops>().decode(format, a.data(), n, scale_a[0], z.data());
    ASSERT_TRUE(Same(y, z));
  }
}

TEST_F(LoopVariantTest, ConversionsGiveTheSameBits) {
  const ConvertLoops& base = Baseline<ConvertLoops>();
  const ConvertLoops& avx2 = Avx2<ConvertLoops>();
  for (int round = 0; round < 300; ++round) {
    const std::int64_t n = Length();
    std::vector<float> x = Normal<float>(n, Magnitude(), engine_);
    x[engine_() % x.size()] = round % 2 == 0 ? NAN : INFINITY;
    const auto doubles = Normal<double>(n, Magnitude(), engine_);
    std::vector<std::uint16_t> half_a(x.size()), half_b(x.size());
    base.float_to_bfloat16(x.data(), n, half_a.data());
    avx2.float_to_bfloat16(x.data(), n, half_b.data());
    ASSERT_TRUE(Same(half_a, half_b));
    std::vector<float> a(x.size()), b(x.size());
    base.bfloat16_to_float(half_a.data(), n, a.data());
    avx2.bfloat16_to_float(half_a.data(), n, b.data());
    ASSERT_TRUE(Same(a, b));
    base.double_to_float(doubles.data(), n, a.data());
    avx2.double_to_float(doubles.data(), n, b.data());
    ASSERT_TRUE(Same(a, b));
    std::vector<double> wide_a(x.size()), wide_b(x.size());
    base.float_to_double(a.data(), n, wide_a.data());
    avx2.float_to_double(a.data(), n, wide_b.data());
    ASSERT_TRUE(Same(wide_a, wide_b));
  }
}

TEST_F(LoopVariantTest, SumsAndCountsGiveTheSameBits) {
  const ConvertLoops& base = Baseline<ConvertLoops>();
  const ConvertLoops& avx2 = Avx2<ConvertLoops>();
  for (int round = 0; round < 300; ++round) {
    const std::int64_t n = Length();
    std::vector<float> x = Normal<float>(n, Magnitude(), engine_);
    if (round % 2 == 0) x[engine_() % x.size()] = INFINITY;
    std::vector<float> a = Normal<float>(n, Magnitude(), engine_), b = a;
    ASSERT_EQ(base.count_non_finite(x.data(), n), avx2.count_non_finite(x.data(), n));
    base.add(x.data(), n, a.data());
    avx2.add(x.data(), n, b.data());
    ASSERT_TRUE(Same(a, b));
    base.multiply(0.3f, n, a.data());
    avx2.multiply(0.3f, n, b.data());
    ASSERT_TRUE(Same(a, b));
  }
}

TEST_F(LoopVariantTest, SquaredNormGivesTheSameBits) {
  for (int round = 0; round < 300; ++round) {
    const std::int64_t n = Length();
    const auto floats = Normal<float>(n, 1.0, engine_);
    const auto doubles = Normal<double>(n, 1.0, engine_);
    ASSERT_EQ(Baseline<SquaredNormLoops>().of_floats(floats.data(), n),
              Avx2<SquaredNormLoops>().of_floats(floats.data(), n));
    ASSERT_EQ(Baseline<SquaredNormLoops>().of_doubles(doubles.data(), n),
              Avx2<SquaredNormLoops>().of_doubles(doubles.data(), n));
  }
}

template <class T>
struct AdamState {
  std::vector<T> weight, moment1, moment2, gradient;

  AdamRun<T> run() {
    return {.weight = weight.data(),
            .moment1 = moment1.data(),
            .moment2 = moment2.data(),
            .gradient = gradient.data(),
            .n = static_cast<std::int64_t>(weight.size())};
  }
};

template <class T>
void ExpectSameAdam(std::int64_t n, std::mt19937& engine,
                    void (*AdamLoops::*loop)(const AdamRun<T>&, const AdamConstants<T>&)) {
  AdamState<T> a{.weight = Normal<T>(n, 1.0, engine),
                 .moment1 = Normal<T>(n, 0.1, engine),
                 .moment2 = Normal<T>(n, 0.1, engine),
                 .gradient = Normal<T>(n, 0.1, engine)};
  for (T& value : a.moment2) value *= value;
  AdamState<T> b = a;
  const AdamConstants<T> constants{.decay = T(0.9997),
                                   .beta1 = T(0.9),
                                   .one_minus_beta1 = T(0.1),
                                   .beta2 = T(0.95),
                                   .one_minus_beta2 = T(0.05),
                                   .step_size = T(0.003),
                                   .root_correction2 = T(0.7),
                                   .epsilon = T(1e-8),
                                   .clip_factor = T(0.8)};
  (Baseline<AdamLoops>().*loop)(a.run(), constants);
  (Avx2<AdamLoops>().*loop)(b.run(), constants);
  ASSERT_TRUE(Same(a.weight, b.weight));
  ASSERT_TRUE(Same(a.moment1, b.moment1));
  ASSERT_TRUE(Same(a.moment2, b.moment2));
}

TEST_F(LoopVariantTest, AdamGivesTheSameBits) {
  for (int round = 0; round < 100; ++round) {
    ExpectSameAdam<float>(Length(), engine_, &AdamLoops::in_float);
    ExpectSameAdam<double>(Length(), engine_, &AdamLoops::in_double);
  }
}

}  // namespace
}  // namespace agoq::ref
