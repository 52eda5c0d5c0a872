#include "shim.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

static const uint8_t *shim_keys = NULL;
static const uint8_t *shim_keys_end = NULL;
static char *shim_line = NULL;
static int shim_event = 0;
static FILE *shim_screen = NULL;
static char *shim_bytes = NULL;
static size_t shim_count = 0;

// Of macros, since the last key.
static int shim_commands = 0;

static int shim_getc(FILE *stream) {
  (void)stream;
  shim_commands = 0;
  return shim_keys < shim_keys_end ? *shim_keys++ : EOF;
}

// Not in its headers.
extern void _rl_pop_executing_macro(void);
extern void _rl_redisplay_after_sigwinch(void);

// A macro that calls itself would never end. Readline draws after every command. With this function it takes terminals to be drawn by others, so it
// has it only while it takes keys.
static void shim_redisplay(void) {
  if (RL_ISSTATE(RL_STATE_MACROINPUT) && ++shim_commands > shim_most_commands) {
    while (rl_executing_macro) _rl_pop_executing_macro();
    shim_event = shim_has_endless_macro;
  }
  rl_redisplay();
}

// Readline asks whether an escape is a key of its own or begins one. The default waits for the terminal.
static int shim_has_keys(void) { return shim_keys < shim_keys_end; }

static void shim_leave_terminal_alone(int meta) { (void)meta; }
static void shim_leave_terminal(void) {}
static char *shim_no_completions(const char *text, int state) { (void)text; (void)state; return NULL; }

static char *shim_words = NULL;

// Each word of shim_words that begins with `text`; `state` is 0 at the first call.
static char *shim_next_word(const char *text, int state) {
  static const char *next;
  if (!state) next = shim_words;
  while (*next) {
    const char *word = next;
    size_t count = strcspn(word, "\n");
    next += count + (word[count] == '\n');
    if (!strncmp(word, text, strlen(text)) && strlen(text) <= count) return strndup(word, count);
  }
  return NULL;
}

static char **shim_words_from(const char *text, int start, int end) {
  (void)end;
  rl_attempted_completion_over = 1;
  return start ? NULL : rl_completion_matches(text, shim_next_word);
}

static int shim_on_completion(int count, int key) {
  (void)count;
  if (shim_words) return rl_complete_internal(rl_last_func == shim_on_completion ? '?' : '\t');
  (void)key;
  shim_event = shim_wants_completion;
  return 0;
}

// NULL at the end of the input.
static void shim_on_line(char *line) {
  shim_event = line ? shim_has_line : shim_has_end;
  free(shim_line);
  shim_line = line;
  // Else the next prompt would be shown at once.
  rl_callback_handler_remove();
}

int shim_begin(int input, const char *name, int is_utf8) {
  if (!rl_instream || fileno(rl_instream) != input) rl_instream = input == STDIN_FILENO ? stdin : fdopen(input, "r");
  if (!rl_instream) return -1;
  if (shim_screen) return 0;
  shim_screen = open_memstream(&shim_bytes, &shim_count);
  if (!shim_screen) return -1;
  rl_outstream = shim_screen;
  rl_readline_name = strdup(name);
  rl_catch_signals = 0;
  rl_catch_sigwinch = 0;
  rl_change_environment = 0;
  rl_getc_function = shim_getc;
  rl_input_available_hook = shim_has_keys;
  rl_prep_term_function = shim_leave_terminal_alone;
  rl_deprep_term_function = shim_leave_terminal;
  rl_completion_entry_function = shim_no_completions;
  // Without a locale, or with one that is not installed, the terminal shows UTF-8 all the same.
  if (!setlocale(LC_CTYPE, "") || (is_utf8 && strcmp(nl_langinfo(CODESET), "UTF-8") != 0)) setlocale(LC_CTYPE, is_utf8 ? "C.UTF-8" : "C");
  rl_initialize();
  // A terminal that the database does not know can what all can.
  if (!rl_get_termcap("ce") && rl_terminal_name && strcmp(rl_terminal_name, "dumb") != 0) rl_reset_terminal("xterm");
  rl_tty_set_echoing(1);
  // The bell would be written to stderr.
  rl_variable_bind("bell-style", "none");
  // Those that list would ask on the terminal, and wait for the answer.
  rl_bind_key_in_map('\t', shim_on_completion, emacs_standard_keymap);
  rl_bind_key_in_map('\t', shim_on_completion, vi_insertion_keymap);
  rl_bind_keyseq_in_map("\033?", shim_on_completion, emacs_standard_keymap);
  rl_bind_keyseq_in_map("\033*", shim_on_completion, emacs_standard_keymap);
  return 0;
}

