#include "kernels/ref/rows_view.h"

#include <algorithm>
#include <cstring>

namespace agoq::ref {
namespace {

// Calls visit(offset in storage, index within the range, length) for each run of elements that lie
// in one row.
template <class Visit>
void ForEachRun(const RowsView& view, std::int64_t first, std::int64_t n, Visit visit) {
  std::int64_t row = first / view.columns;
  std::int64_t column = first % view.columns;
  for (std::int64_t done = 0; done < n; ++row, column = 0) {
    const std::int64_t length = std::min(n - done, view.columns - column);
    visit(row * view.row_stride + column, done, length);
    done += length;
  }
}

template <class T>
T* At(const RowsView& view, std::int64_t offset) {
  return static_cast<T*>(view.elements) + offset;
}

template <class T>
void Copy(const T* from, std::int64_t n, T* to) {
  std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
}

void ReadRun(const RowsView& view, std::int64_t offset, std::int64_t n, const ConvertLoops& loops,
             float* out) {
  switch (view.type) {
    case ElementType::kFloat32:
      return Copy(At<float>(view, offset), n, out);
    case ElementType::kBfloat16:
      return loops.bfloat16_to_float(At<std::uint16_t>(view, offset), n, out);
    case ElementType::kFloat64:
      return loops.double_to_float(At<double>(view, offset), n, out);
  }
}

void WriteRun(const float* x, std::int64_t offset, std::int64_t n, const ConvertLoops& loops,
              const RowsView& view) {
  switch (view.type) {
    case ElementType::kFloat32:
      return Copy(x, n, At<float>(view, offset));
    case ElementType::kBfloat16:
      return loops.float_to_bfloat16(x, n, At<std::uint16_t>(view, offset));
    case ElementType::kFloat64:
      return loops.float_to_double(x, n, At<double>(view, offset));
  }
}

}  // namespace

float* DirectFloats(const RowsView& view, std::int64_t first, std::int64_t n) {
  if (view.type != ElementType::kFloat32) return nullptr;
  const std::int64_t column = first % view.columns;
  if (column + n > view.columns) return nullptr;
  return At<float>(view, first / view.columns * view.row_stride + column);
}

void ReadElements(const RowsView& view, std::int64_t first, std::int64_t n,
                  const ConvertLoops& loops, float* out) {
  ForEachRun(view, first, n, [&](std::int64_t offset, std::int64_t index, std::int64_t length) {
    ReadRun(view, offset, length, loops, out + index);
  });
}

void ReadElements(const RowsView& view, std::int64_t first, std::int64_t n,
                  const ConvertLoops& loops, double* out) {
  ForEachRun(view, first, n, [&](std::int64_t offset, std::int64_t index, std::int64_t length) {
    if (view.type == ElementType::kFloat64) {
      Copy(At<double>(view, offset), length, out + index);
    } else {
      loops.float_to_double(At<float>(view, offset), length, out + index);
    }
  });
}

void WriteElements(const float* x, std::int64_t first, std::int64_t n, const ConvertLoops& loops,
                   const RowsView& view) {
  ForEachRun(view, first, n, [&](std::int64_t offset, std::int64_t index, std::int64_t length) {
    WriteRun(x + index, offset, length, loops, view);
  });
}

const float* FloatsOf(const RowsView& view, std::int64_t first, std::int64_t n,
                      const ConvertLoops& loops, float* buffer) {
  if (const float* direct = DirectFloats(view, first, n)) return direct;
  ReadElements(view, first, n, loops, buffer);
  return buffer;
}

}  // namespace agoq::ref
