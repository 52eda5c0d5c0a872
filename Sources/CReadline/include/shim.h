// GNU readline's callback interface without callbacks into Swift: keys go in by shim_feed, what it would have written to the terminal comes out
// by shim_drawn, and its longjmp crosses only C. Readline's state is global, so there is one of all this.
#ifndef BLECTL_CREADLINE_H
#define BLECTL_CREADLINE_H

#include <stddef.h>
#include <stdint.h>

enum { shim_wants_more, shim_has_line, shim_has_end, shim_wants_completion, shim_has_endless_macro };

// The number of commands that macros may run after one key. The longest value, typed in hex, has 1024 keys.
enum { shim_most_commands = 4096 };

// `input` is never read here, only asked for its size; `name` is what the user's inputrc may ask for. -1 without memory.
int shim_begin(int input, const char *name, int is_utf8);

// The version of readline: 0x0802 is 8.2.
int shim_readline_version(void);

// Whether what stands on the terminal can be erased, and pasted text be told from typed.
int shim_can_erase(void);
int shim_marks_pastes(void);

// A new line begins at the cursor, with the prompt.
void shim_begin_line(const char *prompt);

// Takes keys until all are used or something came of them; returns what, and how many it took.
int shim_feed(const uint8_t *keys, size_t count, size_t *taken);

// What was drawn since, until shim_drawn_taken.
const char *shim_drawn(size_t *count);
void shim_drawn_taken(void);

const char *shim_accepted(void);
const char *shim_typed(void);
int shim_cursor(void);

// In a search the prompt is another.
int shim_is_searching(void);

void shim_wipe(void);
void shim_redraw(void);
void shim_set_prompt(const char *prompt);

// The cursor goes behind the typed line, which is no longer to be edited.
void shim_abandon(void);

void shim_replace(int before, const char *text);

// The terminal of shim_begin.
int shim_terminal(void);

// `is_shown`: the line stands on the terminal.
void shim_resize(int rows, int columns, int is_shown);

// As programs have it that leave the drawing to readline. `words` stand in lines: what the first word of a line can become.
void shim_behave_as_callback(const char *words);
void shim_say(const char *text);
void shim_interrupt(void);

void shim_remember(const char *line);
void shim_remember_at_most(int count);

#endif
