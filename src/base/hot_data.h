/* Where small variables stand that nearly each measured event reads: together, on few lines of
 * cache and one page, as the measured program's own data have to make room for them. */
#ifndef LC_BASE_HOT_DATA_H
#define LC_BASE_HOT_DATA_H

#define LC_HOT_DATA __attribute__((section("hot_data")))

#endif
