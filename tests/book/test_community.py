"""The way in for contributors: what its pages name is there, and what the host reads has the host's form."""

import os
import re
import shutil
import subprocess
import sys
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import d2lrnn
from book.recording.notebooks import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
PAGES = [ROOT / f"{name}.md" for name in ("CHANGELOG", "CODE_OF_CONDUCT", "CONTRIBUTING", "SECURITY")]
PAGES.append(ROOT / ".github" / "pull_request_template.md")
ALL = [*PAGES, *WORKFLOWS, *TEMPLATES, ROOT / ".github" / "dependabot.yml"]

# A schema that check-jsonschema carries: the files that must be of its form, and one that is not.
FORMS = {
    "vendor.github-workflows": (WORKFLOWS, "on: push\njobs: {a: {steps: []}}"),
    "custom.github-workflows-require-timeout": (
        WORKFLOWS,
        "on: push\njobs: {a: {runs-on: ubuntu-latest, steps: []}}",
    ),
    "vendor.github-issue-forms": (
        [path for path in TEMPLATES if path.stem != "config"],
        "name: a\ndescription: b\nbody: [{type: area}]",
    ),
    "vendor.github-issue-config": ([ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml"], "blank: true"),
    "vendor.dependabot": ([ROOT / ".github" / "dependabot.yml"], "version: 2\nupdates: [{directory: /}]"),
    "vendor.citation-file-format": ([ROOT / "CITATION.cff"], "cff-version: 1.2.0"),
}


def text(path):
    return path.read_text(encoding="utf-8")


def load(path):
    """Return a YAML file's content, with `on` as a word."""
    return yaml.load(text(path), yaml.BaseLoader)


def name(path):
    return path.name


def complaints(schema, *paths):
    """Return what check-jsonschema has to say of files, by a schema of its own."""
    command = [Path(sys.executable).with_name("check-jsonschema"), "--builtin-schema", schema, *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.parametrize("schema", FORMS)
def test_files_have_the_form_that_the_host_asks_for(schema):
    assert FORMS[schema][0]
    assert complaints(schema, *FORMS[schema][0]) == ""


@pytest.mark.parametrize("schema", FORMS)
def test_another_form_would_be_found(schema, tmp_path):
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(FORMS[schema][1], encoding="utf-8")
    assert "validation" in complaints(schema, wrong)


# What workflows may do and call


def jobs():
    """Return each workflow's jobs as (workflow, job, content, permissions)."""
    return [
        (path.stem, key, job, job.get("permissions", load(path).get("permissions")))
        for path in WORKFLOWS
        for key, job in load(path)["jobs"].items()
    ]


def steps():
    return [step for _, _, job, _ in jobs() for step in job["steps"]]


def test_only_what_publishes_may_write():
    may_write = {
        f"{workflow}, {key}": {what for what, how in permissions.items() if how == "write"}
        for workflow, key, _, permissions in jobs()
    }
    assert {job: what for job, what in may_write.items() if what} == {
        "release, publish": {"contents"},
        "site, site": {"id-token", "pages"},
    }


def test_what_may_write_to_the_repository_runs_nothing_of_it():
    job = load(ROOT / ".github" / "workflows" / "release.yml")["jobs"]["publish"]
    assert not [step for step in job["steps"] if "uses" in step or "python" in step["run"]]


def test_checkouts_keep_no_token():
    checkouts = [step for step in steps() if step.get("uses", "").startswith("actions/checkout@")]
    assert checkouts
    assert all(step["with"]["persist-credentials"] == "false" for step in checkouts)


def test_actions_are_the_host_s_own_and_each_of_one_version():
    used = {step["uses"] for step in steps() if "uses" in step}
    versions = [re.fullmatch(r"(actions/[\w-]+)@(v\d+|[0-9a-f]{40})", action) for action in sorted(used)]
    assert None not in versions
    assert len({action[1] for action in versions}) == len(used)


def test_pull_requests_run_no_workflow_but_the_tests():
    asked = {path.stem for path in WORKFLOWS if any(event.startswith("pull") for event in load(path)["on"])}
    assert asked == {"test"}


def test_every_week_the_readme_s_plain_commands_run_on_three_systems():
    job = load(ROOT / ".github" / "workflows" / "weekly.yml")["jobs"]["systems"]
    systems = {system.partition("-")[0] for system in job["strategy"]["matrix"]["system"]}
    assert systems == {"ubuntu", "macos", "windows"}
    block = re.search(r"^```sh\n(python -m venv .*?)^```", text(ROOT / "README.md"), re.DOTALL | re.MULTILINE)
    _environment, *commands = block[1].splitlines()
    assert [step["run"] for step in job["steps"] if "run" in step] == commands


def test_newest_releases_report_and_do_not_block():
    job = load(ROOT / ".github" / "workflows" / "weekly.yml")["jobs"]["newest"]
    assert job["continue-on-error"] == "true"


def in_bash(script, folder, **variables):
    """Run a step's script as the host does, with this environment's Python, and return its exit status."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), **variables}
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script], cwd=folder, env=env, check=False
    ).returncode


LISTS = [ROOT / "requirements.txt", ROOT / "requirements-test.txt"]


def requirements(path):
    """Return what a list of requirements names, without its options."""
    lines = [line.partition("#")[0].strip() for line in text(path).splitlines()]
    return [Requirement(line) for line in lines if line and not line.startswith("-")]


def test_newest_releases_are_all_packages_without_their_pins(tmp_path):
    job = load(ROOT / ".github" / "workflows" / "weekly.yml")["jobs"]["newest"]
    (script,) = [step["run"] for step in job["steps"] if "> newest.txt" in step.get("run", "")]
    for file in LISTS:
        shutil.copy(file, tmp_path)
    assert in_bash(script, tmp_path) == 0
    newest = requirements(tmp_path / "newest.txt")
    assert [one.name for one in newest] == [one.name for file in LISTS for one in requirements(file)]
    assert {one.name: str(one.specifier) for one in newest if one.specifier} == {"jupyter-book": "<2"}


@pytest.mark.parametrize(("tag", "status"), [(f"v{d2lrnn.__version__}", 0), ("v0.0.1", 1)])
def test_a_release_s_tag_must_be_the_version(tag, status):
    build = load(ROOT / ".github" / "workflows" / "release.yml")["jobs"]["build"]
    (script,) = [step["run"] for step in build["steps"] if "__version__" in step.get("run", "")]
    assert in_bash(script, ROOT, GITHUB_REF_NAME=tag) == status


def test_dependabot_looks_monthly_and_sends_one_request_for_each_kind():
    updates = {one["package-ecosystem"]: one for one in load(ROOT / ".github" / "dependabot.yml")["updates"]}
    assert updates.keys() == {"pip", "github-actions"}
    for one in updates.values():
        assert one["schedule"] == {"interval": "monthly"}
        assert [group["patterns"] for group in one["groups"].values()] == [["*"]]


# What pages and workflows name


def code(path):
    """Return the code of a page, a line for each piece; of a YAML file, all without comments."""
    content = text(path)
    if path.suffix != ".md":
        return re.sub(r"(^|\s)#.*", "", content)
    fence = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
    blocks = [re.sub(r"\s#.*", "", block) for block in fence.findall(content)]
    return "\n".join([*blocks, *re.findall(r"`([^`]+)`", fence.sub("", content))])


def named(pattern, among=ALL):
    return {found for path in among for found in re.findall(pattern, code(path), re.MULTILINE)}


def test_every_make_target_that_is_named_exists():
    targets = set(re.findall(r"^([a-z]+):", text(ROOT / "Makefile"), re.MULTILINE))
    asked = named(r"(?:^|run: )make ([a-z]+)")
    assert {"record", "test", "matrix"} <= asked
    assert asked <= targets


def missing(paths):
    """Return the paths at which there is nothing; NAME stands for any name."""
    return [path for path in sorted(paths) if not list(ROOT.glob(path.replace("NAME", "*").rstrip("/")))]


def test_every_path_that_pages_name_exists():
    file = r"[\w-]+\.(?:cff|ipynb|md|txt|yml)"
    paths = named(rf"(?<![\w./-])((?:[a-z][\w.-]*/)+(?:[\w.-]+\.\w+)?|{file})(?![\w/])", PAGES)
    assert {"chapters/NAME.md", "tests/book/test_chapters.py", "d2lrnn/data/", "_toc.yml"} <= paths
    assert missing(paths) == []


def test_every_list_of_requirements_that_workflows_name_exists():
    lists = named(r"requirements[\w-]*\.txt", WORKFLOWS)
    lists |= {step["with"]["cache-dependency-path"] for step in steps() if "cache" in step.get("with", {})}
    assert {"requirements.txt", "requirements-test.txt"} <= lists
    assert missing(lists) == []


def test_every_module_that_is_run_exists():
    modules = named(r"python -m (book[\w.]+)")
    assert modules
    assert all((ROOT / f"{module.replace('.', '/')}.py").is_file() for module in modules)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_to_files_of_the_repository(page):
    links = re.findall(r"\]\(([^)]+)\)", text(page))
    assert [link for link in links if not link.startswith("https://") and not (ROOT / link).is_file()] == []


def test_the_one_test_that_contributing_runs_exists():
    ((file, word),) = named(r"pytest (\S+\.py) -k (\w+)")
    assert re.search(rf"^def test_\w*{word}", text(ROOT / file), re.MULTILINE)


@pytest.mark.parametrize("path", ALL, ids=name)
def test_no_address_of_e_mail_is_given(path):
    assert re.findall(r"[\w.+-]+@[\w-]+\.[\w.-]+", text(path)) == []


def test_contributing_has_two_screens():
    lines = text(ROOT / "CONTRIBUTING.md").splitlines()
    assert len(lines) <= 100
    assert max(map(len, lines)) <= 100


# The changelog

CHANGES = text(ROOT / "CHANGELOG.md")
RELEASES = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\S+)$", CHANGES, re.MULTILINE)


def test_changelog_has_unreleased_changes_first_and_then_releases():
    sections = re.findall(r"^## (.+)$", CHANGES, re.MULTILINE)
    assert sections == ["[Unreleased]", *(f"[{version}] - {day}" for version, day in RELEASES)]


def test_changelog_s_releases_are_in_order():
    versions = [tuple(map(int, version.split("."))) for version, _ in RELEASES]
    days = [date.fromisoformat(day) for _, day in RELEASES]
    assert all(after > before for after, before in pairwise(versions))
    assert all(after >= before for after, before in pairwise(days))


def test_changelog_has_the_package_s_version():
    assert d2lrnn.__version__ in dict(RELEASES)


def test_citation_names_the_package_s_version_and_the_day_of_its_release():
    citation = load(ROOT / "CITATION.cff")
    assert citation["version"] == d2lrnn.__version__
    assert citation["date-released"] == dict(RELEASES)[d2lrnn.__version__]


def test_changelog_sorts_changes_by_their_kind():
    for section in re.split(r"^## .+$", CHANGES, flags=re.MULTILINE)[1:]:
        kinds = re.findall(r"^### (.+)$", section, re.MULTILINE)
        assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
        assert len(kinds) == len(set(kinds))
        assert all("\n- " in part for part in re.split(r"^### .+$", section, flags=re.MULTILINE)[1:])
