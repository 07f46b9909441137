// Hot loops over plain runs of elements: conversion, sum, product. bf16 is given by its 16 bits.
#pragma once

#include <cstdint>

#include "kernels/ref/loop_variant.h"

namespace agoq::ref {

struct ConvertLoops {
  void (*bfloat16_to_float)(const std::uint16_t* x, std::int64_t n, float* out);
  void (*double_to_float)(const double* x, std::int64_t n, float* out);
  void (*float_to_double)(const float* x, std::int64_t n, double* out);
  // To nearest, ties to even; NaN stays a NaN.
  void (*float_to_bfloat16)(const float* x, std::int64_t n, std::uint16_t* out);
  void (*add)(const float* x, std::int64_t n, float* sum);           // sum[i] += x[i]
  void (*multiply)(float factor, std::int64_t n, float* x);          // x[i] *= factor
  std::int64_t (*count_non_finite)(const float* x, std::int64_t n);  // NaN and infinity
};

template <>
const ConvertLoops& TableOf<ConvertLoops, LoopVariant::kBaseline>();
template <>
const ConvertLoops& TableOf<ConvertLoops, LoopVariant::kAvx2>();

}  // namespace agoq::ref
