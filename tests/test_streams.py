"""Several files of one failure: what is joined, what never is, and that the rest stays as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from streams import LOADING, NamedBytes, fault, killed, timed, untimed, vllm

from strata_diag import Diagnosis, RuleSet, Status, diagnose
from strata_diag.streams import diagnose_together, read_companion, reading

AFTER = "[Wed Mar 11 08:02:16 2026]"  # four seconds behind the last line of `timed()`
STRATA = (
    "[strata] 2026-03-11 08:02:00 engine started: /opt/strata/engine/strata --serve --pack /p\n"
    "strata generate: native pack: /p experts (largest blob 2.68 MB), token embedding IQ4_XS in mapped host memory\n"
)
NO_DEVICE = "ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected\n"
DIED = (
    "2026-03-11T08:02:14.655Z container oom 3f0c9a1be2d4 (image=ghcr.io/ggml-org/llama.cpp:server, name=chat)\n"
    "2026-03-11T08:02:14.755Z container die 3f0c9a1be2d4 (exitCode=137, image=ghcr.io/ggml-org/llama.cpp:server, name=chat)\n"
)
DESCRIBED = (
    "Name:  chat-1\nContainers:\n  server:\n    Image:   ghcr.io/ggml-org/llama.cpp:server\n"
    "    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n"
)
PODS = "NAME     READY   STATUS      RESTARTS      AGE\nweb-0    1/1     Running     0             15m\n"
PODS += "POD    0/1     OOMKilled   7 (2m ago)    15m\n"
LISTED = '3f0c9a1be2d4   img   "/app/server"   2 hours ago   Exited (137) 3 minutes ago             NAME\n'
INSPECTED = """[{
        "State": {
            "OOMKilled": true,
            "ExitCode": 137
        },
        "Image": "sha256:0ddba11",
        "Name": "/chat",
        "Config": {
            "Image": "ghcr.io/ggml-org/llama.cpp:server"
        }
}]
"""
OTHERS_DIED = (
    "2026-03-11T08:02:14.6Z container oom 3f0c9a1be2d4 (image=postgres:17, name=db)\n"
    "2026-03-11T08:02:15.6Z container die 3f0c9a1be2d4 (exitCode=0, image=redis:7, name=cache)\n"
)
CORPUS = Path(__file__).parent.parent / "corpus"


def together(rules: RuleSet, log: str, *beside: tuple[str, str], exit_code: int | None = None) -> Diagnosis:
    """The diagnosis of a log with named files beside it."""
    files = [NamedBytes(name, text) for name, text in beside]
    return diagnose_together(log, files, rules=rules, exit_code=exit_code)


def said(found: Diagnosis) -> str:
    """The notices on what was joined and what was not."""
    return "\n".join(notice.text for notice in found.notices if notice.kind == "stream")


def assert_alone(found: Diagnosis, log: str, rules: RuleSet) -> None:
    """The verdict is that of the log by itself."""
    assert found.verdict == diagnose(log, rules=rules).verdict
    assert found.runs == diagnose(log, rules=rules).runs


@pytest.mark.parametrize(
    ("log", "line", "how"),
    [
        pytest.param(untimed(), killed(), "by name, llama-server", id="name, without comparable clocks"),
        pytest.param(timed(), killed(time=AFTER), "by time, within 4 s", id="name and time"),
        pytest.param(
            timed(),
            killed(time="[Wed Mar 11 10:02:14 2026]", pid=77).replace("(llama-server)", "(llama-server)"),
            "",
            id="name, two hours later",
        ),
        pytest.param(
            timed((*LOADING, "./run.sh: line 3:  4711 Killed     llama-server -m x")),
            killed(time="[Wed Mar 11 10:02:14 2026]", pid=4711),
            "by its pid, llama-server (pid 4711), and by time, within 1 s, with the clocks in different zones",
            id="pid, in another zone",
        ),
    ],
)
def test_the_kernels_line_is_the_root_of_a_silent_end(all_rules: RuleSet, log: str, line: str, how: str) -> None:
    """A process that the kernel killed is the engine's by pid, or by name where the time agrees or can't be compared."""
    found = together(all_rules, log, ("dmesg.txt", line))
    joined = found.verdict.file == "dmesg.txt"
    assert joined is bool(how)
    if joined:
        assert (found.verdict.status, found.verdict.cause, found.verdict.line) == (Status.OOM, "host-memory", 1)
        assert not found.verdict.contested
    assert how in said(found)


def test_an_exit_code_gives_way_to_the_kernels_line(all_rules: RuleSet) -> None:
    """What the caller knows of the end is explained by the line that says why."""
    assert diagnose(untimed(), rules=all_rules, exit_code=137).verdict.status is Status.KILLED
    found = together(all_rules, untimed(), ("dmesg.txt", killed()), exit_code=137)
    assert found.verdict.cause == "host-memory"
    assert "process-end/killed" in {finding.rule for finding in found.verdict.chain}


@pytest.mark.parametrize(
    ("log", "line"),
    [
        pytest.param(untimed(), killed("firefox"), id="another program"),
        pytest.param(timed(), killed("firefox", time=AFTER), id="another program at the same time"),
        pytest.param(timed(), killed("sddm-greeter", time=AFTER), id="a name that only begins alike"),
        pytest.param(timed(), killed(time="[Wed Mar 11 08:45:16 2026]"), id="three quarters of an hour later"),
        pytest.param(timed(), killed(time="[Wed Mar 11 17:12:40 2026]"), id="hours later"),
        pytest.param(timed(), killed(time="[Wed Mar 11 14:02:12 2026]"), id="six hours later, to the second"),
        pytest.param(timed(), killed(time="[Tue Mar 10 08:02:12 2026]"), id="the day before"),
        pytest.param(timed(), killed(time="[Wed Mar 11 05:31:00 2026]"), id="hours before"),
        pytest.param("server started, pid 4711\n" + untimed(), killed(pid=9999), id="another pid"),
        pytest.param("server started, pid 4711\n" + timed(), killed(pid=9999, time=AFTER), id="another pid in time"),
        pytest.param(
            "server started, pid 4711\n" + untimed(), killed("firefox", pid=4711), id="a pid that came round again"
        ),
        pytest.param(
            vllm(failing=True), fault(who="pid=812, name=Xorg", time="[Mon Nov  9 12:00:40 2026]"), id="Xid of another"
        ),
        pytest.param(vllm(), fault(time="[Mon Nov  9 17:31:40 2026]"), id="Xid hours later"),
    ],
)
def test_what_is_about_another_stays_out(all_rules: RuleSet, log: str, line: str) -> None:
    """Another program, another pid or another hour is no part of the run, and a notice says why."""
    found = together(all_rules, log, ("dmesg.txt", line))
    assert_alone(found, log, all_rules)
    assert "dmesg.txt was not joined" in said(found)


def test_a_process_that_idled_is_known_by_its_pid(all_rules: RuleSet) -> None:
    """The kernel may end a server half an hour after its last line; its pid says that it is the same."""
    log = "server started, pid 4711\n" + timed()
    found = together(all_rules, log, ("dmesg.txt", killed(pid=4711, time="[Wed Mar 11 08:32:40 2026]")))
    assert found.verdict.cause == "host-memory"
    assert "30 min after the log's last line" in said(found)


def test_a_pid_is_not_enough_for_another_day(all_rules: RuleSet) -> None:
    """Pids come round again: hours away from the run the same number is another process."""
    log = "server started, pid 4711\n" + timed()
    assert_alone(together(all_rules, log, ("d", killed(pid=4711, time="[Wed Mar 11 19:47:40 2026]"))), log, all_rules)


@pytest.mark.parametrize("pid", [118, 44011])
def test_a_process_in_a_container_has_two_pids(all_rules: RuleSet, pid: int) -> None:
    """The host counts a container's processes anew, so that name and time decide there, not the pid."""
    cgroup = "/kubepods.slice/kubepods-burstable.slice/cri-containerd-00.scope"
    lines = (
        f"Nov 09 12:00:40 node kernel: oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task_memcg={cgroup},"
        f"task=VLLM::EngineCor,pid={pid},uid=0\n"
        + killed("VLLM::EngineCor", pid, "Nov 09 12:00:40 node kernel: Memory cgroup").replace(
            "cgroup Out", "cgroup out"
        )
    )
    found = together(all_rules, vllm(), ("kernel.txt", lines))
    assert (found.verdict.cause, found.verdict.rule) == ("host-memory", "kernel-memory/container-limit")


