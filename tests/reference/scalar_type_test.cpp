// Names and sizes of the element types.
#include "reference/scalar_type.h"

#include <gtest/gtest.h>

#include <string>

namespace paged {
namespace {

static_assert(size_in_bytes(ScalarType::f32) == 4);
static_assert(size_in_bytes(ScalarType::f16) == 2);
static_assert(size_in_bytes(ScalarType::bf16) == 2);
static_assert(size_in_bytes(CacheType::f32) == 4);
static_assert(size_in_bytes(CacheType::f16) == 2);
static_assert(size_in_bytes(CacheType::bf16) == 2);
static_assert(size_in_bytes(CacheType::e4m3) == 1);
static_assert(size_in_bytes(CacheType::e5m2) == 1);

static_assert(!is_fp8(CacheType::f32) && !is_fp8(CacheType::f16) && !is_fp8(CacheType::bf16));
static_assert(is_fp8(CacheType::e4m3) && is_fp8(CacheType::e5m2));

static_assert(same_as(ScalarType::f32) == CacheType::f32);
static_assert(same_as(ScalarType::f16) == CacheType::f16);
static_assert(same_as(ScalarType::bf16) == CacheType::bf16);

TEST(ScalarTypeNames, EveryCacheTypeHasItsSpecifiedName) {
  EXPECT_EQ(name_of(CacheType::f32), "f32");
  EXPECT_EQ(name_of(CacheType::f16), "f16");
  EXPECT_EQ(name_of(CacheType::bf16), "bf16");
  EXPECT_EQ(name_of(CacheType::e4m3), "e4m3");
  EXPECT_EQ(name_of(CacheType::e5m2), "e5m2");
}

TEST(ScalarTypeNames, EveryScalarTypeHasItsSpecifiedName) {
  EXPECT_EQ(name_of(ScalarType::f32), "f32");
  EXPECT_EQ(name_of(ScalarType::f16), "f16");
  EXPECT_EQ(name_of(ScalarType::bf16), "bf16");
}

TEST(ScalarTypeNames, ANameReadsBackAsItsType) {
  EXPECT_EQ(cache_type_named("f32"), CacheType::f32);
  EXPECT_EQ(cache_type_named("f16"), CacheType::f16);
  EXPECT_EQ(cache_type_named("bf16"), CacheType::bf16);
  EXPECT_EQ(cache_type_named("e4m3"), CacheType::e4m3);
  EXPECT_EQ(cache_type_named("e5m2"), CacheType::e5m2);
  EXPECT_EQ(scalar_type_named("f32"), ScalarType::f32);
  EXPECT_EQ(scalar_type_named("f16"), ScalarType::f16);
  EXPECT_EQ(scalar_type_named("bf16"), ScalarType::bf16);
}

TEST(ScalarTypeNames, AnyOtherTextIsNoType) {
  for (const std::string text :
       {"", "F16", "f1", "f166", " f16", "f16 ", "half", "fp8", "e4m3fn"}) {
    EXPECT_EQ(cache_type_named(text), std::nullopt) << '"' << text << '"';
    EXPECT_EQ(scalar_type_named(text), std::nullopt) << '"' << text << '"';
  }
}

TEST(ScalarTypeNames, AnFp8NameIsNoScalarType) {
  EXPECT_EQ(scalar_type_named("e4m3"), std::nullopt);
  EXPECT_EQ(scalar_type_named("e5m2"), std::nullopt);
}

}  // namespace
}  // namespace paged
