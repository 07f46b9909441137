#include "proto/common/nearest_name.h"

#include <algorithm>

namespace agoq {

std::size_t EditDistance(std::string_view a, std::string_view b) {
  const std::size_t columns = b.size() + 1;
  std::vector<std::size_t> table((a.size() + 1) * columns);
  auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return table[i * columns + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        at(i, j) = i + j;
        continue;
      }
      const std::size_t replaced = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return at(a.size(), b.size());
}

std::string NearestName(std::string_view name, const std::vector<std::string>& valid_names) {
  // Far-fetched guesses mislead, and long names cost time: neither is offered.
  if (name.size() > 100) return "";
  std::string nearest;
  std::size_t least = name.size() / 3 + 2;
  for (const std::string& valid : valid_names) {
    const std::size_t distance = EditDistance(name, valid);
    if (distance >= least) continue;
    least = distance;
    nearest = valid;
  }
  return nearest;
}

}  // namespace agoq
