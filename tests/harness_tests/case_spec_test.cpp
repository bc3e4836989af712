// Case files: what the contract in DESIGN.md allows, and what must be refused by name.
#include "tests/harness/case_spec.h"

#include "tests/harness/case_builder.h"
#include "tests/harness_tests/temporary_folder.h"
#include "tests/reference/error_message.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace paged {
namespace {

using testing::input_error_of;
using testing::mentions;

/// A JSON object as text, by key; values are raw JSON.
using RawObject = std::map<std::string, std::string>;

std::string text_of(const RawObject& object) {
  std::string text;
  for (const auto& [key, value] : object)
    text += (text.empty() ? "\"" : ", \"") + key + "\": " + value;
  return "{" + text + "}";
}

RawObject smallest() {
  return {{"num_heads", "4"},
          {"num_kv_heads", "2"},
          {"head_size", "32"},
          {"block_size", "16"},
          {"seq_lens", "[20, 3]"}};
}

RawObject smallest_with(const std::string& key, const std::string& raw_value) {
  RawObject object = smallest();
  object[key] = raw_value;
  return object;
}

CaseSpec parse(const RawObject& object) { return parse_case(text_of(object), "some.json", "/at"); }

/// Refused while it is read: one line that names the file and the key.
void expect_refused(const std::string& json, const std::string& key) {
  const auto message = input_error_of([&] { parse_case(json, "some.json", "/at"); });
  ASSERT_TRUE(message) << "accepted: " << json;
  EXPECT_NE(message->find("some.json"), std::string::npos) << *message;
  EXPECT_NE(message->find(key), std::string::npos) << *message;
  EXPECT_EQ(message->find('\n'), std::string::npos) << *message;
}

void expect_refused(const RawObject& object, const std::string& key) {
  expect_refused(text_of(object), key);
}

/// Refused while it is read or when it is built: one line that names the key.
void expect_never_built(const RawObject& object, const std::string& key) {
  const auto message = input_error_of([&] { build_case(parse(object)); });
  ASSERT_TRUE(message) << "accepted: " << text_of(object);
  EXPECT_NE(message->find(key), std::string::npos) << *message;
  EXPECT_EQ(message->find('\n'), std::string::npos) << *message;
}

// ---- what is allowed --------------------------------------------------------------------------
TEST(CaseSpecTest, EveryKeyButTheShapeIsOptional) {
  const CaseSpec spec = parse(smallest());
  EXPECT_EQ(spec.num_heads, 4);
  EXPECT_EQ(spec.num_kv_heads, 2);
  EXPECT_EQ(spec.head_size, 32);
  EXPECT_EQ(spec.block_size, 16);
  EXPECT_EQ(spec.seq_lens, (std::vector<int>{20, 3}));
  EXPECT_NO_THROW(build_case(spec));
}

TEST(CaseSpecTest, MissingKeysTakeTheirDefaults) {
  const CaseSpec spec = parse(smallest());
  EXPECT_FALSE(spec.num_blocks);
  EXPECT_EQ(spec.scalar, ScalarType::f16);
  EXPECT_FALSE(spec.cache);
  ASSERT_TRUE(std::holds_alternative<TableKind>(spec.block_tables));
  EXPECT_EQ(std::get<TableKind>(spec.block_tables), TableKind::random);
  EXPECT_FALSE(spec.table_width);
  EXPECT_EQ(spec.table_padding, -1);
  EXPECT_FALSE(spec.scale);
  EXPECT_EQ(spec.k_scale, 1.0);
  EXPECT_EQ(spec.v_scale, 1.0);
  EXPECT_TRUE(spec.alibi_slopes.empty());
  EXPECT_FALSE(spec.block_sparse.active());
  for (const ValueFamily& family : {spec.query_values, spec.key_values, spec.value_values}) {
    EXPECT_EQ(family.kind, "normal");
    EXPECT_EQ(family.standard_deviation, 1.0);
    EXPECT_EQ(family.seed, 7U);
  }
  EXPECT_FALSE(spec.poison.tail);
  EXPECT_FALSE(spec.poison.free_blocks);
  EXPECT_TRUE(spec.tensors.empty());
}

TEST(CaseSpecTest, DefaultsOfTheProblemFollowFromTheShape) {
  const DecodeProblem problem = build_case(parse(smallest())).problem;
  EXPECT_FLOAT_EQ(problem.scale, 1 / std::sqrt(32.0F));
  EXPECT_EQ(problem.cache(), CacheType::f16);
  EXPECT_EQ(problem.max_num_blocks_per_seq, 2) << "the longest row";
  EXPECT_EQ(problem.num_blocks(), 3 + 3) << "what the tables need, and three free ones";
  const DecodeProblem bf16 = build_case(parse(smallest_with("scalar", "\"bf16\""))).problem;
  EXPECT_EQ(bf16.cache(), CacheType::bf16);
}

TEST(CaseSpecTest, AcceptsTheExampleOfTheContract) {
  const std::string json = R"({
    "num_heads": 8, "num_kv_heads": 2, "head_size": 128, "block_size": 16, "num_blocks": 12,
    "scalar": "f16", "cache": "f16",
    "seq_lens": [35, 17, 0],
    "block_tables": [[7,2,9],[4,1],[]],
    "table_width": 8, "table_padding": -1,
    "scale": 0.088, "k_scale": 1.0, "v_scale": 1.0,
    "alibi_slopes": [1, 0.5, 0.25, 0.125, 1, 0.5, 0.25, 0.125],
    "block_sparse": {"local_blocks": 16, "vert_stride": 8, "block_size": 64, "head_sliding_step": 0},
    "values": {"kind": "normal", "std": 1.0, "seed": 7},
    "poison": {"tail": "nan", "free_blocks": "nan"}
  })";
  const CaseSpec spec = parse_case(json, "some.json", "/at");
  EXPECT_EQ(spec.num_blocks, 12);
  EXPECT_EQ(spec.cache, CacheType::f16);
  EXPECT_EQ(std::get<1>(spec.block_tables),
            (std::vector<std::vector<std::int32_t>>{{7, 2, 9}, {4, 1}, {}}));
  EXPECT_EQ(spec.table_width, 8);
  EXPECT_EQ(spec.scale, 0.088);
  EXPECT_EQ(spec.alibi_slopes.size(), 8U);
  EXPECT_EQ(spec.block_sparse.local_blocks, 16);
  EXPECT_EQ(spec.block_sparse.vert_stride, 8);
  EXPECT_EQ(spec.block_sparse.block_size, 64);
  EXPECT_TRUE(std::isnan(*spec.poison.tail));
  EXPECT_NO_THROW(build_case(spec));
}

