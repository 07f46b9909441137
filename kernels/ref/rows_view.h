// Borrowed elements of a plain tensor, addressed by their row-major index.
#pragma once

#include <cstdint>

#include "kernels/ref/convert_loops.h"

namespace agoq::ref {

enum class ElementType : std::uint8_t { kFloat32, kBfloat16, kFloat64 };

struct RowsView {
  void* elements = nullptr;
  ElementType type = ElementType::kFloat32;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_stride = 0;  // in elements, from one row's start to the next one's

  std::int64_t num_elements() const { return rows * columns; }
};

// Where elements [first, first + n) lie as one run of floats; null if they do not.
float* DirectFloats(const RowsView& view, std::int64_t first, std::int64_t n);

// out[i] = element first + i, rounded to the type of out.
void ReadElements(const RowsView& view, std::int64_t first, std::int64_t n,
                  const ConvertLoops& loops, float* out);
// As above, exact; not for bf16 views.
void ReadElements(const RowsView& view, std::int64_t first, std::int64_t n,
                  const ConvertLoops& loops, double* out);
// Element first + i = x[i], rounded to the type of the view.
void WriteElements(const float* x, std::int64_t first, std::int64_t n, const ConvertLoops& loops,
                   const RowsView& view);

// The elements as floats: in place if they are a run of floats, else read into buffer[0..n).
const float* FloatsOf(const RowsView& view, std::int64_t first, std::int64_t n,
                      const ConvertLoops& loops, float* buffer);

}  // namespace agoq::ref
