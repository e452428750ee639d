/* "No such thing", where a 32-bit number names an entry of a table. */
#ifndef LC_BASE_NONE_H
#define LC_BASE_NONE_H

#include <stdint.h>

#define LC_NONE UINT32_MAX

#endif
