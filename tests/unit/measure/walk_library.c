/* One function that calls its argument, in a frame of FRAME bytes: libraries that differ in nothing
 * else have equal layout. */
#if defined(__x86_64__)
__asm__(".globl call_it\n.type call_it, @function\ncall_it:\n.cfi_startproc\n"
        "sub $" FRAME ", %rsp\n.cfi_adjust_cfa_offset " FRAME "\ncall *%rdi\n"
        "add $" FRAME ", %rsp\nret\n.cfi_endproc\n.size call_it, .-call_it\n");
#else
__asm__(".globl call_it\n.type call_it, %function\ncall_it:\n.cfi_startproc\n"
        "stp x29, x30, [sp, -(" FRAME " + 8)]!\n.cfi_adjust_cfa_offset " FRAME " + 8\n"
        ".cfi_offset x29, -(" FRAME " + 8)\n.cfi_offset x30, -" FRAME "\nblr x0\n"
        "ldp x29, x30, [sp], " FRAME " + 8\nret\n.cfi_endproc\n.size call_it, .-call_it\n");
#endif
