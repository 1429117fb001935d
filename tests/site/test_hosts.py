"""Where the repository is, on every kind of host, and the buttons that pages show for it."""

import html
import os
import re
import shutil
import subprocess

import pytest
from small_course import chapter

from book.recording import address
from book.recording.address import Repository, given, remote, web_address
from book.site.extension import launch_buttons

REMOTES = {
    # GitHub
    "https://github.com/someone/course.git": "https://github.com/someone/course",
    "https://github.com/someone/course": "https://github.com/someone/course",
    "https://github.com/someone/course/": "https://github.com/someone/course",
    "https://GitHub.com/Someone/Course.git": "https://github.com/Someone/Course",
    "https://www.github.com/someone/course": "https://github.com/someone/course",
    "https://someone:secret@github.com/someone/course.git": "https://github.com/someone/course",
    "http://github.com/someone/course": "https://github.com/someone/course",
    "git://github.com/someone/course.git": "https://github.com/someone/course",
    "git@github.com:someone/course.git": "https://github.com/someone/course",
    "github.com:someone/course": "https://github.com/someone/course",
    "ssh://git@github.com/someone/course.git": "https://github.com/someone/course",
    "ssh://git@ssh.github.com:443/someone/course.git": "https://github.com/someone/course",
    "https://github.com/someone/some.course.git": "https://github.com/someone/some.course",
    "https://github.com/someone": "",
    "https://github.com/": "",
    "https://github.com/someone/course/wiki": "",
    # GitLab, where groups lie in groups
    "https://gitlab.com/group/course.git": "https://gitlab.com/group/course",
    "git@gitlab.com:group/sub/course.git": "https://gitlab.com/group/sub/course",
    "https://someone:secret@gitlab.com/group/sub/course/": "https://gitlab.com/group/sub/course",
    "ssh://git@altssh.gitlab.com:443/group/sub/deep/course.git": "https://gitlab.com/group/sub/deep/course",
    "git@gitlab.com:course.git": "",
    # Bitbucket
    "https://someone@bitbucket.org/team/course.git": "https://bitbucket.org/team/course",
    "git@bitbucket.org:team/course.git": "https://bitbucket.org/team/course",
    "ssh://git@altssh.bitbucket.org:443/team/course": "https://bitbucket.org/team/course",
    # A forge of one's own: what is fetched by https has pages there, and a shell account need not
    "https://git.example.org/group/sub/course.git": "https://git.example.org/group/sub/course",
    "https://someone@git.example.org:8443/group/course": "https://git.example.org:8443/group/course",
    "http://git.example.org/course.git": "http://git.example.org/course",
    "git@git.example.org:group/course.git": "",
    "ssh://git@git.example.org:2222/group/course.git": "",
    # No place on the web
    "": "",
    "/srv/git/course.git": "",
    "../course": "",
    "file:///srv/git/course.git": "",
    r"C:\courses\rnn": "",
    "C:/courses/rnn": "",
    "https://git.example.org": "",
    "https://git.example.org:port/group/course": "",
    'https://git.example.org/group/"; rm': "",
}


@pytest.mark.parametrize(("remote", "expected"), REMOTES.items())
def test_web_address_of_a_remote(remote, expected):
    assert web_address(remote) == expected