@pytest.mark.parametrize(
    "who", ["pid=30122, name=VLLM::EngineCor", "pid=30122, name=python3", "pid='<unknown>', name=<unknown>"]
)
def test_an_xid_is_the_root_of_a_fault_on_the_gpu(all_rules: RuleSet, who: str) -> None:
    """The driver's line decides where its time agrees; the engine's own error is then a consequence."""
    log = vllm(failing=True)
    found = together(all_rules, log, ("dmesg.txt", fault(79, who, "[Mon Nov  9 12:00:40 2026]")))
    assert (found.verdict.status, found.verdict.cause, found.verdict.file) == (Status.CRASH, "gpu-fault", "dmesg.txt")
    assert not found.verdict.contested
    assert diagnose(log, rules=all_rules).verdict.line == 4


def test_an_xid_is_the_root_of_a_silent_end(all_rules: RuleSet) -> None:
    """An engine that ends without a word at the time of a fault ended by it."""
    found = together(all_rules, vllm(), ("dmesg.txt", fault(time="[Mon Nov  9 12:00:40 2026]")))
    assert (found.verdict.cause, found.verdict.file) == ("gpu-fault", "dmesg.txt")


def test_what_nothing_ties_is_contested(all_rules: RuleSet) -> None:
    """A fault without a name and without a comparable time may be the reason, and is never lasting."""
    found = together(all_rules, vllm(failing=True), ("dmesg.txt", fault(79, "pid='<unknown>', name=<unknown>")))
    assert found.verdict.file == "dmesg.txt"
    assert found.verdict.contested
    assert not found.verdict.lasting
    assert "though nothing says that it is about this run" in said(found)


