// What the tool's contract promises for right requests.
#include "tests/harness/npy.h"
#include "tests/harness/output_file.h"
#include "tests/harness_tests/temporary_folder.h"
#include "tests/paged_tests/case_text.h"
#include "tests/paged_tests/child_process.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

namespace paged {
namespace {

using nlohmann::json;
using testing::case_text;
using testing::content_of;
using testing::OutputKind;
using testing::ProcessResult;
using testing::run_paged;
using testing::TemporaryFolder;

void expect_success(const ProcessResult& result) {
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  EXPECT_EQ(result.err, "");
}

class PagedTest : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& content) const {
    return folder_.write(name, content).string();
  }
  json json_of(const std::string& name) const { return json::parse(content_of(folder_ / name)); }

  TemporaryFolder folder_;
};

const std::string kExample1 =
    std::string(PAGED_TESTS_DIRECTORY) + "/cases/worked-example-1-gqa.json";

// ---- count ------------------------------------------------------------------------------------
TEST_F(PagedTest, CountWritesTheContractsKeysAndEqualNumbers) {
  const ProcessResult result =
      run_paged({"count", "--case", kExample1, "--json", file("count.json")});
  expect_success(result);
  for (const char* word :
       {"thread_group_qk.cuh:", "predicted and counted are equal", "gather", "flops by formula"})
    EXPECT_NE(result.out.find(word), std::string::npos) << word;
  const json stages = json_of("count.json").at("stages");
  ASSERT_GE(stages.size(), 5U);
  for (const json& stage : stages) {
    EXPECT_TRUE(stage.at("number").is_number_integer());
    EXPECT_EQ(stage.at("case"), "worked-example-1-gqa");
    EXPECT_FALSE(stage.at("lines").empty());
    const json& predicted = stage.at("predicted");
    std::uint64_t flops = 0;
    for (const auto& [step, of_step] : predicted.at("flops_by_step").items())
      flops += of_step.get<std::uint64_t>();
    EXPECT_GT(flops, 0U);
    EXPECT_EQ(predicted.at("flops"), flops);
    ASSERT_FALSE(stage.at("phases").empty());
    for (const json& phase : stage.at("phases")) {
      EXPECT_TRUE(phase.at("name").is_string());
      EXPECT_EQ(phase.at("predicted"), phase.at("counted"));
      for (const char* key :
           {"global_load_requests", "global_load_sectors", "global_store_requests",
            "global_store_sectors", "shared_load_requests", "shared_load_wavefronts",
            "shared_store_requests", "shared_store_wavefronts", "barriers", "shuffles",
            "useful_bytes", "moved_bytes"})
        EXPECT_TRUE(phase.at("counted").at(key).is_number_unsigned()) << key;
    }
  }
}

TEST_F(PagedTest, RunHintsAtWastefulLoads) {
  const ProcessResult wasteful = run_paged({"run", "--stage", "1", "--case", kExample1});
  expect_success(wasteful);
  EXPECT_NE(wasteful.out.find("hint: stage 1"), std::string::npos) << wasteful.out;
  EXPECT_NE(wasteful.out.find("scalar_pv.cuh:"), std::string::npos) << wasteful.out;
  const ProcessResult good = run_paged({"run", "--stage", "4", "--case", kExample1});
  expect_success(good);
  EXPECT_EQ(good.out.find("hint"), std::string::npos) << good.out;
}

// ---- list -------------------------------------------------------------------------------------
TEST_F(PagedTest, ListShowsStagesInvariantsAndCases) {
  const ProcessResult result = run_paged({"list"});
  expect_success(result);
  for (const char* word : {"naive-paged-gather", "tail-isolation", "worked-example-1-gqa", "f16"})
    EXPECT_NE(result.out.find(word), std::string::npos) << word;
}

TEST_F(PagedTest, ListWritesTheContractsKeys) {
  expect_success(run_paged({"list", "--json", file("list.json")}));
  const json stages = json_of("list.json").at("stages");
  ASSERT_FALSE(stages.empty());
  int number = 0;
  for (const json& stage : stages) {
    EXPECT_GT(stage.at("number").get<int>(), number) << "in order of number";
    number = stage.at("number");
    EXPECT_TRUE(stage.at("name").is_string());
    for (const char* key :
         {"backends", "scalars", "caches", "head_sizes", "block_sizes", "promises"}) {
      ASSERT_TRUE(stage.at(key).is_array()) << key;
      EXPECT_FALSE(stage.at(key).empty()) << key;
    }
    EXPECT_TRUE(stage.at("breaks").is_array());
    for (const json& id : stage.at("breaks"))
      EXPECT_TRUE(id.is_string()) << "an id and nothing more: " << id;
    for (const json& id : stage.at("promises")) EXPECT_TRUE(id.is_string()) << id;
    EXPECT_TRUE(stage.at("head_sizes").front().is_number_integer());
  }
}

