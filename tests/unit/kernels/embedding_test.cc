// Rows of a table by id, and the table's gradient.
#include "kernels/ops/embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "kernels/ops/matrix_of.h"
#include "kernels/ref/embedding_loops.h"
#include "tests/unit/kernels/matrices.h"

namespace agoq {
namespace {

using test::Indices;
using test::Matrix;
using test::Size;
using test::ValuesOf;
using ::testing::AllOf;
using ::testing::HasSubstr;

at::ScalarType SumTypeOf(at::ScalarType type) {
  return type == at::kDouble ? at::kDouble : at::kFloat;
}

TEST(EmbeddingTest, CopiesRowsForEachTypeAndSize) {
  for (const at::ScalarType type : test::kTypes) {
    for (const Size size : test::kOddSizes) {
      const at::Tensor table = Matrix({11, size.columns}, 1, type);
      const at::Tensor ids = Indices(size.rows, 11, 2), out = Matrix(size, 3, type);
      ops::Embedding({.ids_T = ids, .table_VD = table, .out_TD = out});
      for (std::int64_t t = 0; t < size.rows; ++t) {
        const std::int64_t id = ids.data_ptr<std::int64_t>()[t];
        EXPECT_TRUE(test::HasSameBits(out.select(0, t), table.select(0, id)));
      }
    }
  }
}

TEST(EmbeddingTest, GradientIsAddedForEachTypeAndSize) {
  for (const at::ScalarType type : test::kTypes) {
    for (const Size size : test::kOddSizes) {
      const at::Tensor ids = Indices(size.rows, 11, 4), grad = Matrix(size, 5, type);
      const at::Tensor table = Matrix({11, size.columns}, 6, SumTypeOf(type));
      auto expected = ValuesOf(table);
      const auto g = ValuesOf(grad);
      for (std::int64_t t = 0; t < size.rows; ++t) {
        const std::int64_t row = ids.data_ptr<std::int64_t>()[t] * size.columns;
        for (std::int64_t i = 0; i < size.columns; ++i) {
          expected[row + i] += g[t * size.columns + i];
        }
      }
      ops::EmbeddingBackward({.ids_T = ids, .grad_TD = grad, .grad_table_VD = table});
      test::ExpectNear(table, expected, test::Tolerance(SumTypeOf(type)));
    }
  }
}

TEST(EmbeddingTest, GradientDoesNotDependOnTheNumberOfThreads) {
  const at::Tensor ids = Indices(2048, 7, 7), grad = Matrix({2048, 130}, 8);
  const at::Tensor one = Matrix({7, 130}, 9), two = Matrix({7, 130}, 9);
  test::OnThreads(1, [&] { ops::EmbeddingBackward({ids, grad, one}); });
  test::OnThreads(2, [&] { ops::EmbeddingBackward({ids, grad, two}); });
  EXPECT_TRUE(test::HasSameBits(one, two));
}

TEST(EmbeddingTest, BaselineAndAvx2GiveTheSameBits) {
  if (!ref::IsAvailable(ref::LoopVariant::kAvx2)) GTEST_SKIP() << "no AVX2 loops";
  for (const at::ScalarType type : test::kTypes) {
    const at::Tensor ids = Indices(40, 7, 10), grad = Matrix({40, 133}, 11, type);
    std::vector<at::Tensor> tables;
    for (const auto variant : {ref::LoopVariant::kBaseline, ref::LoopVariant::kAvx2}) {
      tables.push_back(Matrix({7, 133}, 12, SumTypeOf(type)));
      ref::LoopsOf<ref::EmbeddingLoops>(variant).add_columns(
          {.ids_T = ids.data_ptr<std::int64_t>(),
           .grad_TD = ops::MatrixOf(grad, "grad"),
           .grad_table_VD = ops::MatrixOf(tables.back(), "table")},
          2, 131);
    }
    EXPECT_TRUE(test::HasSameBits(tables[0], tables[1]));
  }
}

TEST(EmbeddingTest, RefusesAnIdOutsideTheTableAndWritesNothing) {
  const at::Tensor ids = Indices(200, 12, 13), rows = Matrix({200, 8}, 14);
  const at::Tensor table = Matrix({12, 8}, 15);
  const at::Tensor rows_before = rows.clone(), table_before = table.clone();
  for (const std::int64_t wrong : {12, -1}) {
    ids.data_ptr<std::int64_t>()[123] = wrong;
    const auto named = AllOf(HasSubstr("position 123"), HasSubstr(std::to_string(wrong)),
                             HasSubstr("limit is 11"));
    EXPECT_THAT(test::MessageOf<std::out_of_range>([&] {
                  ops::Embedding({ids, table, rows});
                }),
                named);
    EXPECT_THAT(test::MessageOf<std::out_of_range>([&] {
                  ops::EmbeddingBackward({ids, rows, table});
                }),
                named);
  }
  EXPECT_TRUE(test::HasSameBits(rows, rows_before));
  EXPECT_TRUE(test::HasSameBits(table, table_before));
}

TEST(EmbeddingTest, RefusesTablesThatDoNotMatch) {
  const at::Tensor ids = Indices(3, 12, 16), rows = Matrix({3, 8}, 17);
  const auto refusal = [&](const at::Tensor& table) {
    return test::MessageOf<std::invalid_argument>([&] { ops::Embedding({ids, table, rows}); });
  };
  EXPECT_THAT(refusal(Matrix({12, 7}, 1)), HasSubstr("rows of 7 elements"));
  EXPECT_THAT(refusal(Matrix({12, 8}, 1, at::kDouble)), HasSubstr("embedding: table"));
  const auto gradient_refusal = test::MessageOf<std::invalid_argument>([&] {
    ops::EmbeddingBackward({ids, rows.to(at::kBFloat16), Matrix({12, 8}, 1, at::kBFloat16)});
  });
  EXPECT_THAT(gradient_refusal, HasSubstr("gradient table of fp32"));
}

}  // namespace
}  // namespace agoq
