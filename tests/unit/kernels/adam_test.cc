// AdamW against a plain loop in double.
#include "kernels/ops/adam.h"

#include <ATen/Parallel.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "kernels/ops/dequantize.h"
#include "kernels/ops/quantize.h"
#include "tests/unit/kernels/samples.h"

namespace agoq {
namespace {

using test::Gaussian;
using test::SameBits;

constexpr std::int64_t kElements = 10'001;
constexpr int kSteps = 20;
constexpr QuantSpec kSpec{.format = Format::kInt8, .block = kGradientBlock};

ops::AdamArgs Settings() {
  return {.learning_rate = 3e-3,
          .beta1 = 0.9,
          .beta2 = 0.95,
          .epsilon = 1e-8,
          .weight_decay = 0.1,
          .clip_factor = 0.7};
}

// The update as its paper writes it (arXiv 1711.05101).
class PlainAdamW {
 public:
  explicit PlainAdamW(const at::Tensor& weight)
      : weight_(weight.to(at::kDouble).clone()),
        moment1_(static_cast<std::size_t>(weight.numel())),
        moment2_(moment1_.size()) {}

  void Step(const at::Tensor& gradient, const ops::AdamArgs& a) {
    const at::Tensor wide = gradient.to(at::kDouble).contiguous();
    double* const w = weight_.data_ptr<double>();
    for (std::size_t i = 0; i < moment1_.size(); ++i) {
      const double g = wide.data_ptr<double>()[i] * a.clip_factor;
      moment1_[i] = a.beta1 * moment1_[i] + (1.0 - a.beta1) * g;
      moment2_[i] = a.beta2 * moment2_[i] + (1.0 - a.beta2) * g * g;
      const double m = moment1_[i] / (1.0 - std::pow(a.beta1, a.step));
      const double v = moment2_[i] / (1.0 - std::pow(a.beta2, a.step));
      w[i] -= a.learning_rate * a.weight_decay * w[i];
      w[i] -= a.learning_rate * m / (std::sqrt(v) + a.epsilon);
    }
  }
  const at::Tensor& weight() const { return weight_; }

