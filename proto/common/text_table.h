// Tables and sizes for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace agoq {

using TableRow = std::vector<std::string>;

// Columns as wide as their widest cell, two spaces apart. One line a row; rows may be shorter than
// the first one. Control characters become spaces, but colour sequences ("\x1b[31m") stay and take
// no room.
std::string AlignedText(const std::vector<TableRow>& rows);

// "88 B", "17.0 KiB", "1.5 MiB", "1.25 GiB"
std::string BytesText(std::int64_t bytes);

}  // namespace agoq
