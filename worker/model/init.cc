#include "worker/model/init.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty.h>

namespace agoq {
namespace {

// splitmix64: neighbouring seeds and indices must not give related streams. Constants: Steele et
// al., OOPSLA 2014.
std::uint64_t Mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

void FillNormal(const at::Tensor& weight, double deviation, std::uint64_t seed) {
  const at::Generator generator = at::detail::createCPUGenerator(seed);
  if (weight.scalar_type() != at::kBFloat16) {
    weight.normal_(0, deviation, generator);
    return;
  }
  weight.copy_(at::empty(weight.sizes(), at::kFloat).normal_(0, deviation, generator));
}

}  // namespace

void InitializeParameters(const Parameters& parameters, double init_std, std::uint64_t seed) {
  for (int i = 0; i < parameters.list().size(); ++i) {
    const at::Tensor& weight = parameters.tensors()[i];
    if (parameters.list().parameters[i].is_matrix()) {
      FillNormal(weight, init_std, Mix(Mix(seed) + static_cast<std::uint64_t>(i)));
      continue;
    }
    weight.fill_(1);
  }
}

}  // namespace agoq
