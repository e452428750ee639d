/* Linked statically: cannot be measured. */
#include <stdio.h>

int main(void) {
    puts("static");
    return 5;
}
