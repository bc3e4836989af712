// Messages between the harness and the process that runs a submission's kernel.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace paged::labs {

/// What the harness asks for; the process answers each.
enum class Request : std::uint8_t {
  limits,           ///< -> DeviceLimits
  allocate,         ///< bytes, name -> address
  release,          ///< address
  upload,           ///< address, bytes, data
  download,         ///< address, bytes -> data
  forget,           ///< address, bytes
  finish,           //
  take_findings,    ///< -> findings
  switch_counting,  ///< on
  take_counts,      ///< -> counts
  run,              ///< paged_decode_args, how often -> seconds of a run
};

/// How an answer begins.
enum class Answer : std::uint8_t {
  done,          ///< what was asked for follows
  device_error,  ///< a message follows
  input_error,   ///< a message follows
  lines_wanted,  ///< addresses follow; answered by lines, and then the answer goes on
};

/// The other end is gone, or did not answer in time, or answered what cannot be.
class ChannelError : public std::runtime_error {
 public:
  enum class Kind { closed, late, garbled };
  ChannelError(Kind why, const std::string& message) : std::runtime_error(message), kind(why) {}
  Kind kind;
};

/// Two descriptors with buffers. What is put is sent by flush().
class Channel {
 public:
  Channel(int input, int output) : input_(input), output_(output) {}

  /// From here on, waiting longer is a ChannelError.
  void set_deadline(std::chrono::steady_clock::time_point deadline) { deadline_ = deadline; }

  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_bytes(&value, sizeof value);
  }
  void put_bytes(const void* bytes, std::size_t count);
  void put_text(const std::string& text);
  void flush();

  template <typename T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    get_bytes(&value, sizeof value);
    return value;
  }
  void get_bytes(void* bytes, std::size_t count);
  /// A text or a list longer than this is garbled.
  std::string get_text(std::size_t most = 8 * 1024);
  std::size_t get_count(std::size_t most = 10000);

 private:
  void wait_for(int descriptor, short event) const;
  void fill();

  int input_;
  int output_;
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
  std::string to_send_;
  std::string received_;
  std::size_t used_ = 0;  ///< of received_
};

}  // namespace paged::labs
