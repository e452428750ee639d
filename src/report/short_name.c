#include "report/short_name.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST_ARGUMENTS = 16 }; /* characters of template arguments that are shown */

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Length of the bracketed part that begins at text[0], brackets included; 0: it has no end. In
 * template arguments '<' and '>' count, elsewhere they may be operators. */
static size_t bracketed(const char *text) {
    char open = text[0], close = open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '>';
    int depth = 0, round = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (open != '(')
            round += (*at == '(') - (*at == ')');
        if (at > text && at[-1] == '-' && *at == '>')
            continue;
        if (*at == open && round == 0)
            depth++;
        else if (*at == close && round == 0 && --depth == 0)
            return (size_t)(at + 1 - text);
    }
    return 0;
}

/* "operator" and what belongs to it: symbols, or the type that it converts to. */
static size_t operator_length(const char *text) {
    static const char word[] = "operator";
    size_t n = sizeof word - 1;
    if (strncmp(text, word, n) != 0 || is_word(text[n]))
        return 0;
    if (strncmp(text + n, "()", 2) == 0 || strncmp(text + n, "[]", 2) == 0)
        return n + 2;
    if (text[n] == ' ') /* new, delete, a type */
        return n + strcspn(text + n, "(<");
    return n + strspn(text + n, "+-*/%^&|~!=<>,");
}

static void put_arguments(struct lc_strbuf *out, const char *text, size_t length) {
    if (length - 2 <= LONGEST_ARGUMENTS)
        lc_strbuf_add(out, text, length);
    else
        lc_strbuf_puts(out, "<..>");
}

/* "{lambda(int)#1}" -> "{lambda#1}" */
static void put_braces(struct lc_strbuf *out, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        size_t skip = text[i] == '(' ? bracketed(text + i) : 0;
        if (skip > 0 && i + skip < length)
            i += skip - 1;
        else
            lc_strbuf_putc(out, text[i]);
    }
}

/* Behind the parameters: where the name goes on ("::" after qualifiers), or NULL. */
static const char *goes_on(const char *at) {
    static const char *const qualifiers[] = {" const", " volatile", " &&", " &", " noexcept"};
    for (size_t i = 0; i < sizeof qualifiers / sizeof qualifiers[0]; i++)
        if (strncmp(at, qualifiers[i], strlen(qualifiers[i])) == 0)
            at += strlen(qualifiers[i]);
    return strncmp(at, "::", 2) == 0 ? at : NULL;
}

/* "(Foam::tmp<Foam::Field<double> > const&)" -> "(Foam::tmp<..> const&)" */
static void put_parameters(struct lc_strbuf *out, const char *text, size_t length) {
    for (size_t i = 0; i < length;) {
        size_t inner = text[i] == '<' ? bracketed(text + i) : 0;
        if (inner > 0 && i + inner < length)
            put_arguments(out, text + i, inner);
        else
            lc_strbuf_putc(out, text[i]);
        i += inner > 0 && i + inner < length ? inner : 1;
    }
}

/* False: no function of C++. */
static bool shorten(struct lc_strbuf *out, const char *at, bool parameters) {
    static const char anonymous[] = "(anonymous namespace)";
    while (*at != '\0') {
        size_t length = (out->length == 0 || !is_word(lc_strbuf_get(out)[out->length - 1]))
                            ? operator_length(at)
                            : 0;
        if (length > 0) {
            lc_strbuf_add(out, at, length);
            at += length;
            at += at[0] == ' ' && at[1] == '<';
            continue;
        }
        length = strchr("(<[{", *at) != NULL ? bracketed(at) : 1;
        if (length == 0)
            return false;
        if (strncmp(at, anonymous, sizeof anonymous - 1) == 0) {
            lc_strbuf_puts(out, "(anonymous)");
        } else if (*at == '(') {
            if (out->length == 0)
                return false; /* a function that returns a pointer to a function, or no C++ */
            if (strcmp(lc_strbuf_get(out), "decltype") != 0) {
                const char *next = goes_on(at + length);
                if (next == NULL && parameters)
                    put_parameters(out, at, length);
                if (next == NULL)
                    return true;
                at = next;
                continue;
            }
        } else if (*at == '<') {
            put_arguments(out, at, length);
        } else if (*at == '{') {
            put_braces(out, at, length);
        } else if (*at == ' ') {
            if (at[1] == '[') /* " [clone .cold]" */
                return out->length > 0;
            lc_strbuf_clear(out); /* that was the type of what it returns */
        } else if (*at != '[') {  /* "[abi:cxx11]" goes */
            lc_strbuf_putc(out, *at);
        }
        at += length;
    }
    return out->length > 0;
}

static void put_short(struct lc_strbuf *out, const char *name, bool parameters) {
    struct lc_strbuf text = {0};
    bool plain = strpbrk(name, "(<") == NULL;
    if (!plain && shorten(&text, name, parameters) && lc_strbuf_ok(&text))
        lc_strbuf_puts(out, lc_strbuf_get(&text));
    else
        lc_strbuf_puts(out, name);
    lc_strbuf_free(&text);
}

void lc_put_short_name(struct lc_strbuf *out, const char *name) {
    put_short(out, name, false);
}

void lc_put_short_signature(struct lc_strbuf *out, const char *name) {
    put_short(out, name, true);
}

bool lc_is_unnamed(const char *name) {
    const char *plus = strrchr(name, '+');
    if (plus == NULL || plus == name || strncmp(plus, "+0x", 3) != 0 || plus[3] == '\0')
        return false;
    return plus[3 + strspn(plus + 3, "0123456789abcdef")] == '\0';
}
