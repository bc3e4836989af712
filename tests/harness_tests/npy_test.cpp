// .npy files: every type there and back, files made byte by byte, and what must be refused.
#include "tests/harness/npy.h"

#include "tests/harness/output_file.h"
#include "tests/harness_tests/temporary_folder.h"
#include "tests/reference/error_message.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace paged {
namespace {

using testing::content_of;
using testing::input_error_of;
using testing::mentions;
using testing::TemporaryFolder;

/// A .npy file by the format's definition: magic, version, length of the header, header, data.
std::string npy_bytes(const std::string& header, const std::string& data, char major = 1,
                      char minor = 0) {
  std::string bytes = "\x93NUMPY";
  bytes += major;
  bytes += minor;
  const std::size_t length = header.size();
  const int length_bytes = major == 1 ? 2 : 4;
  for (int i = 0; i < length_bytes; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xFF);
  return bytes + header + data;
}

std::string header_of(const std::string& descr, const std::string& shape,
                      const std::string& fortran_order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran_order + ", 'shape': " + shape +
         ", }\n";
}

/// Bytes of 1.0, 2.0, ... as little-endian f32.
std::string floats(int count) {
  std::string bytes;
  for (int i = 1; i <= count; ++i) {
    const auto value = static_cast<float>(i);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

class NpyTest : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& bytes) const {
    return folder_.write("tensor.npy", bytes);
  }

  /// Reading must throw an InputError of one line that names the file.
  void expect_refused(const std::filesystem::path& path, const std::string& because,
                      std::optional<CacheType> as = std::nullopt) const {
    const auto message = input_error_of([&] { read_npy(path, as); });
    ASSERT_TRUE(message) << "accepted: " << because;
    EXPECT_NE(message->find(path.filename().string()), std::string::npos) << *message;
    EXPECT_EQ(message->find('\n'), std::string::npos) << *message;
    EXPECT_FALSE(message->empty());
  }

  TemporaryFolder folder_;
};

// ---- there and back ---------------------------------------------------------------------------
class NpyRoundTripTest : public NpyTest, public ::testing::WithParamInterface<CacheType> {};

TEST_P(NpyRoundTripTest, KeepsEveryBit) {
  Tensor tensor(GetParam(), {3, 5, 7});
  // Odd multipliers pass through many bit patterns, NaNs with payloads among them.
  for (std::size_t i = 0; i < tensor.size_in_bytes(); ++i)
    tensor.data()[i] = static_cast<std::byte>(i * 151 + 7);
  OutputFile(folder_ / "t.npy").commit(npy_of(tensor));
  const Tensor back = read_npy(folder_ / "t.npy", GetParam());
  EXPECT_EQ(back.type(), tensor.type());
  EXPECT_EQ(back.shape(), tensor.shape());
  ASSERT_EQ(back.size_in_bytes(), tensor.size_in_bytes());
  EXPECT_EQ(std::memcmp(back.data(), tensor.data(), tensor.size_in_bytes()), 0);
}

TEST_P(NpyRoundTripTest, KeepsAnyNumberOfDimensions) {
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{}, {1}, {9}, {2, 3}, {1, 1, 1}, {2, 3, 1, 2, 2}}) {
    Tensor tensor(GetParam(), shape);
    tensor.fill(1.5);
    OutputFile(folder_ / "t.npy").commit(npy_of(tensor));
    const Tensor back = read_npy(folder_ / "t.npy", GetParam());
    EXPECT_EQ(back.shape(), shape) << to_string(shape);
    ASSERT_EQ(back.size(), tensor.size());
    for (std::int64_t i = 0; i < back.size(); ++i) EXPECT_EQ(back.read(i), 1.5);
  }
}

