"""The line by which a test or a benchmark hands a number to measure/measure.py, whose table knows what is wanted of it: `figure NAME VALUE UNIT`.
VALUE is a number, or RIGHT/OF where cases are counted. C programs print the same with printf."""


def figure(name, value, unit):
    print(f"figure {name} {value if isinstance(value, str) else f'{value:.6g}'} {unit}", flush=True)


def count(name, right, of, unit="cases"):
    figure(name, f"{right}/{of}", unit)
