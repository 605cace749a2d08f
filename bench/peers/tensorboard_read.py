#!/usr/bin/env python3
"""Prints the event files of a run with TensorBoard's own reader, every tag with the values of its steps.

    python3 bench/peers/tensorboard_read.py runs/NAME/STAMP/logs/tensorboard

Needs tensorboard (pip install tensorboard).
"""
import argparse
import pathlib

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    for file in sorted(parser.parse_args().folder.rglob("events.out.tfevents.*")):
        events = EventAccumulator(str(file), size_guidance={"scalars": 0})
        events.Reload()
        print(f"{file.parent.name} (version {events.file_version})")
        for tag in events.Tags()["scalars"]:
            scalars = events.Scalars(tag)
            values = " ".join(f"{one.step}:{one.value:.6g}" for one in scalars)
            print(f"  {tag}, wall time {scalars[0].wall_time}: {values}")


if __name__ == "__main__":
    main()