@pytest.mark.parametrize(
    "ending",
    [
        pytest.param(NO_DEVICE, id="its own failure"),
        pytest.param("strata-1 exited with code 0\n", id="an orderly end"),
    ],
)
def test_a_name_alone_explains_only_a_silent_end(all_rules: RuleSet, ending: str) -> None:
    """A run whose own log says how it ended is not overturned by a kill of the same name at an unknown time."""
    assert together(all_rules, STRATA, ("dmesg.txt", killed("strata"))).verdict.cause == "host-memory"
    log = STRATA + ending
    assert diagnose(log, rules=all_rules).verdict.status is not Status.UNKNOWN
    assert_alone(together(all_rules, log, ("dmesg.txt", killed("strata"))), log, all_rules)


def test_an_unknown_error_at_the_end_is_no_silence(all_rules: RuleSet) -> None:
    """Where the log ends with an error that no rule knows, a name alone ties so little that the verdict is contested."""
    log = STRATA + "strata generate: error: unknown option --frobnicate\n"
    assert together(all_rules, log, ("dmesg.txt", killed("strata"))).verdict.contested
    timely = killed("strata", time="[Wed Mar 11 08:01:50 2026]")
    assert not together(all_rules, log, ("dmesg.txt", timely)).verdict.contested


def test_readiness_takes_back_what_came_before_it(all_rules: RuleSet) -> None:
    """A fault that the log outlives does not decide: the engine got ready afterwards."""
    ready = "main: server is listening on http://127.0.0.1:8080 - starting the main loop"
    log = timed() + f"2026-03-11 08:02:40 {ready}\n2026-03-11 08:02:45 srv  update_slots: all slots are idle\n"
    found = together(
        all_rules, log, ("dmesg.txt", fault(79, "pid='<unknown>', name=<unknown>", "[Wed Mar 11 08:02:11 2026]"))
    )
    assert found.verdict.status is Status.PASS
    assert [loser.kind for loser in found.verdict.beaten if loser.finding.evidence.file] == ["ready"]


