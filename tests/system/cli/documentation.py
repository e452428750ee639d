#!/usr/bin/python3
"""Man pages and completion are true: every command has a page, page and `latecomer help` have the same options.
Usage: documentation.py LATECOMER DOCS_DIR"""
import os
import re
import subprocess
import sys

LATECOMER, DOCS = map(os.path.abspath, sys.argv[1:3])
problems = []


def output(*args):
    return subprocess.run(args, capture_output=True, text=True, check=True).stdout


def long_options(text):
    return set(re.findall(r"--([a-z][a-z-]+)", text)) - {"help", "usage", "quiet", "version"}


commands = re.findall(r"^  ([a-z]+) ", output(LATECOMER, "help").split("Commands:")[1], re.M)
if len(commands) < 4:
    problems.append(f"only {commands} in `latecomer help`")
overview = open(f"{DOCS}/man/latecomer.1").read().replace("\\-", "-")
for command in commands:
    if f".B {command}\n" not in overview:
        problems.append(f"latecomer.1 does not name {command}")
    if command == "help":
        continue
    page = f"{DOCS}/man/latecomer-{command}.1"
    if not os.path.exists(page):
        problems.append(f"{command} has no man page")
        continue
    text = open(page).read().replace("\\-", "-")
    own = long_options("\n".join(re.findall(r"^\.B (--.*|-.*)$", text, re.M)))
    helped = long_options(output(LATECOMER, "help", command))
    if own - helped:
        problems.append(f"{page} has options that `latecomer help {command}` has not: {sorted(own - helped)}")
    if helped - own:
        problems.append(f"{page} lacks the options {sorted(helped - own)}")


def complete(*words):
    script = f"""source {DOCS}/completion/latecomer
COMP_WORDS=({' '.join(words)} '') ; COMP_WORDS[0]={LATECOMER}
[[ ${{COMP_WORDS[-2]}} == *: ]] && unset 'COMP_WORDS[-1]' && COMP_WORDS[-1]=${{COMP_WORDS[-1]%:}}
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _latecomer; printf '%s\\n' "${{COMPREPLY[@]}}\""""
    return output("bash", "-c", script).split()


if "show" not in complete("latecomer") or complete("latecomer", "sho:") != ["show"]:
    problems.append(f"completion of commands: {complete('latecomer')}")
if "--metric" not in complete("latecomer", "show", "--m:"):
    problems.append(f"completion of options: {complete('latecomer', 'show', '--m:')}")
if complete("latecomer", "show", "--by", "=", "lo:") != ["location"]:
    problems.append(f"completion of values: {complete('latecomer', 'show', '--by', '=', 'lo:')}")
if "scaling" not in complete("latecomer", "help"):
    problems.append("completion of help")
if problems:
    sys.exit("\n".join(problems))
print(f"documentation: {len(commands)} commands, all as they say")
