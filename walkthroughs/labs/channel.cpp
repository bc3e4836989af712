#include "walkthroughs/labs/channel.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace paged::labs {

void Channel::put_bytes(const void* bytes, std::size_t count) {
  to_send_.append(static_cast<const char*>(bytes), count);
}

void Channel::put_text(const std::string& text) {
  put(static_cast<std::uint64_t>(text.size()));
  put_bytes(text.data(), text.size());
}

void Channel::wait_for(int descriptor, short event) const {
  using Clock = std::chrono::steady_clock;
  for (;;) {
    int milliseconds = -1;
    if (deadline_ != Clock::time_point::max())
      milliseconds = static_cast<int>(std::max<std::int64_t>(
          std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count(), 0));
    pollfd wanted{descriptor, event, 0};
    // Who always has more to say gets no more time.
    const int ready = milliseconds == 0 ? 0 : poll(&wanted, 1, milliseconds);
    if (ready > 0) return;
    if (ready == 0) throw ChannelError(ChannelError::Kind::late, "no answer in time");
    if (errno != EINTR) throw ChannelError(ChannelError::Kind::closed, "cannot wait");
  }
}

void Channel::flush() {
  for (std::size_t sent = 0; sent < to_send_.size();) {
    wait_for(output_, POLLOUT);
    const ssize_t count = write(output_, to_send_.data() + sent, to_send_.size() - sent);
    if (count >= 0)
      sent += static_cast<std::size_t>(count);
    else if (errno != EINTR && errno != EAGAIN)
      throw ChannelError(ChannelError::Kind::closed, "the other end is closed");
  }
  to_send_.clear();
}

void Channel::fill() {
  received_.resize(64 * 1024);
  used_ = 0;
  for (;;) {
    wait_for(input_, POLLIN);
    const ssize_t count = read(input_, received_.data(), received_.size());
    if (count > 0) {
      received_.resize(static_cast<std::size_t>(count));
      return;
    }
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    received_.clear();
    throw ChannelError(ChannelError::Kind::closed, "the other end is closed");
  }
}

void Channel::get_bytes(void* bytes, std::size_t count) {
  auto* to = static_cast<char*>(bytes);
  while (count > 0) {
    if (used_ == received_.size()) fill();
    const std::size_t piece = std::min(count, received_.size() - used_);
    std::memcpy(to, received_.data() + used_, piece);
    used_ += piece;
    to += piece;
    count -= piece;
  }
}

std::size_t Channel::get_count(std::size_t most) {
  const auto count = get<std::uint64_t>();
  if (count > most) throw ChannelError(ChannelError::Kind::garbled, "an answer too long");
  return count;
}

std::string Channel::get_text(std::size_t most) {
  std::string text(get_count(most), '\0');
  get_bytes(text.data(), text.size());
  return text;
}

}  // namespace paged::labs