def test_an_event_belongs_to_the_run_of_its_time(all_rules: RuleSet) -> None:
    """Of two starts in a log the kernel's line is joined to the one that ended then; the headline stays that of the last."""
    log = STRATA + STRATA.replace("08:02:00", "09:40:00")
    found = together(all_rules, log, ("dmesg.txt", killed("strata", time="[Wed Mar 11 08:02:50 2026]")))
    alone = diagnose(log, rules=all_rules)
    assert [run.verdict.cause for run in found.runs] == ["host-memory", alone.verdict.cause]
    assert found.verdict == alone.verdict


@pytest.mark.parametrize(
    ("name", "text", "cause", "how"),
    [
        pytest.param("compose.log", "llama-1 exited with code 137\n", "killed", "the container llama-1", id="compose"),
        pytest.param(
            "events.txt",
            DIED,
            "host-memory",
            "the container chat, and by time, within 3 s",
            id="docker events",
        ),
        pytest.param(
            "pod.txt",
            DESCRIBED,
            "host-memory",
            "by name",
            id="kubectl describe",
        ),
        pytest.param(
            "unit.txt",
            "Mar 11 08:02:14 box systemd[1]: llama-server.service: A process of this unit has been killed by the OOM killer.\n",
            "host-memory",
            "the container llama-server, and by time, within 2 s",
            id="systemd",
        ),
        pytest.param(
            "pods.txt", PODS.replace("POD", "llama-0"), "host-memory", "the container llama-0", id="kubectl get pods"
        ),
        pytest.param(
            "ps.txt", LISTED.replace("NAME", "llama-chat"), "killed", "the container llama-chat", id="docker ps"
        ),
        pytest.param("inspect.json", INSPECTED, "host-memory", "by name", id="docker inspect"),
    ],
)
def test_who_runs_it_tells_of_its_end(all_rules: RuleSet, name: str, text: str, cause: str, how: str) -> None:
    """Exit codes and kills that Compose, Docker, Kubernetes and systemd tell are facts of the engine's end."""
    found = together(all_rules, timed(), (name, text))
    assert (found.verdict.cause, found.verdict.file) == (cause, name)
    assert how in said(found)


@pytest.mark.parametrize(
    "text",
    [
        "llama-1  | load_tensors: something else here\ndb-1 exited with code 137\n",
        "Mar 11 08:02:14 box systemd[1]: postgres.service: A process of this unit has been killed by the OOM killer.\n",
        OTHERS_DIED,
        PODS.replace("POD", "db-0"),
        LISTED.replace("NAME", "db"),
        INSPECTED.replace("llama.cpp:server", "postgres:17") + INSPECTED,
        "Mar 11 08:02:14 box sshd[99]: fatal: signal 9\n",
    ],
)
def test_another_container_stays_out(all_rules: RuleSet, text: str) -> None:
    """The end of another container, unit or service is none of the engine's."""
    assert_alone(together(all_rules, timed(), ("other.txt", text)), timed(), all_rules)


def test_a_copy_of_the_log_shows_whose_container_it_is(all_rules: RuleSet) -> None:
    """A container whose lines are the log's own is the engine's, whatever it is called, and no other is."""
    copy = "".join(f"inference-7  | {line}\n" for line in LOADING)
    found = together(
        all_rules, untimed(), ("compose.log", copy + "web-1 exited with code 137\ninference-7 exited with code 137\n")
    )
    assert (found.verdict.cause, found.verdict.line) == ("killed", 5)
    other = together(all_rules, untimed(), ("compose.log", copy + "web-1 exited with code 137\n"))
    assert_alone(other, untimed(), all_rules)