TEST(CaseSpecTest, AcceptsTensorsRelativeToItsFolder) {
  const CaseSpec spec = parse(smallest_with(
      "tensors", R"({"query": "q.npy", "key_cache": "k.npy", "value_cache": "/other/v.npy"})"));
  EXPECT_EQ(spec.tensors.at("query"), "/at/q.npy");
  EXPECT_EQ(spec.tensors.at("key_cache"), "/at/k.npy");
  EXPECT_EQ(spec.tensors.at("value_cache"), "/other/v.npy");
}

TEST(CaseSpecTest, ReadsTheTypeOfProbabilities) {
  const std::string shape =
      R"({"num_heads": 1, "num_kv_heads": 1, "head_size": 64, "block_size": 16, "seq_lens": [1])";
  EXPECT_EQ(parse_case(shape + "}", "text", ".").probabilities, ScalarType::f32);
  EXPECT_EQ(parse_case(shape + R"(, "probabilities": "f16"})", "text", ".").probabilities,
            ScalarType::f16);
  EXPECT_THROW(parse_case(shape + R"(, "probabilities": "bf16"})", "text", "."), InputError);
}

TEST(CaseSpecTest, AcceptsPartitionSize) {
  EXPECT_EQ(input_error_of([] { parse(smallest_with("partition_size", "512")); }), std::nullopt);
}

