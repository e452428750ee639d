/* Areas of the ranks of a node. */
#ifndef LC_MEASURE_CLOCKS_NODE_MEMORY_H
#define LC_MEASURE_CLOCKS_NODE_MEMORY_H

#include <stdbool.h>

/* areas of the ranks of a node; false: no shared memory */
bool lc_clk_memory(void); /* collective */

#endif
