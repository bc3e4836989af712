#include "kernels/simt/matrix_operations.h"

#include "kernels/fragment_layout.h"
#include "kernels/simt/reports.h"
#include "kernels/simt/shared_memory.h"
#include "kernels/simt/worker.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

namespace paged::simt {

namespace {

constexpr unsigned kAllLanes = 0xFFFFFFFFU;
constexpr int kRows = 8;  // of a matrix that ldmatrix loads
constexpr std::uintptr_t kRowBytes = 16;
constexpr int kElementBytes = 2;

int num_matrices(WarpOperation operation) {
  switch (operation) {
    case WarpOperation::ldmatrix_x1:
    case WarpOperation::ldmatrix_trans_x1:
      return 1;
    case WarpOperation::ldmatrix_x2:
    case WarpOperation::ldmatrix_trans_x2:
      return 2;
    default:
      return 4;
  }
}

bool is_transposed(WarpOperation operation) {
  return operation >= WarpOperation::ldmatrix_trans_x1 &&
         operation <= WarpOperation::ldmatrix_trans_x4;
}

// All lanes meet, each having put its own operands into `warp`.
void meet(Worker& worker, WarpOperation operation, std::source_location where, std::uintptr_t pc) {
  Fiber& self = *worker.current;
  if (worker.warps[self.warp].existing != kAllLanes) {
    self.operation = operation;
    self.where = where;
    self.pc = pc;
    report_partial_warp(worker, self);
    stop_block(worker);
  }
  join_warp_operation(operation, kAllLanes, 0, 0, where, pc);
}

[[noreturn]] void refuse_row(Worker& worker, FindingKind kind, std::uintptr_t pc,
                             const std::string& what) {
  {
    const UncheckedScope unchecked;
    report(worker, kind, CodePlace{pc, ""}, *worker.current, "ldmatrix of a row at " + what);
  }
  stop_block(worker);
}

void check_row(Worker& worker, std::uintptr_t row, std::uintptr_t pc) {
  if (!is_shared_memory(row))
    refuse_row(worker, FindingKind::out_of_bounds_read, pc, "an address that is no shared memory");
  if (row % kRowBytes != 0)
    refuse_row(
        worker, FindingKind::misaligned_access, pc,
        "an address that is " + std::to_string(row % kRowBytes) + " past a multiple of 16 bytes");
}

// A read of shared memory by the running lane.
template <typename T>
T read(Worker& worker, std::uintptr_t address, std::uintptr_t pc) {
  if (worker.launch->checked)
    worker.checker.check_instruction(worker, {address, sizeof(T), AccessKind::read, pc}, sizeof(T));
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

// What a lane holds of the 8 x 8 matrix whose rows are at the addresses that 8 lanes show.
unsigned read_fragment(Worker& worker, const LaneOperands* rows, bool transposed,
                       std::uintptr_t pc) {
  const int lane = worker.current->lane;
  const MatrixPosition first = ldmatrix_position(lane, 0);
  if (!transposed)  // both elements are in one word
    return read<unsigned>(worker, rows[first.row].row + kElementBytes * first.column, pc);
  unsigned fragment = 0;
  for (int i = 0; i < 2; ++i) {
    const MatrixPosition element = ldmatrix_position(lane, i);
    const auto bits =
        read<std::uint16_t>(worker, rows[element.column].row + kElementBytes * element.row, pc);
    fragment |= static_cast<unsigned>(bits) << 16 * i;
  }
  return fragment;
}

float to_float(unsigned fragment, int half, bool bfloat16) {
  const unsigned bits = fragment >> 16 * half & 0xFFFFU;
  return bfloat16 ? std::bit_cast<float>(bits << 16) : half_bits_to_float(bits);
}

// d[row, column] += a[row, 0 ... depth) * b[0 ... depth, column)
float accumulate(float sum, const MatrixExchange::Warp& lanes, MatrixPosition position, int depth,
                 bool bfloat16) {
  for (int k = 0; k < depth; ++k) {
    // The inverse of mma_a_position() and mma_b_position().
    const int in_group = k % 8 / 2;
    const LaneOperands& of_a = lanes[position.row % 8 * 4 + in_group];
    const LaneOperands& of_b = lanes[position.column * 4 + in_group];
    sum += to_float(of_a.a[position.row / 8 + k / 8 * 2], k % 2, bfloat16) *
           to_float(of_b.b[k / 8], k % 2, bfloat16);
  }
  return sum;
}

}  // namespace

void load_matrices(WarpOperation operation, unsigned* registers, const void* row,
                   std::source_location where) noexcept {
  const auto pc = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  Worker& worker = *current_worker;
  const Fiber& self = *worker.current;
  const int count = num_matrices(operation);
  const auto address = reinterpret_cast<std::uintptr_t>(row);
  if (worker.launch->checked && self.lane < kRows * count) check_row(worker, address, pc);

  MatrixExchange::Warp& lanes = worker.matrices.next(self);
  lanes[self.lane].row = address;
  meet(worker, operation, where, pc);
  if (self.lane == 0) worker.counter.see_matrices(self, lanes.data(), kRows * count, pc);
  for (int matrix = 0; matrix < count; ++matrix)
    registers[matrix] = read_fragment(worker, &lanes[kRows * matrix], is_transposed(operation), pc);
}

void multiply_matrices(WarpOperation operation, float* d, const unsigned* a, const unsigned* b,
                       std::source_location where) noexcept {
  const auto pc = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  Worker& worker = *current_worker;
  const Fiber& self = *worker.current;
  const int depth = operation == WarpOperation::mma_m16n8k8_f16 ? 8 : 16;

  MatrixExchange::Warp& lanes = worker.matrices.next(self);
  std::copy_n(a, depth / 4, lanes[self.lane].a.begin());
  std::copy_n(b, depth / 8, lanes[self.lane].b.begin());
  meet(worker, operation, where, pc);
  for (int i = 0; i < 4; ++i)
    d[i] = accumulate(d[i], lanes, mma_d_position(self.lane, i), depth,
                      operation == WarpOperation::mma_m16n8k16_bf16);
}

}  // namespace paged::simt
