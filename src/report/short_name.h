/* Names of functions as people read them. A demangled name of C++ tells types that nobody looks
 * for: `void ns::f<std::vector<double, ..> >(int, double const&) const` is read as `ns::f<..>`. */
#ifndef LC_REPORT_SHORT_NAME_H
#define LC_REPORT_SHORT_NAME_H

#include <stdbool.h>

#include "base/strbuf.h"

/* Appends the name without return type and parameters; template arguments of more than a few
 * characters are "..". What cannot be a function of C++ comes out unchanged. */
void lc_put_short_name(struct lc_strbuf *out, const char *name);

/* Appends the name with its parameters, but no return type; long template arguments are ".." in
 * both: "f(Foam::tmp<..> const&)". */
void lc_put_short_signature(struct lc_strbuf *out, const char *name);

/* Is it an address in a module ("libm.so.6+0x12ab"): a function without a name? */
bool lc_is_unnamed(const char *name);

#endif
