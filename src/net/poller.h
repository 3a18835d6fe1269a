// Poller: tells the descriptors of one loop when they become ready, by one epoll set.
//
// A descriptor is added once, edge-triggered, and stays in the set until it is closed: waiting for
// its next byte costs no system call. The price is that an edge comes once. Whoever is told keeps
// what is ready until a read or a write finds it used up, and asks to be told again() where it
// wants more and knows that it is there.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

struct epoll_event;

namespace hw::net {

// What an edge says, as bits.
using Readiness = uint8_t;
inline constexpr Readiness kReadyToRead = 1 << 0;  // bytes, an end or an error can be read
inline constexpr Readiness kReadyToWrite = 1
                                           << 1;  // the kernel takes bytes, or the connect is over
inline constexpr Readiness kPeerEnded = 1 << 2;   // and it stays readable from now on
inline constexpr Readiness kBroken = 1 << 3;      // an error, or both sides have ended

// Somebody with a descriptor in the set.
class Pollable {
 public:
  virtual ~Pollable() = default;
  // `news` became so; 0 after again().
  virtual void on_ready(Readiness news) = 0;

 private:
  friend class Poller;
  bool queued_ = false;
  bool writing_ = false;  // in the set for writing as well
};

// Belongs to its loop's thread.
//
//   for (;;) { int ready = poller.wait(timeout_ms); poller.tell(ready); ...; poller.bury(); }
class Poller {
 public:
  Poller();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // Tells `who` when `fd` can be read, from now on. What is there already counts as new.
  void add(int fd, Pollable& who);
  // From now on `who` hears also when `fd` can be written; for the first time at once where it can.
  // Free from the second time on.
  void add_writing(int fd, Pollable& who);
  // Takes the descriptor out of the set before it is closed. `who` hears nothing more of it, but
  // must live until bury().
  void remove(int fd, Pollable& who);

  // Tells `who` once more in the next round, even if nothing happens.
  void again(Pollable& who);
  // Keeps somebody removed until the end of the round, since its own call may be running.
  void retire(std::unique_ptr<Pollable> who) { retired_.push_back(std::move(who)); }

  // Waits until something is ready, at most `timeout_ms`; -1: for ever. Gives the number for
  // tell().
  int wait(int timeout_ms);
  void tell(int ready);
  // Ends those retired.
  void bury() { retired_.clear(); }

 private:
  static constexpr int kEventsMax = 128;
  const int epoll_;
  const std::unique_ptr<epoll_event[]> events_;
  int told_ = 0, ready_ = 0;  // of the round
  std::vector<Pollable*> again_, again_now_;
  std::vector<std::unique_ptr<Pollable>> retired_;
};

}  // namespace hw::net
