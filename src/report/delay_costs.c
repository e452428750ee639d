#include "report/delay_costs.h"

#include <string.h>

bool lc_is_delay_cost(const char *name, bool *longterm) {
    size_t length = strlen(name);
    *longterm = length > 9 && strcmp(name + length - 9, "_longterm") == 0;
    return strncmp(name, "delay_", 6) == 0 && strstr(name, "_waitfirst") == NULL &&
           strstr(name, "_aggregate") == NULL && strcmp(name, "delay_mpi") != 0 &&
           strcmp(name, "delay_p2p") != 0 && strcmp(name, "delay_collective") != 0;
}
