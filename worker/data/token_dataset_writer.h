// Streaming writer of a token data set (format: token_dataset.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "worker/data/durable_file.h"
#include "worker/data/token_dataset.h"

namespace agoq {

//   TokenDatasetWriter writer("corpus_train", TokenWidth::k16Bit);
//   writer.Append(ids);
//   writer.EndDocument();
//   writer.Commit();
// Both files carry temporary names until Commit(); without it nothing stays. Errors are
// std::runtime_error (files) and std::invalid_argument (ids).
class TokenDatasetWriter {
 public:
  TokenDatasetWriter(const std::string& prefix, TokenWidth width);

  std::int64_t num_tokens() const { return num_tokens_; }
  std::int64_t num_documents() const { return static_cast<std::int64_t>(bounds_.size()) - 1; }

  // Adds to the open document. An id that is negative or does not fit the width is refused.
  void Append(std::span<const std::int64_t> ids);
  // Closes the open document; one without tokens is written as an empty sequence.
  void EndDocument();
  // Syncs both files before either gets its name, so that Commit of several writers can follow.
  void Finish();
  // Ends an open document that has tokens, finishes and renames. An older data set of this name
  // loses its index first: old and new halves never pair up.
  void Commit();

 private:
  void CloseSequence();
  void WriteIndex();

  TokenWidth width_;
  DurableFile ids_;
  DurableFile index_;
  std::int64_t num_tokens_ = 0;
  std::int64_t open_length_ = 0;     // tokens of the open sequence
  std::int64_t open_sequences_ = 0;  // closed sequences of the open document
  bool finished_ = false;
  std::vector<std::int32_t> lengths_;
  std::vector<std::int64_t> bounds_ = {0};
};

}  // namespace agoq
