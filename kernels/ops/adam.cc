#include "kernels/ops/adam.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "kernels/ops/rows_of.h"
#include "kernels/quant_spec.h"
#include "kernels/ref/adam.h"

namespace agoq::ops {
namespace {

constexpr std::int64_t kGrainChunks = 8;

template <class... Parts>
[[noreturn]] void Refuse(const Parts&... parts) {
  std::ostringstream message;
  message << "adam: ";
  (message << ... << parts);
  throw std::invalid_argument(message.str());
}

void RequireState(const at::Tensor& tensor, const AdamArgs& args, at::ScalarType type,
                  std::string_view name) {
  if (!tensor.defined()) Refuse(name, " is undefined; pass a tensor of ", type);
  if (tensor.scalar_type() != type) {
    Refuse(name, " has type ", tensor.scalar_type(), "; it must be ", type);
  }
  if (!tensor.is_contiguous() || tensor.numel() != args.weight.numel()) {
    Refuse(name, " has sizes ", tensor.sizes(), " and strides ", tensor.strides(),
           "; it must be contiguous with ", args.weight.numel(), " elements");
  }
}

const at::Tensor& MasterOf(const AdamArgs& args) {
  return args.master.defined() ? args.master : args.weight;
}

void RequireTensors(const AdamArgs& args) {
  if (!args.weight.defined()) Refuse("weight is undefined; pass a tensor");
  RequireState(args.weight, args, args.weight.scalar_type(), "weight");
  if (args.master.defined()) RequireState(args.master, args, at::kFloat, "master");
  const at::ScalarType type = MasterOf(args).scalar_type();
  if (type != at::kFloat && type != at::kDouble) {
    Refuse("weight of type ", type, " without a master; pass an fp32 master");
  }
  if (args.master.defined() && args.weight.scalar_type() == at::kDouble) {
    Refuse("weight of type Double with an fp32 master; leave the master undefined");
  }
  RequireState(args.moment1, args, type, "moment1");
  RequireState(args.moment2, args, type, "moment2");
  if (args.step < 1) Refuse("step ", args.step, "; the first update is step 1");
}

ref::RowsView GradientOf(const AdamArgs& args) {
  if (args.quantized_gradient.codes != nullptr) {
    RequireElements(args.quantized_gradient, args.weight.numel(), "adam: quantized gradient");
    return {};
  }
  const ref::RowsView rows = RowsOf(args.gradient, "adam: gradient");
  if (rows.type == ref::ElementType::kBfloat16) Refuse("gradient of type bf16; pass fp32 or fp64");
  if (rows.num_elements() != args.weight.numel()) {
    Refuse("gradient has ", rows.num_elements(), " elements, the weight ", args.weight.numel(),
           "; pass the weight's own gradient");
  }
  return rows;
}

}  // namespace

void AdamStep(const AdamArgs& args) {
  RequireTensors(args);
  const at::Tensor& master = MasterOf(args);
  ref::AdamElementsArgs elements{.master = master.data_ptr(),
                                 .moment1 = args.moment1.data_ptr(),
                                 .moment2 = args.moment2.data_ptr(),
                                 .is_double = master.scalar_type() == at::kDouble,
                                 .quantized_gradient = args.quantized_gradient,
                                 .gradient = GradientOf(args),
                                 .options = {.learning_rate = args.learning_rate,
                                             .beta1 = args.beta1,
                                             .beta2 = args.beta2,
                                             .epsilon = args.epsilon,
                                             .weight_decay = args.weight_decay,
                                             .clip_factor = args.clip_factor,
                                             .step = args.step}};
  const bool is_bfloat16 = args.weight.scalar_type() == at::kBFloat16;
  if (is_bfloat16) elements.bfloat16_weight = static_cast<std::uint16_t*>(args.weight.data_ptr());
  const std::int64_t n = args.weight.numel();
  at::parallel_for(0, (n + kMaxBlock - 1) / kMaxBlock, kGrainChunks,
                   [&](std::int64_t begin, std::int64_t end) {
                     ref::AdamElements(elements, begin * kMaxBlock, std::min(end * kMaxBlock, n));
                   });
  // An fp32 weight beside a separate fp32 master is a copy of it.
  if (args.weight.scalar_type() == at::kFloat && args.master.defined()) args.weight.copy_(master);
}

}  // namespace agoq::ops
