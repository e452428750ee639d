"""A package of python_stacks.py: its file's name says nothing without the directory's."""


def through_package(call):
    call()
