#include "worker/train/quant_error.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "kernels/ops/dequantize.h"
#include "kernels/ops/quantize.h"
#include "worker/model/saved_error.h"

namespace agoq {
namespace {

TEST(QuantErrorTest, NamesTheWorstLayerOfASite) {
  std::vector<LayerErrorSums> layers(3);
  layers[0][static_cast<int>(Site::kGate)] = {.squared_error = 1, .squared_signal = 100};
  layers[1][static_cast<int>(Site::kGate)] = {.squared_error = 9, .squared_signal = 100};
  const std::vector<SiteError> errors = SiteErrors(layers);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].site, "gate");
  EXPECT_EQ(errors[0].worst_layer, 1);
  EXPECT_DOUBLE_EQ(errors[0].worst_ratio, 0.3);
  EXPECT_DOUBLE_EQ(errors[0].ratio, std::sqrt(10.0 / 200));
}

TEST(QuantErrorTest, MeasuredInPartsItIsThatOfTheWholeCopy) {
  const at::Tensor wide = at::randn({300, 90}, at::kFloat);
  const at::Tensor x = wide.narrow(1, 10, 70);
  const PackedTensor packed = ops::Quantize(x, {Format::kNf4, 64}, 0, nullptr);
  SiteErrorSums sums;
  AddSavedError(x, packed, sums);
  const at::Tensor copy = ops::Dequantize(packed, at::kDouble);
  EXPECT_NEAR(sums.squared_error, (copy - x.to(at::kDouble)).square().sum().item<double>(),
              1e-6 * sums.squared_error);
  EXPECT_NEAR(sums.squared_signal, x.to(at::kDouble).square().sum().item<double>(),
              1e-6 * sums.squared_signal);
}

}  // namespace
}  // namespace agoq
