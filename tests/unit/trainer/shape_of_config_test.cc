#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proto/common/model_config.h"
#include "proto/common/plan_codec.h"
#include "worker/trainer/checkpoint_source.h"
#include "worker/trainer/failure.h"

namespace agoq {
namespace {

const ModelShape kShape = {.vocab_size = 256,
                           .hidden_size = 48,
                           .num_layers = 3,
                           .num_heads = 4,
                           .num_kv_heads = 2,
                           .head_size = 16,
                           .ffn_size = 96,
                           .max_positions = 64,
                           .tied_head = true,
                           .norm_epsilon = 1e-5,
                           .rope_theta = 5000,
                           .init_std = 0.03};

TEST(ShapeOfConfig, ReadsWhatAJobWrites) {
  EXPECT_EQ(ShapeOfConfig(ModelConfigJson(SpecFromShape(kShape), "float32"), "config"), kShape);
}

TEST(ShapeOfConfig, NamesWhatItCannotRead) {
  try {
    ShapeOfConfig("{", "step-00000001: config");
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("step-00000001: config"));
  }
}

}  // namespace
}  // namespace agoq
