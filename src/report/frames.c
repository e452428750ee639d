#include "base/plural.h"
#include "report/frames.h"

#include <string.h>

#include "report/short_name.h"

static const char unnamed[] = "unnamed";

/* By the begin of the name; of functions without a name by the begin of their module. A capital
 * must follow where the prefix is a word of its own ("PyEval", not "Pyramid"). */
static const struct {
    const char *prefix, *kind;
    bool capital;
} table[] = {
    {"_PyEval_", "Python", false},
    {"_PyFunction_", "Python", false},
    {"_PyObject_", "Python", false},
    {"_PyRun_", "Python", false},
    {"_Py_", "Python", false},
    {"_Py", "Python", true},
    {"Py_", "Python", false},
    {"Py", "Python", true},
    {"__Pyx_", "Python", false},
    {"__pyx_", "Python", false},
    {"pymain_", "Python", false},
    {"run_eval_code_obj", "Python", false},
    {"run_mod", "Python", false},
    {"builtin_exec", "Python", false},
    {"cfunction_", "Python", false},
    {"method_vectorcall", "Python", false},
    {"vectorcall_", "Python", false},
    {"slot_tp_", "Python", false},
    {"jl_apply", "Julia", false},
    {"_jl_invoke", "Julia", false},
    {"ijl_", "Julia", false},
    {"Rf_eval", "R", false},
    {"R_execClosure", "R", false},
    {"bcEval", "R", false},
    {"luaV_", "Lua", false},
    {"luaD_", "Lua", false},
    {"Perl_pp_", "Perl", false},
    {"std::_Function_handler<", "C++ libraries", false},
    {"std::__invoke", "C++ libraries", false},
    {"std::function<", "C++ libraries", false},
    {"std::_Bind<", "C++ libraries", false},
    {"Kokkos::Impl::", "C++ libraries", false},
    {"tbb::detail::", "C++ libraries", false},
    {"boost::asio::detail::", "C++ libraries", false},
};

/* A module of Python, or of a package for it: "python3.11", "libpython3.11.so.1.0",
 * "MPI.cpython-311-x86_64-linux-gnu.so". */
static bool is_python(const char *module) {
    return strncmp(module, "python3", 7) == 0 || strncmp(module, "libpython3", 10) == 0 ||
           strstr(module, ".cpython-3") != NULL;
}

bool lc_frame_needs_name(const char *name) {
    return lc_is_unnamed(name) && !is_python(name);
}

const char *lc_frame_kind(const char *name) {
    if (lc_is_unnamed(name))
        return is_python(name) ? "Python" : unnamed;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        size_t length = strlen(table[i].prefix);
        if (strncmp(name, table[i].prefix, length) != 0)
            continue;
        if (table[i].capital && !(name[length] >= 'A' && name[length] <= 'Z'))
            continue;
        return table[i].kind;
    }
    return NULL;
}

void lc_put_frames(struct lc_strbuf *out, const char *kind, size_t n) {
    if (strcmp(kind, unnamed) == 0)
        lc_strbuf_printf(out, "(%zu unnamed)", n);
    else
        lc_strbuf_printf(out, "(%zu frame%s of %s)", n, lc_plural((double)n), kind);
}

bool lc_frames_fold(const char *kind, size_t n) {
    return strcmp(kind, unnamed) == 0 || n > 1;
}
