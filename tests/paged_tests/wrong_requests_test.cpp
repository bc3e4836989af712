// Wrong requests: exit status 2, one line on standard error that names the fault, and nothing else.
#include "kernels/device.h"
#include "tests/harness/npy.h"
#include "tests/harness/output_file.h"
#include "tests/harness_tests/temporary_folder.h"
#include "tests/paged_tests/case_text.h"
#include "tests/paged_tests/child_process.h"
#include "tests/reference/error_message.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace paged {
namespace {

using testing::case_text;
using testing::mentions;
using testing::ProcessResult;
using testing::run_paged;
using testing::run_paged_limited;
using testing::TemporaryFolder;
using Arguments = std::vector<std::string>;

/// Exit status 2; one line, which names every word; nothing on standard output.
void expect_wrong(const Arguments& arguments, const std::vector<std::string>& words) {
  const ProcessResult result = run_paged(arguments);
  EXPECT_EQ(result.exit_status, 2) << result.out << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_TRUE(result.err.ends_with('\n')) << result.err;
  for (const std::string& word : words)
    EXPECT_TRUE(mentions(result.err, word)) << word << " is not in: " << result.err;
}

class WrongRequestTest : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& content) const {
    return folder_.write(name, content).string();
  }
  /// A case with one change, asked of stage 1: refused by run, check and trace or at least by those
  /// that launch, and no file appears.
  void expect_wrong_case(const std::map<std::string, std::string>& changes,
                         const std::vector<std::string>& words) const {
    const std::string path = write("wrong.json", case_text(changes));
    expect_wrong({"run", "--stage", "1", "--case", path, "--output", file("o.npy"), "--json",
                  file("r.json")},
                 words);
    expect_wrong({"check", "--stage", "1", "--invariant", "reference", "--case", path, "--json",
                  file("r.json")},
                 words);
    EXPECT_EQ(folder_.entries(), std::vector<std::string>{"wrong.json"});
  }

  TemporaryFolder folder_;
};

// ---- the command line -------------------------------------------------------------------------
TEST_F(WrongRequestTest, NoSubCommand) { expect_wrong({}, {}); }

TEST_F(WrongRequestTest, UnknownSubCommand) { expect_wrong({"launch"}, {"launch"}); }

TEST_F(WrongRequestTest, UnknownOption) {
  for (const char* command : {"list", "run", "check", "trace"})
    expect_wrong({command, "--fast"}, {"--fast"});
}

TEST_F(WrongRequestTest, AnOptionWithoutItsValue) {
  expect_wrong({"run", "--stage"}, {"--stage"});
  expect_wrong({"run", "--stage", "1", "--json"}, {"--json"});
}

TEST_F(WrongRequestTest, NotANumber) {
  expect_wrong({"check", "--fuzz", "nan"}, {"--fuzz", "nan"});
  const std::string baseline = write("main.json", "{}");
  expect_wrong({"check", "--baseline", baseline, "--bound-margin", "nan"},
               {"--bound-margin", "nan"});
  expect_wrong({"check", "--baseline", baseline, "--time-margin", "NaN"}, {"--time-margin", "NaN"});
}

TEST_F(WrongRequestTest, AValueThatIsNoNumber) {
  expect_wrong({"trace", "--case", "worked-example-1-gqa", "--seq", "first"}, {"first"});
  expect_wrong({"check", "--seed", "x"}, {"x"});
}

TEST_F(WrongRequestTest, UnknownStage) {
  for (const char* stage : {"0", "99", "naive", "01", ""})
    expect_wrong({"run", "--stage", stage, "--case", "worked-example-1-gqa"},
                 {"stage", "naive-paged-gather"});
  expect_wrong({"check", "--stage", "fastest"}, {"fastest", "naive-paged-gather"});
}

TEST_F(WrongRequestTest, UnknownInvariant) {
  expect_wrong({"check", "--stage", "1", "--invariant", "tail"}, {"tail", "tail-isolation"});
  expect_wrong({"check", "--stage", "1", "--invariant", "reference,tail"}, {"tail"});
}

TEST_F(WrongRequestTest, AnInvariantOnACaseThatItCannotBeTriedOn) {
  // Not a fault of the stage: single-token is about sequences of one token.
  expect_wrong(
      {"check", "--stage", "1", "--invariant", "single-token", "--case", "worked-example-1-gqa"},
      {"single-token", "35"});
}