def test_what_follows_a_copy_of_the_log_follows_the_log(all_rules: RuleSet) -> None:
    """A line that names nobody, right behind the log's own lines, is joined by order."""
    found = together(all_rules, untimed(), ("window.txt", "$ ./run.sh\n" + untimed() + "Killed\n"))
    assert (found.verdict.cause, found.verdict.line) == ("killed", 5)
    assert "by order" in said(found)


def test_a_file_beside_itself_says_nothing_new(all_rules: RuleSet) -> None:
    """A log beside itself is told once."""
    log = (CORPUS / "container" / "container-137-and-oom-line.log").read_text("utf-8")
    assert_alone(together(all_rules, log, ("same.log", log)), log, all_rules)


def test_one_log_with_everything_and_two_files_agree(all_rules: RuleSet) -> None:
    """The engine's log and the kernel's lines get the same verdict apart as they get in one file."""
    whole = (CORPUS / "strata" / "oom-killer-in-kernel-log.log").read_text("utf-8").splitlines(keepends=True)
    one = diagnose("".join(whole), rules=all_rules).verdict
    apart = together(all_rules, "".join(whole[:45]), ("dmesg.txt", "".join(whole[46:]))).verdict
    assert (apart.status, apart.cause, apart.rule) == (one.status, one.cause, one.rule)
    assert (apart.file, apart.line) == ("dmesg.txt", 1)


@pytest.mark.parametrize("family", ["llamacpp", "vllm", "ollama"])
def test_a_file_that_says_nothing_changes_nothing(all_rules: RuleSet, family: str) -> None:
    """With a healthy kernel's log beside it every log has the diagnosis that it has alone."""
    quiet = NamedBytes(
        "dmesg.txt", "[    0.000000] Linux version 6.8.0\n[   12.100000] EXT4-fs (nvme0n1p2): mounted filesystem\n"
    )
    beside = read_companion(quiet, rules=all_rules)
    for path in sorted((CORPUS / family).glob("*.log"))[:12]:
        assert diagnose_together(path, [beside], rules=all_rules) == diagnose(path, rules=all_rules), path.name


def test_hostile_files_break_nothing(all_rules: RuleSet, tmp_path: Path) -> None:
    """A file that is missing, a folder, empty, binary or without line ends is a notice, and the log's verdict stands."""
    beside: list[Path | NamedBytes] = [
        tmp_path / "missing.txt",
        tmp_path,
        NamedBytes("empty.txt", b""),
        NamedBytes("binary.bin", bytes(range(256)) * 50),
        NamedBytes("long.txt", b"x" * 700_000),
        NamedBytes("\x1b[31mred.txt", killed("firefox")),
    ]
    found = diagnose_together(untimed(), beside, rules=all_rules)
    assert_alone(found, untimed(), all_rules)
    for word in ("missing.txt", "is a folder", "empty.txt is empty", "red.txt"):
        assert word in said(found)


