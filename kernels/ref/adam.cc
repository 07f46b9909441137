#include "kernels/ref/adam.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/ref/adam_loops.h"
#include "kernels/ref/block_view.h"
#include "kernels/ref/codec_loops.h"
#include "kernels/ref/convert_loops.h"

namespace agoq::ref {
namespace {

template <class T>
AdamConstants<T> ConstantsOf(const AdamOptions& o) {
  const auto step = static_cast<double>(o.step);
  return {.decay = static_cast<T>(1.0 - o.learning_rate * o.weight_decay),
          .beta1 = static_cast<T>(o.beta1),
          .one_minus_beta1 = static_cast<T>(1.0 - o.beta1),
          .beta2 = static_cast<T>(o.beta2),
          .one_minus_beta2 = static_cast<T>(1.0 - o.beta2),
          .step_size = static_cast<T>(o.learning_rate / (1.0 - std::pow(o.beta1, step))),
          .root_correction2 = static_cast<T>(std::sqrt(1.0 - std::pow(o.beta2, step))),
          .epsilon = static_cast<T>(o.epsilon),
          .clip_factor = static_cast<T>(o.clip_factor)};
}

// Decodes elements [first, first + n) into floats; first is a multiple of the block.
void DecodeRun(const QuantizedView& view, std::int64_t first, std::int64_t n,
               const CodecLoops& codec, float* out) {
  for (std::int64_t done = 0; done < n;) {
    const BlockView block = BlockOf(view, (first + done) / view.spec.block);
    codec.decode(view.spec.format, block.codes, block.num_elements, *block.scale, out + done);
    done += block.num_elements;
  }
}

template <class T>
class GradientReader {
 public:
  explicit GradientReader(const AdamElementsArgs& args)
      : args_(args),
        codec_(LoopsOf<CodecLoops>(args.variant)),
        convert_(LoopsOf<ConvertLoops>(args.variant)) {}

  // Valid until the next call; n is at most kMaxBlock.
  const T* Read(std::int64_t first, std::int64_t n) {
    if (args_.quantized_gradient.codes == nullptr) {
      ReadElements(args_.gradient, first, n, convert_, values_);
      return values_;
    }
    if constexpr (std::is_same_v<T, float>) {
      DecodeRun(args_.quantized_gradient, first, n, codec_, values_);
    } else {
      DecodeRun(args_.quantized_gradient, first, n, codec_, decoded_);
      convert_.float_to_double(decoded_, n, values_);
    }
    return values_;
  }

 private:
  const AdamElementsArgs& args_;
  const CodecLoops& codec_;
  const ConvertLoops& convert_;
  T values_[kMaxBlock];
  float decoded_[kMaxBlock];
};

template <class T>
void Run(const AdamElementsArgs& args, std::int64_t begin, std::int64_t end) {
  const AdamLoops& loops = LoopsOf<AdamLoops>(args.variant);
  const ConvertLoops& convert = LoopsOf<ConvertLoops>(args.variant);
  const AdamConstants<T> constants = ConstantsOf<T>(args.options);
  GradientReader<T> gradient(args);
  for (std::int64_t first = begin; first < end; first += kMaxBlock) {
    const std::int64_t n = std::min(kMaxBlock, end - first);
    T* const master = static_cast<T*>(args.master) + first;
    const AdamRun<T> run{.weight = master,
                         .moment1 = static_cast<T*>(args.moment1) + first,
                         .moment2 = static_cast<T*>(args.moment2) + first,
                         .gradient = gradient.Read(first, n),
                         .n = n};
    if constexpr (std::is_same_v<T, float>) {
      loops.in_float(run, constants);
      if (args.bfloat16_weight != nullptr) {
        convert.float_to_bfloat16(master, n, args.bfloat16_weight + first);
      }
    } else {
      loops.in_double(run, constants);
    }
  }
}

}  // namespace

void AdamElements(const AdamElementsArgs& args, std::int64_t begin, std::int64_t end) {
  if (args.is_double) return Run<double>(args, begin, end);
  Run<float>(args, begin, end);
}

}  // namespace agoq::ref
