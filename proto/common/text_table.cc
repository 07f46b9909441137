#include "proto/common/text_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace agoq {
namespace {

// Length of the colour sequence at `start`; 0: there is none.
std::size_t ColorLength(const std::string& text, std::size_t start) {
  if (text.compare(start, 2, "\x1b[") != 0) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", start + 2);
  return end != std::string::npos && text[end] == 'm' ? end + 1 - start : 0;
}

// Columns on a terminal: continuation bytes of UTF-8 take none.
std::size_t WidthOf(const std::string& cell) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (const std::size_t color = ColorLength(cell, i)) {
      i += color - 1;
    } else if ((static_cast<unsigned char>(cell[i]) & 0xc0) != 0x80) {
      ++width;
    }
  }
  return width;
}

std::string Printable(std::string cell) {
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (const std::size_t color = ColorLength(cell, i)) {
      i += color - 1;
    } else if (static_cast<unsigned char>(cell[i]) < ' ' || cell[i] == '\x7f') {
      cell[i] = ' ';
    }
  }
  return cell;
}

std::vector<std::size_t> WidthsOf(const std::vector<TableRow>& rows) {
  std::vector<std::size_t> widths;
  for (const TableRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], WidthOf(row[i]));
  }
  return widths;
}

}  // namespace

std::string AlignedText(const std::vector<TableRow>& rows) {
  const std::vector<std::size_t> widths = WidthsOf(rows);
  std::string text;
  for (const TableRow& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += Printable(row[i]) + std::string(widths[i] - WidthOf(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string BytesText(std::int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  char text[32];
  if (bytes >= 1 << 30) {
    std::snprintf(text, sizeof(text), "%.2f GiB", value / (1 << 30));
  } else if (bytes >= 1 << 20) {
    std::snprintf(text, sizeof(text), "%.1f MiB", value / (1 << 20));
  } else if (bytes >= 1 << 10) {
    std::snprintf(text, sizeof(text), "%.1f KiB", value / (1 << 10));
  } else {
    return std::to_string(bytes) + " B";
  }
  return text;
}

}  // namespace agoq
