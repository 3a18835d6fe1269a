#include "net/poller.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>

#include "base/assert.h"

namespace hw::net {
namespace {

Readiness readiness_of(uint32_t events) {
  Readiness news = 0;
  if ((events & EPOLLIN) != 0) news |= kReadyToRead;
  if ((events & EPOLLOUT) != 0) news |= kReadyToWrite;
  if ((events & EPOLLRDHUP) != 0) news |= kReadyToRead | kPeerEnded;
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
    news |= kReadyToRead | kReadyToWrite | kPeerEnded | kBroken;
  }
  return news;
}

}  // namespace

Poller::Poller() : epoll_(::epoll_create1(EPOLL_CLOEXEC)), events_(new epoll_event[kEventsMax]) {
  HW_ASSERT(epoll_ >= 0);  // out of descriptors at the very start
}

Poller::~Poller() {
  ::close(epoll_);
}

void Poller::add(int fd, Pollable& who) {
  epoll_event event{EPOLLIN | EPOLLRDHUP | EPOLLET, {&who}};
  const bool added = ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
  if (!added) again(who);  // no memory: its next read or write will say so
}

void Poller::add_writing(int fd, Pollable& who) {
  if (who.writing_) return;
  who.writing_ = true;
  epoll_event event{EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, {&who}};
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
}

void Poller::remove(int fd, Pollable& who) {
  epoll_event ignored{};
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, &ignored);
  for (int i = told_; i < ready_; ++i) {
    if (events_[i].data.ptr == &who) events_[i].data.ptr = nullptr;
  }
  if (!who.queued_) return;
  std::erase(again_, &who);
  std::replace(again_now_.begin(), again_now_.end(), &who, static_cast<Pollable*>(nullptr));
}

void Poller::again(Pollable& who) {
  if (who.queued_) return;
  who.queued_ = true;
  again_.push_back(&who);
}

int Poller::wait(int timeout_ms) {
  const int found =
      ::epoll_wait(epoll_, events_.get(), kEventsMax, again_.empty() ? timeout_ms : 0);
  return std::max(found, 0);  // a signal came: nothing is ready
}

void Poller::tell(int ready) {
  again_now_.swap(again_);
  ready_ = ready;
  for (told_ = 0; told_ < ready_;) {
    const epoll_event& event = events_[told_++];
    auto* who = static_cast<Pollable*>(event.data.ptr);
    if (who != nullptr) who->on_ready(readiness_of(event.events));
  }
  told_ = ready_ = 0;
  for (size_t i = 0; i < again_now_.size(); ++i) {
    Pollable* who = again_now_[i];
    if (who == nullptr) continue;
    who->queued_ = false;
    who->on_ready(0);
  }
  again_now_.clear();
}

}  // namespace hw::net