int shim_can_erase(void) { return rl_get_termcap("ce") != NULL; }
int shim_marks_pastes(void) {
  const char *value = rl_variable_value("enable-bracketed-paste");
  return value && strcmp(value, "on") == 0 && shim_can_erase();
}

void shim_begin_line(const char *prompt) { rl_callback_handler_install(prompt, shim_on_line); }

int shim_feed(const uint8_t *keys, size_t count, size_t *taken) {
  shim_event = shim_wants_more;
  shim_keys = keys;
  shim_keys_end = keys + count;
  rl_redisplay_function = shim_redisplay;
  while (shim_event == shim_wants_more && shim_keys < shim_keys_end) rl_callback_read_char();
  rl_redisplay_function = rl_redisplay;
  *taken = (size_t)(shim_keys - keys);
  shim_keys = shim_keys_end = NULL;
  return shim_event;
}

const char *shim_drawn(size_t *count) {
  fflush(shim_screen);
  *count = shim_count;
  return shim_bytes;
}
void shim_drawn_taken(void) { rewind(shim_screen); }

const char *shim_accepted(void) { return shim_line ? shim_line : ""; }
const char *shim_typed(void) { return rl_line_buffer ? rl_line_buffer : ""; }
int shim_cursor(void) { return rl_point; }

int shim_is_searching(void) { return RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH) != 0; }

void shim_wipe(void) { rl_clear_visible_line(); }
void shim_redraw(void) { rl_forced_update_display(); }
void shim_set_prompt(const char *prompt) { rl_set_prompt(prompt); }

void shim_abandon(void) {
  rl_callback_sigcleanup();
  rl_free_line_state();
  rl_point = rl_end;
  rl_redisplay();
  rl_callback_handler_remove();
}

void shim_replace(int before, const char *text) {
  rl_begin_undo_group();
  int start = before < rl_point ? rl_point - before : 0;
  rl_delete_text(start, rl_point);
  rl_point = start;
  rl_insert_text(text);
  rl_end_undo_group();
  rl_redisplay();
}

int shim_terminal(void) { return fileno(rl_instream); }

// rl_resize_terminal would ask the terminal for its size, which may be one that readline cannot handle.
void shim_resize(int rows, int columns, int is_shown) {
  rl_set_screen_size(rows, columns);
  if (is_shown) _rl_redisplay_after_sigwinch();
}

void shim_behave_as_callback(const char *words) {
  free(shim_words);
  shim_words = strdup(words);
  rl_attempted_completion_function = shim_words_from;
  rl_erase_empty_line = 1;
}

// The line is made empty for the time, so that the text takes the place of the prompt.
void shim_say(const char *text) {
  int point = rl_point;
  char *line = rl_copy_text(0, rl_end);
  rl_save_prompt();
  rl_replace_line("", 0);
  rl_redisplay();
  fputs(text, rl_outstream);
  rl_restore_prompt();
  rl_replace_line(line ? line : "", 0);
  rl_point = point;
  rl_forced_update_display();
  free(line);
}

void shim_interrupt(void) {
  rl_replace_line("", 0);
  rl_crlf();
  rl_on_new_line();
  rl_redisplay();
}

void shim_remember(const char *line) { add_history(line); }
void shim_remember_at_most(int count) { stifle_history(count); }

int shim_readline_version(void) { return RL_READLINE_VERSION; }
