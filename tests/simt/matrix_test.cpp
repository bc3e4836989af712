// Fragments of ldmatrix and mma: which lane holds which element, on every backend, against the
// formulas of the PTX ISA; then what is computed.
#include "kernels/fragment_layout.h"
#include "reference/element_types.h"
#include "tests/simt/every_backend.h"

#include <bit>
#include <cmath>
#include <random>

namespace paged {
namespace {

// ---- the formulas, as the PTX ISA writes them -------------------------------------------------
// "Matrix Fragments for mma.m16n8k8" and "... for mma.m16n8k16 with floating point type", by
// groupID = %laneid >> 2 and threadID_in_group = %laneid % 4.

struct Product {
  MatrixProduct product;
  const char* name;
  int depth;  ///< columns of a, rows of b
  bool is_half;

  int a_elements() const { return depth / 2; }  // per lane
  int b_elements() const { return depth / 4; }
};

constexpr Product kProducts[] = {{MatrixProduct::m16n8k8_f16, "m16n8k8 f16", 8, true},
                                 {MatrixProduct::m16n8k16_f16, "m16n8k16 f16", 16, true},
                                 {MatrixProduct::m16n8k16_bf16, "m16n8k16 bf16", 16, false}};

MatrixPosition ptx_a(const Product& product, int laneid, int i) {
  const int group_id = laneid >> 2;
  const int thread_in_group = laneid % 4;
  if (product.depth == 8) return {i < 2 ? group_id : group_id + 8, thread_in_group * 2 + (i & 0x1)};
  const bool upper_rows = (0 <= i && i < 2) || (4 <= i && i < 6);
  return {upper_rows ? group_id : group_id + 8, thread_in_group * 2 + (i & 0x1) + (i < 4 ? 0 : 8)};
}

MatrixPosition ptx_b(const Product& product, int laneid, int i) {
  const int thread_in_group = laneid % 4;
  if (product.depth == 8) return {thread_in_group * 2 + i, laneid >> 2};
  return {thread_in_group * 2 + (i & 0x1) + (i < 2 ? 0 : 8), laneid >> 2};
}

MatrixPosition ptx_c(int laneid, int i) {
  return {i < 2 ? laneid >> 2 : (laneid >> 2) + 8, laneid % 4 * 2 + (i & 0x1)};
}

TEST(FragmentLayout, IsThePtxIsas) {
  const auto expect_equal = [](MatrixPosition ours, MatrixPosition ptx) {
    EXPECT_EQ(ours.row, ptx.row);
    EXPECT_EQ(ours.column, ptx.column);
  };
  for (const Product& product : kProducts)
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < product.a_elements(); ++i)
        expect_equal(mma_a_position(lane, i), ptx_a(product, lane, i));
      for (int i = 0; i < product.b_elements(); ++i)
        expect_equal(mma_b_position(lane, i), ptx_b(product, lane, i));
      for (int i = 0; i < 4; ++i) expect_equal(mma_d_position(lane, i), ptx_c(lane, i));
    }
}

// ---- fragments ----------------------------------------------------------------------------------

std::uint16_t code_of(const Product& product, float value) {
  return product.is_half ? std::bit_cast<std::uint16_t>(round_to<f16>(value))
                         : std::bit_cast<std::uint16_t>(round_to<bf16>(value));
}

double value_of(const Product& product, std::uint16_t code) {
  return product.is_half ? to_double(std::bit_cast<f16>(code))
                         : to_double(std::bit_cast<bf16>(code));
}

// The fragments of many products, before and after.
class Fragments {
 public:
  Fragments(const Product& product, int count)
      : product_(product),
        a_(count * 32 * product.depth / 4),
        b_(count * 32 * product.depth / 8),
        d_(count * 128) {}

  void set_a(int index, int lane, int i, std::uint16_t code) {
    a_[(index * 32 + lane) * product_.a_elements() / 2 + i / 2] |= unsigned{code} << 16 * (i % 2);
  }
  void set_b(int index, int lane, int i, std::uint16_t code) {
    b_[(index * 32 + lane) * product_.b_elements() / 2 + i / 2] |= unsigned{code} << 16 * (i % 2);
  }
  float& d(int index, int lane, int i) { return d_[(index * 32 + lane) * 4 + i]; }

