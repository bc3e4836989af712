// Thousands of spoilt case files and .npy files: each is read, or refused in one line, and nothing
// else happens. What is spoilt follows from the seed, so a failure comes again.
#include "reference/input_error.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/case_spec.h"
#include "tests/harness/npy.h"
#include "tests/harness/random.h"
#include "tests/harness_tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace paged {
namespace {

using testing::TemporaryFolder;

/// A few random edits: bytes changed, runs removed, repeated or put elsewhere, the end cut off,
/// numbers and words that readers stumble over put in.
class Spoiler {
 public:
  explicit Spoiler(std::uint64_t seed) : random_(seed) {}

  std::string spoil(std::string bytes) {
    for (std::int64_t edits = 1 + random_.below(2); edits > 0; --edits) edit(bytes);
    return bytes;
  }

 private:
  std::size_t place(const std::string& bytes) {
    return static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(bytes.size()) + 1));
  }

  void edit(std::string& bytes) {
    static const std::vector<std::string> words = {"-1",
                                                   "0",
                                                   "1e999",
                                                   "-1e-999",
                                                   "99999999999999999999",
                                                   "2147483648",
                                                   "4294967296",
                                                   "9223372036854775807",
                                                   "nan",
                                                   "null",
                                                   "true",
                                                   "[",
                                                   "]",
                                                   "{",
                                                   "}",
                                                   "\"",
                                                   "'",
                                                   "\\u0000",
                                                   "\xFF\xFE",
                                                   "(",
                                                   ")",
                                                   ",",
                                                   ":",
                                                   "1.5",
                                                   std::string(1, '\0'),
                                                   "[[[[[[[[[[[[[[[["};
    const std::size_t at = place(bytes);
    const std::size_t length = static_cast<std::size_t>(random_.below(8));
    switch (random_.below(7)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(random_.below(256));
        break;
      case 1:
        if (at < bytes.size()) bytes[at] ^= static_cast<char>(1 << random_.below(8));
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(place(bytes), length));
        break;
      case 4:
        bytes.resize(at);
        break;
      default: {
        const std::string& word =
            words[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(words.size())))];
        // In place of a number, if there is one behind, else between two bytes.
        const std::size_t digit = bytes.find_first_of("0123456789", at);
        const bool replaces = digit != bytes.npos && random_.below(2) == 0;
        const std::size_t end = replaces ? bytes.find_first_not_of("0123456789.", digit) : at;
        bytes.replace(replaces ? digit : at, replaces ? std::min(end, bytes.size()) - digit : 0,
                      word);
      }
    }
  }

  Random random_;
};

/// How often `read` came to an end, and how often it refused.
struct Outcomes {
  int read = 0, refused = 0;
};

/// Anything but InputError, or a message of several lines, fails the test and names the seed.
Outcomes read_spoilt(const std::vector<std::string>& sound, int rounds,
                     const std::function<void(const std::string& bytes)>& read) {
  Outcomes outcomes;
  for (int round = 0; round < rounds; ++round) {
    Spoiler spoiler(static_cast<std::uint64_t>(round) + 1);
    const std::string bytes = spoiler.spoil(sound[static_cast<std::size_t>(round) % sound.size()]);
    try {
      read(bytes);
      ++outcomes.read;
    } catch (const InputError& error) {
      ++outcomes.refused;
      const std::string message = error.what();
      EXPECT_FALSE(message.empty()) << "round " << round;
      EXPECT_EQ(message.find('\n'), message.npos) << "round " << round << ": " << message;
      EXPECT_LT(message.size(), 1000U) << "round " << round << ": " << message;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "round " << round << ": " << error.what() << "\n" << bytes;
    }
    if (::testing::Test::HasFailure()) break;
  }
  return outcomes;
}

TEST(SpoiltFileTest, CaseFilesAreReadOrRefused) {
  const std::vector<std::string> sound = {
      R"({"num_heads": 4, "num_kv_heads": 2, "head_size": 16, "block_size": 8, "seq_lens": [9, 0],
          "block_tables": [[2, 1], [0]], "table_width": 3, "values": {"kind": "peaked", "seed": 7},
          "poison": {"tail": "nan", "free_blocks": -1.5}})",
      R"({"num_heads": 2, "num_kv_heads": 1, "head_size": 16, "block_size": 8, "scalar": "bf16",
          "cache": "e4m3", "k_scale": 0.25, "seq_lens": [3], "num_blocks": 4, "scale": 0.5,
          "alibi_slopes": [0.5, 0.25], "values": {"query": {"kind": "needle", "token": 1}},
          "block_sparse": {"local_blocks": 1, "vert_stride": 2, "block_size": 8},
          "partition_size": 16, "variant": "v2"})"};
  // Built, too, where that is little work: what the reader lets through, the builder must refuse.
  const Outcomes outcomes = read_spoilt(sound, 4000, [](const std::string& bytes) {
    const CaseSpec spec = parse_case(bytes, "spoilt", "");
    const DecodeShape shape = shape_of_case(spec);
    const std::int64_t elements = std::int64_t{1} * shape.num_blocks * shape.num_kv_heads *
                                  shape.head_size * shape.block_size;
    if (elements < 1 << 14 &&
        shape.num_seqs * std::int64_t{shape.num_heads} * shape.head_size < 1 << 14)
      build_case(spec);
  });
  EXPECT_GT(outcomes.read, 100) << "edits that leave a case must occur, too";
  EXPECT_GT(outcomes.refused, 2000);
}

TEST(SpoiltFileTest, NpyFilesAreReadOrRefused) {
  Tensor half(CacheType::f16, {3, 5});
  half.fill(1.5);
  const std::vector<std::string> sound = {npy_of(half), npy_of(Tensor(CacheType::f32, {2, 2, 2})),
                                          npy_of(Tensor(CacheType::e4m3, {7}))};
  const TemporaryFolder folder;
  const Outcomes outcomes = read_spoilt(sound, 4000, [&](const std::string& bytes) {
    const Tensor tensor = read_npy(folder.write("t.npy", bytes), std::nullopt);
    EXPECT_LE(tensor.size_in_bytes(), bytes.size()) << "more than the file holds";
  });
  EXPECT_GT(outcomes.read, 100);
  EXPECT_GT(outcomes.refused, 1500);
}

}  // namespace
}  // namespace paged
