// Bad input ends in a message with the thing, the value and the remedy; in exit code 2 for usage
// and files, 1 for a failed run; and in nothing half written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/integration/trainer_process.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TrainerBadInput : public ::testing::Test {
 protected:
  // The message; expects exit code 2.
  std::string Refusal(const std::vector<std::string>& arguments) {
    const Outcome outcome = folder_.Run(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out << outcome.err;
    return outcome.err;
  }
  std::string RefusalOf(const JobText& job) {
    folder_.Tokenize();
    folder_.WriteJob(job);
    return Refusal({"run", "job.yaml"});
  }
  // A trained checkpoint in `saves`; returns its folder's name.
  std::string Train() {
    folder_.Tokenize();
    folder_.WriteJob({});
    const Outcome outcome = folder_.Run({"run", "job.yaml"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return "saves/step-00000006";
  }
  std::string ShardOf(const std::string& checkpoint) {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / checkpoint)) {
      if (entry.path().extension() == ".safetensors")
        return checkpoint + "/" + entry.path().filename().string();
    }
    ADD_FAILURE() << "no shard in " << checkpoint;
    return "";
  }
  void Damage(const std::string& name, std::size_t at) {
    std::string contents = folder_.Read(name);
    ASSERT_LT(at, contents.size());
    contents[at] ^= 0x55;
    folder_.Write(name, contents);
  }

  TrainerFolder folder_;
};

TEST_F(TrainerBadInput, NamesAMissingSubcommand) { EXPECT_THAT(Refusal({}), HasSubstr("--help")); }

TEST_F(TrainerBadInput, NamesAnUnknownOption) {
  EXPECT_THAT(Refusal({"run", "job.yaml", "--polcy", "full"}), HasSubstr("--polcy"));
}

TEST_F(TrainerBadInput, NamesAMissingJobFile) {
  EXPECT_THAT(Refusal({"run", "none.yaml"}), HasSubstr("none.yaml"));
}

TEST_F(TrainerBadInput, NamesAJobFileThatIsNotYaml) {
  folder_.Write("job.yaml", "model: {vocab_size: 256\n\tdata: [");
  EXPECT_THAT(Refusal({"run", "job.yaml"}), HasSubstr("job.yaml:"));
}

TEST_F(TrainerBadInput, NamesAnUnknownKeyAndTheNearestOne) {
  EXPECT_THAT(RefusalOf({.optimizer = "{learning_rat: 1e-3}"}),
              AllOf(HasSubstr("optimizer.learning_rat"), HasSubstr("learning_rate")));
}

TEST_F(TrainerBadInput, NamesHeadsThatDoNotDivide) {
  EXPECT_THAT(RefusalOf({.model = "{vocab_size: 256, hidden_size: 16, intermediate_size: 24, "
                                  "num_hidden_layers: 2, num_attention_heads: 3}"}),
              AllOf(HasSubstr("num_attention_heads"), HasSubstr("3"), HasSubstr("16")));
}

TEST_F(TrainerBadInput, NamesDataThatIsNotThere) {
  EXPECT_THAT(RefusalOf({.data = "{path: nowhere}"}), HasSubstr("nowhere"));
}

TEST_F(TrainerBadInput, NamesASequenceLongerThanTheData) {
  EXPECT_THAT(RefusalOf({.model = "{vocab_size: 256, hidden_size: 16, intermediate_size: 24, "
                                  "num_hidden_layers: 2, num_attention_heads: 2, "
                                  "max_position_embeddings: 8192}",
                         .data = "{path: text_train}",
                         .steps = "{total: 2, sequence_length: 8000}"}),
              AllOf(HasSubstr("text_train"), HasSubstr("8000")));
}

TEST_F(TrainerBadInput, NamesAnIdOutsideOfTheVocabulary) {
  EXPECT_THAT(RefusalOf({.model = "{vocab_size: 100, hidden_size: 16, intermediate_size: 24, "
                                  "num_hidden_layers: 2, num_attention_heads: 2, "
                                  "max_position_embeddings: 16}"}),
              AllOf(HasSubstr("text_train.bin"), HasSubstr("99"), HasSubstr("vocab_size")));
}

TEST_F(TrainerBadInput, NamesADamagedDataHeader) {
  folder_.Tokenize();
  Damage("text_train.idx", 0);
  folder_.WriteJob({});
  EXPECT_THAT(Refusal({"run", "job.yaml"}), HasSubstr("text_train.idx"));
}

TEST_F(TrainerBadInput, NamesACheckpointFolderThatCannotBeWritten) {
  EXPECT_THAT(RefusalOf({.checkpoint = "{uri: text.txt/saves}"}),
              AllOf(HasSubstr("checkpoint.uri"), HasSubstr("text.txt/saves")));
}

TEST_F(TrainerBadInput, NamesAResultFolderThatIsNotThere) {
  folder_.Tokenize();
  folder_.WriteJob({});
  EXPECT_THAT(Refusal({"run", "job.yaml", "--result", "none/result.json"}),
              HasSubstr("none/result.json"));
}