TEST_F(PagedTest, JsonOnStandardOutputIsAloneThere) {
  const ProcessResult list = run_paged({"list", "--json", "-"});
  expect_success(list);
  EXPECT_NO_THROW(EXPECT_TRUE(json::parse(list.out).contains("stages")));
  const ProcessResult run = run_paged({"run", "--stage", "1", "--json", "-"});
  expect_success(run);
  EXPECT_NO_THROW(EXPECT_TRUE(json::parse(run.out).contains("results")));
  const ProcessResult check =
      run_paged({"check", "--stage", "1", "--invariant", "single-token", "--json", "-"});
  expect_success(check);
  EXPECT_NO_THROW(EXPECT_TRUE(json::parse(check.out).contains("results")));
}

// ---- run --------------------------------------------------------------------------------------
TEST_F(PagedTest, RunTakesACaseByNameAndByFile) {
  for (const std::string& name : {std::string("worked-example-1-gqa"), kExample1}) {
    const ProcessResult result = run_paged({"run", "--stage", "1", "--case", name});
    expect_success(result);
    EXPECT_NE(result.out.find("naive-paged-gather"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("worked-example-1-gqa"), std::string::npos) << result.out;
  }
}

TEST_F(PagedTest, RunTakesAStageByNumberByNameAndAll) {
  for (const char* stage : {"1", "naive-paged-gather", "all"})
    expect_success(run_paged({"run", "--stage", stage, "--case", kExample1}));
}

TEST_F(PagedTest, RunWritesTheContractsKeys) {
  expect_success(run_paged(
      {"run", "--stage", "1", "--backend", "cpu", "--case", kExample1, "--json", file("r.json")}));
  const json results = json_of("r.json").at("results");
  ASSERT_EQ(results.size(), 1U);
  const json& result = results[0];
  EXPECT_TRUE(result.contains("stage"));
  EXPECT_EQ(result.at("case"), "worked-example-1-gqa");
  EXPECT_EQ(result.at("backend"), "cpu");
  EXPECT_EQ(result.at("passed"), true);
  EXPECT_GE(result.at("max_abs_error").get<double>(), 0);
  EXPECT_GT(result.at("bound_used").get<double>(), 0);
  EXPECT_LE(result.at("bound_used").get<double>(), 1);
}

TEST_F(PagedTest, RunWritesItsOutputInTheShapeOfTheQuery) {
  expect_success(
      run_paged({"run", "--stage", "1", "--case", kExample1, "--output", file("o.npy")}));
  const Tensor output = read_npy(file("o.npy"));
  EXPECT_EQ(output.type(), CacheType::f16);
  EXPECT_EQ(output.shape(), (std::vector<std::int64_t>{1, 8, 128}));
  for (std::int64_t i = 0; i < output.size(); ++i) ASSERT_LT(std::abs(output.read(i)), 100);
  EXPECT_EQ(folder_.entries(), std::vector<std::string>{"o.npy"});
}

TEST_F(PagedTest, RunTakesAQueryFromAFile) {
  Tensor query(CacheType::f16, {1, 8, 128});  // zeros: the output is the mean of V
  OutputFile(file("q.npy")).commit(npy_of(query));
  expect_success(run_paged({"run", "--stage", "1", "--case", kExample1, "--query", file("q.npy"),
                            "--output", file("zero.npy")}));
  query.fill(0.25);
  OutputFile(file("q.npy")).commit(npy_of(query));
  expect_success(run_paged({"run", "--stage", "1", "--case", kExample1, "--query", file("q.npy"),
                            "--output", file("other.npy")}));
  EXPECT_NE(content_of(folder_ / "zero.npy"), content_of(folder_ / "other.npy"));
  const Tensor mean = read_npy(file("zero.npy"));
  for (int head = 1; head < 4; ++head)  // heads 0 to 3 share KV head 0
    for (int dim = 0; dim < 128; ++dim) ASSERT_EQ(mean.read(head * 128 + dim), mean.read(dim));
}

TEST_F(PagedTest, RunServesABatchWithEmptySequences) {
  const std::string path = write("empty.json", case_text({{"seq_lens", "[0, 17, 0]"}}));
  expect_success(run_paged({"run", "--stage", "1", "--case", path, "--output", file("o.npy")}));
  const Tensor output = read_npy(file("o.npy"));
  ASSERT_EQ(output.shape(), (std::vector<std::int64_t>{3, 4, 64}));
  for (int i = 0; i < 256; ++i) ASSERT_EQ(output.read(i), 0.0);
}

TEST_F(PagedTest, RunServesABatchWithoutSequences) {
  const std::string path = write("none.json", case_text({{"seq_lens", "[]"}}));
  expect_success(run_paged({"run", "--stage", "1", "--case", path, "--output", file("o.npy")}));
  EXPECT_EQ(read_npy(file("o.npy")).shape(), (std::vector<std::int64_t>{0, 4, 64}));
}

// ---- check ------------------------------------------------------------------------------------
TEST_F(PagedTest, CheckWritesTheContractsKeys) {
  expect_success(run_paged({"check", "--stage", "1", "--invariant", "tail-isolation,single-token",
                            "--seed", "5", "--json", file("c.json")}));
  const json document = json_of("c.json");
  const json& results = document.at("results");
  ASSERT_FALSE(results.empty());
  std::set<std::string> ids;
  for (const json& result : results) {
    ids.insert(result.at("invariant").get<std::string>());
    EXPECT_TRUE(result.contains("stage"));
    EXPECT_TRUE(result.at("case").is_string());
    EXPECT_EQ(result.at("backend"), "cpu");
    EXPECT_EQ(result.at("passed"), true);
    EXPECT_TRUE(result.contains("expected"));
  }
  EXPECT_EQ(ids, (std::set<std::string>{"tail-isolation", "single-token"}));
  EXPECT_EQ(document.at("passed"), results.size());
  EXPECT_EQ(document.at("failed"), 0);
}

TEST_F(PagedTest, CheckTakesACase) {
  const std::string path = write("mine.json", case_text());
  expect_success(run_paged({"check", "--stage", "1", "--invariant", "reference", "--case", path,
                            "--json", file("c.json")}));
  const json results = json_of("c.json").at("results");
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].at("case"), "mine");
}

