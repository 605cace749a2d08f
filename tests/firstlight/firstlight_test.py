"""Tests that first-light survives faults of an unknown machine: no driver, crashes, hangs, half of a file."""
import contextlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

GPU = Path(__file__).resolve().parents[2] / "bench/gpu"
sys.path.insert(0, str(GPU))
from firstlight import command, driver, figures, known, page, steps  # noqa: E402
from firstlight.__main__ import (  # noqa: E402
    DRIVER_LIMIT, RESERVE, arguments, chosen_steps, run_step, vendors_libraries)
from firstlight.kit import Kit, KitError, work_folder  # noqa: E402
from firstlight.session import Session, StepFailed  # noqa: E402
from firstlight.steps import Step  # noqa: E402


class WithFolder(unittest.TestCase):
    def setUp(self) -> None:
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)

    def tearDown(self) -> None:
        self.temporary.cleanup()

    def kit(self, glibc: str = "2.1") -> Kit:
        """Returns a bundle without programs."""
        packed = self.folder / "packed"
        packed.mkdir()
        tarfile.open(packed / "program.tar.gz", "w:gz").close()
        (packed / "manifest.json").write_text(json.dumps({"commit": "abc", "glibc": glibc, "glibcxx": "3.4",
                                                          "solver_tests": ["Bits.AreTheHosts/steps"]}))
        (self.folder / "work").mkdir()
        return Kit(packed, self.folder / "work")

    def session(self) -> Session:
        kit = self.kit()
        kit.unpack()
        out = self.folder / "out"
        out.mkdir()
        return Session(kit, out, 60, True)

    def result(self) -> dict:
        return json.loads((self.folder / "out/first-light.json").read_text())


