#include "tests/simt/every_backend.h"

#include <numeric>

namespace paged {
namespace {

using Vectors = OnEveryBackend;

TEST_P(Vectors, OfAllWidthsAreCopiedWhole) {
  constexpr int kBytes = 512;
  std::vector<std::uint8_t> bytes(kBytes);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  const DeviceArray<std::uint8_t> in(device(), bytes, "from");
  struct Width {
    int element_bytes;
    int elements;
  };
  for (const Width& width :
       {Width{1, 2}, Width{1, 4}, Width{1, 8}, Width{1, 16}, Width{2, 1}, Width{2, 2}, Width{2, 4},
        Width{2, 8}, Width{4, 1}, Width{4, 2}, Width{4, 4}}) {
    const DeviceArray<std::uint8_t> out(device(), kBytes, "to");
    kernels().copy_vectors(width.element_bytes, width.elements, kBytes, in.data(), out.data());
    EXPECT_EQ(out.to_host(), bytes) << width.elements << " x " << width.element_bytes << " bytes";
  }
}

TEST_P(Vectors, AreZeroedPastTheEndAndNothingBesideThem) {
  struct Row {
    int element_bytes, width;
  };
  for (const Row& row : {Row{4, 4}, Row{2, 8}, Row{1, 4}, Row{1, 8}})
    for (int valid = -1; valid <= row.width + 1; ++valid) {
      const int row_bytes = row.element_bytes * row.width;
      // Padded to the alignment of a row, at most 16.
      const int bytes = (16 + 3 * row_bytes + 16 + 15) / 16 * 16;
      std::vector<std::uint8_t> expected(bytes);
      std::iota(expected.begin(), expected.end(), std::uint8_t{1});
      const DeviceArray<std::uint8_t> in(device(), expected, "from");
      const DeviceArray<std::uint8_t> out(device(), expected, "to");
      for (int i = 0; i < 3 * row_bytes; ++i)
        if (i % row_bytes / row.element_bytes >= valid) expected[16 + i] = 0;
      kernels().zero_past_end(row.element_bytes, row.width, valid, in.data(), out.data());
      EXPECT_EQ(out.to_host(), expected)
          << row.width << " x " << row.element_bytes << " bytes, " << valid << " valid";
    }
}

TEST_P(Vectors, OfEveryTypeAreMadeFromTheirMembers) {
  std::vector<float> values(128);
  std::iota(values.begin(), values.end(), 1.0F);
  const DeviceArray<float> in(device(), values, "from");
  for (VectorType type : {VectorType::int2, VectorType::uint2, VectorType::float2, VectorType::int4,
                          VectorType::uint4, VectorType::float4}) {
    const DeviceArray<float> out(device(), values.size(), "to");
    kernels().remake_vectors(type, 512, in.data(), out.data());
    EXPECT_EQ(out.to_host(), values) << static_cast<int>(type);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, Vectors, ::testing::ValuesIn(every_backend()), name_of_case);

}  // namespace
}  // namespace paged
