// What counts as a share of a bound, and what is said about shares; bound_shares.cpp has those of
// the stages.
#include "tests/harness/bound_shares.h"

#include "stages/registry.h"
#include "tests/harness/case_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace paged {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// A run of stage 5 with partitions; a sequence of none among others.
class BoundSharesTest : public ::testing::Test {
 protected:
  static CaseSpec spec() {
    CaseSpec spec;
    spec.num_heads = 4;
    spec.num_kv_heads = 2;
    spec.head_size = 64;
    spec.block_size = 16;
    spec.seq_lens = {35, 0, 70};
    spec.partition_size = 32;
    spec.variant = KernelVariant::v2;
    return spec;
  }
  BoundShares shares() const { return shares_of(problem_, outputs_, answer_); }

  const Stage& stage_ = find_stage("5", Backend::cpu, Checking::unchecked);
  DecodeProblem problem_ = build_case(spec()).problem;
  ReferenceAnswer answer_ = reference_answer(problem_, stage_.arithmetic);
  std::unique_ptr<Device> device_ = make_cpu_device();
  DecodeOutputs outputs_ =
      KernelUnderTest(stage_, *device_).run(problem_, RunOptions::with_intermediates());
};

TEST_F(BoundSharesTest, OfARightRunAreThereAndAtMostOneAlsoWhereNoTokenIs) {
  const BoundShares right = shares();
  for (const BoundShareName& one : bound_share_names()) {
    EXPECT_GT(right.*one.share, 0) << one.name;
    EXPECT_LE(right.*one.share, 1) << one.name;
  }
}

TEST_F(BoundSharesTest, OfWhatIsNoNumberOrShouldBeNoneAreInfinite) {
  const float wrong[] = {std::numeric_limits<float>::quiet_NaN(),
                         std::numeric_limits<float>::infinity()};
  const DecodeOutputs right = outputs_;
  for (const float value : wrong) {
    outputs_ = right;
    outputs_.output.write(3, value);
    EXPECT_EQ(shares().output, kInfinite) << value;
    EXPECT_LE(shares().lse, 1) << value;
    outputs_ = right;
    outputs_.lse[0] = outputs_.maxima[1] = outputs_.sums[2] = outputs_.logits[1] = value;
    outputs_.partitions.maxima[0] = outputs_.partitions.sums[1] = outputs_.partitions.outputs[7] =
        value;
    const BoundShares spoilt = shares();
    for (const BoundShareName& one : bound_share_names()) {
      if (one.share == &BoundShares::output) continue;
      EXPECT_EQ(spoilt.*one.share, kInfinite) << one.name;
    }
  }
  outputs_ = right;
  outputs_.lse[4] = 0;  // of the sequence without a token: -infinity
  EXPECT_EQ(shares().lse, kInfinite);
  outputs_ = right;
  outputs_.sums[4] = 1e-30F;  // must be 0, exactly
  EXPECT_EQ(shares().sum, kInfinite);
}

TEST_F(BoundSharesTest, AreKeptWhereLaterOnesAreSmaller) {
  BoundShares all;
  BoundShares wrong;
  wrong.sum = kInfinite;
  all.include(wrong);
  all.include(shares());
  EXPECT_EQ(all.sum, kInfinite);
  EXPECT_EQ(all.output, shares().output);
}

TEST(BoundShareComplaints, NameEachShareThatIsTooLargeTooSmallOrNoneAtAll) {
  BoundShares right;
  for (const BoundShareName& one : bound_share_names()) right.*one.share = 0.5;
  StageArithmetic arithmetic;
  arithmetic.partitions = true;
  EXPECT_TRUE(complaints_about(right, arithmetic).empty());
  for (const BoundShareName& one : bound_share_names())
    for (const double share : {0.0, 0.12, 1.01, kInfinite, kNotANumber}) {
      BoundShares wrong = right;
      wrong.*one.share = share;
      const std::vector<std::string> complaints = complaints_about(wrong, arithmetic);
      ASSERT_EQ(complaints.size(), 1U) << one.name << " " << share;
      EXPECT_TRUE(complaints[0].starts_with(std::string(one.name) + " uses ")) << complaints[0];
    }
  // Stages without a maximum and without partitions: their cells are empty, and must be.
  arithmetic.partitions = false;
  arithmetic.subtracts_maximum = false;
  EXPECT_EQ(complaints_about(right, arithmetic).size(), 4U);
  right.maximum = right.partition_maximum = right.partition_sum = right.partition_output = 0;
  EXPECT_TRUE(complaints_about(right, arithmetic).empty());
}

}  // namespace
}  // namespace paged