  std::vector<float> multiply(Device& device, const SampleKernels& kernels) const {
    const DeviceArray<unsigned> a(device, a_, "a");
    const DeviceArray<unsigned> b(device, b_, "b");
    const DeviceArray<float> d(device, d_, "d");
    kernels.multiply_fragments(product_.product, static_cast<int>(d_.size()) / 128, a.data(),
                               b.data(), d.data());
    return d.to_host();
  }

 private:
  Product product_;
  std::vector<unsigned> a_;
  std::vector<unsigned> b_;
  std::vector<float> d_;
};

// For each element of a: a product in which it alone is 1, and all elements of b differ. What comes
// out, and where, tells row and column of every element of a, b and d.
Fragments one_by_one(const Product& product) {
  Fragments fragments(product, 32 * product.a_elements());
  for (int index = 0; index < 32 * product.a_elements(); ++index) {
    fragments.set_a(index, index % 32, index / 32, code_of(product, 1.0F));
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < product.b_elements(); ++i)
        fragments.set_b(index, lane, i, code_of(product, 1.0F + 32.0F * i + lane));
  }
  return fragments;
}

class Matrices : public OnEveryBackend {
 protected:
  std::vector<unsigned> loaded(Device& where, const SampleKernels& by, int count,
                               bool transposed) const {
    std::vector<std::uint16_t> matrices(64 * count);
    for (std::size_t i = 0; i < matrices.size(); ++i) matrices[i] = static_cast<std::uint16_t>(i);
    const DeviceArray<std::uint16_t> in(where, matrices, "matrices");
    const DeviceArray<unsigned> out(where, 32 * count, "registers");
    by.load_fragments(count, transposed, in.data(), out.data());
    return out.to_host();
  }
};

TEST_P(Matrices, AreLoadedIntoTheLanesThatThePtxIsaNames) {
  for (int count : {1, 2, 4})
    for (bool transposed : {false, true}) {
      const std::vector<unsigned> registers = loaded(device(), kernels(), count, transposed);
      for (int lane = 0; lane < 32; ++lane)
        for (int matrix = 0; matrix < count; ++matrix)
          for (int i = 0; i < 2; ++i) {
            // "each thread holds a fragment": row %laneid / 4, elements 2 * (%laneid % 4) and next
            const unsigned row = lane / 4;
            const unsigned column = lane % 4 * 2 + i;
            const unsigned element = transposed ? column * 8 + row : row * 8 + column;
            ASSERT_EQ(registers[lane * count + matrix] >> 16 * i & 0xFFFFU, 64 * matrix + element)
                << "x" << count << (transposed ? " trans" : "") << ", lane " << lane << ", matrix "
                << matrix << ", half " << i;
          }
    }
}

TEST_P(Matrices, AreMultipliedByTheLanesThatThePtxIsaNames) {
  for (const Product& product : kProducts) {
    const std::vector<float> results = one_by_one(product).multiply(device(), kernels());
    // The code of b's element at each row and column.
    std::vector<float> codes(16 * 8);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < product.b_elements(); ++i) {
        const MatrixPosition at = ptx_b(product, lane, i);
        codes[at.row * 8 + at.column] = 1.0F + 32.0F * static_cast<float>(i) + lane;
      }
    for (int index = 0; index < 32 * product.a_elements(); ++index)
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < 4; ++i) {
          const MatrixPosition a = ptx_a(product, index % 32, index / 32);
          const MatrixPosition c = ptx_c(lane, i);
          const float expected = c.row == a.row ? codes[a.column * 8 + c.column] : 0.0F;
          ASSERT_EQ(results[(index * 32 + lane) * 4 + i], expected)
              << product.name << ", element " << index / 32 << " of lane " << index % 32
              << " of a, register " << i << " of lane " << lane << " of d";
        }
  }
}

// The same dumps, side by side.
TEST_P(Matrices, LieInTheSameLanesAsOnTheCheckedCpuMachine) {
  for (int count : {1, 2, 4})
    for (bool transposed : {false, true})
      EXPECT_EQ(loaded(device(), kernels(), count, transposed),
                loaded(cpu_device(), cpu_checked::sample_kernels(), count, transposed));
  for (const Product& product : kProducts)
    EXPECT_EQ(one_by_one(product).multiply(device(), kernels()),
              one_by_one(product).multiply(cpu_device(), cpu_checked::sample_kernels()))
        << product.name;
}

// ---- values -------------------------------------------------------------------------------------

