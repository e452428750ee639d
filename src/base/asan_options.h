/* What `latecomer run` adds to ASAN_OPTIONS (run/spawn.c) and the preloaded library takes back when
 * it begins to measure (measure/stub): AddressSanitizer is not to mind that another library is
 * loaded before its own. The last word about an option counts; the colon at the end tells ours from
 * the user's. */
#ifndef LC_BASE_ASAN_OPTIONS_H
#define LC_BASE_ASAN_OPTIONS_H

#define LC_ASAN_NO_LINK_ORDER ":verify_asan_link_order=0:"

#endif
