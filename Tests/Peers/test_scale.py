"""Tools/scale really shares out a sweep: what comes together is what one process prints."""
import os
import re
import shutil
import subprocess

import pytest
import yaml

from emulator import ROOT, binary

OPTIONS = ["--duration", "2h", "--precision", "20%", "--scanner", "android-13-balanced", "--sweep",
           "policy=fixed,activity", "--sweep", "interval=100ms..1s/4"]
PARTS = 3


@pytest.fixture(name="place")
def a_place(tmp_path):
    """A folder to work in, and the environment with the program in its path."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "peripheral-emu").symlink_to(binary())
    return tmp_path, {**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}


def run(place, words, **more):
    """Runs a command there; its standard output."""
    folder, environment = place
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True,
                          env={**environment, **more}, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def words(profile):
    """The options of the sweep."""
    return ["--profile", profile, *OPTIONS]


def assert_whole(place, profile):
    """The parts there come to what one process prints."""
    parts = sorted((place[0] / "parts").iterdir())
    assert [part.name for part in parts] == [f"{number}.json" for number in range(1, PARTS + 1)]
    for form in ([], ["--json"]):
        alone = run(place, ["peripheral-emu", "bench", *words(profile), *form])
        assert alone and run(place, ["peripheral-emu", "bench", "merge", *parts, *form]) == alone


def test_parallel_shares_out_a_sweep_and_runs_only_what_is_missing(place):
    if not shutil.which("parallel"):
        pytest.skip("GNU parallel is not here")
    profile = ROOT / "Profiles/environment-sensor.yaml"
    command = [ROOT / "Tools/scale/parallel.sh", PARTS, *words(profile)]
    run(place, command)
    assert_whole(place, profile)
    times = [(place[0] / "parts" / f"{number}.json").stat().st_mtime_ns for number in (1, 3)]
    (place[0] / "parts/2.json").unlink()
    run(place, command)
    assert times == [(place[0] / "parts" / f"{number}.json").stat().st_mtime_ns
                     for number in (1, 3)]
    assert_whole(place, profile)


def test_a_slurm_array_shares_out_a_sweep(place):
    """The script as each task runs it, with what Slurm tells it."""
    profile = ROOT / "Profiles/environment-sensor.yaml"
    for task in range(1, PARTS + 1):
        # A task that is run again alone has the array's number from the user.
        count = {"SLURM_ARRAY_TASK_COUNT": "1", "PARTS": str(PARTS)} if task == 2 else {
            "SLURM_ARRAY_TASK_COUNT": str(PARTS)}
        run(place, [ROOT / "Tools/scale/slurm.sh", *words(profile)],
            SLURM_ARRAY_TASK_ID=str(task), **count)
    assert_whole(place, profile)


def test_a_kubernetes_job_shares_out_a_sweep(place):
    """The container's command with what Kubernetes tells it, its folders below another root."""
    job = yaml.safe_load((ROOT / "Tools/scale/kubernetes.yaml").read_text(encoding="utf-8"))
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    container, = pod["containers"]
    count = {each["name"]: each["value"] for each in container["env"]}["COUNT"]
    assert job["apiVersion"] == "batch/v1" and job["kind"] == "Job"
    assert spec["completionMode"] == "Indexed" and pod["restartPolicy"] == "Never"
    assert count == str(spec["completions"]) == str(spec["parallelism"])
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert mounts.keys() == volumes.keys()
    for item in volumes["sweep"]["configMap"]["items"]:
        target = place[0] / "sweep" / item["path"]
        target.parent.mkdir(parents=True, exist_ok=True)
        source, = (ROOT / "Profiles").rglob(item["key"])
        shutil.copy(source, target)
    (place[0] / "parts").mkdir()
    *shell, flags = container["command"]
    text, = container["args"]
    # The sweep of the example takes minutes.
    text, found = re.subn(r"--sweep.*\\\n", " ".join(OPTIONS) + " \\\n", text)
    assert found == 1
    text = re.sub(r"/(sweep|parts)/", rf"{place[0]}/\1/", text)
    for index in range(PARTS):
        run(place, [*shell, flags, text], COUNT=str(PARTS), JOB_COMPLETION_INDEX=str(index))
    assert_whole(place, place[0] / "sweep/adaptive-tag.yaml")
