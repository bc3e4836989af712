// See watched_copies.h, which is for files of kernels.
#include <cstddef>
#include <cstring>

extern "C" {

void paged_see_copy(const void* from, void* to, std::size_t bytes, void* pc);  // the checker's
void* paged_watched_memcpy(void* to, const void* from, std::size_t bytes);
void* paged_watched_memmove(void* to, const void* from, std::size_t bytes);
void* paged_watched_memset(void* to, int value, std::size_t bytes);
int paged_watched_memcmp(const void* a, const void* b, std::size_t bytes);
std::size_t paged_watched_strlen(const char* text);
void* paged_watched___memcpy_chk(void* to, const void* from, std::size_t bytes, std::size_t room);
void* paged_watched___memmove_chk(void* to, const void* from, std::size_t bytes, std::size_t room);
void* paged_watched___memset_chk(void* to, int value, std::size_t bytes, std::size_t room);

void* paged_watched_memcpy(void* to, const void* from, std::size_t bytes) {
  paged_see_copy(from, to, bytes, __builtin_return_address(0));
  return std::memcpy(to, from, bytes);
}
void* paged_watched_memmove(void* to, const void* from, std::size_t bytes) {
  paged_see_copy(from, to, bytes, __builtin_return_address(0));
  return std::memmove(to, from, bytes);
}
void* paged_watched_memset(void* to, int value, std::size_t bytes) {
  paged_see_copy(nullptr, to, bytes, __builtin_return_address(0));
  return std::memset(to, value, bytes);
}
int paged_watched_memcmp(const void* a, const void* b, std::size_t bytes) {
  paged_see_copy(a, nullptr, bytes, __builtin_return_address(0));
  paged_see_copy(b, nullptr, bytes, __builtin_return_address(0));
  return std::memcmp(a, b, bytes);
}
std::size_t paged_watched_strlen(const char* text) {
  const std::size_t length = std::strlen(text);
  paged_see_copy(text, nullptr, length + 1, __builtin_return_address(0));
  return length;
}

// What a compiler set to be careful calls. That the destination has room, the CPU machine looks at.
void* paged_watched___memcpy_chk(void* to, const void* from, std::size_t bytes, std::size_t) {
  paged_see_copy(from, to, bytes, __builtin_return_address(0));
  return std::memcpy(to, from, bytes);
}
void* paged_watched___memmove_chk(void* to, const void* from, std::size_t bytes, std::size_t) {
  paged_see_copy(from, to, bytes, __builtin_return_address(0));
  return std::memmove(to, from, bytes);
}
void* paged_watched___memset_chk(void* to, int value, std::size_t bytes, std::size_t) {
  paged_see_copy(nullptr, to, bytes, __builtin_return_address(0));
  return std::memset(to, value, bytes);
}

}  // extern "C"