TEST_P(NpyRoundTripTest, KeepsEmptyTensors) {
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{0}, {0, 4, 64}, {3, 0, 2}}) {
    OutputFile(folder_ / "t.npy").commit(npy_of(Tensor(GetParam(), shape)));
    const Tensor back = read_npy(folder_ / "t.npy", GetParam());
    EXPECT_EQ(back.shape(), shape);
    EXPECT_EQ(back.size(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, NpyRoundTripTest,
                         ::testing::Values(CacheType::f32, CacheType::f16, CacheType::bf16,
                                           CacheType::e4m3, CacheType::e5m2),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST_F(NpyTest, WritesWhatTheFormatDefines) {
  Tensor tensor(CacheType::f32, {2, 3});
  for (int i = 0; i < 6; ++i) tensor.write(i, i + 1);
  OutputFile(folder_ / "t.npy").commit(npy_of(tensor));
  const std::string bytes = content_of(folder_ / "t.npy");
  ASSERT_GT(bytes.size(), 10U);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const std::size_t length =
      static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ((10 + length) % 64, 0U) << "data must begin at a multiple of 64 bytes";
  ASSERT_EQ(bytes.size(), 10 + length + 24);
  const std::string header = bytes.substr(10, length);
  EXPECT_EQ(header.back(), '\n');
  EXPECT_NE(header.find("'descr': '<f4'"), std::string::npos) << header;
  EXPECT_NE(header.find("'fortran_order': False"), std::string::npos) << header;
  EXPECT_NE(header.find("'shape': (2, 3)"), std::string::npos) << header;
  EXPECT_EQ(bytes.substr(10 + length), floats(6));
}

TEST_F(NpyTest, WritesOneDimensionAsATuple) {
  OutputFile(folder_ / "t.npy").commit(npy_of(Tensor(CacheType::f32, {4})));
  std::string bytes = content_of(folder_ / "t.npy");
  bytes.erase(std::remove(bytes.begin(), bytes.end(), ' '), bytes.end());
  EXPECT_NE(bytes.find("'shape':(4,)"), std::string::npos)
      << "(4) is a number in Python, (4,) a tuple";
}

// ---- files made by hand -----------------------------------------------------------------------
TEST_F(NpyTest, ReadsFormats1To3) {
  for (char major : {1, 2, 3}) {
    const Tensor tensor = read_npy(file(npy_bytes(header_of("<f4", "(2, 2)"), floats(4), major)));
    EXPECT_EQ(tensor.shape(), (std::vector<std::int64_t>{2, 2})) << int{major};
    EXPECT_EQ(tensor.read(3), 4.0) << int{major};
  }
}

TEST_F(NpyTest, ReadsKeysInAnyOrder) {
  const Tensor tensor = read_npy(file(
      npy_bytes("{'shape': (3,), 'fortran_order': False, 'descr': '<f4'}          \n", floats(3))));
  EXPECT_EQ(tensor.shape(), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(tensor.read(1), 2.0);
}

TEST_F(NpyTest, ReadsFloatsAsWhatTheyAreWhateverTypeIsAskedFor) {
  const std::string f32 = npy_bytes(header_of("<f4", "(1,)"), floats(1));
  EXPECT_EQ(read_npy(file(f32), CacheType::bf16).type(), CacheType::f32);
  const std::string f16 = npy_bytes(header_of("<f2", "(1,)"), std::string("\x00\x3C", 2));
  EXPECT_EQ(read_npy(file(f16)).type(), CacheType::f16);
  EXPECT_EQ(read_npy(file(f16)).read(0), 1.0);
}

TEST_F(NpyTest, ReadsBitsOnlyAsTheTypeThatIsAskedFor) {
  const std::string u16 = npy_bytes(header_of("<u2", "(1,)"), std::string("\x80\x3F", 2));
  EXPECT_EQ(read_npy(file(u16), CacheType::bf16).read(0), 1.0);
  expect_refused(file(u16), "uint16 without a type");
  expect_refused(file(u16), "uint16 for fp8", CacheType::e4m3);
  const std::string u8 = npy_bytes(header_of("|u1", "(1,)"), "\x38");
  EXPECT_EQ(read_npy(file(u8), CacheType::e4m3).read(0), 1.0);
  const std::string e5m2 = npy_bytes(header_of("|u1", "(1,)"), "\x3C");
  EXPECT_EQ(read_npy(file(e5m2), CacheType::e5m2).read(0), 1.0);
  expect_refused(file(u8), "uint8 without a type");
  expect_refused(file(u8), "uint8 for bf16", CacheType::bf16);
}

TEST_F(NpyTest, RefusesFortranOrder) {
  expect_refused(file(npy_bytes(header_of("<f4", "(2, 2)", "True"), floats(4))), "Fortran order");
  const auto message = input_error_of([&] { read_npy(folder_ / "tensor.npy"); });
  EXPECT_NE(message->find("Fortran"), std::string::npos) << *message;
}

TEST_F(NpyTest, RefusesOtherElementTypesByName) {
  for (const std::string descr : {">f4", ">f2", "<f8", "<i4", "|b1", "<c8", "<u4"}) {
    const auto path = file(npy_bytes(header_of(descr, "(2,)"), std::string(16, '\0')));
    expect_refused(path, descr);
    const auto message = input_error_of([&] { read_npy(path); });
    EXPECT_NE(message->find(descr), std::string::npos) << *message;
  }
}

TEST_F(NpyTest, RefusesEveryTruncation) {
  const std::string whole = npy_bytes(header_of("<f4", "(2, 3)"), floats(6));
  for (std::size_t length = 0; length < whole.size(); ++length)
    expect_refused(file(whole.substr(0, length)), std::to_string(length) + " bytes");
  const std::string second = npy_bytes(header_of("<f4", "(2, 3)"), floats(6), 2);
  for (std::size_t length = 0; length < second.size(); ++length)
    expect_refused(file(second.substr(0, length)), "2.0: " + std::to_string(length) + " bytes");
}

TEST_F(NpyTest, RefusesTooMuchDataAndSaysHowMuch) {
  for (int extra : {1, 4, 100}) {
    const auto path =
        file(npy_bytes(header_of("<f4", "(2, 3)"), floats(6) + std::string(extra, 'x')));
    expect_refused(path, "too much data");
    const auto message = input_error_of([&] { read_npy(path); });
    EXPECT_TRUE(mentions(*message, std::to_string(24 + extra)) ||
                mentions(*message, std::to_string(extra)))
        << *message;
  }
}

TEST_F(NpyTest, RefusesAbsurdShapesWithoutAskingForMemory) {
  for (const std::string shape :
       {"(4611686018427387904, 4611686018427387904)",  // 2^62 x 2^62: wraps to 0
        "(2305843009213693952, 8)",                    // 2^64 elements: wraps to 0
        "(4611686018427387904, 4)", "(9223372036854775807,)", "(9223372036854775808,)",
        "(18446744073709551616,)", "(1000000000000, 1000)",
        "(4294967296, 4294967296)"})  // 2^32 x 2^32: wraps to 0
    for (const int count : {0, 1, 6})
      expect_refused(file(npy_bytes(header_of("<f4", shape), floats(count))), shape);
}

TEST_F(NpyTest, RefusesShapesThatAreNone) {
  for (const std::string shape :
       {"(-1,)",  "(2, -3)",  "(-2, -3)", "6",     "[2, 3]",  "(2, 3",  "(2.0, 3)",
        "(a, b)", "('2', 3)", "None",     "",      "(2 3 x)", "(2 3)",  "(6)",
        "(,)",    "(2,, 3)",  "(2, 3,,)", "(+6,)", "(2, 3",   "(2, 3))"})
    expect_refused(file(npy_bytes(header_of("<f4", shape), floats(6))), "shape " + shape);
}

TEST_F(NpyTest, RefusesManyDimensionsInOneShortLine) {
  std::string shape = "(";
  for (int i = 0; i < 10000; ++i) shape += "1, ";
  const auto path = file(npy_bytes(header_of("<f4", shape + ")"), floats(1)));
  expect_refused(path, "10000 dimensions");
  EXPECT_LT(input_error_of([&] { read_npy(path); })->size(), 200U);
}

TEST_F(NpyTest, RefusesOrdersOtherThanTrueAndFalse) {
  for (const std::string order : {"Falsehood", "false", "0", "False or True", "'False'x", ""})
    expect_refused(file(npy_bytes(header_of("<f4", "(1,)", order), floats(1))), order);
}

TEST_F(NpyTest, RefusesHeadersThatPythonWouldNotRead) {
  for (const std::string header :
       {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr' x: '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'descr': '<f2', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}"})
    expect_refused(file(npy_bytes(header + "\n", floats(1))), header);
}

TEST_F(NpyTest, RefusesHeadersWithoutTheirKeys) {
  for (const std::string header :
       {"{'fortran_order': False, 'shape': (2,), }\n", "{'descr': '<f4', 'shape': (2,), }\n",
        "{'descr': '<f4', 'fortran_order': False, }\n", "{}\n", "", "\n", "no dictionary",
        "{'descr': , 'fortran_order': False, 'shape': (2,)}\n",
        "{'descr': '<f4, 'fortran_order': Maybe, 'shape': (2,)}\n"})
    expect_refused(file(npy_bytes(header, floats(2))), header);
}

TEST_F(NpyTest, RefusesWhatIsNoNpyFile) {
  expect_refused(file(""), "an empty file");
  expect_refused(file("{\"num_heads\": 8}"), "a JSON file");
  expect_refused(file(std::string(4096, '\0')), "zeros");
  expect_refused(file(npy_bytes(header_of("<f4", "(1,)"), floats(1), 4)), "format 4.0");
  expect_refused(file(npy_bytes(header_of("<f4", "(1,)"), floats(1), 0)), "format 0.0");
  expect_refused(file(npy_bytes(header_of("<f4", "(1,)"), floats(1), 1, 1)), "format 1.1");
  std::string other_magic = npy_bytes(header_of("<f4", "(1,)"), floats(1));
  other_magic[1] = 'n';
  expect_refused(file(other_magic), "other first bytes");
}

TEST_F(NpyTest, RefusesMissingFilesAndFolders) {
  expect_refused(folder_ / "absent.npy", "a missing file");
  std::filesystem::create_directory(folder_ / "folder.npy");
  expect_refused(folder_ / "folder.npy", "a folder");
}

TEST_F(NpyTest, SaysWhatAFileIsThatIsNone) {
  std::filesystem::create_symlink("loop.npy", folder_ / "loop.npy");
  expect_refused(folder_ / "loop.npy", "a loop of links");
  const auto said = [](const std::filesystem::path& path) {
    return input_error_of([&] { read_npy(path); }).value_or("");
  };
  EXPECT_NE(said("/dev/zero").find("regular file"), std::string::npos);
  EXPECT_NE(said("/proc/self/mem").find("/proc/self/mem"), std::string::npos) << "reading fails";
  EXPECT_EQ(said(folder_ / "loop.npy").find("no such file"), std::string::npos);
}

// ---- writing that fails -----------------------------------------------------------------------
TEST_F(NpyTest, AFailedWriteLeavesNothingBehind) {
  const Tensor tensor(CacheType::f32, {4});
  const auto missing = folder_ / "absent" / "t.npy";
  const auto message = input_error_of([&] { OutputFile(missing).commit(npy_of(tensor)); });
  ASSERT_TRUE(message);
  EXPECT_NE(message->find(missing.string()), std::string::npos) << *message;
  EXPECT_EQ(message->find('\n'), std::string::npos);
  EXPECT_TRUE(folder_.entries().empty());
}

TEST_F(NpyTest, AWriteOverAFolderLeavesTheFolderAndNothingElse) {
  std::filesystem::create_directory(folder_ / "t.npy");
  std::filesystem::create_directory(folder_ / "t.npy" / "content");
  const auto message =
      input_error_of([&] { OutputFile(folder_ / "t.npy").commit(npy_of(Tensor())); });
  ASSERT_TRUE(message);
  EXPECT_NE(message->find("t.npy"), std::string::npos) << *message;
  EXPECT_EQ(folder_.entries(), std::vector<std::string>{"t.npy"});
  EXPECT_TRUE(std::filesystem::is_directory(folder_ / "t.npy" / "content"));
}

TEST_F(NpyTest, AWriteReplacesAnOlderFileWholly) {
  folder_.write("t.npy", std::string(100000, 'x'));
  OutputFile(folder_ / "t.npy").commit(npy_of(Tensor(CacheType::f32, {2})));
  EXPECT_EQ(read_npy(folder_ / "t.npy").shape(), (std::vector<std::int64_t>{2}));
  EXPECT_EQ(folder_.entries(), std::vector<std::string>{"t.npy"});
}

TEST_F(NpyTest, AWriteFollowsLinksAndKeepsPermissions) {
  using std::filesystem::perms;
  folder_.write("t.npy", "old");
  std::filesystem::permissions(folder_ / "t.npy", perms::owner_read | perms::owner_write);
  std::filesystem::create_symlink("t.npy", folder_ / "link");
  std::filesystem::create_symlink("new.npy", folder_ / "dangling");
  OutputFile(folder_ / "link").commit("by link");
  OutputFile(folder_ / "dangling").commit("new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "dangling"));
  EXPECT_EQ(content_of(folder_ / "t.npy"), "by link");
  EXPECT_EQ(content_of(folder_ / "new.npy"), "new");
  EXPECT_EQ(std::filesystem::status(folder_ / "t.npy").permissions(),
            perms::owner_read | perms::owner_write);
}

TEST_F(NpyTest, WhatIsNoRegularFileIsRefusedAndLeftAlone) {
  std::filesystem::create_symlink("/dev/null", folder_ / "null");
  ASSERT_EQ(mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  for (const char* name : {"null", "fifo"}) {  // opening a FIFO would wait for a reader
    const auto message = input_error_of([&] { OutputFile(folder_ / name); });
    ASSERT_TRUE(message) << name;
    EXPECT_NE(message->find(name), std::string::npos) << *message;
    EXPECT_NE(message->find("not a regular file"), std::string::npos) << *message;
  }
  EXPECT_TRUE(std::filesystem::is_character_file(folder_ / "null"));
  EXPECT_TRUE(std::filesystem::is_fifo(folder_ / "fifo"));
}

TEST_F(NpyTest, NothingIsCreatedBeforeItIsWritten) {
  const OutputFile file(folder_ / "t.npy");
  EXPECT_TRUE(folder_.entries().empty());
}

TEST_F(NpyTest, TheLongestNameCanBeWritten) {
  const std::string name(255, 'n');
  OutputFile(folder_ / name).commit("content");
  EXPECT_EQ(folder_.entries(), std::vector<std::string>{name});
  EXPECT_TRUE(input_error_of([&] { OutputFile(folder_ / (name + "n")); }));
}

TEST_F(NpyTest, OneFileUnderTwoNamesIsOneFile) {
  folder_.write("t.npy", "");
  std::filesystem::create_symlink("t.npy", folder_ / "link");
  EXPECT_TRUE(same_file(folder_ / "t.npy", folder_ / "link"));
  EXPECT_TRUE(same_file(folder_ / "new", folder_ / "./new"));
  EXPECT_FALSE(same_file(folder_ / "t.npy", folder_ / "new"));
}

}  // namespace
}  // namespace paged
