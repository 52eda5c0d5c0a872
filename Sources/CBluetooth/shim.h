// What Swift cannot import of the C interfaces below LinuxIO: ioctl numbers made by macros, control messages, and a signal handler.
#ifndef BLECTL_SHIM_H
#define BLECTL_SHIM_H

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/hci_lib.h>
#include <bluetooth/l2cap.h>

// The numbers of all adapters; returns how many there are (at most HCI_MAX_DEV), or -1 with errno.
static inline int shim_adapter_numbers(int socket, uint16_t numbers[HCI_MAX_DEV]) {
  struct {
    struct hci_dev_list_req head;
    struct hci_dev_req room[HCI_MAX_DEV];
  } list;
  memset(&list, 0, sizeof list);
  list.head.dev_num = HCI_MAX_DEV;
  if (ioctl(socket, HCIGETDEVLIST, &list) < 0) return -1;
  int count = list.head.dev_num < HCI_MAX_DEV ? list.head.dev_num : HCI_MAX_DEV;
  for (int index = 0; index < count; index++) numbers[index] = list.room[index].dev_id;
  return count;
}

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

// On Bluetooth sockets the room that is left in the send buffer (the reverse of TCP), or perhaps, one day, what is used of it.
static inline int shim_output_queue(int socket, int *octets) { return ioctl(socket, TIOCOUTQ, octets); }

static inline int shim_make_exclusive(int tty) { return ioctl(tty, TIOCEXCL); }

// One pipe for all signals. These statics exist once for each object file that uses them, so only one Swift file may.
static int shim_signal_pipe = -1;

static void shim_on_signal(int number) {
  int saved = errno;
  unsigned char octet = (unsigned char)number;
  if (write(shim_signal_pipe, &octet, 1) < 0) { /* full: an earlier signal is still unread, which is enough */ }
  errno = saved;
}

// Sends `number` into the pipe the next time only: the disposition is back at the default when the handler starts.
static inline int shim_watch_signal_once(int number, int pipe) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  shim_signal_pipe = pipe;
  action.sa_handler = shim_on_signal;
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  return sigaction(number, &action, NULL);
}

static inline int shim_is_ignored(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static inline int shim_default_signal(int number) { return signal(number, SIG_DFL) == SIG_ERR ? -1 : 0; }
static inline int shim_ignore_signal(int number) { return signal(number, SIG_IGN) == SIG_ERR ? -1 : 0; }

#endif
