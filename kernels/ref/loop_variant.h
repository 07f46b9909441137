// Which build of the hot loops runs: the baseline CPU's or AVX2's. Both give the same bits.
//
// A loop file defines, in each of its two builds,
//   template <> const XLoops& TableOf<XLoops, AGOQ_LOOP_VARIANT>() { static constexpr XLoops
//   kTable{...}; return kTable; }
#pragma once

#include <cstdint>

namespace agoq::ref {

enum class LoopVariant : std::uint8_t { kBaseline, kAvx2 };

// False where the build or this CPU lacks the variant.
bool IsAvailable(LoopVariant variant);
// The fastest one that is available. Found once; safe from any thread.
LoopVariant BestVariant();

// Specialised by the loop file; a header declares both specialisations.
template <class Loops, LoopVariant variant>
const Loops& TableOf();

// The table of an available variant.
template <class Loops>
const Loops& LoopsOf(LoopVariant variant) {
#ifdef AGOQ_AVX2_LOOPS
  if (variant == LoopVariant::kAvx2) return TableOf<Loops, LoopVariant::kAvx2>();
#else
  static_cast<void>(variant);
#endif
  return TableOf<Loops, LoopVariant::kBaseline>();
}

template <class Loops>
const Loops& BestLoops() {
  return LoopsOf<Loops>(BestVariant());
}

}  // namespace agoq::ref
