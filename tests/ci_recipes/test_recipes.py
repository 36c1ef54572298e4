"""The steps of the action and of the recipes in docs/ci.md run, and end as the gate does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ci_recipes.shell_steps import GITHUB_PATH, EndedSteps, ShellStep, filled, run_steps
from tests.reference_broker.running import running_broker

ROOT = Path(__file__).resolve().parents[2]
QUICK = "--jobs 1 --requirement APIV-001 --requirement LISTO-002"
SCOPE = "APIV-00[1] LISTO-002"
"""The same requirements as patterns; the shell must not expand them."""
NO_FAILURE = "profile_version = 1\n"


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    with running_broker() as address:
        yield "external:{}:{}".format(*address)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The workspace: a repository with a profile."""
    (tmp_path / "known.toml").write_text(NO_FAILURE)
    return tmp_path


def action(folder: Path, *, installs: bool = False, **given: str) -> EndedSteps:
    """Run the shell steps of the action, the installation only if asked."""
    described = yaml.safe_load((ROOT / "action.yml").read_text())
    wanted = {name: one.get("default") for name, one in described["inputs"].items()}
    inputs = {**wanted, **given}
    steps = [
        ShellStep(
            step["run"],
            {name: filled(text, inputs) for name, text in step.get("env", {}).items()},
        )
        for step in described["runs"]["steps"]
        if "run" in step and (installs or step["name"] != "Install")
    ]
    assert len(steps) == 3 + installs
    names = ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", GITHUB_PATH, "RUNNER_TEMP")
    places = {name: str(folder / name) for name in names}
    return run_steps(steps, folder, {**places, "GITHUB_ACTION_PATH": str(ROOT)})


@pytest.mark.rotates(4)
def test_action_judges_reports_and_passes(target: str, folder: Path) -> None:
    (folder / "APIV-001").touch()  # a file that a pattern finds must not take its place
    given = {"requirement": SCOPE, "options": "--jobs 1", "profile": "known.toml"}
    ended = action(folder, installs=False, target=target, strict="true", **given)
    assert ended.exit_code == 0, ended.output
    assert not (folder / "kafka-conformance/site").exists()
    assert (folder / "GITHUB_OUTPUT").read_text() == "exit-code=0\n"
    said = json.loads((folder / "kafka-conformance/report/matrix.json").read_text())
    assert [one["id"] for one in said["requirements"]] == ["APIV-001", "LISTO-002"]
    summary = (folder / "kafka-conformance/report/matrix.md").read_text()
    assert (folder / "GITHUB_STEP_SUMMARY").read_text() == summary
    (run,) = json.loads((folder / "kafka-conformance/gate.sarif").read_text())["runs"]
    assert run["results"] == []
    assert "::error" not in ended.output


@pytest.mark.rotates(4)
def test_action_fails_with_an_annotation_and_a_sarif_result(target: str, folder: Path) -> None:
    (folder / "known.toml").write_text(f'{NO_FAILURE}[[present]]\nrequirements = ["PROD-001"]\n')
    ended = action(folder, target=target, options=QUICK, profile="known.toml")
    assert ended.exit_code == 5, ended.output
    assert (folder / "GITHUB_OUTPUT").read_text() == "exit-code=5\n"
    assert "::error title=PROD-001" in ended.output
    (run,) = json.loads((folder / "kafka-conformance/gate.sarif").read_text())["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == run["tool"]["driver"]["rules"][0]["id"] == "PROD-001"


@pytest.mark.deep
@pytest.mark.slow
def test_action_installs_into_an_environment_of_its_own(target: str, folder: Path) -> None:
    """From the package index, without Spark; its site has all pages."""
    given = {"options": QUICK, "profile": "known.toml", "site": "true"}
    ended = action(folder, installs=True, target=target, **given)
    assert ended.exit_code == 0, ended.output
    site = folder / "kafka-conformance/site"
    assert "APIV-001" in (site / "index.html").read_text()
    assert (site / "requirements/APIV-001.html").exists()
    (place,) = (folder / GITHUB_PATH).read_text().splitlines()
    assert (Path(place) / "kafka-conformance").exists()
    assert not list(Path(place).parent.rglob("pyspark"))


def test_action_ends_at_wrong_usage(folder: Path) -> None:
    ended = action(folder, target="nowhere")
    assert (ended.exit_code, "unknown target 'nowhere'" in ended.output) == (1, True)
    assert not (folder / "GITHUB_OUTPUT").exists()


def blocks(language: str) -> list[str]:
    """The blocks of docs/ci.md in a language."""
    text = (ROOT / "docs/ci.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def gitlab() -> list[str]:
    described = [_yaml(one) for one in blocks("yaml")]
    (job,) = [one["conformance"] for one in described if "conformance" in one]
    return list(job["script"])


def jenkins() -> list[str]:
    (pipeline,) = blocks("groovy")
    scripts = re.findall(r"sh '([^']*)'", pipeline)
    return [script for script in scripts if not script.startswith("pip install")]


def _yaml(text: str) -> dict[str, Any]:
    return dict(yaml.safe_load(text))


@pytest.mark.rotates(4)
@pytest.mark.parametrize("recipe", [gitlab, jenkins])
def test_recipe_judges_reports_and_passes(
    target: str, folder: Path, recipe: Callable[[], list[str]]
) -> None:
    steps = [ShellStep(script) for script in recipe()]
    assert len(steps) == 3
    ended = run_steps(steps, folder, {"TARGET": target, "OPTIONS": QUICK})
    assert ended.exit_code == 0, ended.output
    assert (folder / "results/report/junit.xml").exists()


def test_inputs_of_the_example_exist() -> None:
    (workflow,) = [one for one in map(_yaml, blocks("yaml")) if "jobs" in one]
    described = yaml.safe_load((ROOT / "action.yml").read_text())
    (given,) = [step["with"] for step in workflow["jobs"]["conformance"]["steps"] if "with" in step]
    assert set(given) <= set(described["inputs"])
    required = {name for name, one in described["inputs"].items() if one.get("required")}
    assert required <= set(given)
