/* clang-format off */
/* The trampolines of the preloaded library: each exported MPI function jumps through its slot. At
 * first every slot holds its own resolver thunk, which wakes the library (stub.c) with all argument
 * registers kept, and goes on to where the slot then points.
 *
 * MPI_Send jumps through a front of its own, which leads to the slot, or to another library that
 * has an MPI_Send and will call PMPI_Send (chain.h): that jumps through the slot. */
#define LC_COLD_NAME(n) .Lcold_##n
#define LC_COLD_FRONT_NAME(n) .Lcold_front_##n
#define LC_ENTRY_NAME(n) .Lentry_##n
#define LC_FRONT_NUMBER(n) (0x8000 + n) /* as lc_stub_resolve gets it (chain.h) */

#if defined(__x86_64__)

    .section .note.GNU-stack,"",@progbits
    .text

#define LC_JUMP(n, name, entry, table)                                                             \
    .globl name;                                                                                   \
    .type name, @function;                                                                         \
    .p2align 4;                                                                                    \
    name:                                                                                          \
    entry:                                                                                         \
    endbr64;                                                                                       \
    jmp *(table + 8 * n)(%rip);                                                                    \
    .size name, . - name;

#define LC_RESOLVE(cold, number)                                                                   \
    cold:                                                                                          \
    movl $number, %r11d;                                                                           \
    jmp lc_resolve;

/* In: r11 = slot; the return address is on the stack. All registers that can hold arguments are
 * kept (al: number of vector registers of a variadic call). */
lc_resolve:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $208, %rsp
    andq $-16, %rsp
    movq %rax, 0(%rsp)
    movq %rdi, 8(%rsp)
    movq %rsi, 16(%rsp)
    movq %rdx, 24(%rsp)
    movq %rcx, 32(%rsp)
    movq %r8, 40(%rsp)
    movq %r9, 48(%rsp)
    movq %r10, 56(%rsp)
    movups %xmm0, 64(%rsp)
    movups %xmm1, 80(%rsp)
    movups %xmm2, 96(%rsp)
    movups %xmm3, 112(%rsp)
    movups %xmm4, 128(%rsp)
    movups %xmm5, 144(%rsp)
    movups %xmm6, 160(%rsp)
    movups %xmm7, 176(%rsp)
    movl %r11d, %edi
    movq 8(%rbp), %rsi
    call lc_stub_resolve
    movq %rax, %r11
    movq 0(%rsp), %rax
    movq 8(%rsp), %rdi
    movq 16(%rsp), %rsi
    movq 24(%rsp), %rdx
    movq 32(%rsp), %rcx
    movq 40(%rsp), %r8
    movq 48(%rsp), %r9
    movq 56(%rsp), %r10
    movups 64(%rsp), %xmm0
    movups 80(%rsp), %xmm1
    movups 96(%rsp), %xmm2
    movups 112(%rsp), %xmm3
    movups 128(%rsp), %xmm4
    movups 144(%rsp), %xmm5
    movups 160(%rsp), %xmm6
    movups 176(%rsp), %xmm7
    leave
    .cfi_def_cfa %rsp, 8
    jmp *%r11
    .cfi_endproc

/* The dynamic linker's function goes by its return address (RTLD_NEXT): it is jumped to. */
    .globl dlsym
    .type dlsym, @function
    .p2align 4
dlsym:
    .cfi_startproc
    endbr64
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    movq 24(%rsp), %rdx
    call lc_chain_dlsym
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    testq %rax, %rax
    jne .Lfound
    jmp *lc_linkers_dlsym(%rip)
.Lfound:
    ret
    .cfi_endproc
    .size dlsym, . - dlsym

#elif defined(__aarch64__)

    .section .note.GNU-stack,"",%progbits
    .text

