/* The page without data, as `npm run build` in web/ leaves it. */
    .section .rodata
    .globl lc_page_template
    .globl lc_page_template_end
    .hidden lc_page_template
    .hidden lc_page_template_end
lc_page_template:
    .incbin LC_PAGE_FILE
lc_page_template_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