def alive(process: str) -> bool:
    try:
        return Path(f"/proc/{int(process)}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Commands(WithFolder):
    def run_shell(self, script: str, seconds: float, **more: float) -> command.Outcome:
        job = command.Job(["/bin/sh", "-c", script], self.folder / "log", dict(os.environ))
        return command.run_together([job], self.folder, seconds, 0.2, **more)[0]

    def test_what_hangs_is_ended_with_all_that_it_started(self) -> None:
        outcome = self.run_shell("trap '' TERM; sleep 600 & echo $!; wait; sleep 600", 600, stall=2)
        self.assertTrue(outcome.timed_out)
        for _ in range(500):  # the system may take a while to end the process
            if not alive(outcome.out.strip()):
                return
            time.sleep(0.1)
        self.fail("what it started is alive")

    def test_a_command_that_hangs_does_not_hold_up_the_others(self) -> None:
        jobs = [command.Job(["/bin/sh", "-c", script], self.folder / name, dict(os.environ))
                for name, script in (("hangs", "echo begun; while [ ! -e ended ]; do sleep 0.1; done; touch seen; sleep 600"),
                                     ("works", "touch ended; while [ ! -e seen ]; do sleep 0.1; done; echo done; exit 3"))]
        hung, worked = command.run_together(jobs, self.folder, 300, 0.2, stall=5)
        self.assertEqual((hung.timed_out, hung.out), (True, "begun\n"))
        self.assertEqual((worked.timed_out, worked.code, worked.out), (False, 3, "done\n"))

    def test_what_says_nothing_for_too_long_hangs(self) -> None:
        outcome = self.run_shell("echo begun; sleep 600", 300, stall=1)
        self.assertTrue(outcome.timed_out)
        self.assertEqual(outcome.out, "begun\n")

    def test_a_crash_is_named(self) -> None:
        self.assertIn("SIGABRT", self.run_shell("kill -ABRT $$", 60).why())

    def test_a_program_that_is_not_there_is_told(self) -> None:
        job = command.Job([str(self.folder / "none")], self.folder / "log", {})
        outcome = command.run_together([job], self.folder, 5)[0]
        self.assertIn("did not start", outcome.why())


class Figures(WithFolder):
    def test_kernels_are_listed_by_their_time_on_the_device(self) -> None:
        rows = [{"kernel": "a 64/64", "calls": 2, "seconds": 1e-5, "idle": 9.0, "host": 4e-6},
                {"kernel": "b 8/8", "calls": 1, "seconds": 3e-5, "idle": 0.0, "host": 1e-6}]
        (self.folder / "7.json").write_text("\n".join(json.dumps(row) for row in rows) + "\n{\"kernel\": \"cut")
        first, second = figures.kernel_times(self.folder)
        self.assertEqual((first["kernel"], first["us"], first["share"]), ("b 8/8", 30, 0.75))
        self.assertEqual((second["us"], second["us of the host"]), (5, 2))

    def test_tests_of_a_program_that_died(self) -> None:
        tests = figures.Tests("[ RUN      ] a.b\n[       OK ] a.b (1 ms)\n"
                              "[ RUN      ] a.c\nop_test.cpp:7: off by 3\n[  FAILED  ] a.c (2 ms)\n"
                              "[ RUN      ] a.d\n[  SKIPPED ] a.d (0 ms)\n[ RUN      ] a.e\n")
        self.assertEqual((tests.passed, tests.failed, tests.skipped, tests.cut), (["a.b"], ["a.c"], ["a.d"], "a.e"))
        self.assertEqual(tests.why["a.c"], "op_test.cpp:7: off by 3")

    def test_half_a_line_is_left_out(self) -> None:
        self.assertEqual(figures.json_lines('warning\n{"a": 1}\n{"a": '), [{"a": 1}])

    def test_a_run_that_was_stopped(self) -> None:
        run = self.folder / "svc/2026"
        (run / "journal").mkdir(parents=True)
        (run / "summary.json").write_text(json.dumps({
            "state": "stopped", "fits": 2, "fits_planned": 9, "failed": 0, "wall_s": 5.0, "best": None, "test": None}))
        fits = [{"fit": i, "note": f"steps={100 + i} settled=0@1", "start": 10.0 + i, "end": 11.0 + i} for i in (0, 1)]
        lines = ['{"mokume_journal":2}'] + [json.dumps(fit) for fit in fits] + ['{"event":"stop"}', '{"fit":']
        (run / "journal/node-0000.ndjson").write_text("\n".join(lines))
        found = figures.of_run(self.folder)
        self.assertEqual((found["steps"], found["span_s"], found["fits_per_s"]), (201, 2.0, 1.0))
        (run / "summary.json").unlink()  # as after a kill
        found = figures.of_run(self.folder)
        self.assertEqual((found["state"], found["fits"], found["steps"]), ("killed", 2, 201))

    def test_equal_builds_are_one_row(self) -> None:
        log = "ptxas info : 8 bytes stack frame, 4 bytes spill stores\nptxas info : Used 40 registers"
        for number, seconds in enumerate((0.5, 1.5)):
            (self.folder / f"1-{number}.json").write_text(json.dumps(
                {"kernels": "gemm", "options": "-DA", "code": 0, "seconds": seconds, "log": log}))
        [row] = figures.builds(self.folder)
        self.assertEqual((row["times"], row["seconds"], row["registers"], row["spills"]), (2, 2.0, 40, 4))


class Steps(WithFolder):
    def test_one_that_fails_costs_no_other(self) -> None:
        session = self.session()

        def broken(_: Session) -> None:
            raise KeyError("own mistake")

        def unlucky(_: Session) -> None:
            raise StepFailed("there is no card")

        def good(s: Session) -> None:
            s.table("numbers <of> it", [{"name": "x", "value": 12345.6}])

        sys.stdout, sys.stderr = open(os.devnull, "w"), open(os.devnull, "w")
        try:
            for name, body in (("broken", broken), ("unlucky", unlucky), ("good", good)):
                run_step(session, Step(name, 5, 1, body))
            run_step(session, Step("long", 500, 400, good))
        finally:
            sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
        done = self.result()["steps"]
        self.assertEqual([done[n]["status"] for n in ("broken", "unlucky", "good", "long")],
                         ["failed", "failed", "done", "skipped"])
        self.assertEqual(done["unlucky"]["reason"], "there is no card")
        shown = (self.folder / "out/first-light.html").read_text()
        self.assertIn("numbers &lt;of&gt; it", shown)
        self.assertIn("12,346", shown)

    def test_ratios_to_the_best_of_a_peer(self) -> None:
        session = self.session()
        session.begin("networks", 5)
        session.table("networks", [{"case": "guide:128:train", "images_per_s": 300.0}])
        session.begin("ops", 5)
        session.table("ops", [{"op": "gemm", "name": "square", "tile_us": 50.0, "clblast_us": 40.0}])
        session.begin("peers", 5)
        rates = {"graph fp32 nchw": 150.0, "compiled fp32 nhwc": 200.0, "graph bf16 nhwc": 600.0}
        steps.compare(session, {"torch": "2", "results": [
            {"case": "guide:128:train", "variant": variant, "images_per_s": rate} for variant, rate in rates.items()],
            "ops": [{"op": "gemm", "name": "square", "variant": "graph tf32 nchw", "us": 25.0}]})
        tables = self.result()["steps"]["peers"]["tables"]
        row = tables["images a second beside PyTorch"][0]
        self.assertEqual((row["by fp32"], row["ratio to best fp32"]), ("compiled fp32 nhwc", 1.5))
        self.assertEqual((row["by of all"], row["ratio to best of all"]), ("graph bf16 nhwc", 0.5))
        row = tables["ops a second beside PyTorch"][0]
        self.assertEqual((row["ratio to best fp32"], row["ratio to best of all"]), (None, 0.5))

    def test_a_result_that_is_not_the_known_one_fails_the_step_and_no_more(self) -> None:
        session = self.session()

        def wrong(s: Session) -> None:
            s.check("errors of the quickstart", 32, 33)
            s.check("errors of the guide network", "102, within 25", 110, True)
            s.table("afterwards", [{"a": 1}])

        with contextlib.redirect_stdout(None):
            run_step(session, Step("wrong", 5, 1, wrong))
        done = self.result()["steps"]["wrong"]
        self.assertEqual((done["status"], done["reason"]), ("failed", "1 of 2 checks failed: errors of the quickstart"))
        self.assertIn("afterwards", done["tables"])

    def test_the_solvers_tests_must_all_have_passed(self) -> None:
        session = self.session()
        session.begin("solver", 5)
        session.call = lambda *_, **__: command.Outcome(0, 0.1, False, "[==========] 0 tests ran.", "")  # type: ignore
        session.left = lambda: 0.0  # type: ignore
        steps.solver(session)
        [row] = session.step["tables"]["checks"]
        self.assertEqual((row["found"], row["good"]), ("did not run to its end", False))

    def test_a_step_takes_what_those_before_it_left_over(self) -> None:
        session = self.session()
        session.rehearse = False  # a rehearsal has longer limits
        ends = []
        for later in ((Step("later", 20, 1, steps.ops),), ()):
            with contextlib.redirect_stdout(None):
                run_step(session, Step("one", 5, 1, lambda s: ends.append(s.left())), later)
        self.assertLess(ends[0], 60 - RESERVE - 20)
        self.assertGreater(ends[1], ends[0])

    def test_an_unknown_one_is_refused_with_those_that_there_are(self) -> None:
        with self.assertRaisesRegex(KitError, "no step opps; there are .*ops"):
            chosen_steps("opps", "", steps.STEPS)

    def test_both_calls_find_the_device_and_keep_to_their_time(self) -> None:
        for flag, seconds in (("--first", 150), ("--rest", 400)):
            self.assertEqual(arguments([flag]).seconds, seconds)
        for call, seconds in ((steps.FIRST, 150), (steps.REST, 400), (steps.STEPS, 550)):
            self.assertLessEqual(DRIVER_LIMIT + sum(step.limit for step in call) + RESERVE, seconds)
            self.assertIn(steps.DEVICE, chosen_steps(call[-1].name, "", call))
        self.assertEqual({step.name for step in steps.FIRST + steps.REST}, {step.name for step in steps.STEPS})

    def test_an_old_glibc_is_told(self) -> None:
        with self.assertRaisesRegex(KitError, "needs glibc 99.1 or newer"):
            self.kit("99.1").unpack()


class Known(WithFolder):
    def results(self, errors: list) -> dict:
        lines = ["candidate,bootstrap,fold,C,gamma,n,errors,error,status"]
        lines += [f"0,0,{fold},0.001,0.0020153,12000,{count},0.1,ok" for fold, count in enumerate(errors)]
        (self.folder / "results.csv").write_text("\n".join(lines) + "\n")
        return known.counts(self.folder / "results.csv")

    def test_the_published_counts_are_compared_in_any_order(self) -> None:
        found = self.results([1725, 1496, 1639, 1757, 1723])
        [row] = known.checks(known.grid_of_60000(), found, in_order=False)
        self.assertTrue(row["good"], row)
        [row] = known.checks(known.grid_of_60000(), self.results([1725, 1496, 1640, 1757, 1723]), in_order=False)
        self.assertFalse(row["good"], row)

    def test_a_candidate_that_is_not_finished_is_not_judged(self) -> None:
        self.assertEqual(known.checks(known.grid_of_60000(), self.results([1725, 1496]), in_order=False), [])
        self.assertEqual(known.counts(self.folder / "of-a-run-that-was-killed.csv"), {})

    def test_the_counts_of_5000_rows_are_those_in_the_results(self) -> None:
        grid = known.grid_of_5000(GPU.parent / "results/svc-grid-mnist5000.json")
        self.assertEqual((len(grid), grid[(-2.2174, -5.4783)]), (20, [267, 254, 247, 292, 266]))


class Work(WithFolder):
    def test_the_next_call_finds_the_kernels_of_the_one_before(self) -> None:
        kit = self.kit()
        kit.unpack()
        (kit.work / "cache/mokume").mkdir()
        (kit.work / "cache/mokume/kernel").write_text("built")
        (kit.work / "steps").mkdir()
        (kit.root / "unpacked-before").mkdir(parents=True)
        with self.assertRaisesRegex(KitError, "another first-light works in"):
            Kit(kit.packed, kit.work).unpack()
        os.close(kit.lock)
        again = Kit(kit.packed, kit.work)
        again.unpack()
        self.assertTrue((kit.work / "cache/mokume/kernel").exists())
        self.assertTrue((kit.root / "unpacked-before").exists())
        self.assertFalse((kit.work / "steps").exists())
        os.close(again.lock)
        again.manifest["commit"] = "def"  # another program
        again.unpack()
        self.assertFalse((kit.root / "unpacked-before").exists())

    def test_kernels_that_came_back_are_used_where_there_are_none(self) -> None:
        kit = self.kit()
        (self.folder / "kernel").write_text("of the files that came back")
        with tarfile.open(kit.packed / "kernels.tar.gz", "w:gz") as archive:
            archive.add(self.folder / "kernel", "mokume/kernel")
        kit.unpack()
        self.assertTrue((kit.work / "cache/mokume/kernel").exists())

    def test_the_folder_has_a_fixed_place(self) -> None:
        self.assertEqual(work_folder(None), work_folder(None))
        self.assertEqual(work_folder(self.folder / "w"), (self.folder / "w").resolve())


class Whole(WithFolder):
    def first_light(self, *more: str) -> subprocess.CompletedProcess:
        return subprocess.run([str(GPU / "first-light"), *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              cwd=str(self.folder), check=False, timeout=100)

    def test_no_driver_lists_what_there_is(self) -> None:
        self.kit()
        done = self.first_light("--first", "--kit", "packed", "--out", "out", "--work", "work", "--library",
                                "libnone.so")
        self.assertEqual(done.returncode, 4, done.stdout)
        left = self.result()["steps"]
        self.assertEqual([left[name]["status"] for name in ("driver", "machine", "devices")],
                         ["failed", "done", "skipped"])
        self.assertIn("--library names one", left["driver"]["reason"])

    def test_no_bundle_names_the_cure(self) -> None:
        done = self.first_light("--kit", "nowhere", "--work", "work")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"make one with bench/gpu/pack", done.stdout)

    def test_pack_names_what_is_not_built(self) -> None:
        (self.folder / "mnist").mkdir()
        for name in ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"):
            (self.folder / f"mnist/{name}-ubyte.gz").write_bytes(b"")
        done = subprocess.run([sys.executable, str(GPU / "pack"), "--build", str(self.folder), "--out",
                               str(self.folder / "kit")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              env=dict(os.environ, MOKUME_DATA=str(self.folder)))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"is not built: cmake --preset bench", done.stdout)


class Driver(WithFolder):
    def test_links_to_one_file_are_one_library(self) -> None:
        library = self.folder / "libnvidia-opencl.so.580.1"
        library.write_bytes(b"\x7fELF\x02")
        (self.folder / "libnvidia-opencl.so.1").symlink_to(library)
        (self.folder / "libnvidia-opencl.so.32").write_bytes(b"\x7fELF\x01")
        self.assertEqual(driver._once_each(driver._walk(str(self.folder), 5, driver.PATTERNS)),
                         [str(self.folder / "libnvidia-opencl.so.1")])

    def test_cudas_driver_serves_where_there_is_no_opencl_and_the_kit_has_cubins(self) -> None:
        kit = self.kit()
        cuda = self.folder / "libcuda.so.1"
        cuda.write_bytes(b"\x7fELF\x02")
        with unittest.mock.patch.dict(os.environ, LD_LIBRARY_PATH=str(self.folder)):
            self.assertEqual(vendors_libraries(kit, None, True), ([], []))
            (kit.root / "cubins").mkdir(parents=True)
            libraries, drivers = vendors_libraries(kit, None, True)
        self.assertIn(os.path.realpath(libraries[0]), [os.path.realpath(p) for p in driver.find(driver.CUDA)] + [
            os.path.realpath(cuda)])
        self.assertEqual(drivers, [str(kit.root / "lib/cuda_icd.so")])
        self.assertEqual(kit.environment(False)["OPENCL_CUBINS"], str(kit.root / "cubins"))
        self.assertEqual(vendors_libraries(kit, "libnone.so", True), ([], []))

    def test_a_table_for_a_terminal(self) -> None:
        self.assertEqual(page.plain("t", [{"a": 1, "b": None}, {"a": 2.5}]), "t\n  a    b\n  1\n  2.5")


if __name__ == "__main__":
    unittest.main()