TEST_F(WrongRequestTest, UnknownCase) {
  for (const char* command : {"run", "check", "trace"})
    expect_wrong({command, "--case", "worked-example-9"},
                 {"worked-example-9", "worked-example-1-gqa"});
  expect_wrong({"run", "--case", file("absent.json")}, {"absent.json"});
}

TEST_F(WrongRequestTest, UnknownBackend) {
  expect_wrong({"run", "--backend", "gpu", "--case", "worked-example-1-gqa"},
               {"gpu", "cpu", "cuda"});
  expect_wrong({"check", "--backend", ""}, {"cpu", "cuda"});
}

TEST_F(WrongRequestTest, CudaWhereThereIsNone) {
  if (why_no_cuda_device().empty()) GTEST_SKIP() << "this machine has a CUDA device";
  for (const char* command : {"run", "check"})
    for (const char* stage : {"1", "all"})
      expect_wrong(
          {command, "--backend", "cuda", "--stage", stage, "--case", "worked-example-1-gqa"},
          {"cuda"});
}

TEST_F(WrongRequestTest, TraceOutsideTheCase) {
  const Arguments trace = {"trace", "--case", "worked-example-3-address-walk"};
  const auto with = [&](const char* option, const char* value) {
    Arguments arguments = trace;
    arguments.insert(arguments.end(), {option, value});
    return arguments;
  };
  expect_wrong(with("--seq", "1"), {"--seq", "1"});
  expect_wrong(with("--seq", "-1"), {"--seq", "-1"});
  expect_wrong(with("--head", "1"), {"--head", "1"});
  expect_wrong(with("--head", "-1"), {"--head", "-1"});
  expect_wrong(with("--token", "17"), {"--token", "17"});
  expect_wrong(with("--token", "-2"), {"--token", "-2"});
  expect_wrong({"trace"}, {"--case"});
}

TEST_F(WrongRequestTest, NumbersThatAreNone) {
  for (const char* seed : {"-1", "", "18446744073709551616", "0x10", "1e3", "+1"})
    expect_wrong({"check", "--stage", "1", "--invariant", "single-token", "--seed", seed},
                 {"--seed", "18446744073709551615"});
  for (const char* option : {"--seq", "--head", "--token"})
    for (const char* value : {"-1", "", "0x1", "4294967296", " 1"})
      expect_wrong({"trace", "--case", "worked-example-1-gqa", option, value}, {option});
}

TEST_F(WrongRequestTest, EmptyEntriesInTheListOfInvariants) {
  for (const char* list : {"", ",", "reference,", ",reference", "reference,,determinism"})
    expect_wrong({"check", "--stage", "1", "--invariant", list}, {"--invariant", "empty"});
}

TEST_F(WrongRequestTest, EmptyNamesOfFiles) {
  for (const char* option : {"--case", "--query", "--key-cache", "--value-cache", "--keys",
                             "--values", "--output", "--json"})
    expect_wrong({"run", "--stage", "1", option, ""}, {option, "empty"});
}

TEST_F(WrongRequestTest, MessagesShowHiddenCharactersEscaped) {
  // Right-to-left override, line separator, zero-width space.
  expect_wrong({"run", "--case", file("a\u202e\u2028\u200b.json")},
               {"a\\xE2\\x80\\xAE\\xE2\\x80\\xA8\\xE2\\x80\\x8B.json"});
  expect_wrong({"run", "--case", file("\u00e9\u4e2d\U0001F600.json")},
               {"\u00e9\u4e2d\U0001F600.json"});  // what prints stays
}

TEST_F(WrongRequestTest, MessagesShowControlCharactersEscaped) {
  expect_wrong({"run", "--case", file("a\x1b[31m\n\x9b.json")}, {"a\\x1B[31m\\x0A\\x9B.json"});
}

// ---- the case ---------------------------------------------------------------------------------
TEST_F(WrongRequestTest, HeadsThatDoNotDivide) {
  expect_wrong_case({{"num_heads", "16"}, {"num_kv_heads", "5"}}, {"16", "5"});
}

TEST_F(WrongRequestTest, BlockIdsOutsideTheCacheInsideTheValidPart) {
  for (const char* id : {"12", "-1"})
    expect_wrong_case({{"block_tables", std::string("[[7, ") + id + "], [4]]"}},
                      {"sequence 0", "entry 1", id, "12"});
}

