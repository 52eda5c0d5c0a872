// What Swift cannot import of BlueZ's interfaces: ioctl numbers made by macros.
#ifndef BLECTL_CBLUETOOTH_H
#define BLECTL_CBLUETOOTH_H

#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

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

// The LE links of an adapter, whoever made them, without the types of their addresses; returns how many there are (at most `room`), or -1 with errno.
static inline int shim_le_links(int socket, uint16_t adapter, bdaddr_t *addresses, int room) {
  enum { most = 64 };
  struct {
    struct hci_conn_list_req head;
    struct hci_conn_info room[most];
  } list;
  memset(&list, 0, sizeof list);
  list.head.dev_id = adapter;
  list.head.conn_num = most;
  if (ioctl(socket, HCIGETCONNLIST, &list) < 0) return -1;
  int links = 0;
  for (int index = 0; index < list.head.conn_num && index < most && links < room; index++)
    if (list.room[index].type == 0x80 /* LE_LINK */ && list.room[index].state == BT_CONNECTED) addresses[links++] = list.room[index].bdaddr;
  return links;
}

// On Bluetooth sockets the room that is left in the send buffer (the reverse of TCP), or perhaps, one day, what is used of it.
static inline int shim_output_queue(int socket, int *bytes) { return ioctl(socket, TIOCOUTQ, bytes); }

#endif