// `count` products of elements that `draw` gives, with c from it, too. within(d, exact, sum of
// magnitudes, what) judges each element of d.
template <typename Draw, typename Judge>
void multiply_drawn(Device& device, const SampleKernels& kernels, const Product& product, int count,
                    Draw draw, Judge judge) {
  Fragments fragments(product, count);
  std::vector<double> a(count * 16 * product.depth);
  std::vector<double> b(count * product.depth * 8);
  std::vector<double> c(count * 128);
  const auto drawn = [&] { return code_of(product, draw()); };
  for (int index = 0; index < count; ++index)
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < product.a_elements(); ++i) {
        const std::uint16_t code = drawn();
        const MatrixPosition at = ptx_a(product, lane, i);
        fragments.set_a(index, lane, i, code);
        a[(index * 16 + at.row) * product.depth + at.column] = value_of(product, code);
      }
      for (int i = 0; i < product.b_elements(); ++i) {
        const std::uint16_t code = drawn();
        const MatrixPosition at = ptx_b(product, lane, i);
        fragments.set_b(index, lane, i, code);
        b[(index * product.depth + at.row) * 8 + at.column] = value_of(product, code);
      }
      for (int i = 0; i < 4; ++i) {
        const MatrixPosition at = ptx_c(lane, i);
        c[index * 128 + at.row * 8 + at.column] = fragments.d(index, lane, i) = draw();
      }
    }
  const std::vector<float> results = fragments.multiply(device, kernels);
  for (int index = 0; index < count; ++index)
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        const MatrixPosition at = ptx_c(lane, i);
        double exact = c[index * 128 + at.row * 8 + at.column];
        double magnitudes = std::abs(exact);
        for (int k = 0; k < product.depth; ++k) {
          const double term = a[(index * 16 + at.row) * product.depth + k] *
                              b[(index * product.depth + k) * 8 + at.column];
          exact += term;
          magnitudes += std::abs(term);
        }
        judge(results[(index * 32 + lane) * 4 + i], exact, magnitudes);
      }
}

TEST_P(Matrices, OfSmallIntegersAreMultipliedExactly) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> integers(-128, 128);  // exact in bf16, too
  for (const Product& product : kProducts)
    multiply_drawn(
        device(), kernels(), product, 8, [&] { return static_cast<float>(integers(random)); },
        [&](float d, double exact, double) { ASSERT_EQ(d, exact) << product.name; });
}

// A sum of K products and c, each term and each partial sum cut off (not rounded) at 24 bits of the
// largest: K + 1 terms and the result, each within 2^-23 of the sum of magnitudes.
TEST_P(Matrices, OfAnyValuesAreMultipliedWithinABound) {
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  for (const Product& product : kProducts)
    multiply_drawn(
        device(), kernels(), product, 32, [&] { return normal(random); },
        [&](float d, double exact, double magnitudes) {
          ASSERT_LE(std::abs(d - exact), (product.depth + 2) * 0x1p-23 * magnitudes)
              << product.name << ": " << d << " for " << exact;
        });
}

TEST_P(Matrices, ComeThroughARingOfBuffersAndLdmatrix) {
  for (int depth : {16, 32, 112}) {
    std::vector<std::uint16_t> a(16 * depth);
    std::vector<std::uint16_t> b(8 * depth);
    std::vector<float> expected(128);
    std::mt19937 random(3);
    std::uniform_int_distribution<int> integers(-30, 30);
    for (auto* matrix : {&a, &b})
      for (std::uint16_t& code : *matrix)
        code = std::bit_cast<std::uint16_t>(round_to<f16>(integers(random)));
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 8; ++column)
        for (int k = 0; k < depth; ++k)
          expected[row * 8 + column] +=
              static_cast<float>(to_double(std::bit_cast<f16>(a[row * depth + k])) *
                                 to_double(std::bit_cast<f16>(b[column * depth + k])));
    const DeviceArray<std::uint16_t> device_a(device(), a, "a");
    const DeviceArray<std::uint16_t> device_b(device(), b, "b");
    const DeviceArray<float> d(device(), 128, "d");
    kernels().multiply_in_ring(depth, device_a.data(), device_b.data(), d.data());
    EXPECT_EQ(d.to_host(), expected) << "depth " << depth;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, Matrices, ::testing::ValuesIn(every_backend()),
                         name_of_case);

}  // namespace
}  // namespace paged