TEST_F(WrongRequestTest, ALengthBeyondTheTable) {
  expect_wrong_case({{"block_tables", "[[7, 2], [4]]"}, {"seq_lens", "[33, 3]"}},
                    {"sequence 0", "33"});
  expect_wrong_case({{"table_width", "1"}}, {"2", "1"});
}

TEST_F(WrongRequestTest, AnUnsupportedHeadSize) {
  expect_wrong_case({{"head_size", "48"}}, {"48", "64", "128"});
}

TEST_F(WrongRequestTest, CountNamesTheCaseThatAStageCannotRun) {
  const std::string good = write("good.json", case_text({}));
  const std::string wrong = write("wrong.json", case_text({{"head_size", "48"}}));
  expect_wrong({"count", "--stage", "2", "--case", good, "--case", wrong},
               {"wrong", "48", "64", "128"});
}

TEST_F(WrongRequestTest, AnUnsupportedBlockSize) {
  expect_wrong_case({{"block_size", "24"}}, {"24", "8", "16", "32"});
}

TEST_F(WrongRequestTest, HeadSize120InAnFp8Cache) {
  for (const char* cache : {"e4m3", "e5m2"})
    expect_wrong_case({{"head_size", "120"}, {"cache", std::string("\"") + cache + "\""}},
                      {"120", cache, "16"});
}

TEST_F(WrongRequestTest, HalfProbabilitiesWhereThereAreNone) {
  expect_wrong_case({{"probabilities", "\"half\""}}, {"probabilities", "half"});
  for (const char* command : {"run", "check"}) {
    expect_wrong(
        {command, "--stage", "3", "--probabilities", "f16", "--case", "worked-example-1-gqa"},
        {"stage 3", "f16", "probabilities"});
    expect_wrong({command, "--stage", "4", "--probabilities", "bf16"}, {"bf16"});
    const std::string path =
        write("fp8.json", case_text({{"cache", "\"e4m3\""}, {"probabilities", "\"f16\""}}));
    expect_wrong({command, "--stage", "4", "--case", path}, {"f16", "e4m3", "probabilities"});
  }
}

TEST_F(WrongRequestTest, ACacheThatTheScalarTypeCannotHave) {
  expect_wrong_case({{"cache", "\"bf16\""}}, {"bf16", "f16"});
}

TEST_F(WrongRequestTest, ScalesThatAreNotFinite) {
  for (const char* key : {"scale", "k_scale", "v_scale"})
    expect_wrong_case({{key, "\"nan\""}, {"cache", "\"e4m3\""}}, {key, "nan"});
  expect_wrong_case({{"scale", "\"inf\""}}, {"scale", "inf"});
  expect_wrong_case({{"k_scale", "0"}, {"cache", "\"e4m3\""}}, {"k_scale", "0"});
}

TEST_F(WrongRequestTest, AnUnknownKey) {
  expect_wrong_case({{"head_dim", "64"}}, {"head_dim"});
  expect_wrong_case({{"values", R"({"kind": "peaked", "sd": 1})"}}, {"values.sd"});
}

TEST_F(WrongRequestTest, ACaseFileThatIsNoJson) {
  for (const char* content : {"", "{", "[]", "num_heads: 8"}) {
    const std::string path = write("case.json", content);
    for (const char* command : {"run", "check", "trace"})
      expect_wrong({command, "--case", path}, {"case.json"});
  }
}

TEST_F(WrongRequestTest, MoreSharedMemoryThanTheDeviceHas) {
  expect_wrong_case({{"num_heads", "1"},
                     {"num_kv_heads", "1"},
                     {"head_size", "32"},
                     {"seq_lens", "[60000]"},
                     {"num_blocks", "3750"}},
                    {"240032", "232448", "60000"});
}

TEST_F(WrongRequestTest, MoreSharedMemoryForPartitionsNamesTheirSize) {
  const std::string path =
      write("wide.json", case_text({{"partition_size", "1048576"}, {"variant", "\"v2\""}}));
  for (const char* command : {"run", "check"})
    expect_wrong({command, "--stage", "5", "--case", path},
                 {"wide", "stage 5", "partition_size 1048576", "232448"});
}

