// `paged check --kernel LIB.so` with kernels that are right, that have a mistake, and that do
// whatever a kernel can do to the process that calls it.
#include "kernels/device.h"
#include "tests/harness/invariant.h"
#include "tests/harness_tests/temporary_folder.h"
#include "tests/paged_tests/case_text.h"
#include "tests/paged_tests/child_process.h"
#include "tests/reference/error_message.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace paged {
namespace {

using nlohmann::json;
using testing::case_text;
using testing::content_of;
using testing::ProcessResult;
using testing::run_paged;
using testing::TemporaryFolder;
using Arguments = std::vector<std::string>;

const std::string kTestKernel = PAGED_TEST_KERNEL;

/// What the tool said about the test kernel, and what it wrote.
struct Check {
  ProcessResult process;
  json report;

  /// Results that did not come out as expected, of all invariants or of one.
  std::vector<json> failures(const std::string& invariant = "") const {
    std::vector<json> failed;
    for (const json& result : report.at("results"))
      if (result.at("passed") != result.at("expected") &&
          (invariant.empty() || result.at("invariant") == invariant))
        failed.push_back(result);
    return failed;
  }
  std::string reason_not_tried(const std::string& invariant) const {
    for (const json& left_out : report.at("not_tried"))
      if (left_out.at("invariant") == invariant) return left_out.at("reason");
    return "";
  }
};

class PluginTest : public ::testing::Test {
 protected:
  /// `paged check --kernel` with a JSON report; `settings` are what the test kernel is asked for.
  Check check(const Arguments& more, const std::vector<std::string>& settings,
              const std::string& kernel = kTestKernel) const {
    const std::string report = (folder_ / "report.json").string();
    Arguments arguments = {"check", "--kernel", kernel, "--json", report};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Check check{run_paged(arguments, settings), {}};
    if (const std::string text = content_of(report); !text.empty())
      check.report = json::parse(text);
    return check;
  }
  /// Of some invariants on one small case.
  Check check_quickly(const std::string& does, const Arguments& more = {},
                      const std::string& invariants = "reference",
                      const std::string& kernel = kTestKernel) const {
    Arguments arguments = {"--invariant", invariants, "--case", small_case()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return check(arguments, {"PAGED_TEST_DOES=" + does}, kernel);
  }
  /// 20 and 3 tokens in pages of 16, 4 query heads on 2 KV heads.
  std::string small_case() const {
    return folder_.write("case.json", case_text({{"scalar", "\"f32\""}})).string();
  }
  /// Exit status 2 and one line that names the file and every word.
  static void expect_refused(const Arguments& arguments, const std::vector<std::string>& settings,
                             const std::vector<std::string>& words) {
    const ProcessResult result = run_paged(arguments, settings);
    EXPECT_EQ(result.exit_status, 2) << result.out << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    for (const std::string& word : words)
      EXPECT_NE(result.err.find(word), std::string::npos) << word << " is not in " << result.err;
  }

  TemporaryFolder folder_;
};

// ---- right kernels ----------------------------------------------------------------------------
/// Every invariant is tried or said not to be, and all that are tried hold.
void expect_all_held(const Check& check) {
  EXPECT_EQ(check.process.exit_status, 0) << check.process.out << check.process.err;
  ASSERT_FALSE(check.report.is_null());
  EXPECT_EQ(check.report.at("failed"), 0);
  for (const json& failure : check.failures()) ADD_FAILURE() << failure.dump(2);
  std::set<std::string> mentioned;
  for (const json& result : check.report.at("results")) mentioned.insert(result.at("invariant"));
  for (const json& left_out : check.report.at("not_tried")) {
    EXPECT_FALSE(mentioned.contains(left_out.at("invariant"))) << left_out.dump();
    EXPECT_NE(left_out.at("reason"), "");
    mentioned.insert(left_out.at("invariant"));
  }
  for (const Invariant& invariant : invariants())
    EXPECT_TRUE(mentioned.contains(invariant.id)) << invariant.id;
}

TEST_F(PluginTest, ARightKernelKeepsEverythingInTheClassicLayoutAndIn8BitFloats) {
  const Check all = check({}, {"PAGED_TEST_LAYOUT=0", "PAGED_TEST_SCALAR=1"});
  expect_all_held(all);
  EXPECT_EQ(all.report.at("not_tried").size(), 7U) << all.report.at("not_tried").dump(2);
  for (const char* invariant : {"cache-write", "copy-on-write", "partition-invariance", "in-bounds",
                                "no-race", "no-uninitialised", "no-barrier-divergence"})
    EXPECT_NE(all.reason_not_tried(invariant), "") << invariant;
  const json& result = all.report.at("results").at(0);
  EXPECT_EQ(result.at("stage"), "test-kernel");
  EXPECT_EQ(result.at("kernel"), kTestKernel);
  EXPECT_EQ(result.at("backend"), "cpu");
  EXPECT_NE(all.process.out.find("not tried:"), std::string::npos);
}

TEST_F(PluginTest, ARightKernelKeepsEverythingWhereTokensComeBeforeHeads) {
  expect_all_held(check({}, {"PAGED_TEST_LAYOUT=1", "PAGED_TEST_SCALAR=0"}));
}

TEST_F(PluginTest, ARightKernelKeepsEverythingWhereHeadsComeBeforeTokens) {
  expect_all_held(check({}, {"PAGED_TEST_LAYOUT=2", "PAGED_TEST_SCALAR=2"}));
}

TEST_F(PluginTest, TheExampleInCIsRight) {
  const Check all = check({}, {}, std::string(PAGED_EXAMPLES) + "/naive.so");
  expect_all_held(all);
  for (const char* invariant : {"alibi", "block-sparse", "fp8-scale"})
    EXPECT_NE(all.reason_not_tried(invariant), "") << invariant;
}

TEST_F(PluginTest, AKernelIsHeldToWhatItPromisesAndBreaksOnly) {
  const Check little = check({}, {"PAGED_TEST_DOES=promises_little"});
  EXPECT_EQ(little.process.exit_status, 0);
  for (const json& result : little.report.at("results"))
    EXPECT_TRUE(result.at("invariant") == "reference" || result.at("invariant") == "determinism");
  EXPECT_NE(little.reason_not_tried("tail-isolation"), "");
  // Right where it says that it is wrong: that is a false statement.
  const Check broken =
      check({"--invariant", "tail-isolation"}, {"PAGED_TEST_DOES=breaks_isolation"});
  EXPECT_EQ(broken.process.exit_status, 1);
  EXPECT_FALSE(broken.failures("tail-isolation").empty());
}

TEST_F(PluginTest, RunComparesWithTheReferenceAndWritesTheOutput) {
  const std::string output = (folder_ / "o.npy").string();
  const std::string c = small_case();
  const Arguments arguments = {"run",    "--kernel", kTestKernel,
                               "--case", c,          "--output",
                               output,   "--json",   (folder_ / "run.json").string()};
  const ProcessResult result = run_paged(arguments);
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  EXPECT_EQ(content_of(output).size() % 128, 4 * 2 * 64 * 4 % 128);
  const json run = json::parse(content_of(folder_ / "run.json")).at("results").at(0);
  EXPECT_EQ(run.at("stage"), "test-kernel");
  EXPECT_TRUE(run.at("passed"));
  EXPECT_GT(run.at("bound_used"), 0);
  // Without a case, it takes one of a type that the kernel takes.
  const ProcessResult plain = run_paged({"run", "--kernel", kTestKernel}, {"PAGED_TEST_SCALAR=0"});
  EXPECT_EQ(plain.exit_status, 0) << plain.out << plain.err;
  // A kernel that crashes has no output to write.
  std::filesystem::remove(output);
  const ProcessResult crashed = run_paged(arguments, {"PAGED_TEST_DOES=reads_null"});
  EXPECT_EQ(crashed.exit_status, 1);
  EXPECT_NE(crashed.out.find("SIGSEGV"), std::string::npos) << crashed.out;
  EXPECT_TRUE(content_of(output).empty());
}

// ---- mistakes ---------------------------------------------------------------------------------
TEST_F(PluginTest, MistakesBreakTheirInvariantAndAreNamed) {
  struct Mistake {
    const char* does;
    const char* invariant;
    const char* cause;
  };
  for (const Mistake& mistake : {Mistake{"tail_not_masked", "tail-isolation", "tail-not-masked"},
                                 Mistake{"kv_head_modulo", "head-isolation", "wrong-kv-head"},
                                 Mistake{"table_ignored", "block-permutation", "table-ignored"}}) {
    const Check one =
        check_quickly(mistake.does, {}, std::string("reference,") + mistake.invariant);
    EXPECT_EQ(one.process.exit_status, 1) << mistake.does;
    EXPECT_EQ(one.failures(mistake.invariant).size(), 1U) << mistake.does;
    ASSERT_EQ(one.failures("reference").size(), 1U) << mistake.does;
    EXPECT_EQ(one.failures("reference").front().at("cause"), mistake.cause);
  }
}

/// What a first kernel of one's own gets wrong. Nobody knows whether it has warps, so no cause may
/// speak of them.
TEST_F(PluginTest, CausesOfMistakesOfOnesOwnAreTheRightOnes) {
  struct Mistake {
    const char* does;
    const char* cause;
    const char* words;
  };
  const Mistake mistakes[] = {
      {"accumulator_not_rescaled", "accumulator-not-rescaled", "the accumulator is not rescaled"},
      {"accumulator_not_rescaled_by_pages", "accumulator-not-rescaled", "16 at a time"},
      {"sum_not_rescaled", "sum-not-rescaled", "the sum is not rescaled"},
      {"nothing_rescaled", "not-rescaled", "neither the accumulator nor the sum is rescaled"},
      {"x_is_8", "key-layout", "keys are read with x = 8, as elements of 2 bytes"},
      {"vector_step_lacks_x", "key-layout", "from one vector of x dimensions to the next lacks"},
      {"token_step_lacks_x", "key-layout", "from one token to the next lacks its factor x"},
      {"place_in_vector_left_out", "key-layout", "dim % x is left out"}};
  // 4 query heads on 2 KV heads; the first sequence is the first that comes out wrong.
  const std::string file =
      folder_
          .write("long.json", case_text({{"scalar", "\"f32\""},
                                         {"seq_lens", "[70, 3]"},
                                         {"values", R"({"kind": "normal", "seed": 7})"}}))
          .string();
  for (const Mistake& mistake : mistakes) {
    const Check one = check({"--invariant", "reference", "--case", file},
                            {std::string("PAGED_TEST_DOES=") + mistake.does});
    ASSERT_EQ(one.failures().size(), 1U) << mistake.does;
    const json failure = one.failures().front();
    const std::string message = failure.at("message");
    EXPECT_EQ(failure.at("cause"), mistake.cause) << mistake.does << ": " << message;
    EXPECT_NE(message.find(mistake.words), message.npos) << message;
    for (const char* word : {"warp", "lane", "thread"})
      EXPECT_EQ(message.find(word), message.npos) << message;
  }
}

/// In blocks of [block_size, num_kv_heads, head_size]. The first sequence has one token, in which
/// many mistakes look alike: the longer one is what is looked at.
TEST_F(PluginTest, CausesRestOnTheLongestWrongSequence) {
  struct Mistake {
    const char* does;
    const char* cause;
    const char* words;
  };
  const Mistake mistakes[] = {
      {"last_token_dropped", "last-token-dropped", "the last token is left out"},
      {"output_of_next_head", "output-elsewhere",
       "the output of head 3 stands where that of head 0"},
      {"kv_head_modulo", "wrong-kv-head", "keys and values are those of KV head 1, as head % num"},
      {"token_strides_lack_heads", "token-stride", "the step of keys and values from one token"},
      {"key_token_stride_lacks_heads", "token-stride", "the step of keys from one token"},
      {"value_token_stride_lacks_heads", "token-stride", "the step of values from one token"},
      {"lse_by_log2", "lse-in-base-2", "only the LSE is wrong"},
      {"rounds_probabilities", "probabilities-rounded", "rounded to f16 before"},
      {"rounds_logits", "logits-in-f16", "logits that were rounded to f16"},
      {"scale_twice", "scale-twice", "multiplied by scale twice"},
      {"scale_missing", "scale-missing", "not multiplied by scale"},
      {"lse_in_base_2", "lse-in-base-2", "only the LSE is wrong"},
      {"lse_lacks_maximum", "lse-without-maximum", "only the LSE is wrong"},
      {"one_token_too_many", "one-token-too-many", "a token past the end takes part"},
      {"tail_not_masked", "tail-not-masked", "tokens 40 to 47 take part"},
      {"output_a_little_too_great", "denominator", "every weight is 1.0001 times"}};
  const std::string file =
      folder_
          .write("one.json", case_text({{"scalar", "\"f32\""},
                                        {"seq_lens", "[1, 40]"},
                                        {"values", R"({"kind": "normal", "seed": 7})"}}))
          .string();
  for (const Mistake& mistake : mistakes) {
    const Check one =
        check({"--invariant", "reference", "--case", file},
              {std::string("PAGED_TEST_DOES=") + mistake.does, "PAGED_TEST_LAYOUT=1"});
    ASSERT_EQ(one.failures().size(), 1U) << mistake.does;
    const json failure = one.failures().front();
    const std::string message = failure.at("message");
    EXPECT_EQ(failure.at("cause"), mistake.cause) << mistake.does << ": " << message;
    EXPECT_NE(message.find(mistake.words), message.npos) << message;
    EXPECT_EQ(message.find("partition"), message.npos) << message;
    // The number that is shown is one of the sequence that is explained.
    EXPECT_EQ(message.rfind("sequence 1, head ", 0), 0U) << message;
  }
}

/// A cause explains every sequence and head of the run. Each of these looks like another mistake to
/// whoever reads the weights of one row alone, or is none of the weights.
TEST_F(PluginTest, CausesExplainAllRowsOfTheRun) {
  struct Mistake {
    const char* does;
    const char* cause;
    const char* words;
    std::map<std::string, std::string> changes = {};
  };
  const std::map<std::string, std::string> partitions = {{"seq_lens", "[513, 1100]"},
                                                         {"num_heads", "1"},
                                                         {"num_kv_heads", "1"},
                                                         {"head_size", "32"},
                                                         {"num_blocks", "120"}};
  const std::map<std::string, std::string> alibi = {
      {"seq_lens", "[20, 530]"}, {"num_blocks", "60"}, {"alibi_slopes", "[0.1, 0.05, 0.02, 0.01]"}};
  const std::map<std::string, std::string> fp8 = {
      {"scalar", "\"f16\""}, {"cache", "\"e4m3\""}, {"k_scale", "0.25"}, {"v_scale", "0.7"}};
  const std::map<std::string, std::string> rows = {
      {"seq_lens", "[40, 33, 40, 9, 20]"},
      {"block_tables", "[[5, 4, 3], [2, 1, 0], [6, 7, 8], [9], [10, 11]]"}};
  const Mistake mistakes[] = {
      {"first_token_of_later_partitions_lost", "token-dropped",
       "the first token of each partition but the first is left out", partitions},
      {"last_partition_not_merged", "partition-lost",
       "the last partition is not merged where there are several, though the denominator",
       partitions},
      {"sum_of_partitions_not_rescaled", "sum-not-rescaled",
       "to the greater maximum where partitions of 512 tokens meet", partitions},
      {"lse_of_last_partition", "lse-of-one-partition", "only the LSE is wrong", partitions},
      {"alibi_from_end_of_partition", "alibi-position", "from the partition's last token", alibi},
      {"alibi_from_longest", "alibi-position", "from the longest sequence's end", alibi},
      {"divides_by_k_scale", "k-scale", "the keys are divided by k_scale", fp8},
      {"subnormals_read_as_0", "fp8-codes", "subnormal codes of e4m3 are read as 0", fp8},
      {"bias_one_too_great", "fp8-codes", "read one too small (a wrong bias)", fp8},
      {"rows_as_wide_as_own_pages", "wrong-table-row", "as this sequence needs", rows},
      {"length_of_next_sequence",
       "wrong-length",
       "that of the next sequence",
       {{"seq_lens", "[18, 20, 30, 17]"}}},
      {"exponential_to_base_2", "base-of-exponential", "exp2() needs logits"},
      {"dot_lacks_last_dimensions", "dimensions-lost", "lack the last 8 dimensions"},
      {"scale_of_head_size", "scale-missing", "whatever scale is passed", {{"scale", "0.3"}}},
      {"values_of_next_token", "values-of-other-tokens", "values are those of the next token"},
      {"values_backwards_in_page", "values-of-other-tokens",
       "from a page's last slot to its first"},
      {"output_added_up_in_f16", "coarse-accumulator", "kept in f16"},
      {"lse_lacks_sum", "lse-without-sum", "the maximum alone"},
      {"sum_a_little_too_great", "", "only the sum is wrong, and no known mistake"},
      {"one_row_unwritten", "row-unwritten",
       "the output of sequence 1, head 1 is never written (1 of"},
      {"element_of_row_before_overwritten", "dimensions-overwritten",
       "dimension 63 is wrong, 0 each time, and all others are right"}};
  for (const Mistake& mistake : mistakes) {
    std::map<std::string, std::string> changes = {{"scalar", "\"f32\""},
                                                  {"seq_lens", "[20, 45]"},
                                                  {"values", R"({"kind": "normal", "seed": 7})"}};
    for (const auto& [key, value] : mistake.changes) changes[key] = value;
    const std::string file = folder_.write("rows.json", case_text(changes)).string();
    const Check one =
        check({"--invariant", "reference", "--case", file},
              {std::string("PAGED_TEST_DOES=") + mistake.does,
               std::string("PAGED_TEST_SCALAR=") + (changes.contains("cache") ? "1" : "0")});
    ASSERT_EQ(one.failures().size(), 1U) << mistake.does << one.process.out << one.process.err;
    const json failure = one.failures().front();
    const std::string message = failure.at("message");
    EXPECT_EQ(failure.at("cause"), mistake.cause) << mistake.does << ": " << message;
    EXPECT_NE(message.find(mistake.words), message.npos) << mistake.does << ": " << message;
    EXPECT_EQ(message.find("look at the values"), message.npos) << message;
  }
}

/// A cause that a few cases alone have is not shown for all.
TEST_F(PluginTest, CasesWithoutACauseHaveAVote) {
  const auto out_on = [&](const std::vector<std::string>& lengths) {
    Arguments arguments = {"--invariant", "reference"};
    for (const std::string& length : lengths) {
      const std::string name = "case" + std::to_string(arguments.size()) + ".json";
      arguments.insert(
          arguments.end(),
          {"--case",
           folder_.write(name, case_text({{"scalar", "\"f32\""}, {"seq_lens", "[" + length + "]"}}))
               .string()});
    }
    return check(arguments, {"PAGED_TEST_DOES=last_of_20_dropped_else_keys_backwards"}).process.out;
  };
  const std::string mostly_unknown = out_on({"30", "20", "40"});
  EXPECT_NE(mostly_unknown.find("no known mistake"), std::string::npos) << mostly_unknown;
  EXPECT_EQ(mostly_unknown.find("likely cause:"), std::string::npos) << mostly_unknown;
  const std::string mostly_known = out_on({"30", "20", "20"});
  EXPECT_NE(mostly_known.find("likely cause: the last token"), std::string::npos) << mostly_known;
}

/// Rounded probabilities of a type that hides them in the weights that are read: all are right. Of
/// one that cannot be told from any other small error, there is no cause.
TEST_F(PluginTest, RoundedProbabilitiesAreFoundByTryingThem) {
  const auto failure_of = [&](const char* does, const char* scalar, const char* number) {
    const std::string file =
        folder_
            .write("rounded.json", case_text({{"scalar", scalar},
                                              {"seq_lens", "[200]"},
                                              {"num_blocks", "20"},
                                              {"values", R"({"kind": "normal", "seed": 7})"}}))
            .string();
    return check(
               {"--invariant", "reference", "--case", file},
               {std::string("PAGED_TEST_DOES=") + does, std::string("PAGED_TEST_SCALAR=") + number})
        .failures();
  };
  const auto in_bf16 = failure_of("rounds_probabilities_to_bf16", "\"f32\"", "0");
  ASSERT_EQ(in_bf16.size(), 1U);
  EXPECT_EQ(in_bf16.front().at("cause"), "probabilities-rounded") << in_bf16.front();
  const auto own = failure_of("rounds_probabilities_to_bf16", "\"bf16\"", "2");
  ASSERT_EQ(own.size(), 1U);
  EXPECT_EQ(own.front().at("cause"), "probabilities-rounded") << own.front();
  EXPECT_NE(own.front().at("message").get<std::string>().find("declare rounds_probabilities"),
            std::string::npos);
  const auto truncated = failure_of("truncates_probabilities", "\"f32\"", "0");
  ASSERT_EQ(truncated.size(), 1U);
  EXPECT_EQ(truncated.front().at("cause"), "") << truncated.front();
}

/// With one token the query can't matter; nor is a partition spoken of that nobody declared.
TEST_F(PluginTest, ACauseThatIsBorrowedCanBeTheFailuresOwn) {
  const std::string file =
      folder_.write("token.json", case_text({{"scalar", "\"f32\""}, {"seq_lens", "[1, 1]"}}))
          .string();
  const Check dropped = check({"--invariant", "single-token,reference", "--case", file},
                              {"PAGED_TEST_DOES=last_token_dropped"});
  EXPECT_NE(dropped.process.out.find("the only token is left out"), std::string::npos)
      << dropped.process.out;
  EXPECT_EQ(dropped.process.out.find("partition"), std::string::npos) << dropped.process.out;
  // Without --invariant, causes are borrowed.
  const Check moved = check({}, {"PAGED_TEST_DOES=output_of_next_head", "PAGED_TEST_LAYOUT=1"});
  EXPECT_FALSE(moved.failures("single-token").empty()) << moved.process.out;
  EXPECT_EQ(moved.process.out.find("the query is that of"), std::string::npos) << moved.process.out;
  // Nor can keys: where one token is lost and keys are wrong, these are two mistakes.
  const Check keys = check({}, {"PAGED_TEST_DOES=keys_wrong_and_one_token_lost"});
  ASSERT_FALSE(keys.failures("reference").empty()) << keys.process.out;
  EXPECT_NE(keys.failures("reference")
                .back()
                .at("message")
                .get<std::string>()
                .find("likely cause: the keys are those of KV head 0"),
            std::string::npos)
      << keys.failures("reference").back();
  EXPECT_NE(keys.process.out.find("the only token is left out"), std::string::npos);
  EXPECT_EQ(keys.process.out.find("likely cause: the keys"), std::string::npos) << keys.process.out;
}

/// Keys of another KV head whose logits are all the same amount greater leave the weights alone.
TEST_F(PluginTest, ACauseThatMovesAllLogitsAlikeIsSeenInTheLse) {
  const std::string file =
      folder_
          .write("coded.json",
                 case_text({{"scalar", "\"f32\""}, {"values", R"({"kind": "coded", "seed": 7})"}}))
          .string();
  const Check one =
      check({"--invariant", "reference", "--case", file}, {"PAGED_TEST_DOES=keys_of_kv_head_0"});
  ASSERT_EQ(one.failures().size(), 1U) << one.process.out;
  EXPECT_EQ(one.failures().front().at("cause"), "wrong-kv-head") << one.process.out;
  EXPECT_NE(one.process.out.find("the weights are the same, and the LSE is not"), std::string::npos)
      << one.process.out;
}

/// Two logits that rise: an online softmax that rescales nothing has the weights of one without
/// keys.
TEST_F(PluginTest, WeightsThatTwoMistakesHaveNameBoth) {
  const std::string file =
      folder_
          .write("two.json", case_text({{"scalar", "\"f32\""},
                                        {"num_heads", "1"},
                                        {"num_kv_heads", "1"},
                                        {"seq_lens", "[2]"},
                                        {"values", R"({"kind": "normal", "seed": 4})"}}))
          .string();
  const Check one =
      check({"--invariant", "reference", "--case", file}, {"PAGED_TEST_DOES=nothing_rescaled"});
  ASSERT_EQ(one.failures().size(), 1U) << one.process.out;
  const std::string message = one.failures().front().at("message");
  EXPECT_EQ(one.failures().front().at("cause"), "");
  for (const char* words : {"either ", "the keys, or the query, do not count", "neither"})
    EXPECT_NE(message.find(words), message.npos) << message;
}

/// Of two equal logits the sum is 2: one sequence can't tell whether it is missing or values count
/// twice, and one of another length can.
TEST_F(PluginTest, AFactorMustBeThatOfAllSequences) {
  const auto failure_on = [&](const char* lengths) {
    const std::string file =
        folder_
            .write("sums.json", case_text({{"scalar", "\"f32\""},
                                           {"seq_lens", lengths},
                                           {"values", R"({"query": {"kind": "constant"},
                                             "key_cache": {"kind": "constant"},
                                             "value_cache": {"kind": "normal", "seed": 7}})"}}))
            .string();
    const std::vector<json> failures =
        check({"--invariant", "reference", "--case", file}, {"PAGED_TEST_DOES=sum_not_divided"})
            .failures();
    return failures.empty() ? json{{"cause", "no failure"}, {"message", ""}} : failures.front();
  };
  const json both = failure_on("[2, 2]");
  EXPECT_EQ(both.at("cause"), "") << both;
  for (const char* words : {"either ", "not divided by their sum", "is added 2 times"})
    EXPECT_NE(both.at("message").get<std::string>().find(words), std::string::npos) << both;
  EXPECT_EQ(failure_on("[2, 3]").at("cause"), "sum-not-divided");
}

/// A factor of one sequence's weights that a mistake would give another sequence, too.
TEST_F(PluginTest, SlotsPastTheEndAreCountedInAllSequences) {
  for (const char* lengths : {"[31, 20]", "[20, 31]", "[30, 20]", "[31]"}) {
    const std::string file =
        folder_
            .write("slots.json", case_text({{"scalar", "\"f32\""},
                                            {"seq_lens", lengths},
                                            {"values", R"({"kind": "normal", "seed": 7})"}}))
            .string();
    const Check one = check({"--invariant", "reference", "--case", file},
                            {"PAGED_TEST_DOES=one_slot_in_denominator"});
    ASSERT_EQ(one.failures().size(), 1U) << lengths;
    const json failure = one.failures().front();
    EXPECT_EQ(failure.at("cause"), "padding-in-denominator") << failure;
    EXPECT_NE(failure.at("message").get<std::string>().find("likely cause: one slot past the end"),
              std::string::npos)
        << failure;
  }
}

/// A scale that is 1/2, and left out, is no other factor than that of values that are added twice.
TEST_F(PluginTest, AScaleIsNamedWhereItsFactorIsNoOther) {
  const auto failure_with = [&](const char* v_scale) {
    const std::string file =
        folder_
            .write("scales.json", case_text({{"cache", "\"e4m3\""},
                                             {"seq_lens", "[20, 31]"},
                                             {"k_scale", "0.3"},
                                             {"v_scale", v_scale},
                                             {"values", R"({"kind": "normal", "seed": 7})"}}))
            .string();
    const std::vector<json> failures =
        check({"--invariant", "reference", "--case", file},
              {"PAGED_TEST_DOES=v_scale_dropped", "PAGED_TEST_SCALAR=1"})
            .failures();
    return failures.empty() ? json{{"cause", "no failure"}, {"message", ""}} : failures.front();
  };
  EXPECT_EQ(failure_with("0.7").at("cause"), "v-scale") << failure_with("0.7");
  const json both = failure_with("0.5");
  EXPECT_EQ(both.at("cause"), "") << both;
  for (const char* words : {"either the values are not multiplied by v_scale", "is added 2 times"})
    EXPECT_NE(both.at("message").get<std::string>().find(words), std::string::npos) << both;
}

/// All mistakes that have a factor are named; where all have one id, it is kept.
TEST_F(PluginTest, AllMistakesOfOneFactorAreNamed) {
  const auto expect = [&](const char* does, const char* keys, const char* cause,
                          const std::vector<const char*>& parts) {
    const std::string values = R"({"query": {"kind": "constant"}, "key_cache": )" +
                               std::string(keys) +
                               R"(, "value_cache": {"kind": "normal", "seed": 7}})";
    const std::string file =
        folder_
            .write("part.json",
                   case_text({{"scalar", "\"f32\""}, {"seq_lens", "[40]"}, {"values", values}}))
            .string();
    const Check one = check({"--invariant", "reference", "--case", file},
                            {std::string("PAGED_TEST_DOES=") + does});
    ASSERT_EQ(one.failures().size(), 1U) << one.process.out;
    const std::string message = one.failures().front().at("message");
    EXPECT_EQ(one.failures().front().at("cause"), cause) << message;
    for (const char* part : parts) EXPECT_NE(message.find(part), message.npos) << message;
  };
  expect(
      "sum_of_even_tokens", R"({"kind": "constant"})", "",
      {"either the denominator has only every second token", ", or every value is added 2 times"});
  expect("sum_of_first_32_tokens", R"({"kind": "normal", "seed": 7})", "part-in-denominator",
         {"either the denominator has only the first 32 of every 128 tokens",
          ", or the denominator has only the first 32 of every 256 tokens"});
}

/// exp() of so great logits is infinite, and so would the factor be if nothing were divided.
TEST_F(PluginTest, AFactorIsFinite) {
  const std::string file =
      folder_
          .write("great.json", case_text({{"scalar", "\"f32\""},
                                          {"seq_lens", "[20, 31]"},
                                          {"scale", "100"},
                                          {"values", R"({"query": {"kind": "constant"},
                                            "key_cache": {"kind": "constant"},
                                            "value_cache": {"kind": "normal", "seed": 7}})"}}))
          .string();
  const Check one = check({"--invariant", "reference", "--case", file},
                          {"PAGED_TEST_DOES=values_added_twice_in_long_sequences"});
  ASSERT_EQ(one.failures().size(), 1U) << one.process.out;
  EXPECT_EQ(one.failures().front().at("cause"), "added-repeatedly") << one.process.out;
}

/// A sequence that is wrong in another way speaks against what would give all a factor.
TEST_F(PluginTest, AnOutputThatIsNoMultipleSpeaksAgainstAFactor) {
  const auto cause_on = [&](const char* lengths) -> std::string {
    const std::string file =
        folder_
            .write("far.json", case_text({{"scalar", "\"f32\""},
                                          {"seq_lens", lengths},
                                          {"values", R"({"kind": "normal", "seed": 7})"}}))
            .string();
    const std::vector<json> failures =
        check({"--invariant", "reference", "--case", file},
              {"PAGED_TEST_DOES=values_added_twice_in_long_sequences"})
            .failures();
    return failures.empty() ? "no failure" : failures.front().at("cause");
  };
  EXPECT_EQ(cause_on("[20, 31]"), "added-repeatedly");
  EXPECT_EQ(cause_on("[20, 47]"), "denominator");
}

/// The row of the next sequence: of one page whose number is its place, it may be the table that is
/// ignored.
TEST_F(PluginTest, ARowThatLooksLikeNoTableNamesBoth) {
  const auto failure_on = [&](const char* tables,
                              const std::string& does = "row_of_next_sequence") {
    const std::string file = folder_
                                 .write("rows.json", case_text({{"scalar", "\"f32\""},
                                                                {"seq_lens", "[16, 40]"},
                                                                {"block_tables", tables}}))
                                 .string();
    const std::vector<json> failures =
        check({"--invariant", "reference", "--case", file}, {"PAGED_TEST_DOES=" + does}).failures();
    return failures.empty() ? json{{"cause", "no failure"}} : failures.front();
  };
  EXPECT_EQ(failure_on("[[5], [2, 3, 4]]").at("cause"), "wrong-table-row");
  const json both = failure_on("[[5], [0, 1, 2]]");
  EXPECT_EQ(both.at("cause"), "") << both;
  for (const char* words :
       {"either ", "the row of the block table is that of sequence 1", "logical block"})
    EXPECT_NE(both.at("message").get<std::string>().find(words), std::string::npos) << both;
  // Keys alone: with another row, values would be those of other blocks, too.
  const json keys = failure_on("[[5], [0, 1, 2]]", "table_ignored_for_keys");
  EXPECT_EQ(keys.at("cause"), "table-ignored") << keys;
}

/// Where logits are so small that all weights are alike, statistics alone show what is wrong: a
/// maximum that is no token's logit says that the logits are, and one of 0 that nobody subtracts
/// it.
TEST_F(PluginTest, AMaximumThatIsNoTokensIsNoSearchThatEndsEarly) {
  const auto failure_of = [&](const char* does, const char* family) {
    const std::string values = std::string(R"({"kind": ")") + family + R"(", "seed": 7})";
    const std::string file = folder_
                                 .write("maximum.json", case_text({{"scalar", "\"f32\""},
                                                                   {"seq_lens", "[40]"},
                                                                   {"values", values.c_str()}}))
                                 .string();
    const std::vector<json> failures = check({"--invariant", "reference", "--case", file},
                                             {std::string("PAGED_TEST_DOES=") + does})
                                           .failures();
    return failures.empty() ? json{{"cause", "no failure"}, {"message", ""}} : failures.front();
  };
  const json lost = failure_of("dot_lacks_last_dimensions", "small");
  EXPECT_EQ(lost.at("cause"), "dimensions-lost") << lost;
  EXPECT_EQ(lost.at("message").get<std::string>().find("search"), std::string::npos) << lost;
  const json none = failure_of("maximum_not_subtracted", "normal");
  EXPECT_EQ(none.at("cause"), "maximum") << none;
  EXPECT_NE(none.at("message").get<std::string>().find("nothing is subtracted"), std::string::npos)
      << none;
}

TEST_F(PluginTest, WeightsThatNothingExplainsSayWhereToReadOn) {
  const Check one = check_quickly("keys_backwards");
  ASSERT_EQ(one.failures().size(), 1U) << one.process.out;
  EXPECT_EQ(one.failures().front().at("cause"), "") << one.process.out;
  EXPECT_NE(one.process.out.find("no known mistake explains these weights"), std::string::npos);
  EXPECT_NE(one.process.out.find("walkthroughs/reading_a_failure"), std::string::npos);
}

TEST_F(PluginTest, TheWrongExampleIsCaughtAsItsPageSays) {
  const Check all = check_quickly("", {}, "reference,tail-isolation,head-isolation",
                                  std::string(PAGED_EXAMPLES) + "/wrong.so");
  EXPECT_EQ(all.process.exit_status, 1);
  EXPECT_EQ(all.failures("tail-isolation").size(), 1U);
  EXPECT_TRUE(all.failures("head-isolation").empty());
  ASSERT_EQ(all.failures("reference").size(), 1U);
  EXPECT_EQ(all.failures("reference").front().at("cause"), "tail-not-masked");
}

// ---- what people read ---------------------------------------------------------------------------
std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    longest = std::max(longest, line.size() - (line.ends_with('\r') ? 1 : 0));
  return longest;
}

/// Text that was wrapped, in one line: with one space for each gap between words.
std::string unwrapped(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

int count_of(const std::string& part, const std::string& text) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++count;
  return count;
}

/// The simplest invariant that fails is told whole, the others in a list.
TEST_F(PluginTest, OneMistakeIsOneStoryInLinesThatFit) {
  const std::string wrong = std::string(PAGED_EXAMPLES) + "/wrong.so";
  const Check all = check({}, {}, wrong);
  const std::string& out = all.process.out;
  EXPECT_LE(longest_line(out), 100U) << out;
  EXPECT_NE(out.find("first-attempt fails"), std::string::npos) << out;
  EXPECT_EQ(count_of("\n  On case ", out), 1) << out;
  const std::size_t whole = out.find("\nsingle-token: ");
  const std::size_t list = out.find("\nThese fail too");
  ASSERT_TRUE(whole != out.npos && list != out.npos && whole < list) << out;
  EXPECT_LT(out.find("\n    likely cause: "), list) << out;
  std::set<std::string> failed;
  for (const json& failure : all.failures()) failed.insert(failure.at("invariant"));
  EXPECT_TRUE(failed.erase("single-token"));
  EXPECT_GT(failed.size(), 4U);
  for (const std::string& invariant : failed)
    EXPECT_NE(out.find("\n  " + invariant + " ", list), out.npos) << invariant << " in " << out;
  // Asked for by id, each is told whole.
  const Check two = check({"--invariant", "reference,tail-isolation"}, {}, wrong);
  EXPECT_EQ(count_of("\n  On case ", two.process.out), 2) << two.process.out;
  EXPECT_EQ(two.process.out.find("fail too"), std::string::npos) << two.process.out;
}

TEST_F(PluginTest, LinesFitTheTerminal) {
  const ProcessResult shown =
      run_paged({"check", "--kernel", std::string(PAGED_EXAMPLES) + "/wrong.so"}, {"NO_COLOR=1"},
                testing::OutputKind::terminal);
  const std::string text = shown.out.substr(shown.out.rfind("\x1b[K") + 3);  // progress left out
  const std::size_t longest = longest_line(text);
  EXPECT_LE(longest, testing::kTerminalColumns) << text;
  EXPECT_GT(longest, testing::kTerminalColumns - 10U) << text;
}

/// A column that counts says why it counts less.
TEST_F(PluginTest, CasesThatWereNotTriedAreCounted) {
  const std::string right =
      unwrapped(check({}, {}, std::string(PAGED_EXAMPLES) + "/naive.so").process.out);
  EXPECT_NE(right.find("reference (4 cases)"), std::string::npos) << right;
  EXPECT_NE(right.find("the first: kernel naive-c"), std::string::npos) << right;
  const std::string crashed = unwrapped(check({}, {"PAGED_TEST_DOES=reads_null"}).process.out);
  EXPECT_NE(crashed.find("1 of 21"), std::string::npos) << crashed;
  EXPECT_TRUE(std::regex_search(
      crashed, std::regex("[0-9]+ cases of 2[0-9] invariants \\(the column `cases` has how many of "
                          "each\\): left out after the one before ended")))
      << crashed;
  // Of one or two invariants, by name.
  const std::string two =
      unwrapped(check({"--invariant", "reference"}, {"PAGED_TEST_DOES=reads_null"}).process.out);
  EXPECT_NE(two.find("reference (20 cases): left out after the one before ended"),
            std::string::npos)
      << two;
}

// ---- misbehaviour -----------------------------------------------------------------------------
struct Misbehaviour {
  const char* does;
  std::vector<const char*> words;  ///< of its report
};

class MisbehaviourTest : public PluginTest, public ::testing::WithParamInterface<Misbehaviour> {};

/// One failed result with the invariant and the case, in one line, within the time there is.
TEST_P(MisbehaviourTest, IsOneClearReport) {
  const bool of_inputs = std::string(GetParam().does) == "changes_cache";
  const bool hangs = std::string(GetParam().does) == "hangs";
  const Check one =
      check_quickly(GetParam().does, {"--time-limit", hangs ? "0.3" : "60", "--memory-limit", "64"},
                    of_inputs ? "writes-only-output" : "reference");
  EXPECT_EQ(one.process.exit_status, 1) << one.process.out << one.process.err;
  EXPECT_EQ(one.process.err, "");
  ASSERT_FALSE(one.report.is_null());
  ASSERT_EQ(one.failures().size(), 1U);
  const std::string message = one.failures().front().at("message");
  for (const char* word : GetParam().words)
    EXPECT_NE(message.find(word), std::string::npos) << word << " is not in " << message;
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'),
            std::string(GetParam().does) == "returns_error");  // the tool shows it as \x0A
  EXPECT_NE(one.process.out.find(of_inputs ? "\nwrites-only-output: " : "\nreference: "),
            std::string::npos)
      << one.process.out;
}

INSTANTIATE_TEST_SUITE_P(
    All, MisbehaviourTest,
    ::testing::Values(
        Misbehaviour{"reads_null", {"SIGSEGV", "it read", "null pointer"}},
        Misbehaviour{"aborts", {"SIGABRT", "test_kernel: this cannot be"}},
        Misbehaviour{"exits", {"called exit(3)"}},
        Misbehaviour{"exits_without_error", {"called exit(0)"}},
        Misbehaviour{"throws", {"exception", "no such kernel"}},
        Misbehaviour{"hangs", {"did not return within 0.3 s"}},
        Misbehaviour{"overflows_stack", {"SIGSEGV", "its stack ran over"}},
        Misbehaviour{"closes_files", {"closed a file that is not its own"}},
        Misbehaviour{"writes_garbage", {"what makes no sense: a message of", "fields"}},
        Misbehaviour{"writes_a_long_field", {"a message of 15 fields, where at most 11 are due"}},
        Misbehaviour{"writes_an_end", {"it ended before it had tried everything"}},
        Misbehaviour{"writes_half_a_message", {"what makes no sense: "}},
        Misbehaviour{"writes_too_many_verdicts", {"more verdicts than tries"}},
        Misbehaviour{"writes_no_invariant", {"field 5 is no id of an invariant"}},
        Misbehaviour{"replaces_itself", {"replaced its process by another program"}},
        Misbehaviour{"asks_for_too_much", {"asked for 1099511627776 bytes", "--memory-limit"}},
        Misbehaviour{"returns_error", {"error 42", "answer"}},
        Misbehaviour{"takes_all_memory", {"exception", "bad_alloc"}},
        Misbehaviour{"asks_for_less_than_nothing", {"paged_kernel_workspace", "-1"}},
        Misbehaviour{"reads_past_table", {"SIGSEGV", "it read", "past the end of 'block_tables'"}},
        Misbehaviour{"uses_block_minus_one",
                     {"before the start of 'key_cache'", "block -1 would be"}},
        Misbehaviour{
            "uses_block_too_many",
            {"past the end of 'value_cache'", "where block 12 would be; there are 0 to 11"}},
        Misbehaviour{"writes_past_output", {"SIGSEGV", "it wrote", "past the end of 'output'"}},
        Misbehaviour{"writes_before_output", {"1 byte before the start of 'output'"}},
        Misbehaviour{"changes_cache", {"changed its input 'key_cache'"}}),
    [](const auto& parameter) { return std::string(parameter.param.does); });

TEST_F(PluginTest, TalkingAndLeavingAProcessBehindDoNoHarm) {
  for (const char* does : {"floods", "leaves_a_process"}) {
    const auto begin = std::chrono::steady_clock::now();
    const Check one = check_quickly(does);
    EXPECT_EQ(one.process.exit_status, 0) << one.process.out << one.process.err;
    EXPECT_EQ(one.process.out.find("another line"), std::string::npos);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  }
}

TEST_F(PluginTest, ADaemonEndsWithItsKernel) {
  const std::string file = (folder_ / "pids").string();
  const Check one = check({"--invariant", "reference", "--case", small_case()},
                          {"PAGED_TEST_DOES=leaves_a_daemon", "PAGED_TEST_FILE=" + file});
  EXPECT_EQ(one.process.exit_status, 0) << one.process.out << one.process.err;
  std::istringstream pids(content_of(file));
  int daemons = 0;
  for (pid_t pid = 0; pids >> pid; ++daemons)
    EXPECT_EQ(kill(pid, 0), -1) << "process " << pid << " is still there";
  EXPECT_GT(daemons, 0);
}

/// Whatever comes over the line to a run, it has no output of another size than the case's.
TEST_F(PluginTest, ARunBelievesNoMessage) {
  const std::map<std::string, std::string> complaints = {
      {"writes_garbage", "what makes no sense: a message of"},
      {"writes_a_long_field", "an output of 1048576 bytes, where 2048 are due"},
      {"writes_an_end", "a message of 0 fields"},
      {"writes_half_a_message", "what makes no sense: "},
      {"writes_too_many_verdicts", "a message of 11 fields"}};
  for (const auto& [does, complaint] : complaints) {
    const std::string output = (folder_ / "o.npy").string();
    const ProcessResult result =
        run_paged({"run", "--kernel", kTestKernel, "--case", small_case(), "--output", output},
                  {"PAGED_TEST_DOES=" + does, "NO_COLOR=1"});
    EXPECT_EQ(result.exit_status, 1) << does << result.out << result.err;
    std::string words = result.out;  // lines are broken anywhere
    for (std::size_t at = 0; (at = words.find("\n", at)) != words.npos;)
      words.replace(at, std::min(words.find_first_not_of("\n ", at), words.size()) - at, " ");
    EXPECT_NE(words.find(complaint), std::string::npos) << does << ": " << words;
    EXPECT_TRUE(content_of(output).empty()) << does;
  }
}

/// They go on for 10 seconds, and would for ever; the second ones may well outrun the tool.
TEST_F(PluginTest, WhatForksOnAndOnDoesNotHoldTheTool) {
  for (const char* does : {"forks_on_and_on", "forks_in_new_sessions"}) {
    const auto begin = std::chrono::steady_clock::now();
    const Check one = check_quickly(does);
    EXPECT_EQ(one.process.exit_status, 0) << one.process.out << one.process.err;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(7)) << does;
  }
}

/// Twenty crashes that differ in numbers alone are one line.
TEST_F(PluginTest, CrashesThatAreAlikeAreOneLine) {
  const std::string out = check({}, {"PAGED_TEST_DOES=writes_before_output"}).process.out;
  EXPECT_LE(longest_line(out), 100U) << out;
  const std::string said = unwrapped(out);
  EXPECT_TRUE(
      std::regex_search(said, std::regex("[12][0-9] end alike \\(reference, .*block-sparse\\), "
                                         "each with other numbers: it wrote ")))
      << out;
  EXPECT_EQ(count_of("it wrote ", said), 3) << "the one told whole, and two lines: " << out;
}

// ---- --first ------------------------------------------------------------------------------------
/// The first invariant that fails, alone, and after a cause nothing more.
TEST_F(PluginTest, FirstStopsAtTheFirstFailure) {
  const Check first = check({"--first"}, {"PAGED_TEST_DOES=tail_not_masked"});
  EXPECT_EQ(first.process.exit_status, 1);
  // What is too plain for a cause borrows it from the next one.
  ASSERT_EQ(first.failures("reference").size(), 1U) << first.process.out;
  EXPECT_EQ(first.failures().size(), 1 + first.failures("single-token").size());
  EXPECT_EQ(first.failures().back(), first.report.at("results").back());
  EXPECT_EQ(first.failures().back().at("cause"), "tail-not-masked");
  EXPECT_EQ(count_of("\n  On case ", first.process.out), 1) << first.process.out;
  EXPECT_NE(unwrapped(first.process.out).find("likely cause: the tail of the last page"),
            std::string::npos)
      << first.process.out;
  EXPECT_TRUE(std::regex_match(first.reason_not_tried("reference"),
                               std::regex("[0-9]+ cases?, left out after the first failure .*")));
  EXPECT_EQ(first.reason_not_tried("determinism"), "left out after the first failure (--first)");
}

TEST_F(PluginTest, FirstStopsAfterThreeFailuresThatNothingExplains) {
  const Check first = check({"--first"}, {"PAGED_TEST_DOES=truncates_probabilities"});
  std::set<std::string> failed;
  for (const json& failure : first.failures()) {
    failed.insert(failure.at("invariant"));
    EXPECT_EQ(failure.at("cause"), "");
  }
  EXPECT_EQ(failed, std::set<std::string>{"reference"}) << first.process.out;
  EXPECT_EQ(first.failures().size(), 3U);
  EXPECT_EQ(first.process.out.find("fails too"), std::string::npos) << first.process.out;
}

TEST_F(PluginTest, FirstStopsAtACrashAndChangesNothingForARightKernel) {
  const Check crashed = check({"--first"}, {"PAGED_TEST_DOES=reads_null"});
  EXPECT_EQ(crashed.process.exit_status, 1);
  EXPECT_EQ(crashed.report.at("results").size(), 1U);
  const Check right = check_quickly("right", {"--first"}, "reference,determinism");
  const Check all = check_quickly("right", {}, "reference,determinism");
  EXPECT_EQ(right.process.exit_status, 0);
  EXPECT_EQ(right.report, all.report);
  EXPECT_EQ(right.process.out, all.process.out);
}

TEST_F(PluginTest, ANaNCodeThatIsSkippedIsNamed) {
  const Check check =
      this->check({"--invariant", "fp8-scale"},
                  {"PAGED_TEST_DOES=nan_skipped", "PAGED_TEST_LAYOUT=0", "PAGED_TEST_SCALAR=1"});
  ASSERT_FALSE(check.failures().empty()) << check.process.out;
  const std::string message = check.failures().front().at("message");
  EXPECT_NE(message.find("code 127 of e4m3 is NaN"), std::string::npos) << message;
  EXPECT_NE(message.find("searched with >"), std::string::npos) << message;
}

/// The list of what fails too has the access of a crash, and nothing of what follows it.
TEST_F(PluginTest, ACrashInTheListIsItsAccessAlone) {
  const Check all = check({"--case", small_case()}, {"PAGED_TEST_DOES=prints_and_reads_null"});
  const std::string& out = all.process.out;
  const std::size_t list = out.find("fail too");
  ASSERT_NE(list, out.npos) << out;
  EXPECT_NE(unwrapped(out.substr(list)).find("it read "), out.npos) << out;
  EXPECT_EQ(out.find("the last", list), out.npos) << out;
  EXPECT_NE(out.find("step 3 of 7"), out.npos) << out;
}

/// Somebody who waits sees that something goes on.
TEST_F(PluginTest, WhatTakesLongCountsItsSecondsOnATerminal) {
  const ProcessResult result =
      run_paged({"check", "--kernel", kTestKernel, "--invariant", "reference", "--case",
                 small_case(), "--time-limit", "3.3"},
                {"PAGED_TEST_DOES=hangs"}, testing::OutputKind::terminal);
  // From the second second on. The third look comes just before 3 s, on a busy machine after it.
  const auto shows = [&](int seconds) {
    return result.out.find("checking: test-kernel, reference, case (" + std::to_string(seconds) +
                           " s)") != std::string::npos;
  };
  EXPECT_TRUE(shows(2) || shows(3)) << result.out;
  EXPECT_FALSE(shows(0) || shows(1)) << result.out;
}

/// Where there is no terminal, who waits for a file is told now and then.
TEST_F(PluginTest, WhatTakesLongSaysSoInLinesWhereAFileIsAskedFor) {
  const Check slow = check_quickly("hangs", {"--time-limit", "4.3"});
  EXPECT_TRUE(std::regex_match(
      slow.process.err,
      std::regex("paged: checking: test-kernel, reference, case \\(try 1, after [34] s\\)\n")))
      << slow.process.err;
}

TEST_F(PluginTest, AKernelThatAlwaysHangsIsGivenUp) {
  const auto begin = std::chrono::steady_clock::now();
  const Check all = check({"--time-limit", "0.2"}, {"PAGED_TEST_DOES=hangs"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  EXPECT_EQ(all.process.exit_status, 1);
  EXPECT_EQ(all.failures().size(), 3U);
  EXPECT_NE(all.reason_not_tried("tail-isolation").find("3 calls"), std::string::npos);
}

TEST_F(PluginTest, AKernelThatAlwaysCrashesFailsEveryInvariantOnce) {
  const Check all = check({}, {"PAGED_TEST_DOES=reads_null"});
  EXPECT_EQ(all.process.exit_status, 1);
  std::set<std::string> failed;
  for (const json& failure : all.failures()) {
    EXPECT_TRUE(failed.insert(failure.at("invariant")).second) << failure.dump();
    EXPECT_EQ(failure.at("broken_execution"), "in-bounds");
  }
  EXPECT_TRUE(failed.contains("reference") && failed.contains("block-sparse"));
}

// ---- libraries that cannot be used --------------------------------------------------------------
TEST_F(PluginTest, WhatIsNoKernelIsRefusedInOneLine) {
  const auto refused = [](const std::string& file, const std::vector<std::string>& words) {
    for (const char* command : {"check", "run"})
      expect_refused({command, "--kernel", file}, {}, words);
  };
  refused((folder_ / "nothing.so").string(), {"nothing.so", "no such file"});
  refused(folder_.path().string(), {"it is no file"});
  refused(folder_.write("text.so", "not a library\n").string(),
          {"text.so", "cannot be loaded", "gcc -shared -fPIC"});
  refused(folder_.write("line\nend.so", "").string(), {"line\\x0Aend.so"});
  refused(PAGED_NO_KERNEL, {"paged_kernel_describe", "paged_decode.h"});
}

TEST_F(PluginTest, WrongDescriptionsAreRefusedInOneLine) {
  const std::map<std::string, std::vector<std::string>> wrong = {
      {"has_another_version", {"version 99", "version 3"}},
      {"has_no_name", {"name"}},
      {"has_an_unprintable_name", {"bell\\x07", "control characters"}},
      {"has_no_scalar", {"scalars are 0"}},
      {"promises_what_is_not_there", {"promises", "refrence", "there is no invariant"}},
      {"describes_nothing", {"NULL"}},
      {"crashes_when_described", {"SIGSEGV"}},
      {"exits_when_described", {"exit(0)"}}};
  for (const auto& [does, words] : wrong)
    expect_refused({"check", "--kernel", kTestKernel}, {"PAGED_TEST_DOES=" + does}, words);
  expect_refused({"check", "--kernel", kTestKernel}, {"PAGED_TEST_LAYOUT=3"},
                 {"cache_layout", "3"});
  if (!why_no_cuda_device().empty())
    expect_refused({"check", "--kernel", kTestKernel}, {"PAGED_TEST_DOES=wants_cuda"}, {"CUDA"});
}

TEST_F(PluginTest, TheLibraryIsNeverWritten) {
  const std::string library = (folder_ / "k.so").string();
  std::filesystem::copy_file(kTestKernel, library);
  const std::string link = (folder_ / "link.so").string();
  std::filesystem::create_symlink(library, link);
  const std::string before = content_of(library);
  for (const std::string& name : {library, link}) {
    const Arguments check = {"check", "--kernel", library, "--invariant", "reference"};
    const auto refused = [&](Arguments arguments, const Arguments& more) {
      arguments.insert(arguments.end(), more.begin(), more.end());
      expect_refused(arguments, {}, {*(more.end() - 2), name, "--kernel"});
      EXPECT_EQ(content_of(library), before) << more.front();
    };
    refused(check, {"--json", name});
    refused(check, {"--junit", name});
    refused(check, {"--fuzz", "0.2", "--fuzz-case", name});
    refused(check, {"--fuzz", "0.2", "--json", name});
    refused({"run", "--kernel", library}, {"--output", name});
    refused({"run", "--kernel", library}, {"--json", name});
  }
}

TEST_F(PluginTest, OptionsThatGoWithStagesOnlyAreRefused) {
  const Arguments base = {"check", "--kernel", kTestKernel};
  const auto with = [&](const Arguments& more) {
    Arguments all = base;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  for (const Arguments& more : {Arguments{"--stage", "4"},
                                {"--backend", "cuda"},
                                {"--unchecked"},
                                {"--schedule", "random"},
                                {"--probabilities", "f32"}})
    expect_refused(with(more), {}, {more.front(), "--kernel"});
  expect_refused(with({"--time-limit", "soon"}), {}, {"soon", "seconds"});
  expect_refused(with({"--time-limit", "0"}), {}, {"--time-limit", "0.01"});
  expect_refused(with({"--memory-limit", "-1"}), {}, {"--memory-limit", "-1"});
  expect_refused(with({"--counts"}), {}, {"--counts", "--kernel", "leave it out"});
  expect_refused(with({"--first", "--fuzz", "1"}), {}, {"--first", "--fuzz"});
  expect_refused(with({"--first", "--baseline", "b.json"}), {}, {"--first", "--baseline"});
  expect_refused({"check", "--time-limit", "1"}, {}, {"--kernel"});
  expect_refused(with({"--invariant", "no-race"}), {}, {"no-race", "CPU machine"});
  expect_refused(with({"--invariant", "cache-write"}), {}, {"cache-write", "caches"});
}

#ifdef PAGED_HAS_CUDA
TEST_F(PluginTest, TheExampleInCudaIsRight_cuda) {
  if (const std::string why = why_no_cuda_device(); !why.empty()) GTEST_SKIP() << why;
  expect_all_held(check({}, {}, std::string(PAGED_EXAMPLES) + "/naive_cuda.so"));
}
#else
TEST_F(PluginTest, TheExampleInCudaIsRight_cuda) { GTEST_SKIP() << why_no_cuda_device(); }
#endif

}  // namespace
}  // namespace paged
