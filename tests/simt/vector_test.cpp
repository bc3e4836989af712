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