TEST_F(WrongRequestTest, TheWrongCaseIsNamedAmongRightOnes) {
  const std::string wrong = write("other.json", case_text({{"head_size", "48"}}));
  const std::string odd =
      write("odd.json", case_text({{"partition_size", "17"}, {"variant", "\"v2\""}}));
  for (const char* command : {"run", "check"}) {
    expect_wrong({command, "--stage", "1", "--case", "worked-example-1-gqa", "--case", wrong},
                 {"other", "48"});
    expect_wrong({command, "--stage", "5", "--case", "worked-example-1-gqa", "--case", odd},
                 {"odd", "partition_size 17"});
    expect_wrong({command, "--case", "worked-example-1-gqa", "--probabilities", "f16"},
                 {"worked-example-1-gqa", "stage 1", "stages 4 and 5"});
  }
  expect_wrong({"check", "--probabilities", "f16"}, {"stage 1", "stages 4 and 5"});
}

TEST_F(WrongRequestTest, CasesWithoutAnAnswerOfNumbers) {
  const auto values = [](const std::string& family) {
    return std::map<std::string, std::string>{{"values", family}};
  };
  expect_wrong_case(values(R"({"kind": "normal", "std": 1e30})"), {"wrong", "query", "f16", "std"});
  expect_wrong_case(values(R"({"kind": "constant", "value": 1e30})"), {"query", "f16", "value"});
  expect_wrong_case(values(R"({"kind": "constant", "value": "nan"})"), {"values.value", "nan"});
  auto large = values(R"({"kind": "normal", "std": 1e25})");
  large["scalar"] = "\"bf16\"";
  expect_wrong_case(large, {"sequence 0", "head 0", "token 0", "q . k"});
  expect_wrong_case({{"alibi_slopes", "[1, 1, 1e38, 1]"}}, {"alibi_slopes", "head 2", "19"});
  expect_wrong({"trace", "--case", write("t.json", case_text(large))}, {"t", "q . k"});
}

TEST_F(WrongRequestTest, MoreSequencesThanTheGridAllows) {
  std::string lengths = "[1";
  for (int seq = 1; seq < 65536; ++seq) lengths += ",0";
  expect_wrong_case(
      {{"num_heads", "1"}, {"num_kv_heads", "1"}, {"head_size", "32"}, {"seq_lens", lengths + "]"}},
      {"65536", "65535"});
}

TEST_F(WrongRequestTest, NestingThatWouldOverflowTheStack) {
  expect_wrong({"run", "--case", write("deep.json", std::string(400000, '['))}, {"64"});
}

TEST_F(WrongRequestTest, MoreBlocksThanAnybodyHas) {
  for (const char* blocks : {"2147483647", "1000000"}) {
    expect_wrong_case({{"num_blocks", blocks}}, {"num_blocks", blocks, "536870912"});
    expect_wrong({"trace", "--case", write("many.json", case_text({{"num_blocks", blocks}}))},
                 {"many", "num_blocks", blocks});
    std::filesystem::remove(file("many.json"));
  }
}

TEST_F(WrongRequestTest, ACaseThatIsNoRegularFile) {
  expect_wrong({"run", "--case", "/dev/zero"}, {"/dev/zero", "regular file"});
  expect_wrong({"run", "--case", "/proc/self/mem"}, {"/proc/self/mem"});
}

TEST_F(WrongRequestTest, OneWrongCaseAmongRightOnes) {
  const std::string path = write("wrong.json", case_text({{"head_size", "48"}}));
  expect_wrong({"run", "--stage", "1", "--case", "worked-example-1-gqa", "--case", path, "--json",
                file("r.json")},
               {"48"});
  EXPECT_EQ(folder_.entries(), std::vector<std::string>{"wrong.json"});
}

// ---- tensors ----------------------------------------------------------------------------------
class WrongTensorTest : public WrongRequestTest {
 protected:
  void expect_wrong_query(const std::vector<std::string>& words) const {
    expect_wrong({"run", "--stage", "1", "--case", "worked-example-1-gqa", "--query", file("q.npy"),
                  "--output", file("o.npy")},
                 words);
    EXPECT_FALSE(std::filesystem::exists(file("o.npy")));
  }
};

TEST_F(WrongTensorTest, AQueryOfTheWrongShape) {
  OutputFile(file("q.npy")).commit(npy_of(Tensor(CacheType::f16, {1, 8, 64})));
  expect_wrong_query({"query", "[1, 8, 64]", "[1, 8, 128]"});
}

