// Which valid name a misspelt one was meant to be. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace agoq {

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
std::size_t EditDistance(std::string_view a, std::string_view b);

// The name with the least distance to `name` if that is small beside its length, else empty. The
// first of equals wins.
std::string NearestName(std::string_view name, const std::vector<std::string>& valid_names);

}  // namespace agoq