TEST_F(PagedTest, CheckCountsAStatedBreachThatBreaksAsHeld) {
  const ProcessResult result =
      run_paged({"check", "--stage", "1", "--invariant", "large-logits", "--json", file("c.json")});
  expect_success(result);
  const json document = json_of("c.json");
  EXPECT_EQ(document.at("failed"), 0);
  for (const json& one : document.at("results")) {
    EXPECT_EQ(one.at("expected"), false);
    EXPECT_EQ(one.at("passed"), false);
  }
}

TEST_F(PagedTest, CheckTriesAnInvariantOnceHoweverOftenItIsNamed) {
  expect_success(
      run_paged({"check", "--stage", "1", "--invariant", "reference,reference", "--invariant",
                 "reference", "--case", kExample1, "--json", file("c.json")}));
  EXPECT_EQ(json_of("c.json").at("results").size(), 1U);
}

// ---- trace ------------------------------------------------------------------------------------
/// The number that follows a phrase.
long number_after(const std::string& text, const std::string& phrase) {
  const std::size_t at = text.find(phrase);
  if (at == std::string::npos) return -1;
  return std::strtol(text.c_str() + at + phrase.size(), nullptr, 10);
}

TEST_F(PagedTest, TraceFollowsToken16OfWorkedExample3) {
  const ProcessResult result = run_paged({"trace", "--case", "worked-example-3-address-walk",
                                          "--seq", "0", "--head", "0", "--token", "16"});
  expect_success(result);
  EXPECT_EQ(number_after(result.out, "logical block "), 1) << result.out;
  EXPECT_EQ(number_after(result.out, "offset "), 0) << result.out;
  EXPECT_EQ(number_after(result.out, "physical block "), 2) << result.out;
}

TEST_F(PagedTest, TraceReadsNumbersAsDecimal) {
  const ProcessResult result =
      run_paged({"trace", "--case", "worked-example-3-address-walk", "--token", "010"});
  expect_success(result);
  EXPECT_EQ(number_after(result.out, "token "), 10) << result.out;
}

TEST_F(PagedTest, TraceTellsTheAddressInBothCaches) {
  // One KV head, d = 64, B = 16, f16: block 2 begins at element 2 * 64 * 16 of either cache.
  const ProcessResult result =
      run_paged({"trace", "--case", "worked-example-3-address-walk", "--token", "16"});
  expect_success(result);
  for (const char* number : {"2048", "4096"})
    EXPECT_NE(result.out.find(number), std::string::npos) << result.out;
}

TEST_F(PagedTest, TraceTellsTheKvHeadOfAQueryHead) {
  const ProcessResult result =
      run_paged({"trace", "--case", "worked-example-1-gqa", "--seq", "0", "--head", "5"});
  expect_success(result);
  EXPECT_EQ(number_after(result.out, "kv_head "), 1) << result.out;
  for (const char* block : {"7", "2", "9"})
    EXPECT_NE(result.out.find(block), std::string::npos) << result.out;
}

