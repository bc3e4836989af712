#include "tests/simt/every_backend.h"

#include <algorithm>
#include <functional>

namespace paged {
namespace {

using DeviceMemory = OnEveryBackend;

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "no error";
}

TEST_P(DeviceMemory, IsAlignedTo256Bytes) {
  for (std::size_t bytes : {0, 1, 3, 255, 257, 5000}) {
    const DeviceBuffer buffer(device(), bytes, "buffer");
    EXPECT_NE(buffer.data(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256, 0U);
  }
}

TEST_P(DeviceMemory, KeepsWhatIsUploaded) {
  std::vector<int> values(100000);
  for (int i = 0; i < 100000; ++i) values[i] = 3 * i;
  EXPECT_EQ(DeviceArray<int>(device(), values, "values").to_host(), values);
}

TEST_P(DeviceMemory, HoldsNaNWhenFresh) {
  const DeviceArray<std::uint8_t> fresh(device(), 1000, "fresh");
  const std::vector<std::uint8_t> bytes = fresh.to_host();
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 0xFF), 1000);
  const std::vector<Finding> findings = device().take_findings();
  if (on_gpu()) return;
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, FindingKind::unwritten_output);
}

TEST_P(DeviceMemory, MayBeFarLargerThanWhatIsUsed) {
  if (on_gpu()) GTEST_SKIP() << "a GPU's memory is what it has";
  constexpr std::size_t kBytes = std::size_t{64} << 30;
  const DeviceBuffer huge(device(), kBytes, "huge");
  const int value = 42;
  auto* const last = static_cast<std::uint8_t*>(huge.data()) + kBytes - sizeof value;
  device().upload(last, &value, sizeof value);
  int read = 0;
  device().download(&read, last, sizeof read);
  EXPECT_EQ(read, value);
  device().forget(huge.data(), kBytes);
}

TEST_P(DeviceMemory, MoreThanThereIsIsRefused) {
  EXPECT_NE(error_of([&] { device().allocate(std::size_t{1} << 62, "too much"); }).find("too much"),
            std::string::npos);
}

TEST_P(DeviceMemory, CopiesBeyondAnAllocationAreRefused) {
  if (on_gpu()) GTEST_SKIP() << "a GPU's driver does not know";
  std::vector<std::uint8_t> host(101);
  const DeviceBuffer buffer(device(), 100, "small");
  EXPECT_EQ(error_of([&] { device().upload(buffer.data(), host.data(), 101); }),
            "upload of 101 bytes past the end of 'small' (100 bytes)");
  EXPECT_EQ(error_of([&] { device().download(host.data(), host.data(), 1); }).rfind("download", 0),
            0U);
  EXPECT_NE(error_of([&] { device().release(host.data()); }), "no error");
}

TEST_P(DeviceMemory, OfOneProcessIsOneCpuDevice) {
  if (on_gpu()) GTEST_SKIP();
  EXPECT_THROW(make_cpu_device(), DeviceError);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, DeviceMemory, ::testing::ValuesIn(every_backend()),
                         name_of_case);

}  // namespace
}  // namespace paged