TEST_F(TrainerBadInput, NamesANumberOfProcessesThatIsNotTheMesh) {
  folder_.WriteJob({.mesh = "{data: 2}"});
  EXPECT_THAT(Refusal({"run", "job.yaml", "--local-processes", "3"}),
              AllOf(HasSubstr("--local-processes 3"), HasSubstr("--local-processes 2")));
}

TEST_F(TrainerBadInput, AsksForProcessesWhenTheMeshHasSeveralRanks) {
  folder_.WriteJob({.mesh = "{data: 2}"});
  EXPECT_THAT(Refusal({"run", "job.yaml"}), HasSubstr("--local-processes 2"));
}

TEST_F(TrainerBadInput, AsksForARendezvousWithARank) {
  folder_.WriteJob({.mesh = "{data: 2}"});
  EXPECT_THAT(Refusal({"run", "job.yaml", "--rank", "1", "--world", "2"}),
              HasSubstr("--rendezvous"));
}

TEST_F(TrainerBadInput, RefusesARendezvousFolderOfAnotherRun) {
  folder_.Tokenize();
  folder_.WriteJob("old.yaml", {.mesh = "{data: 2}", .more = "name: old\n"});
  folder_.WriteJob({.mesh = "{data: 2}"});
  TrainerProcess old({"run", "old.yaml", "--rank", "0", "--world", "2", "--rendezvous", "meet"},
                     folder_.path());
  TrainerProcess peer({"run", "old.yaml", "--rank", "1", "--world", "2", "--rendezvous", "meet"},
                      folder_.path());
  EXPECT_EQ(old.Wait().exit_code, 0);
  EXPECT_EQ(peer.Wait().exit_code, 0);
  EXPECT_THAT(Refusal({"run", "job.yaml", "--rank", "0", "--world", "2", "--rendezvous", "meet"}),
              AllOf(HasSubstr("meet"), HasSubstr("old-"), HasSubstr("fresh directory")));
}

TEST_F(TrainerBadInput, NamesATextThatIsNotThereAndWritesNothing) {
  EXPECT_THAT(Refusal({"tokenize", "none.txt", "out"}), HasSubstr("none.txt"));
  EXPECT_THAT(folder_.Names(), ElementsAre("text.txt"));
}

TEST_F(TrainerBadInput, NamesAnEmptyTextAndWritesNothing) {
  folder_.Write("empty.txt", "");
  EXPECT_THAT(Refusal({"tokenize", "empty.txt", "out"}), HasSubstr("empty"));
  EXPECT_THAT(folder_.Names(), ElementsAre("empty.txt", "text.txt"));
}

TEST_F(TrainerBadInput, NamesAFolderForTokensThatCannotBeWritten) {
  EXPECT_THAT(Refusal({"tokenize", "text.txt", "none/out"}), HasSubstr("none/out"));
}

TEST_F(TrainerBadInput, RefusesToGoOnFromACheckpointOfAnotherModel) {
  Train();
  folder_.WriteJob({.model = "{vocab_size: 256, hidden_size: 32, intermediate_size: 24, "
                             "num_hidden_layers: 2, num_attention_heads: 2, "
                             "max_position_embeddings: 16}"});
  EXPECT_THAT(Refusal({"run", "job.yaml"}),
              AllOf(HasSubstr("another model"), HasSubstr("another checkpoint folder")));
}

TEST_F(TrainerBadInput, NamesADamagedShard) {
  const std::string shard = ShardOf(Train());
  Damage(shard, folder_.Read(shard).size() - 1);
  EXPECT_THAT(Refusal({"eval", "saves", "--data", "text_valid"}), HasSubstr(shard));
}

TEST_F(TrainerBadInput, NamesADamagedShardHeader) {
  const std::string shard = ShardOf(Train());
  Damage(shard, 0);
  EXPECT_THAT(Refusal({"eval", "saves", "--data", "text_valid"}), HasSubstr(shard));
}

TEST_F(TrainerBadInput, NamesAFolderWithoutACheckpoint) {
  EXPECT_THAT(Refusal({"eval", "saves", "--data", "text_valid"}), HasSubstr("saves"));
}

TEST_F(TrainerBadInput, RefusesAnEmptyPrompt) {
  Train();
  EXPECT_THAT(Refusal({"generate", "saves", "--prompt", ""}), HasSubstr("prompt"));
}

TEST_F(TrainerBadInput, FailsARunThatDoesNotFitItsBudgetWithBytesByLabel) {
  folder_.Tokenize();
  folder_.WriteJob({.plan = "{mode: fixed, table: full, budget_bytes: 200000}"});
  const Outcome outcome = folder_.Run({"run", "job.yaml"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("200000"), HasSubstr("weights"), HasSubstr("workspace")));
}

}  // namespace
}  // namespace agoq
