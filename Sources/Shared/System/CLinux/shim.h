// What Glibc's own module leaves out: epoll, eventfd, inotify, and calls that want _GNU_SOURCE.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int accept4(int, struct sockaddr *, socklen_t *, int);

static inline int lx_accept(int fd, struct sockaddr *peer, socklen_t *length) {
  return accept4(fd, peer, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}
static inline int lx_socket(int family) {
  return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}
static inline int lx_name_thread(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }
static inline int lx_open(const char *path, int flags, mode_t mode) { return open(path, flags | O_CLOEXEC, mode); }
extern char **environ;
static inline char **lx_environment(void) { return environ; }
static inline unsigned long long lx_monotonic_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (unsigned long long)t.tv_sec * 1000000000ull + (unsigned long long)t.tv_nsec;
}
static inline unsigned long long lx_cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (unsigned long long)t.tv_sec * 1000000000ull + (unsigned long long)t.tv_nsec;
}
static inline long long lx_wall_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (long long)t.tv_sec * 1000ll + t.tv_nsec / 1000000ll;
}