TEST_F(PagedTest, TraceShowsHugeNumbersWhole) {
  // 19 tokens before the last: a bias of 1.9e38 at token 0.
  const std::string path =
      write("steep.json", case_text({{"scalar", "\"f32\""}, {"alibi_slopes", "[-1e37, 1, 1, 1]"}}));
  const ProcessResult result = run_paged({"trace", "--case", path, "--token", "0"});
  expect_success(result);
  EXPECT_NE(result.out.find("logit 1.9e+38,"), std::string::npos) << result.out;
}

TEST_F(PagedTest, TablesShowNamesOfCasesEscaped) {
  const std::string path = write("a\x1b[31m\n\u202eb.json", case_text());
  for (const OutputKind output : {OutputKind::file, OutputKind::terminal}) {
    const ProcessResult run =
        run_paged({"run", "--stage", "1", "--case", path}, {"NO_COLOR=1"}, output);
    EXPECT_EQ(run.exit_status, 0);
    EXPECT_NE(run.out.find("a\\x1B[31m\\x0A\\xE2\\x80\\xAEb"), std::string::npos) << run.out;
    EXPECT_EQ(run.out.find("\x1b[31m"), std::string::npos);
    EXPECT_EQ(run.out.find("\u202e"), std::string::npos);
  }
  const std::string large =
      write("l\x07.json", case_text({{"values", R"({"kind": "large-logits"})"}}));
  for (const char* command : {"run", "check"}) {  // lines beside the table
    const ProcessResult failed = run_paged({command, "--stage", "1", "--case", large});
    EXPECT_EQ(failed.out.find('\x07'), std::string::npos) << failed.out;
    EXPECT_NE(failed.out.find("l\\x07"), std::string::npos) << failed.out;
  }
}

// ---- help, colour -----------------------------------------------------------------------------
TEST_F(PagedTest, HelpIsThereForEverySubCommand) {
  for (const std::vector<std::string>& request : {std::vector<std::string>{"--help"},
                                                  {"list", "--help"},
                                                  {"run", "--help"},
                                                  {"check", "--help"},
                                                  {"explain", "--help"},
                                                  {"trace", "--help"}}) {
    const ProcessResult result = run_paged(request);
    expect_success(result);
    EXPECT_NE(result.out.find("--help"), std::string::npos) << result.out;
  }
  const std::string run_help = run_paged({"run", "--help"}).out;
  for (const char* option : {"--stage", "--backend", "--case", "--query", "--output", "--json"})
    EXPECT_NE(run_help.find(option), std::string::npos) << option;
  const std::string check_help = run_paged({"check", "--help"}).out;
  for (const char* option : {"--stage", "--backend", "--invariant", "--case", "--seed", "--json"})
    EXPECT_NE(check_help.find(option), std::string::npos) << option;
  const std::string trace_help = run_paged({"trace", "--help"}).out;
  for (const char* option : {"--case", "--seq", "--head", "--token"})
    EXPECT_NE(trace_help.find(option), std::string::npos) << option;
}

/// A request that fails, so that a report has something to colour.
class PagedColourTest : public PagedTest {
 protected:
  const std::vector<std::string> failing_{
      "run", "--stage", "1", "--case",
      write("large.json", case_text({{"values", R"({"kind": "large-logits"})"}}))};
};

TEST_F(PagedColourTest, FilesGetNoEscapeSequences) {
  const ProcessResult result = run_paged(failing_, {"TERM=xterm-256color"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_EQ((result.out + result.err).find('\x1b'), std::string::npos);
}

TEST_F(PagedColourTest, ATerminalWithNoColorGetsNoColour) {
  const ProcessResult result =
      run_paged(failing_, {"TERM=xterm-256color", "NO_COLOR=1"}, OutputKind::terminal);
  EXPECT_EQ(result.exit_status, 1);
  // Progress may move the cursor; a colour ends in "m".
  for (std::size_t i = result.out.find("\x1b["); i != std::string::npos;
       i = result.out.find("\x1b[", i + 1)) {
    const std::size_t end = result.out.find_first_not_of("0123456789;", i + 2);
    ASSERT_NE(end, std::string::npos);
    EXPECT_NE(result.out[end], 'm') << "a colour";
  }
}

TEST_F(PagedColourTest, ATerminalGetsColour) {
  const ProcessResult result = run_paged(failing_, {"TERM=xterm-256color"}, OutputKind::terminal);
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.out.find("\x1b["), std::string::npos);
}

}  // namespace
}  // namespace paged