#define LC_JUMP(n, name, entry, table)                                                             \
    .globl name;                                                                                   \
    .type name, %function;                                                                         \
    .p2align 4;                                                                                    \
    name:                                                                                          \
    entry:                                                                                         \
    bti c;                                                                                         \
    adrp x16, table + 8 * n;                                                                       \
    ldr x16, [x16, :lo12:table + 8 * n];                                                           \
    br x16;                                                                                        \
    .size name, . - name;

#define LC_RESOLVE(cold, number)                                                                   \
    cold:                                                                                          \
    mov w17, number;                                                                               \
    b lc_resolve;

lc_resolve:
    .cfi_startproc
    stp x29, x30, [sp, -224]!
    .cfi_def_cfa_offset 224
    .cfi_offset 29, -224
    .cfi_offset 30, -216
    mov x29, sp
    stp x0, x1, [sp, 16]
    stp x2, x3, [sp, 32]
    stp x4, x5, [sp, 48]
    stp x6, x7, [sp, 64]
    str x8, [sp, 80]
    stp q0, q1, [sp, 96]
    stp q2, q3, [sp, 128]
    stp q4, q5, [sp, 160]
    stp q6, q7, [sp, 192]
    mov w0, w17
    ldr x1, [x29, 8]
    bl lc_stub_resolve
    mov x16, x0
    ldp x0, x1, [sp, 16]
    ldp x2, x3, [sp, 32]
    ldp x4, x5, [sp, 48]
    ldp x6, x7, [sp, 64]
    ldr x8, [sp, 80]
    ldp q0, q1, [sp, 96]
    ldp q2, q3, [sp, 128]
    ldp q4, q5, [sp, 160]
    ldp q6, q7, [sp, 192]
    ldp x29, x30, [sp], 224
    br x16
    .cfi_endproc

    .globl dlsym
    .type dlsym, %function
    .p2align 4
dlsym:
    .cfi_startproc
    bti c
    stp x29, x30, [sp, -32]!
    .cfi_def_cfa_offset 32
    .cfi_offset 29, -32
    .cfi_offset 30, -24
    mov x29, sp
    stp x0, x1, [sp, 16]
    mov x2, x30
    bl lc_chain_dlsym
    mov x16, x0
    ldp x0, x1, [sp, 16]
    ldp x29, x30, [sp], 32
    .cfi_def_cfa_offset 0
    .cfi_restore 29
    .cfi_restore 30
    cbnz x16, .Lfound
    adrp x16, lc_linkers_dlsym
    ldr x16, [x16, :lo12:lc_linkers_dlsym]
    br x16
.Lfound:
    mov x0, x16
    ret
    .cfi_endproc
    .size dlsym, . - dlsym

#else
#error "no trampolines for this processor"
#endif

/* MPI_Send and PMPI_Send; names come as MPI_Send. */
#define LC_TRAMPOLINE(n, name)                                                                     \
    LC_JUMP(n, name, .Lfront_##n, lc_fronts)                                                       \
    LC_RESOLVE(LC_COLD_FRONT_NAME(n), LC_FRONT_NUMBER(n))                                          \
    LC_JUMP(n, P##name, LC_ENTRY_NAME(n), lc_slots)                                                \
    LC_RESOLVE(LC_COLD_NAME(n), n)

#define LC_TRAMPOLINE_ONE(n, name)                                                                 \
    LC_JUMP(n, name, LC_ENTRY_NAME(n), lc_slots)                                                   \
    LC_RESOLVE(LC_COLD_NAME(n), n)

/* One word for each number; entries: the addresses of PMPI_ functions. */
#define LC_TABLE_BEGIN(table)                                                                      \
    .data;                                                                                         \
    .hidden table;                                                                                 \
    .globl table;                                                                                  \
    .p2align 6;                                                                                    \
    table:
#define LC_SLOT(n) .quad LC_COLD_NAME(n);
#define LC_FRONT(n) .quad LC_COLD_FRONT_NAME(n);
#define LC_ENTRY(n) .quad LC_ENTRY_NAME(n);
#define LC_TABLE_END(table) .size table, . - table