@pytest.fixture
def git(monkeypatch):
    """Return a function that runs git as in a fresh account."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")

    def run(folder, *arguments):
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True)

    return run


COURSE = "https://github.com/someone/course"


@pytest.fixture
def clone(git, tmp_path):
    """Return a folder that looks like a clone from GitHub."""
    folder = tmp_path / "course"
    git(folder, "init", "--quiet")
    git(folder, "remote", "add", "origin", f"{COURSE}.git")
    return folder


def test_repository_of_a_clone_is_its_remote_s(clone):
    assert remote(clone) == Repository(COURSE)


def test_fork_s_repository_is_its_own(clone, git):
    git(clone, "remote", "rename", "origin", "upstream")
    git(clone, "remote", "add", "origin", "git@github.com:student/course.git")
    assert remote(clone) == Repository("https://github.com/student/course")


def test_second_working_tree_has_its_clone_s_repository(clone, git):
    user = ["-c", "user.name=A", "-c", "user.email=a"]
    git(clone, *user, "commit", "--quiet", "--allow-empty", "--message", "first")
    git(clone, "worktree", "add", "--quiet", clone.parent / "second")
    assert remote(clone.parent / "second") == Repository(COURSE)


def test_folder_within_another_repository_has_none(clone):
    (clone / "courses" / "rnn").mkdir(parents=True)
    assert remote(clone / "courses" / "rnn") is None


def test_repository_that_git_s_variables_name_is_not_this_one(clone, monkeypatch, tmp_path):
    """As in a hook of another repository."""
    monkeypatch.setenv("GIT_DIR", str(clone / ".git"))
    (tmp_path / "unpacked").mkdir()
    assert remote(tmp_path / "unpacked") is None


def test_folder_without_git_s_has_none(clone):
    shutil.rmtree(clone / ".git")
    assert remote(clone) is None


def test_clone_without_a_remote_has_none(clone, git):
    git(clone, "remote", "remove", "origin")
    assert remote(clone) is None


def test_computer_without_git_has_none(clone, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert remote(clone) is None


@pytest.mark.parametrize("host", ["127.0.0.1:3000", "localhost", "[::1]:80"])
def test_remote_on_this_machine_is_none_for_others(host, clone, git):
    git(clone, "remote", "set-url", "origin", f"http://{host}/git/someone/course")
    assert remote(clone) is None


@pytest.mark.parametrize("name", ["here", address.VARIABLE])
def test_address_that_is_none_is_named(name):
    with pytest.raises(ValueError, match=rf"{name} is 'someone/course', which is no address"):
        given("someone/course", name)


def test_environment_comes_before_the_recorded_address_and_that_before_git_s(monkeypatch):
    monkeypatch.setattr(address, "remote", lambda _: Repository("https://github.com/by/git"))
    monkeypatch.setattr(address, "recorded", lambda: None)
    monkeypatch.delenv(address.VARIABLE, raising=False)
    assert address.current().url == "https://github.com/by/git"
    monkeypatch.setattr(address, "recorded", lambda: Repository("https://github.com/as/recorded"))
    assert address.current().url == "https://github.com/as/recorded"
    monkeypatch.setenv(address.VARIABLE, "git@github.com:by/variable.git")
    assert address.current().url == "https://github.com/by/variable"


WANTED = {"binderhub_url": "https://b", "colab_url": "https://c", "jupyterhub_url": "https://hub.example.org"}
GITHUB, NESTED = Repository(COURSE), Repository("https://gitlab.com/group/sub/course")
BITBUCKET, OWN = Repository("https://bitbucket.org/team/course"), Repository("https://git.example.org/a/b")


@pytest.mark.parametrize(
    ("repository", "left"),
    [
        (GITHUB, {"binderhub_url", "colab_url", "jupyterhub_url"}),
        (NESTED, {"binderhub_url", "jupyterhub_url"}),
        (BITBUCKET, {"binderhub_url", "jupyterhub_url"}),
        (OWN, {"jupyterhub_url"}),
    ],
)
def test_only_buttons_that_work_on_the_host_are_left(repository, left, monkeypatch):
    monkeypatch.setattr(address, "recorded", lambda: repository)
    assert set(launch_buttons(WANTED, repository)) == left


def test_capital_letters_make_no_other_address(monkeypatch):
    monkeypatch.setattr(address, "recorded", lambda: GITHUB)
    assert launch_buttons(WANTED, Repository("https://github.com/Someone/Course")) == WANTED


@pytest.mark.parametrize("recorded", [None, Repository("https://github.com/another/course")])
@pytest.mark.parametrize("repository", [None, GITHUB])
def test_no_button_leads_to_notebooks_that_are_not_recorded_for_the_address(
    recorded, repository, monkeypatch
):
    monkeypatch.setattr(address, "recorded", lambda: recorded)
    assert launch_buttons(WANTED, repository) == {}


@pytest.mark.parametrize(
    ("repository", "package"),
    [
        (GITHUB, f"{COURSE}/releases/download/v1.2.3/d2lrnn-1.2.3-py3-none-any.whl"),
        (NESTED, f"{NESTED.url}/-/archive/v1.2.3/course-v1.2.3.zip"),
        (BITBUCKET, f"{BITBUCKET.url}/get/v1.2.3.zip"),
        (OWN, ""),
    ],
)
def test_release_is_installed_from_where_the_host_has_it(repository, package):
    assert repository.package("1.2.3") == package


@pytest.fixture(scope="module")
def small(course):
    """Return a small course with one recorded chapter, no address and no git."""
    course.write("small.md", chapter("print(6 * 7)"))
    assert course.record().returncode == 0
    return course


def built(course, url, named=""):
    """Build the course with an address that is recorded, or named in the environment; return its buttons.

    Those are the links by the names of their buttons, but for downloads, which every page has.
    """
    path = course.root / "_config.yml"
    text = re.sub(r'(?m)^  url: "[^"]*"', f'  url: "{url}"', path.read_text(encoding="utf-8"))
    text = re.sub(r'(?m)^  jupyterhub_url: "[^"]*"', '  jupyterhub_url: "https://hub.example.org"', text)
    path.write_text(text, encoding="utf-8")
    done = course.run(
        "jupyter-book", "build", ".", "-W", "-n", "--keep-going", "--all", **{address.VARIABLE: named}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    buttons = re.findall(r'<a href="(https?://[^"]+)"[^>]*\stitle="([^"]+)"', page(course))
    return {title: html.unescape(link) for link, title in buttons}


NOTEBOOK = "urlpath=tree/chapters/small.ipynb"
HUB = "https://hub.example.org/hub/user-redirect/git-pull?repo={}&urlpath=tree/{}/chapters/small.ipynb&branch=main"


def hub(repository):
    return HUB.format(repository.url.replace(":", "%3A"), repository.url.rpartition("/")[2])


def page(course):
    return (course.root / "_build" / "html" / "chapters" / "small.html").read_text(encoding="utf-8")


def test_without_an_address_there_is_no_button(small):
    assert built(small, "") == {}
    assert "executablebooks" not in page(small)
    assert (small.root / "_build" / "html" / ".nojekyll").is_file()  # for a branch of GitHub Pages


def test_address_that_is_not_recorded_gives_a_link_to_the_repository_alone(small):
    assert built(small, "", f"{GITHUB.url}.git") == {"Source repository": GITHUB.url}
    assert "fa-github" in page(small)


def test_forge_that_the_theme_does_not_know_has_a_neutral_icon(small):
    assert built(small, "", OWN.url) == {"Source repository": OWN.url}
    assert "fa-code-branch" in page(small)
    assert "fa-gitlab" not in page(small)


@pytest.mark.parametrize(
    ("repository", "launch"),
    [
        (
            GITHUB,
            {
                "Launch on Binder": f"https://mybinder.org/v2/gh/someone/course/main?{NOTEBOOK}",
                "Launch on Colab": "https://colab.research.google.com/github/someone/course/blob/main/"
                "chapters/small.ipynb",
            },
        ),
        (
            NESTED,
            {"Launch on Binder": f"https://mybinder.org/v2/gl/group%2Fsub%2Fcourse/main?{NOTEBOOK}"},
        ),
        (
            BITBUCKET,
            {
                "Launch on Binder": "https://mybinder.org/v2/git/"
                f"https%3A%2F%2Fbitbucket.org%2Fteam%2Fcourse/main?{NOTEBOOK}"
            },
        ),
        (OWN, {}),
    ],
)
def test_recorded_address_gives_the_buttons_that_work_there(repository, launch, small):
    assert built(small, repository.url) == {
        "Source repository": repository.url,
        "Launch on JupyterHub": hub(repository),
        **launch,
    }


def test_wrong_address_stops_the_build_with_one_line(small):
    done = small.run("jupyter-book", "build", ".", **{address.VARIABLE: "someone/course"})
    assert done.returncode != 0
    assert f"{address.VARIABLE} is 'someone/course', which is no address" in done.stdout + done.stderr
