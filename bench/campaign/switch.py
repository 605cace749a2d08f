"""Connects network namespaces by an Ethernet switch in user space, which loses, delays, reorders and cuts off frames.

This switch needs no netem in the kernel, and draws every frame's fate from a seed. It needs root.
"""
import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import threading
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Switch:
    """Creates `hosts` namespaces, each with one interface on 10.77.0.0/24. The first one has 10.77.0.1."""

    def __init__(self, hosts, seed):
        self.names = [f"mokume{os.getpid()}-{k}" for k in range(hosts)]
        self.addresses = [f"10.77.0.{k + 1}" for k in range(hosts)]
        self.loss, self.delay, self.jitter = 0.0, 0.0, 0.0  # share; seconds; mean of an additional random delay
        self.cut_until = [0.0] * hosts                      # on the monotonic clock
        self.draw = random.Random(seed)
        self.counts = {"frames": 0, "lost": 0, "cut": 0}
        self.ports = [self.plug_in(k) for k in range(hosts)]
        self.learned = {}
        self.over = False
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def plug_in(self, k):
        name, tap = self.names[k], f"mk{os.getpid() % 100000}t{k}"
        port = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(port, TUNSETIFF, struct.pack("16sH", tap.encode(), IFF_TAP | IFF_NO_PI))
        ip("netns", "add", name)
        ip("link", "set", tap, "netns", name)
        ip("-n", name, "link", "set", "lo", "up")
        ip("-n", name, "addr", "add", self.addresses[k] + "/24", "dev", tap)
        ip("-n", name, "link", "set", tap, "up")
        return port

    def cut(self, host, seconds):
        self.cut_until[host] = time.monotonic() + seconds

    def command(self, host, words):
        return ["ip", "netns", "exec", self.names[host], *words]

    def close(self):
        self.over = True
        self.thread.join()
        for port in self.ports:
            os.close(port)
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)

    # ---- the switch's thread

    def work(self):
        waiting, number = [], 0  # frames under way: (time, number, port, bytes)
        while not self.over:
            now = time.monotonic()
            while waiting and waiting[0][0] <= now:
                self.deliver(heapq.heappop(waiting))
            pause = min(0.2, waiting[0][0] - now) if waiting else 0.2
            for port in select.select(self.ports, [], [], max(0.0, pause))[0]:
                for _ in range(64):
                    try:
                        frame = os.read(port, 65536)
                    except BlockingIOError:
                        break
                    for due, to in self.route(self.ports.index(port), frame):
                        number += 1
                        heapq.heappush(waiting, (due, number, to, frame))

    def route(self, source, frame):
        """Yields the times and the ports at which a frame arrives."""
        now = time.monotonic()
        target, sender = frame[:6], frame[6:12]
        self.learned[sender] = source
        known = self.learned.get(target)
        targets = [known] if known is not None and not target[0] & 1 else range(len(self.ports))
        for to in targets:
            if to == source:
                continue
            self.counts["frames"] += 1
            if now < max(self.cut_until[source], self.cut_until[to]):
                self.counts["cut"] += 1
            elif self.draw.random() < self.loss:
                self.counts["lost"] += 1
            else:
                yield now + self.delay + (self.draw.expovariate(1 / self.jitter) if self.jitter else 0), to

    def deliver(self, parcel):
        _, _, to, frame = parcel
        try:
            os.write(self.ports[to], frame)
        except OSError:
            pass  # the host's queue is full, so the frame is lost