TEST(CaseSpecTest, AcceptsVariant) {
  for (const char* variant : {"\"v1\"", "\"v2\"", "\"auto\""})
    EXPECT_EQ(input_error_of([&] { parse(smallest_with("variant", variant)); }), std::nullopt);
}

TEST(CaseSpecTest, AcceptsEveryTableKind) {
  const std::pair<const char*, TableKind> kinds[] = {{"\"random\"", TableKind::random},
                                                     {"\"identity\"", TableKind::identity},
                                                     {"\"reversed\"", TableKind::reversed}};
  for (const auto& [text, kind] : kinds)
    EXPECT_EQ(std::get<TableKind>(parse(smallest_with("block_tables", text)).block_tables), kind);
}

TEST(CaseSpecTest, AcceptsEveryFamilyOfTheContract) {
  for (const std::string kind : {"normal", "peaked", "needle", "large-logits", "constant", "coded"})
    EXPECT_EQ(parse(smallest_with("values", "{\"kind\": \"" + kind + "\"}")).key_values.kind, kind);
}

TEST(CaseSpecTest, AcceptsOneFamilyForEachTensor) {
  const CaseSpec spec = parse(smallest_with(
      "values", R"({"query": {"kind": "peaked", "seed": 1}, "key_cache": {"kind": "needle",
                    "token": 2}, "value_cache": {"kind": "constant", "value": 0.5}})"));
  EXPECT_EQ(spec.query_values.kind, "peaked");
  EXPECT_EQ(spec.query_values.seed, 1U);
  EXPECT_EQ(spec.key_values.kind, "needle");
  EXPECT_EQ(spec.key_values.token, 2);
  EXPECT_EQ(spec.value_values.kind, "constant");
  EXPECT_EQ(spec.value_values.value, 0.5);
}

TEST(CaseSpecTest, AcceptsPoisonOfEveryKind) {
  const auto poison = [](const std::string& value) {
    return *parse(smallest_with("poison", "{\"tail\": " + value + "}")).poison.tail;
  };
  EXPECT_TRUE(std::isnan(poison("\"nan\"")));
  EXPECT_EQ(poison("\"inf\""), INFINITY);
  EXPECT_EQ(poison("\"-inf\""), -INFINITY);
  EXPECT_EQ(poison("65504"), 65504.0);
  EXPECT_EQ(poison("-0.5"), -0.5);
}

TEST(CaseSpecTest, AcceptsABatchWithoutSequences) {
  const DecodeProblem problem = build_case(parse(smallest_with("seq_lens", "[]"))).problem;
  EXPECT_EQ(problem.num_seqs(), 0);
}

TEST(CaseSpecTest, IsNamedAfterItsFile) {
  const testing::TemporaryFolder folder;
  folder.write("my-case.json", text_of(smallest_with("description", "\"what it is\"")));
  const CaseSpec spec = read_case_file(folder / "my-case.json");
  EXPECT_EQ(spec.name, "my-case");
  EXPECT_EQ(spec.description, "what it is");
}

// ---- what is refused --------------------------------------------------------------------------
TEST(CaseSpecTest, RefusesAMissingShape) {
  for (const auto& [key, value] : smallest()) {
    RawObject object = smallest();
    object.erase(key);
    expect_refused(object, key);
  }
}

TEST(CaseSpecTest, RefusesUnknownKeysAtEveryLevel) {
  expect_refused(smallest_with("head_dim", "64"), "head_dim");
  expect_refused(smallest_with("Seq_lens", "[3]"), "Seq_lens");
  expect_refused(smallest_with("block_sparse", R"({"stride": 2})"), "block_sparse.stride");
  expect_refused(smallest_with("values", R"({"sd": 1})"), "values.sd");
  expect_refused(smallest_with("values", R"({"query": {"sd": 1}})"), "values.query.sd");
  expect_refused(smallest_with("values", R"({"query": {}, "kind": "normal"})"), "values.kind");
  expect_refused(smallest_with("values", R"({"query": {}, "keys": {}})"), "values.keys");
  expect_refused(smallest_with("poison", R"({"tails": "nan"})"), "poison.tails");
  expect_refused(smallest_with("tensors", R"({"output": "o.npy"})"), "tensors.output");
}

