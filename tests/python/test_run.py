"""Tests experiment files and their runs."""

import numpy as np
import pytest

import mokume

FILE = """
name = "e"
model = "svc"
seed = 7
[data]
source = "digits"
limit = 200
standardize = { mean = 127.5, scale = 73.61 }
[validation]
folds = 2
[search]
method = "grid"
[search.params]
C = [0.1, 10]
[devices]
use = "host"
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    (place / "e.toml").write_text(FILE)
    return mokume.run(place / "e.toml", out=str(place / "runs"), settings={"data.limit": 150}, quiet=True)


def test_a_run_has_tables(finished):
    assert finished.state == "done"
    assert list(finished.results["candidate"]) == [0, 0, 1, 1]
    assert list(finished.candidates["C"]) == [0.1, 10]
    assert {"device", "start_s"} <= set(finished.timeline.columns)
    assert finished.summary["data"]["rows"] == 150
    assert finished.best == {"C": 10.0}
    assert finished.report.is_file()
    assert mokume.read(finished.directory).best == finished.best


def test_a_run_predicts(finished):
    blank = np.zeros((3, 784))
    said = finished.predict(blank, devices="host")
    assert len(said) == 3 and said["predicted"].nunique() == 1
    said = finished.predict("digits,test=own", devices="host")
    assert len(said) == 1000 and (said["predicted"] == said["label"]).mean() > 0.3


def test_a_run_has_the_epochs_of_its_networks(tmp_path):
    text = FILE.replace('"svc"', '"cnn"').replace("C = [0.1, 10]", "batch_size = [20, 50]")
    (tmp_path / "e.toml").write_text(text + '[model_options]\nepochs = 3\noptimizer = { type = "adam" }\n')
    run = mokume.run(tmp_path / "e.toml", out=str(tmp_path / "runs"), quiet=True)
    epochs = run.epochs
    assert len(epochs) == 5 * 3 and list(epochs["epoch"][:4]) == [1, 2, 3, 1]
    folds = epochs[epochs["fold"] != "refit"]
    assert folds.groupby(["candidate", "fold"]).size().tolist() == [3] * 4
    last = folds[folds["epoch"] == 3]
    np.testing.assert_allclose(last["validation_loss"], run.results["loss"])
    np.testing.assert_allclose(1 - last["validation_accuracy"], run.results["error"])
    refit = epochs[epochs["fold"] == "refit"]
    assert len(refit) == 3 and refit["train_loss"].is_monotonic_decreasing
    assert refit["validation_loss"].isna().all()


def test_a_run_of_machines_has_no_epochs(finished):
    with pytest.raises(FileNotFoundError, match="its model reports no curves"):
        finished.epochs


def test_errors_are_those_of_the_program(tmp_path):
    (tmp_path / "e.toml").write_text(FILE.replace("folds", "flods"))
    with pytest.raises(mokume.Failure, match="did you mean 'folds'") as failure:
        mokume.run(tmp_path / "e.toml", quiet=True)
    assert failure.value.code == 2
    with pytest.raises(FileNotFoundError, match="run.json"):
        mokume.read(tmp_path)


def test_a_program_that_is_missing_is_named(monkeypatch):
    monkeypatch.setenv("MOKUME_PROGRAM", "/nowhere/mokume")
    with pytest.raises(FileNotFoundError, match="MOKUME_PROGRAM is /nowhere/mokume"):
        mokume.program()
