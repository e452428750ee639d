/* CPython's interpreter frames: where the versions keep what, for threads that look at their own
 * stack. Nothing of Python is called but what needs no interpreter lock, nothing is changed. A
 * frame is alive while its thread is in the call that it made, so what is read here is, too.
 * Source: the structures _PyInterpreterFrame and PyCodeObject of CPython 3.11 and 3.12; the offsets
 * that 3.13 publishes (_Py_DebugOffsets). */
#ifndef LC_MEASURE_CALLPATH_PYTHON_LAYOUT_H
#define LC_MEASURE_CALLPATH_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Offsets in bytes. */
struct lc_python_layout {
    uint16_t thread_frames; /* in a thread's state: pointer to what holds its innermost frame */
    bool direct;            /* that pointer is the frame */
    uint16_t holder_frame;  /* else: where the frame is in what it points to */
    uint16_t previous, code, instruction; /* in a frame */
    uint16_t flag; /* in a frame, one byte: what tells the outermost one of a C function's */
    /* flag 1: that one; else flag 3: a frame of its own, outside of it, that is no function's */
    bool flag_is_entry;
    uint16_t file, name, line_table, first_line, instructions; /* in a code object */
    uint16_t ascii, wide; /* in a text: begin of the characters, if all are ASCII, if not */
};

/* Of a version as Py_GetVersion tells it ("3.11.2 (main, ..."); code_bytes: size of an empty code
 * object; published: 3.13's own offsets, NULL if there are none. false: not one that is known, or
 * built otherwise. */
bool lc_python_layout_of(const char *version, size_t code_bytes, const void *published,
                         struct lc_python_layout *layout);
/* The innermost frame of a thread's state; 0: none. */
uint64_t lc_python_innermost(const struct lc_python_layout *layout, const void *thread_state);

/* The name of a code object's function, "solver.py:Solver.step:41" (file, qualified name, first
 * line; a module's own code: "solver.py:<module>"), with a terminating null byte and cut to `size`
 * bytes. false: the import machinery's own, which is not shown. */
bool lc_python_name(const struct lc_python_layout *layout, uint64_t code, char *name, size_t size);
/* The source line of an instruction; 0: none. */
uint32_t lc_python_line(const struct lc_python_layout *layout, uint64_t code, uint64_t instruction);

#endif
