// libdbus-1, opened when the first message is sent. A machine with bluetoothd has it. Neither a build nor a start needs it.
// The declarations are those of the library's stable interface, so that no header of it is needed either.
#ifndef BLECTL_CDBUS_H
#define BLECTL_CDBUS_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

// DBusMessageIter, which its users may copy. The library has 72 bytes for it where a pointer has eight.
typedef struct {
  _Alignas(16) unsigned char room[128];
} shim_bus_place;

// The names of the library's functions without `dbus_`, with their results and parameters.
#define SHIM_BUS_FUNCTIONS(f)                                                     \
  f(connection_open_private, void *, (const char *, void *))                      \
  f(connection_set_exit_on_disconnect, void, (void *, uint32_t))                  \
  f(connection_set_max_message_size, void, (void *, long))                        \
  f(connection_get_unix_fd, uint32_t, (void *, int *))                            \
  f(connection_read_write, uint32_t, (void *, int))                               \
  f(connection_pop_message, void *, (void *))                                     \
  f(connection_send, uint32_t, (void *, void *, uint32_t *))                      \
  f(connection_has_messages_to_send, uint32_t, (void *))                          \
  f(connection_get_is_connected, uint32_t, (void *))                              \
  f(connection_get_is_authenticated, uint32_t, (void *))                          \
  f(connection_close, void, (void *))                                             \
  f(connection_unref, void, (void *))                                             \
  f(message_new_method_call, void *, (const char *, const char *, const char *, const char *)) \
  f(message_new, void *, (int))                                                   \
  f(message_set_destination, uint32_t, (void *, const char *))                    \
  f(message_set_error_name, uint32_t, (void *, const char *))                     \
  f(message_set_reply_serial, uint32_t, (void *, uint32_t))                       \
  f(message_unref, void, (void *))                                                \
  f(message_get_type, int, (void *))                                              \
  f(message_get_serial, uint32_t, (void *))                                       \
  f(message_get_reply_serial, uint32_t, (void *))                                 \
  f(message_get_sender, const char *, (void *))                                   \
  f(message_get_path, const char *, (void *))                                     \
  f(message_get_member, const char *, (void *))                                   \
  f(message_get_error_name, const char *, (void *))                               \
  f(message_iter_init, uint32_t, (void *, shim_bus_place *))                      \
  f(message_iter_init_append, void, (void *, shim_bus_place *))                   \
  f(message_iter_append_basic, uint32_t, (shim_bus_place *, int, const void *))   \
  f(message_iter_get_arg_type, int, (shim_bus_place *))                           \
  f(message_iter_get_basic, void, (shim_bus_place *, void *))                     \
  f(message_iter_recurse, void, (shim_bus_place *, shim_bus_place *))             \
  f(message_iter_next, uint32_t, (shim_bus_place *))

typedef struct {
#define SHIM_BUS_MEMBER(name, result, parameters) result(*name) parameters;
  SHIM_BUS_FUNCTIONS(SHIM_BUS_MEMBER)
#undef SHIM_BUS_MEMBER
  int are_there;
} shim_bus_functions;

// Swift takes over functions and what is static in them, but no variables.
static inline shim_bus_functions *shim_bus_table(void) {
  static shim_bus_functions functions;
  return &functions;
}

static inline void shim_bus_load(void) {
  shim_bus_functions *functions = shim_bus_table();
  void *library = dlopen("libdbus-1.so.3", RTLD_NOW | RTLD_LOCAL), *function;
  if (!library) return;
  int found = 1;
#define SHIM_BUS_FIND(name, result, parameters)                      \
  function = dlsym(library, "dbus_" #name);                          \
  __builtin_memcpy(&functions->name, &function, sizeof function);    \
  found = found && function;
  SHIM_BUS_FUNCTIONS(SHIM_BUS_FIND)
#undef SHIM_BUS_FIND
  functions->are_there = found;
}

// NULL where the library, or one of the functions, is not there. All other functions here need it.
static inline const shim_bus_functions *shim_bus(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, shim_bus_load);
  return shim_bus_table()->are_there ? shim_bus_table() : NULL;
}

static inline int shim_bus_is_available(void) { return shim_bus() != NULL; }

// Connections and messages are numbers for Swift: 0 is none.
static inline uintptr_t shim_bus_open(const char *address) {
  void *connection = shim_bus()->connection_open_private(address, NULL);
  // The default is to end the process.
  if (connection) shim_bus()->connection_set_exit_on_disconnect(connection, 0);
  // A larger message ends the connection, so this is the limit of dbus-daemon: no program shall be able to end it. libdbus has 128 MiB.
  if (connection) shim_bus()->connection_set_max_message_size(connection, 32 << 20);
  return (uintptr_t)connection;
}

static inline int shim_bus_descriptor(uintptr_t connection) {
  int descriptor = -1;
  return shim_bus()->connection_get_unix_fd((void *)connection, &descriptor) ? descriptor : -1;
}