TEST(CaseSpecTest, RefusesWhatIsNoWholeNumber) {
  for (const std::string key : {"num_heads", "num_kv_heads", "head_size", "block_size",
                                "num_blocks", "table_width", "table_padding"})
    for (const std::string value :
         {"1e3", "16.5", "16.0", "\"16\"", "null", "true", "[16]", "{}", "\"nan\"", "2147483648",
          "-2147483649", "9223372036854775808", "100000000000000000000"})
      expect_refused(smallest_with(key, value), key);
}

TEST(CaseSpecTest, RefusesSizesBelowTheirLeast) {
  for (const std::string key : {"num_heads", "num_kv_heads", "head_size", "block_size"})
    for (const std::string value : {"0", "-1", "-2147483648"})
      expect_refused(smallest_with(key, value), key);
  for (const std::string key : {"num_blocks", "table_width"})
    expect_refused(smallest_with(key, "-1"), key);
}

TEST(CaseSpecTest, RefusesLengthsThatAreNoneAndNamesTheEntry) {
  for (const std::string value : {"-1", "1e2", "2.5", "\"3\"", "null", "2147483648", "[1]"})
    expect_refused(smallest_with("seq_lens", "[5, " + value + "]"), "seq_lens[1]");
  for (const std::string value : {"5", "\"5\"", "{}", "null"})
    expect_refused(smallest_with("seq_lens", value), "seq_lens");
}

TEST(CaseSpecTest, RefusesTablesThatAreNone) {
  for (const std::string value : {"\"shuffled\"", "7", "null", "{}", "true"})
    expect_refused(smallest_with("block_tables", value), "block_tables");
  expect_refused(smallest_with("block_tables", "[[0, 1], 2]"), "block_tables[1]");
  for (const std::string id : {"1.5", "1e0", "\"1\"", "null", "2147483648", "-2147483649"})
    expect_refused(smallest_with("block_tables", "[[0, " + id + "], [2]]"), "block_tables[0][1]");
}

TEST(CaseSpecTest, RefusesUnknownNamesAndListsTheKnown) {
  const auto names_known = [](const RawObject& object, const std::vector<std::string>& known) {
    const auto message = input_error_of([&] { parse(object); });
    ASSERT_TRUE(message) << text_of(object);
    for (const std::string& name : known)
      EXPECT_NE(message->find(name), std::string::npos) << *message << " lacks " << name;
  };
  expect_refused(smallest_with("scalar", "\"f64\""), "scalar");
  expect_refused(smallest_with("scalar", "\"e4m3\""), "scalar");
  expect_refused(smallest_with("scalar", "16"), "scalar");
  names_known(smallest_with("scalar", "\"half\""), {"half", "f32", "f16", "bf16"});
  expect_refused(smallest_with("cache", "\"fp8\""), "cache");
  names_known(smallest_with("cache", "\"fp8\""), {"fp8", "f32", "f16", "bf16", "e4m3", "e5m2"});
  expect_refused(smallest_with("values", R"({"kind": "gaussian"})"), "values.kind");
  names_known(smallest_with("values", R"({"kind": "gaussian"})"),
              {"gaussian", "normal", "peaked", "needle", "large-logits", "constant", "coded"});
}

TEST(CaseSpecTest, RefusesNumbersOfAnotherType) {
  for (const std::string key : {"scale", "k_scale", "v_scale"})
    for (const std::string value : {"\"NaN\"", "\"0.5\"", "null", "true", "[]", "{}"})
      expect_refused(smallest_with(key, value), key);
  expect_refused(smallest_with("alibi_slopes", "0.5"), "alibi_slopes");
  expect_refused(smallest_with("alibi_slopes", "[1, 1, \"x\", 1]"), "alibi_slopes[2]");
  expect_refused(smallest_with("poison", R"({"tail": "NaN"})"), "poison.tail");
  expect_refused(smallest_with("poison", R"({"free_blocks": null})"), "poison.free_blocks");
}