TEST_F(WrongTensorTest, ATruncatedQuery) {
  OutputFile(file("q.npy")).commit(npy_of(Tensor(CacheType::f16, {1, 8, 128})));
  std::filesystem::resize_file(file("q.npy"), std::filesystem::file_size(file("q.npy")) - 7);
  expect_wrong_query({"q.npy"});
  std::filesystem::resize_file(file("q.npy"), 20);
  expect_wrong_query({"q.npy"});
}

TEST_F(WrongTensorTest, AMissingQuery) { expect_wrong_query({"q.npy"}); }

TEST_F(WrongTensorTest, AQueryThatIsNoNpyFile) {
  write("q.npy", "1 2 3");
  expect_wrong_query({"q.npy"});
}

// ---- output -----------------------------------------------------------------------------------
TEST_F(WrongRequestTest, AJsonFileThatCannotBeWritten) {
  const std::string path = file("absent/r.json");
  expect_wrong({"list", "--json", path}, {path});
  expect_wrong({"run", "--stage", "1", "--json", path}, {path});
  expect_wrong({"check", "--stage", "1", "--invariant", "single-token", "--json", path}, {path});
  EXPECT_TRUE(folder_.entries().empty());
}

TEST_F(WrongRequestTest, AnOutputThatCannotBeWritten) {
  const std::string path = file("absent/o.npy");
  expect_wrong({"run", "--stage", "1", "--output", path, "--json", file("r.json")}, {path});
  EXPECT_TRUE(folder_.entries().empty()) << "nothing is written";
}

TEST_F(WrongRequestTest, AnUnwritableJsonFileLeavesNoOutputEither) {
  const std::string path = file("absent/r.json");
  expect_wrong({"run", "--stage", "1", "--output", file("o.npy"), "--json", path}, {path});
  EXPECT_TRUE(folder_.entries().empty()) << "nothing is written";
}

TEST_F(WrongRequestTest, TwoResultsInOneFile) {
  expect_wrong({"run", "--stage", "1", "--output", file("x"), "--json", file("./x")},
               {"--output", "--json"});
  EXPECT_TRUE(folder_.entries().empty());
}

TEST_F(WrongRequestTest, AResultInPlaceOfAnInput) {
  const std::string text = case_text({{"tensors", R"({"query": "q.npy"})"}});
  const std::string path = write("case.json", text);
  const std::string query = write("q.npy", "as it was");
  for (const std::string& input : {path, query, file("./case.json")})
    for (const char* option : {"--json", "--output"})
      expect_wrong({"run", "--stage", "1", "--case", path, option, input}, {option, input});
  expect_wrong(
      {"check", "--stage", "1", "--invariant", "reference", "--case", path, "--json", path},
      {"--json", path});
  EXPECT_EQ(testing::content_of(path), text);
  EXPECT_EQ(testing::content_of(query), "as it was");
}

TEST_F(WrongRequestTest, AnOutputThatIsNoRegularFile) {
  ASSERT_EQ(mkfifo(file("fifo").c_str(), 0600), 0);
  for (const char* option : {"--output", "--json"})
    for (const std::string& name : {file("fifo"), std::string("/dev/null")})
      expect_wrong({"run", "--stage", "1", option, name}, {name, "regular file"});
  EXPECT_TRUE(std::filesystem::is_fifo(file("fifo")));
}

TEST_F(WrongRequestTest, AnOutputOnStandardOutput) {
  expect_wrong({"run", "--stage", "1", "--output", "-"}, {"--output", "--json"});
  EXPECT_FALSE(std::filesystem::exists("-"));
}

TEST_F(WrongRequestTest, OneOutputForSeveralCases) {
  expect_wrong({"run", "--stage", "1", "--case", "worked-example-1-gqa", "--case",
                "worked-example-3-address-walk", "--output", file("o.npy")},
               {"--output"});
  EXPECT_TRUE(folder_.entries().empty());
}

// ---- right requests with a bad outcome --------------------------------------------------------
class FailedCheckTest : public WrongRequestTest {
 protected:
  const std::string large_ =
      write("large.json", case_text({{"values", R"({"kind": "large-logits"})"}}));
};

TEST_F(FailedCheckTest, ABrokenInvariantExitsWith1) {
  const ProcessResult result = run_paged({"check", "--stage", "1", "--invariant", "reference",
                                          "--case", large_, "--json", file("c.json")});
  EXPECT_EQ(result.exit_status, 1) << result.out << result.err;
  EXPECT_NE(result.out.find("sequence"), std::string::npos) << "where: " << result.out;
  const auto document = nlohmann::json::parse(testing::content_of(folder_ / "c.json"));
  EXPECT_EQ(document.at("passed"), 0);
  EXPECT_EQ(document.at("failed"), 1);
  EXPECT_EQ(document.at("results")[0].at("passed"), false);
  EXPECT_EQ(document.at("results")[0].at("expected"), true);
}

