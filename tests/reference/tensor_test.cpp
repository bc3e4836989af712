// Tensors of a run-time type: reading, writing, copying.
#include "reference/tensor.h"

#include "tests/reference/contents.h"
#include "tests/reference/error_message.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace paged {
namespace {

using testing::bytes_of;

const std::vector<CacheType> kAllTypes = {CacheType::f32, CacheType::f16, CacheType::bf16,
                                          CacheType::e4m3, CacheType::e5m2};

class EveryTensorType : public ::testing::TestWithParam<CacheType> {};
INSTANTIATE_TEST_SUITE_P(Tensor, EveryTensorType, ::testing::ValuesIn(kAllTypes),
                         [](const auto& type) { return std::string(name_of(type.param)); });

TEST_P(EveryTensorType, ANewTensorIsAllZeroAndKnowsItsSize) {
  const Tensor tensor(GetParam(), {2, 3, 5});
  EXPECT_EQ(tensor.type(), GetParam());
  EXPECT_EQ(tensor.shape(), (std::vector<std::int64_t>{2, 3, 5}));
  EXPECT_EQ(tensor.size(), 30);
  EXPECT_EQ(tensor.size_in_bytes(), 30 * size_in_bytes(GetParam()));
  for (std::int64_t i = 0; i < tensor.size(); ++i) EXPECT_EQ(tensor.read(i), 0.0);
  for (const std::byte byte : bytes_of(tensor)) EXPECT_EQ(byte, std::byte{0});
}

TEST_P(EveryTensorType, AWrittenValueReadsBackAndItsNeighboursKeepTheirs) {
  Tensor tensor(GetParam(), {3, 4});
  const std::vector<double> values = {0.0,  1.0,   -1.75, 0.5,  -0.125, 1.5,
                                      14.0, -0.25, 256.0, -3.0, 0.0625, 2.5};
  for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.write(i, values[i]);
  for (std::int64_t i = 0; i < tensor.size(); ++i) EXPECT_EQ(tensor.read(i), values[i]) << i;
  tensor.write(5, 7.0);
  EXPECT_EQ(tensor.read(4), -0.125);
  EXPECT_EQ(tensor.read(5), 7.0);
  EXPECT_EQ(tensor.read(6), 14.0);
}

TEST_P(EveryTensorType, FillSetsEveryElement) {
  Tensor tensor(GetParam(), {7, 3});
  tensor.fill(-1.5);
  for (std::int64_t i = 0; i < tensor.size(); ++i) EXPECT_EQ(tensor.read(i), -1.5);
}

TEST_P(EveryTensorType, NaNStaysNaN) {
  Tensor tensor(GetParam(), {2});
  tensor.write(0, std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(std::isnan(tensor.read(0)));
  EXPECT_EQ(tensor.read(1), 0.0);
  tensor.fill(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(std::isnan(tensor.read(1)));
}

TEST_P(EveryTensorType, CopyKeepsEveryBitPatternOfAnElement) {
  // Every 16-bit pattern (which includes all NaNs of the small types) as the leading bytes.
  const std::size_t width = size_in_bytes(GetParam());
  Tensor from(GetParam(), {65536});
  for (unsigned pattern = 0; pattern < 65536; ++pattern) {
    const unsigned char bytes[4] = {0x5a, 0xa5, static_cast<unsigned char>(pattern),
                                    static_cast<unsigned char>(pattern >> 8)};
    std::memcpy(from.data() + pattern * width, bytes + 4 - (width == 1 ? 2 : width), width);
  }
  Tensor to(GetParam(), {65536});
  for (std::int64_t i = 0; i < 65536; ++i) to.copy_element(65535 - i, from, i);
  for (std::size_t i = 0; i < 65536; ++i)
    ASSERT_EQ(std::memcmp(to.data() + (65535 - i) * width, from.data() + i * width, width), 0) << i;
}

TEST_P(EveryTensorType, CopyTouchesOneElementOnly) {
  Tensor from(GetParam(), {4}), to(GetParam(), {4});
  from.fill(2.0);
  to.fill(-1.0);
  to.copy_element(2, from, 0);
  EXPECT_EQ(to.read(1), -1.0);
  EXPECT_EQ(to.read(2), 2.0);
  EXPECT_EQ(to.read(3), -1.0);
  to.copy_element(0, to, 2);  // within one tensor
  EXPECT_EQ(to.read(0), 2.0);
}

TEST_P(EveryTensorType, AnExtentOfZeroMakesAnEmptyTensor) {
  const Tensor tensor(GetParam(), {0, 8, 128});
  EXPECT_EQ(tensor.size(), 0);
  EXPECT_EQ(tensor.size_in_bytes(), 0U);
  EXPECT_EQ(tensor.shape().size(), 3U);
}

TEST_P(EveryTensorType, ANegativeExtentIsAnInputError) {
  const auto message = testing::input_error_of([&] { Tensor(GetParam(), {2, -3, 4}); });
  ASSERT_TRUE(message.has_value());
  EXPECT_TRUE(testing::mentions(*message, "-3")) << *message;
  EXPECT_EQ(message->find('\n'), std::string::npos);
}

TEST_P(EveryTensorType, ASizePast63BitsIsAnInputError) {
  const std::int64_t k32 = std::int64_t{1} << 32;
  EXPECT_THROW(Tensor(GetParam(), {k32, k32}), InputError);           // wraps to 0
  EXPECT_THROW(Tensor(GetParam(), {k32, k32 / 2}), InputError);       // 2^63: wraps to negative
  EXPECT_THROW(Tensor(GetParam(), {k32, k32, k32, 16}), InputError);  // wraps twice
  EXPECT_THROW(Tensor(GetParam(), {3, INT64_MAX / 2}), InputError);   // just above
}

TEST(Tensor, ASizeInBytesPast63BitsIsAnInputErrorToo) {
  const std::int64_t k32 = std::int64_t{1} << 32;
  EXPECT_THROW(Tensor(CacheType::f32, {k32, k32 / 4}), InputError);  // 2^62 elements, 2^64 bytes
}

TEST(Tensor, WritingRoundsOnceFromDouble) {
  // Just above a midpoint of f16 neighbours, by less than float can hold.
  Tensor tensor(CacheType::f16, {1});
  tensor.write(0, 1.0 + 0x1p-11 + 0x1p-40);
  EXPECT_EQ(tensor.read(0), 1.0 + 0x1p-10);
  tensor.write(0, 1.0 + 0x1p-11);
  EXPECT_EQ(tensor.read(0), 1.0);
}

TEST(Tensor, Fp8SaturatesOnWriting) {
  Tensor tensor(CacheType::e4m3, {1});
  tensor.write(0, 1e6);
  EXPECT_EQ(tensor.read(0), 448.0);
  Tensor other(CacheType::e5m2, {1});
  other.fill(-std::numeric_limits<double>::infinity());
  EXPECT_EQ(other.read(0), -57344.0);
}

TEST(Tensor, StorageIsLittleEndianIeee) {
  Tensor half(CacheType::f16, {1}), brain(CacheType::bf16, {1}), single(CacheType::f32, {1});
  half.write(0, -1.5);
  brain.write(0, -1.5);
  single.write(0, -1.5);
  EXPECT_EQ(bytes_of(half), (std::vector<std::byte>{std::byte{0x00}, std::byte{0xbe}}));
  EXPECT_EQ(bytes_of(brain), (std::vector<std::byte>{std::byte{0xc0}, std::byte{0xbf}}));
  EXPECT_EQ(bytes_of(single),
            (std::vector<std::byte>{std::byte{0}, std::byte{0}, std::byte{0xc0}, std::byte{0xbf}}));
}

TEST(Tensor, ShapesPrintAsAList) {
  EXPECT_EQ(to_string(std::vector<std::int64_t>{2, 8, 128}), "[2, 8, 128]");
  EXPECT_EQ(to_string(std::vector<std::int64_t>{5}), "[5]");
  EXPECT_EQ(to_string(std::vector<std::int64_t>{}), "[]");
}

TEST(TensorTest, RunsOfElementsAreReadAndWrittenAsOneByOne) {
  for (CacheType type :
       {CacheType::f32, CacheType::f16, CacheType::bf16, CacheType::e4m3, CacheType::e5m2}) {
    Tensor tensor(type, {40});
    const std::vector<double> values = {1, -2, 3.3, 1e9, 0.1, -0.7};
    tensor.write({5, 2, 10}, values);  // 5, 6, 15, 16, 25, 26
    Tensor expected(type, {40});
    for (int i = 0; i < 6; ++i) expected.write(5 + i / 2 * 10 + i % 2, values[i]);
    for (int i = 0; i < 40; ++i) EXPECT_EQ(tensor.read(i), expected.read(i)) << i;
    std::vector<double> read(4);
    tensor.read({15, 1, 5}, read);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(read[i], expected.read(15 + 5 * i)) << i;
  }
}

}  // namespace
}  // namespace paged