TEST(CaseSpecTest, RefusesParametersOfFamiliesThatMeanNothing) {
  for (const std::string std_value : {"-1", "\"nan\"", "\"inf\"", "1e300", "\"x\"", "null"})
    expect_refused(smallest_with("values", "{\"std\": " + std_value + "}"), "values.std");
  for (const std::string seed : {"-1", "1.5", "1e3", "\"7\"", "null"})
    expect_refused(smallest_with("values", "{\"seed\": " + seed + "}"), "values.seed");
  for (const std::string token : {"-2", "1.5", "\"7\"", "2147483648"})
    expect_refused(smallest_with("values", "{\"kind\": \"needle\", \"token\": " + token + "}"),
                   "values.token");
}

TEST(CaseSpecTest, RefusesFamilyValuesThatAreNotFiniteOrThatTheKindIgnores) {
  const auto family = [](const std::string& kind, const std::string& key,
                         const std::string& value) {
    return smallest_with("values", "{\"kind\": \"" + kind + "\", \"" + key + "\": " + value + "}");
  };
  for (const std::string value : {"\"nan\"", "\"inf\"", "\"-inf\"", "null", "\"1\""}) {
    expect_refused(family("constant", "value", value), "values.value");
    expect_refused(family("negative-logits", "logit", value), "values.logit");
  }
  expect_refused(family("normal", "value", "3"), "values.value");
  expect_refused(family("peaked", "logit", "3"), "values.logit");
  expect_refused(family("normal", "token", "3"), "values.token");
  EXPECT_EQ(parse(family("large-logits", "token", "3")).key_values.token, 3);
}

TEST(CaseSpecTest, RefusesObjectsOfAnotherType) {
  for (const std::string key : {"values", "poison", "tensors", "block_sparse"})
    for (const std::string value : {"[]", "3", "\"normal\"", "null"})
      expect_refused(smallest_with(key, value), key);
  expect_refused(smallest_with("tensors", R"({"query": 3})"), "tensors.query");
  expect_refused(smallest_with("description", "3"), "description");
}

TEST(CaseSpecTest, RefusesSparsityOutsideItsRange) {
  const auto with = [](const std::string& key, const std::string& value) {
    return smallest_with("block_sparse", "{\"" + key + "\": " + value + "}");
  };
  for (const std::string key : {"local_blocks", "vert_stride", "block_size", "head_sliding_step"})
    for (const std::string value : {"1.5", "\"2\"", "2147483648", "null"})
      expect_refused(with(key, value), "block_sparse." + key);
  expect_refused(with("vert_stride", "0"), "block_sparse.vert_stride");
  expect_refused(with("block_size", "0"), "block_sparse.block_size");
  expect_refused(with("local_blocks", "-1"), "block_sparse.local_blocks");
}

TEST(CaseSpecTest, RefusesNumbersThatAreNotFinite) {
  for (const std::string value : {"\"nan\"", "\"inf\"", "\"-inf\""}) {
    expect_never_built(smallest_with("scale", value), "scale");
    expect_never_built(smallest_with("k_scale", value), "k_scale");
    expect_never_built(smallest_with("v_scale", value), "v_scale");
    expect_never_built(smallest_with("alibi_slopes", "[1, 1, " + value + ", 1]"), "alibi_slopes");
  }
  // Finite in JSON, infinite in f32.
  expect_never_built(smallest_with("scale", "1e300"), "scale");
}

TEST(CaseSpecTest, RefusesWhatDoesNotFitTogether) {
  expect_never_built(smallest_with("alibi_slopes", "[1, 1]"), "alibi_slopes");
  expect_never_built(smallest_with("k_scale", "0.5"), "k_scale");
  expect_never_built(smallest_with("cache", "\"f32\""), "f32");
  RawObject heads = smallest_with("num_heads", "16");
  heads["num_kv_heads"] = "5";
  const auto message = input_error_of([&] { build_case(parse(heads)); });
  ASSERT_TRUE(message);
  EXPECT_TRUE(mentions(*message, "16") && mentions(*message, "5")) << *message;
}