def test_a_large_file_is_read_as_far_as_its_bound(all_rules: RuleSet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an endless file only so much is read, and a notice says it; what stood before is used."""
    monkeypatch.setattr(reading, "LARGEST_COMPANION", 1024**2)

    class Endless(NamedBytes):
        """Gives its first line and then goes on for ever."""

        def read1(self, size: int | None = -1, /) -> bytes:
            return super().read(size) or b"[    1.000000] nothing\n" * 1000

        def readinto1(self, buffer: object, /) -> int:
            assert isinstance(buffer, memoryview)
            chunk = self.read1(len(buffer))[: len(buffer)]
            buffer[: len(chunk)] = chunk
            return len(chunk)

    found = diagnose_together(untimed(), [Endless("endless.txt", killed())], rules=all_rules)
    assert found.verdict.file == "endless.txt"
    assert "endless.txt is large" in said(found)


def test_many_kills_are_bounded(all_rules: RuleSet) -> None:
    """A kernel's log with thousands of kills is searched in bounded time, and the engine's own is still found."""
    others = "".join(killed(f"worker{number}", 100 + number) for number in range(4000))
    found = together(all_rules, untimed(), ("dmesg.txt", others + killed()))
    assert (found.verdict.file, found.verdict.line) == ("dmesg.txt", 4001)


def test_the_json_names_the_file(all_rules: RuleSet) -> None:
    """The key `file` stands where a line is another file's, and nowhere else."""
    found = together(all_rules, timed(), ("dmesg.txt", killed(time=AFTER)), ("c.log", "llama-1 exited with code 137\n"))
    verdict = found.to_dict()["verdict"]
    assert verdict["file"] == "dmesg.txt"
    assert {one.get("file") for one in verdict["chain"]} == {"dmesg.txt", "c.log"}
    assert "file" not in diagnose(timed(), rules=all_rules, exit_code=137).to_dict()["verdict"]


def test_pids_inside_and_outside_a_container_are_not_compared(all_rules: RuleSet) -> None:
    """A log with pid 1 counts as its container does; the kernel's pid of the same process is another number."""
    found = together(all_rules, vllm(), ("dmesg.txt", killed("VLLM::EngineCor", 44011)))
    assert (found.verdict.cause, found.verdict.contested) == ("host-memory", False)
    bare = vllm().replace("pid=1)", "pid=4001)").replace("pid=118)", "pid=4118)")
    assert_alone(together(all_rules, bare, ("dmesg.txt", killed("VLLM::EngineCor", 44011))), bare, all_rules)


def test_a_kill_is_not_a_fault_of_the_card(all_rules: RuleSet) -> None:
    """A log that ends with `Killed` is not explained by a fault of the GPU that names nobody and tells no comparable time."""
    log = untimed() + "Killed\n"
    lost = fault(79, "pid='<unknown>', name=<unknown>")
    assert_alone(together(all_rules, log, ("dmesg.txt", lost)), log, all_rules)
    assert together(all_rules, log, ("dmesg.txt", lost + killed())).verdict.cause == "host-memory"


def test_the_systems_own_words_for_a_program_are_read(all_rules: RuleSet) -> None:
    """In a journal a driver's line names no program, and what another program says of itself stays out."""
    journal = (
        "[ 4021.118010] amdgpu 0000:0c:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=71, emitted seq=73\n"
        "Mar 11 08:02:14 box backup[77]: Out of memory: Killed process 77 (llama-server)\n"
    )
    found = together(all_rules, timed((*LOADING, "server started, pid 4711")), ("journal.txt", journal))
    assert found.verdict.line == 1
    assert found.verdict.contested


def test_of_many_starts_the_last_ones_are_compared(all_rules: RuleSet) -> None:
    """A log of thousands of starts is compared as far as its last ones, and a notice says so."""
    log = "".join(
        STRATA.replace("08:02:00", f"{hour:02d}:{minute:02d}:00") for hour in range(2) for minute in range(60)
    )
    found = together(all_rules, log, ("dmesg.txt", killed("strata", time="[Wed Mar 11 01:30:20 2026]")))
    assert [number for number, run in enumerate(found.runs) if run.verdict.file] == [90]
    assert "only the last 64 starts were compared" in said(found)


def test_a_child_of_a_service_is_known_by_name_and_time(all_rules: RuleSet) -> None:
    """Ollama's runner has a pid of its own, which its journal does not tell; at the time of its end its name is enough."""
    log = (
        'Mar 11 08:02:10 box ollama[1204]: time=2026-03-11T08:02:10.100Z level=INFO source=server.go:1 msg="starting runner"\n'
        'Mar 11 08:02:12 box ollama[1204]: time=2026-03-11T08:02:12.100Z level=INFO source=server.go:9 msg="waiting for runner"\n'
    )
    near = killed("ollama", 5678, "Mar 11 08:02:13 box kernel:")
    found = together(all_rules, log, ("kernel.txt", near))
    assert (found.verdict.cause, found.verdict.contested) == ("host-memory", False)
    assert_alone(together(all_rules, log, ("dmesg.txt", killed("ollama", 5678))), log, all_rules)