static inline void shim_bus_close(uintptr_t connection) {
  shim_bus()->connection_close((void *)connection);
  shim_bus()->connection_unref((void *)connection);
}

// Reads and writes without waiting. Returns 0 once the connection is lost.
static inline int shim_bus_transfer(uintptr_t connection) {
  shim_bus()->connection_read_write((void *)connection, 0);
  return shim_bus()->connection_get_is_connected((void *)connection) != 0;
}

// Whether messages wait until the descriptor is writable.
static inline int shim_bus_has_output(uintptr_t connection) { return shim_bus()->connection_has_messages_to_send((void *)connection) != 0; }

// While it authenticates, it does not tell whether it waits for the other side, or has something to write.
static inline int shim_bus_authenticates(uintptr_t connection) { return !shim_bus()->connection_get_is_authenticated((void *)connection); }

static inline uintptr_t shim_bus_next_message(uintptr_t connection) { return (uintptr_t)shim_bus()->connection_pop_message((void *)connection); }

// `method` is named with its interface.
static inline uintptr_t shim_bus_call(const char *destination, const char *path, const char *method) {
  const char *dot = strrchr(method, '.');
  char interface[256] = "";
  if (!dot || (size_t)(dot - method) >= sizeof interface) return 0;
  memcpy(interface, method, (size_t)(dot - method));
  return (uintptr_t)shim_bus()->message_new_method_call(destination, path, interface, dot + 1);
}

// The answer to a call; an error if it has a name.
static inline uintptr_t shim_bus_answer(const char *destination, uint32_t serial, const char *error) {
  void *message = shim_bus()->message_new(error ? 3 : 2);
  if (!message) return 0;
  shim_bus()->message_set_destination(message, destination);
  shim_bus()->message_set_reply_serial(message, serial);
  if (error) shim_bus()->message_set_error_name(message, error);
  return (uintptr_t)message;
}

// 0 as a message does nothing here: memory was short.
static inline void shim_bus_add_text(uintptr_t message, int type, const char *text) {
  shim_bus_place place;
  if (!message) return;
  shim_bus()->message_iter_init_append((void *)message, &place);
  shim_bus()->message_iter_append_basic(&place, type, &text);
}

static inline void shim_bus_add_number(uintptr_t message, uint32_t number) {
  shim_bus_place place;
  if (!message) return;
  shim_bus()->message_iter_init_append((void *)message, &place);
  shim_bus()->message_iter_append_basic(&place, 'u', &number);
}

// Queues and forgets a message. Returns its number, 0 where memory is short.
static inline uint32_t shim_bus_send(uintptr_t connection, uintptr_t message) {
  uint32_t serial = 0;
  if (!message) return 0;
  shim_bus()->connection_send((void *)connection, (void *)message, &serial);
  shim_bus()->message_unref((void *)message);
  return serial;
}

static inline void shim_bus_forget(uintptr_t message) { shim_bus()->message_unref((void *)message); }

// 1 is a call, 2 an answer, 3 an error, 4 a signal.
static inline int shim_bus_type(uintptr_t message) { return shim_bus()->message_get_type((void *)message); }
static inline uint32_t shim_bus_serial(uintptr_t message) { return shim_bus()->message_get_serial((void *)message); }
static inline uint32_t shim_bus_answered(uintptr_t message) { return shim_bus()->message_get_reply_serial((void *)message); }

// The sender (0), the path (1), the member (2) or the name of the error (3); NULL where the message has no such field.
static inline const char *shim_bus_field(uintptr_t message, int field) {
  const shim_bus_functions *bus = shim_bus();
  switch (field) {
    case 0: return bus->message_get_sender((void *)message);
    case 1: return bus->message_get_path((void *)message);
    case 2: return bus->message_get_member((void *)message);
    default: return bus->message_get_error_name((void *)message);
  }
}

static inline shim_bus_place shim_bus_begin(uintptr_t message) {
  shim_bus_place place;
  memset(&place, 0, sizeof place);
  shim_bus()->message_iter_init((void *)message, &place);
  return place;
}

// The type of the value at a place: a letter of the specification, 0 at the end.
static inline int shim_bus_kind(shim_bus_place place) { return shim_bus()->message_iter_get_arg_type(&place); }

static inline shim_bus_place shim_bus_enter(shim_bus_place place) {
  shim_bus_place inner;
  memset(&inner, 0, sizeof inner);
  shim_bus()->message_iter_recurse(&place, &inner);
  return inner;
}

static inline shim_bus_place shim_bus_next(shim_bus_place place) {
  shim_bus()->message_iter_next(&place);
  return place;
}

// Only at a text: s, o or g.
static inline const char *shim_bus_text(shim_bus_place place) {
  const char *text = NULL;
  shim_bus()->message_iter_get_basic(&place, &text);
  return text;
}

// Only at a number: y, b, n, q, i, u, x or t.
static inline uint64_t shim_bus_number(shim_bus_place place) {
  uint64_t number = 0;
  shim_bus()->message_iter_get_basic(&place, &number);
  return number;
}

#endif
