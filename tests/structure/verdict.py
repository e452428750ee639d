"""How every check of the structure ends: what was looked at, what is wrong, and the exit status."""


def verdict(summary, wrong):
    print(summary)
    for line in wrong:
        print("WRONG:", line)
    return len(wrong) > 0
