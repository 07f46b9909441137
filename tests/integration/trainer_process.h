// agoq-trainer as a user starts it, in a fresh folder with a small text and a small job.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace agoq {

struct Outcome {
  int exit_code = -1;  // negative: ended by that signal
  std::string out;
  std::string err;
};

// A process of agoq-trainer that goes on beside the test.
class TrainerProcess {
 public:
  TrainerProcess(const std::vector<std::string>& arguments, const std::filesystem::path& folder);
  // Kills it if it still runs.
  ~TrainerProcess();
  TrainerProcess(const TrainerProcess&) = delete;
  TrainerProcess& operator=(const TrainerProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Until its standard error holds `text`; false when it ended first or a minute has passed.
  bool WaitForError(const std::string& text);
  // Processes that it has started and that still run.
  std::vector<pid_t> Children() const;
  Outcome Wait();

 private:
  bool HasEnded();
  std::string ErrorsSoFar() const;

  std::filesystem::path out_path_;
  std::filesystem::path err_path_;
  pid_t pid_ = 0;
  bool has_ended_ = false;
  int status_ = 0;
};

// What a job file says; each test changes what it is about.
struct JobText {
  std::string model =
      "{vocab_size: 256, hidden_size: 16, intermediate_size: 24, num_hidden_layers: 2, "
      "num_attention_heads: 2, max_position_embeddings: 16}";
  std::string data = "{path: text_train, validation_path: text_valid}";
  std::string mesh = "{data: 1}";
  std::string precision = "{compute: float32}";
  std::string plan = "{mode: fixed, table: paper}";
  std::string optimizer = "{learning_rate: 1e-2, warmup_steps: 2}";
  std::string steps = "{total: 6, sequence_length: 16, micro_batch_size: 2}";
  std::string checkpoint = "{uri: saves}";
  std::string more;
};

// A folder with text.txt (4,000 bytes), and its token data sets text_train and text_valid once
// Tokenize is called.
class TrainerFolder {
 public:
  TrainerFolder();
  ~TrainerFolder();
  TrainerFolder(const TrainerFolder&) = delete;
  TrainerFolder& operator=(const TrainerFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void Write(const std::string& name, const std::string& contents) const;
  std::string Read(const std::string& name) const;
  void WriteJob(const JobText& job) const { WriteJob("job.yaml", job); }
  void WriteJob(const std::string& name, const JobText& job) const;
  void Tokenize() const;
  std::vector<std::string> Names() const;  // of its entries, in order

  // Runs agoq-trainer here, to its end.
  Outcome Run(const std::vector<std::string>& arguments) const;

 private:
  std::filesystem::path path_;
};

}  // namespace agoq
