// SPDX-License-Identifier: Apache-2.0
// What Swift cannot import of the system's general interfaces: names of errors, pipes, capabilities, an ioctl number made by a macro, control messages, and a signal handler.
#ifndef BLECTL_CLINUX_H
#define BLECTL_CLINUX_H

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

// GNU extensions (glibc 2.32), which the headers hide without _GNU_SOURCE.
extern const char *strerrorname_np(int number);
extern int pipe2(int ends[2], int flags);

// The first eight bytes of the commit and its time in seconds since 1970, which scripts/release gives to the linker; 0 in other builds.
uint64_t shim_commit(void);
uint64_t shim_commit_time(void);

// Opens a pipe whose ends never block, and which no child gets, also one that another thread starts meanwhile.
static inline int shim_open_pipe(int ends[2]) { return pipe2(ends, O_NONBLOCK | O_CLOEXEC); }

// `EACCES`; NULL for a number that is none.
static inline const char *shim_errno_name(int number) { return strerrorname_np(number); }

// recvmsg that also tells the full length of a packet that did not fit (MSG_TRUNC in `flags`) and, when SO_RXQ_OVFL is on and something
// was lost, the socket's total number of packets lost so far in `drops` (else it is left alone).
static inline ssize_t shim_receive(int socket, void *buffer, size_t size, int *flags, uint32_t *drops) {
  union { struct cmsghdr align; char room[256]; } control;
  struct iovec part = { buffer, size };
  struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room };
  ssize_t count = recvmsg(socket, &message, MSG_DONTWAIT | MSG_TRUNC);
  if (count < 0) return count;
  *flags = message.msg_flags;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header))
    if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SO_RXQ_OVFL) memcpy(drops, CMSG_DATA(header), sizeof *drops);
  return count;
}

// The capability sets of the calling thread (capget(2)); those of Bluetooth are in the first half. Both return 0, or -1 with errno.
struct shim_capabilities { struct __user_cap_data_struct first, second; };
static inline int shim_get_capabilities(struct shim_capabilities *sets) {
  struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
  return (int)syscall(SYS_capget, &header, sets);
}
static inline int shim_set_capabilities(const struct shim_capabilities *sets) {
  struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
  return (int)syscall(SYS_capset, &header, sets);
}

// Whether this program may do what its caller may not (getauxval(3), AT_SECURE).
static inline int shim_is_secure(void) { return getauxval(AT_SECURE) != 0; }

// Swift may only read it.
static inline void shim_set_environment(char **variables) {
  extern char **environ;
  environ = variables;
}

static inline int shim_make_exclusive(int tty) { return ioctl(tty, TIOCEXCL); }

// One pipe for all signals. These statics exist once for each object file that uses them, so only one Swift file may.
static int shim_signal_pipe = -1;

static void shim_on_signal(int number) {
  int saved = errno;
  unsigned char byte = (unsigned char)number;
  if (write(shim_signal_pipe, &byte, 1) < 0) { /* full: an earlier signal is still unread, which is enough */ }
  errno = saved;
}

// Sends `number` into the pipe the next time only: the disposition is back at the default when the handler starts.
static inline int shim_watch_signal_once(int number, int pipe) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  shim_signal_pipe = pipe;
  action.sa_handler = shim_on_signal;
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  // A thread of our parent's that had it blocked has passed that on.
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  return sigaction(number, &action, NULL);
}

static inline int shim_is_ignored(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

// A descriptor that is readable when the process has ended (Linux 5.3); glibc has a name for it since 2.36 only.
static inline int shim_pidfd_open(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

// A file in memory that closes on exec (1 is MFD_CLOEXEC); Swift's glibc module does not have it.
static inline int shim_memory_file(void) { return (int)syscall(SYS_memfd_create, "blectl", 1); }

static inline int shim_default_signal(int number) { return signal(number, SIG_DFL) == SIG_ERR ? -1 : 0; }
static inline int shim_ignore_signal(int number) { return signal(number, SIG_IGN) == SIG_ERR ? -1 : 0; }

#endif
