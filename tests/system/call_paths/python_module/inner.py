"""A module of a package."""
from . import through_package


def through_module(call):
    through_package(call)