 private:
  at::Tensor weight_;
  std::vector<double> moment1_;
  std::vector<double> moment2_;
};

// Runs kSteps of both; `args` names the tensors; `set_gradient` puts step k's gradient into args
// and returns it plainly.
template <class SetGradient>
at::Tensor PlainResult(ops::AdamArgs& args, const at::Tensor& start, SetGradient set_gradient) {
  PlainAdamW plain(start);
  for (int k = 1; k <= kSteps; ++k) {
    args.step = k;
    const at::Tensor gradient = set_gradient(k);
    plain.Step(gradient, args);
    ops::AdamStep(args);
  }
  return plain.weight();
}

ops::AdamArgs ArgsFor(at::ScalarType type) {
  ops::AdamArgs args = Settings();
  args.weight = Gaussian(kElements, 1).to(type);
  const at::ScalarType state = type == at::kBFloat16 ? at::kFloat : type;
  if (type == at::kBFloat16) args.master = Gaussian(kElements, 1);
  args.moment1 = at::zeros({kElements}, state);
  args.moment2 = at::zeros({kElements}, state);
  return args;
}

TEST(AdamTest, EqualsThePlainLoopInDouble) {
  ops::AdamArgs args = ArgsFor(at::kDouble);
  const at::Tensor expected = PlainResult(args, args.weight, [&](int k) {
    return args.gradient = Gaussian(kElements, 10 + k).to(at::kDouble);
  });
  EXPECT_LE((test::RelativeError<double, double>(args.weight, expected)), 1e-14);
}

TEST(AdamTest, FollowsThePlainLoopInFloat) {
  ops::AdamArgs args = ArgsFor(at::kFloat);
  const at::Tensor expected = PlainResult(
      args, args.weight, [&](int k) { return args.gradient = Gaussian(kElements, 10 + k); });
  EXPECT_LE((test::RelativeError<float, double>(args.weight, expected)), 1e-6);
}

TEST(AdamTest, DecodesPackedGradientsInBothArithmetics) {
  for (const QuantSpec spec : {kSpec, QuantSpec{.format = Format::kNf4, .block = 32}}) {
    PackedTensor packed;
    const auto set_gradient = [&](ops::AdamArgs& args, int k) {
      packed = ops::Quantize(Gaussian(kElements, 10 + k), spec, 0, nullptr);
      args.quantized_gradient = packed.view();
      return ops::Dequantize(packed, at::kDouble);
    };
    ops::AdamArgs in_float = ArgsFor(at::kFloat);
    at::Tensor expected =
        PlainResult(in_float, in_float.weight, [&](int k) { return set_gradient(in_float, k); });
    EXPECT_LE((test::RelativeError<float, double>(in_float.weight, expected)), 1e-6);
    ops::AdamArgs in_double = ArgsFor(at::kDouble);
    expected =
        PlainResult(in_double, in_double.weight, [&](int k) { return set_gradient(in_double, k); });
    EXPECT_LE((test::RelativeError<double, double>(in_double.weight, expected)), 1e-14);
  }
}

TEST(AdamTest, Bfloat16WeightIsTheMasterRounded) {
  ops::AdamArgs args = ArgsFor(at::kBFloat16);
  const at::Tensor expected = PlainResult(
      args, args.master, [&](int k) { return args.gradient = Gaussian(kElements, 10 + k); });
  EXPECT_LE((test::RelativeError<float, double>(args.master, expected)), 1e-6);
  EXPECT_TRUE(SameBits(args.weight, args.master.to(at::kBFloat16)));
}

TEST(AdamTest, FloatWeightBesideAMasterIsItsCopy) {
  ops::AdamArgs args = ArgsFor(at::kFloat);
  args.master = args.weight.clone();
  args.gradient = Gaussian(kElements, 2);
  ops::AdamStep(args);
  EXPECT_TRUE(SameBits(args.weight, args.master));
}

TEST(AdamTest, UpdatesARowRangeAndNothingBesideIt) {
  const at::Tensor whole = Gaussian(40 * 64, 1).view({40, 64});
  const at::Tensor before = whole.clone();
  ops::AdamArgs args = Settings();
  args.weight = whole.narrow(0, 10, 20);
  args.moment1 = at::zeros({20, 64}, at::kFloat);
  args.moment2 = at::zeros({20, 64}, at::kFloat);
  args.gradient = Gaussian(20 * 70, 2).view({20, 70}).narrow(1, 2, 64);
  PlainAdamW plain(args.weight);
  plain.Step(args.gradient, args);
  ops::AdamStep(args);
  EXPECT_LE((test::RelativeError<float, double>(args.weight, plain.weight())), 1e-6);
  EXPECT_TRUE(SameBits(whole.narrow(0, 0, 10), before.narrow(0, 0, 10)));
  EXPECT_TRUE(SameBits(whole.narrow(0, 30, 10), before.narrow(0, 30, 10)));
}

TEST(AdamTest, ZeroGradientOnlyDecays) {
  ops::AdamArgs args = ArgsFor(at::kDouble);
  const at::Tensor expected = args.weight.mul(1.0 - 3e-3 * 0.1);
  args.gradient = at::zeros_like(args.weight);
  ops::AdamStep(args);
  EXPECT_LE((test::RelativeError<double, double>(args.weight, expected)), 1e-15);
}

TEST(AdamTest, DoesNotDependOnTheNumberOfThreads) {
  const at::Tensor gradient = Gaussian(1 << 18, 3);
  const int before = at::get_num_threads();
  const auto run = [&](int threads) {
    at::set_num_threads(threads);
    ops::AdamArgs args = Settings();
    args.weight = Gaussian(1 << 18, 4);
    args.moment1 = at::zeros_like(args.weight);
    args.moment2 = at::zeros_like(args.weight);
    args.gradient = gradient;
    ops::AdamStep(args);
    return args.weight;
  };
  const at::Tensor one = run(1);
  const at::Tensor four = run(4);
  at::set_num_threads(before);
  EXPECT_TRUE(SameBits(one, four));
}

void ExpectRefused(const ops::AdamArgs& args, const char* thing, const char* remedy) {
  EXPECT_THAT([&] { ops::AdamStep(args); },
              testing::ThrowsMessage<std::invalid_argument>(
                  testing::AllOf(testing::HasSubstr(thing), testing::HasSubstr(remedy))));
}

TEST(AdamTest, RefusesArgumentsThatDoNotFit) {
  ops::AdamArgs args = ArgsFor(at::kFloat);
  args.gradient = Gaussian(kElements, 1);
  ops::AdamArgs bad = args;
  bad.step = 0;
  ExpectRefused(bad, "step 0", "the first update is step 1");
  bad = args;
  bad.moment1 = at::zeros({kElements}, at::kDouble);
  ExpectRefused(bad, "moment1 has type Double", "must be Float");
  bad = args;
  bad.moment2 = at::zeros({3}, at::kFloat);
  ExpectRefused(bad, "moment2 has sizes [3]", "10001 elements");
  bad = args;
  bad.gradient = Gaussian(3, 1);
  ExpectRefused(bad, "gradient has 3 elements", "pass the weight's own gradient");
  bad = ArgsFor(at::kBFloat16);
  bad.master.reset();
  ExpectRefused(bad, "weight of type BFloat16 without a master", "pass an fp32 master");
}

}  // namespace
}  // namespace agoq