TEST(CaseSpecTest, RefusesWhatIsNotJsonAndSaysWhere) {
  for (const std::string text :
       {"", " ", "{", "{\"num_heads\": }", "not json", "{\"num_heads\": 4,}", "{'num_heads': 4}",
        "{} {}", "{\"num_heads\": 0x10}", "{\"num_heads\": NaN}", "\xFF\xFE"})
    expect_refused(text, "some.json");
  const auto message =
      input_error_of([] { parse_case("{\n\"num_heads\": 4,\n\"x\" 3}", "some.json", "/at"); });
  ASSERT_TRUE(message);
  EXPECT_TRUE(mentions(*message, "3")) << "the line: " << *message;
}

TEST(CaseSpecTest, RefusesDeepNestingAndTextBehindAZero) {
  expect_refused(std::string(400000, '['), "64");
  expect_refused(text_of(smallest()) + std::string("\0garbage", 8), "some.json");
}

TEST(CaseSpecTest, ShowsLongValuesShortened) {
  const std::string text = "\"" + std::string(400000, 'x') + "\"";
  const std::string array = std::string(60, '[') + std::string(60, ']');
  for (const std::string key : {"num_heads", "scale", "scalar", "cache", "variant", "unknown"})
    for (const std::string& value : {text, array}) {
      const auto message = input_error_of([&] { parse(smallest_with(key, value)); });
      ASSERT_TRUE(message) << key;
      EXPECT_LT(message->size(), 600U) << key;
      EXPECT_EQ(message->find("[["), std::string::npos) << key;
    }
  const auto unclosed = input_error_of([&] { parse(smallest_with("scalar", text.substr(1))); });
  ASSERT_TRUE(unclosed);
  EXPECT_LT(unclosed->size(), 300U);
}

TEST(CaseSpecTest, NamesNumbersThatAreTooLargeOrTooSmall) {
  const auto said = [](const std::string& key, const std::string& value) {
    return input_error_of([&] { parse(smallest_with(key, value)); }).value_or("");
  };
  for (const std::string value : {"18446744073709551616", "9223372036854775808"})
    EXPECT_NE(said("num_heads", value).find("too large"), std::string::npos);
  EXPECT_TRUE(mentions(said("values", R"({"std": -3})"), "-3"));
  EXPECT_TRUE(mentions(said("scale", "1e300"), "32")) << said("scale", "1e300");
  EXPECT_NE(said("k_scale", "1e-300").find("1e-300"), std::string::npos);
}

TEST(CaseSpecTest, RefusesNamesOfTensorsThatNoFileHas) {
  expect_refused(smallest_with("tensors", R"({"query": "q.npy\u0000x"})"), "tensors.query");
  expect_refused(smallest_with("tensors", R"({"query": ""})"), "tensors.query");
}

TEST(CaseSpecTest, RefusesNumbersThatNoDoubleHolds) {
  for (const std::string key : {"scale", "num_heads", "seq_lens"})
    expect_refused(text_of(smallest_with(key, "1e999")), "'" + key + "'");
  expect_refused(text_of(smallest_with("seq_lens", "[1, -1e999]")), "'seq_lens'");
  expect_refused(text_of(smallest_with("values", R"({"query": {"std": 1e999}})")),
                 "'values.query.std'");
}

TEST(CaseSpecTest, RefusesOtherThingsThanAnObjectAtTheTop) {
  for (const std::string text : {"[]", "[{}]", "3", "\"text\"", "null", "true"})
    expect_refused(text, "some.json");
}

TEST(CaseSpecTest, RefusesMissingFilesAndFoldersByName) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "folder.json");
  for (const std::string name : {"absent.json", "folder.json"}) {
    const auto message = input_error_of([&] { read_case_file(folder / name); });
    ASSERT_TRUE(message);
    EXPECT_NE(message->find(name), std::string::npos) << *message;
    EXPECT_EQ(message->find('\n'), std::string::npos) << *message;
  }
  folder.write("empty.json", "");
  EXPECT_TRUE(input_error_of([&] { read_case_file(folder / "empty.json"); }));
}

}  // namespace
}  // namespace paged
