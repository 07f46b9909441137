// What the tests of this folder share.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "worker/data/token_dataset.h"
#include "worker/data/token_dataset_writer.h"

namespace agoq {

using Ids = std::vector<std::int64_t>;

inline void WriteDataset(const std::string& prefix, const std::vector<Ids>& documents,
                         TokenWidth width = TokenWidth::k16Bit) {
  TokenDatasetWriter writer(prefix, width);
  for (const Ids& ids : documents) {
    writer.Append(ids);
    writer.EndDocument();
  }
  writer.Commit();
}

// 0, 1, 2, ...: an id is its own position.
inline Ids Counted(std::int64_t count) {
  Ids ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

inline Ids ReadAll(const TokenDataset& dataset) {
  Ids ids(static_cast<std::size_t>(dataset.num_tokens()));
  dataset.Read(0, std::span<std::int64_t>(ids));
  return ids;
}

// The message of the exception that `call` throws; empty when it throws none.
template <typename Error, typename Call>
std::string ErrorOf(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace agoq
