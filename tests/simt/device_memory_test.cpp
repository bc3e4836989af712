#include "kernels/simt/released_memory.h"
#include "tests/simt/every_backend.h"

#include <algorithm>
#include <functional>
#include <set>

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

TEST_P(DeviceMemory, OfALateReleaseIsNotUsedAgain) {
  if (on_gpu()) GTEST_SKIP() << "a GPU's driver decides itself";
  void* const released = device().allocate(10000, "released");
  device().release(released);
  // Each of these is released at once, so that many older ones could be used again.
  for (std::size_t i = 0; i + 1 < simt::ReleasedMemory::kLatest; ++i) {
    const DeviceBuffer buffer(device(), 10000, "later");
    ASSERT_NE(buffer.data(), released);
  }
  std::vector<std::uint8_t> host(10);
  EXPECT_EQ(error_of([&] { device().upload(released, host.data(), 10); }),
            "upload of 10 bytes at byte 0 of 'released' (10000 bytes), which has been released");
}

TEST_P(DeviceMemory, UsedAgainIsAsGoodAsNew) {
  if (on_gpu()) GTEST_SKIP() << "a GPU's driver decides itself";
  std::set<void*> seen;
  std::size_t used_again = 0;
  for (std::size_t i = 0; i < 3 * simt::ReleasedMemory::kLatest; ++i) {
    // Of other sizes, so that what is used again had more bytes or fewer.
    const std::size_t bytes = 8192 + i % 7 * 1001;
    const DeviceArray<std::uint8_t> array(device(), bytes, "array");
    if (!seen.insert(array.data()).second) ++used_again;
    const std::vector<std::uint8_t> fresh = array.to_host();
    ASSERT_EQ(std::count(fresh.begin(), fresh.end(), 0xFF), static_cast<std::ptrdiff_t>(bytes));
    ASSERT_EQ(device().take_findings().size(), 1U) << "written by whoever had it before?";
    const std::vector<std::uint8_t> content(bytes, 0x5A);
    device().upload(array.data(), content.data(), bytes);
    ASSERT_EQ(array.to_host(), content);
    ASSERT_TRUE(device().take_findings().empty());
    std::uint8_t byte = 0;
    ASSERT_NE(error_of([&] { device().download(&byte, array.data() + bytes, 1); }), "no error");
  }
  EXPECT_GT(used_again, simt::ReleasedMemory::kLatest);
}

TEST_P(DeviceMemory, OfOneProcessIsOneCpuDevice) {
  if (on_gpu()) GTEST_SKIP();
  EXPECT_THROW(make_cpu_device(), DeviceError);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, DeviceMemory, ::testing::ValuesIn(every_backend()),
                         name_of_case);

}  // namespace
}  // namespace paged
