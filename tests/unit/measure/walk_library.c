/* One function that calls its argument, in a frame of FRAME bytes: libraries that differ in nothing
 * else have equal layout. */
__asm__(".globl call_it\n.type call_it, @function\ncall_it:\n.cfi_startproc\n"
        "sub $" FRAME ", %rsp\n.cfi_adjust_cfa_offset " FRAME "\ncall *%rdi\n"
        "add $" FRAME ", %rsp\nret\n.cfi_endproc\n.size call_it, .-call_it\n");
