// Names and sizes of the element types. No Eigen here: device code includes this file.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace paged {

/// Element type of query and output.
enum class ScalarType { f32, f16, bf16 };

/// Element type of the key and value caches: the scalar type itself, or an 8-bit float whose
/// dequantised value is `stored * k_scale` (or `v_scale`).
enum class CacheType { f32, f16, bf16, e4m3, e5m2 };

constexpr std::size_t size_in_bytes(ScalarType type) { return type == ScalarType::f32 ? 4 : 2; }

constexpr std::size_t size_in_bytes(CacheType type) {
  return type == CacheType::f32 ? 4 : (type == CacheType::f16 || type == CacheType::bf16) ? 2 : 1;
}

constexpr bool is_fp8(CacheType type) { return size_in_bytes(type) == 1; }

/// The cache type that stores a scalar unchanged.
constexpr CacheType same_as(ScalarType type) {
  return type == ScalarType::f32   ? CacheType::f32
         : type == ScalarType::f16 ? CacheType::f16
                                   : CacheType::bf16;
}

constexpr std::string_view name_of(CacheType type) {
  constexpr std::string_view names[] = {"f32", "f16", "bf16", "e4m3", "e5m2"};
  return names[static_cast<int>(type)];
}

constexpr std::string_view name_of(ScalarType type) { return name_of(same_as(type)); }

/// Reads "f32", "f16", "bf16", "e4m3" or "e5m2"; nothing for any other text.
constexpr std::optional<CacheType> cache_type_named(std::string_view name) {
  for (CacheType type :
       {CacheType::f32, CacheType::f16, CacheType::bf16, CacheType::e4m3, CacheType::e5m2})
    if (name == name_of(type)) return type;
  return std::nullopt;
}

/// Reads "f32", "f16" or "bf16"; nothing for any other text.
constexpr std::optional<ScalarType> scalar_type_named(std::string_view name) {
  for (ScalarType type : {ScalarType::f32, ScalarType::f16, ScalarType::bf16})
    if (name == name_of(type)) return type;
  return std::nullopt;
}

}  // namespace paged