/// A folder may be one that root may write in, and that nobody can make a file in: the run would be
/// lost at its end.
TEST_F(FailedCheckTest, AFileThatCannotBeMadeIsRefusedBeforeTheRun) {
  for (const Arguments& request :
       {Arguments{"check", "--stage", "1", "--case", large_, "--json", "/proc/x"},
        {"check", "--stage", "1", "--case", large_, "--junit", "/proc/x"},
        {"run", "--stage", "1", "--case", large_, "--json", "/proc/x"},
        {"count", "--stage", "1", "--case", large_, "--json", "/proc/x"}}) {
    const ProcessResult result = run_paged(request);
    EXPECT_EQ(result.exit_status, 2) << result.out << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find("cannot write '/proc/x': "), std::string::npos) << result.err;
  }
}

TEST_F(FailedCheckTest, AWrongResultExitsWith1) {
  const ProcessResult result =
      run_paged({"run", "--stage", "1", "--case", large_, "--json", file("r.json")});
  EXPECT_EQ(result.exit_status, 1) << result.out << result.err;
  const auto document = nlohmann::json::parse(testing::content_of(folder_ / "r.json"));
  EXPECT_EQ(document.at("results")[0].at("passed"), false);
}

TEST_F(FailedCheckTest, ResultsThatDoNotArriveExitWith1) {
  // Past the limit on the size of files: an error, no signal, and nothing is left behind.
  for (const Arguments& request :
       {Arguments{"list", "--json", file("list.json")},
        {"run", "--stage", "1", "--output", file("o.npy"), "--json", file("r.json")}}) {
    const ProcessResult to_file = run_paged_limited(request, {.file_bytes = 1024});
    EXPECT_EQ(to_file.exit_status, 1) << to_file.out << to_file.err;
    EXPECT_EQ(std::count(to_file.err.begin(), to_file.err.end(), '\n'), 1) << to_file.err;
    EXPECT_NE(to_file.err.find("cannot write"), std::string::npos) << to_file.err;
    EXPECT_EQ(folder_.entries(), std::vector<std::string>{"large.json"});
  }
  for (const Arguments& request : {Arguments{"--help"},
                                   {"list"},
                                   {"run", "--stage", "1", "--json", "-"},
                                   {"trace", "--case", "worked-example-1-gqa"}}) {
    const ProcessResult result = run_paged(request, {}, testing::OutputKind::full_device);
    EXPECT_EQ(result.exit_status, 1) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

TEST_F(FailedCheckTest, TooLittleMemoryIsOneClearLine) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer itself needs more memory than the limit";
#endif
  // 16 MiB a cache, 128 MiB each for keys and values in double precision.
  const std::string path = write("long.json", R"({
      "num_heads": 1, "num_kv_heads": 1, "head_size": 256, "block_size": 16, "cache": "e4m3",
      "seq_lens": [65536], "values": {"kind": "constant", "value": 0.5}})");
  const ProcessResult result =
      run_paged_limited({"trace", "--case", path}, {.memory_bytes = std::size_t{200} << 20});
  EXPECT_EQ(result.exit_status, 1) << result.out << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_NE(result.err.find("not enough memory"), std::string::npos) << result.err;
}

TEST_F(FailedCheckTest, AStatedBreachThatHoldsExitsWith1) {
  // Stage 1 states that it breaks large-logits. One token whose logit is 64 * 1.3828125 = 88.5 is
  // large, but exp(88.5) is just below f32's greatest number, and stage 1 is right after all.
  const std::string edge = write("edge.json", R"({
      "num_heads": 1, "num_kv_heads": 1, "head_size": 64, "block_size": 16, "scalar": "f32",
      "seq_lens": [1], "scale": 1,
      "values": {"query": {"kind": "constant", "value": 1},
                 "key_cache": {"kind": "constant", "value": 1.3828125}}})");
  const ProcessResult result =
      run_paged({"check", "--stage", "1", "--invariant", "large-logits", "--case", edge});
  EXPECT_EQ(result.exit_status, 1) << result.out << result.err;
}

}  // namespace
}  // namespace paged
