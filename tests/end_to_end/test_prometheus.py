"""A real Prometheus scrapes a machine during play: its metrics, every alert rule and every panel.

It needs Debian's package ``prometheus`` (with ``promtool``); without it, these tests are skipped.
"""

import asyncio
import contextlib
import json
import re
import shutil
import socket
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from run_rig import EGM, ONE_GAME, Visit, cabinet

import tools.floor
from egm.config.cabinet_file import StateFolder
from egm.links.metrics import build_series
from egm.progressive.messages import LevelValue
from meters import open_view
from tools.floor.progressive.controller_metrics import ControllerMetrics
from tools.floor.progressive.signs import SignRecord

#: Exported from the first time it happens: a rule about it is silent until then.
WHEN_IT_OCCURS = {"egm_tilt", "egm_door_open"}
MONITORING = Path(tools.floor.__file__).parent / "monitoring"

pytestmark = pytest.mark.skipif(
    not (shutil.which("prometheus") and shutil.which("promtool")),
    reason="Debian's package prometheus is not installed",
)


def promtool(*arguments, input_text=None):
    result = subprocess.run(["promtool", *arguments], input=input_text, capture_output=True, check=False)
    assert result.returncode == 0, (result.stdout + result.stderr).decode()
    return (result.stdout + result.stderr).decode()


class Prometheus:
    """A Prometheus for one test that scrapes one machine."""

    def __init__(self, folder: Path, target: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{probe.getsockname()[1]}"
        self.folder = folder
        folder.mkdir()
        shutil.copy(MONITORING / "alerts.yml", folder)
        config = (MONITORING / "prometheus.yml").read_text().replace("127.0.0.1:9477", target)
        config = config.replace("scrape_interval: 5s", "scrape_interval: 1s")
        (folder / "prometheus.yml").write_text(
            config.replace("evaluation_interval: 15s", "evaluation_interval: 1s")
        )

    @contextlib.asynccontextmanager
    async def running(self):
        with (self.folder / "said").open("wb") as output_file:
            process = await asyncio.create_subprocess_exec(
                "prometheus",
                f"--config.file={self.folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={self.folder / 'data'}",
                f"--web.listen-address={self.address}",
                stdout=output_file, stderr=output_file,
            )  # fmt: skip
            try:
                yield
            finally:
                process.terminate()
                await process.wait()

    def _get(self, path: str, **values: str):
        address = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(values)}"
        with urllib.request.urlopen(address) as answer:
            report = json.load(answer)
        assert report["status"] == "success", report
        return report["data"]

    def names(self) -> list[str]:
        """Return the names of all metrics."""
        return self._get("label/__name__/values")

    async def query(self, expression: str) -> list[dict]:
        return (await asyncio.to_thread(self._get, "query", query=expression))["result"]

    async def rules(self) -> list[dict]:
        groups = (await asyncio.to_thread(self._get, "rules"))["groups"]
        return [rule for group in groups for rule in group["rules"]]

    async def until(self, query, condition):
        """Query Prometheus until its answer satisfies the condition."""
        async with asyncio.timeout(120):
            while True:
                with contextlib.suppress(OSError):
                    answer = await query()
                    if condition(answer):
                        return answer
                await asyncio.sleep(0.2)


async def readout(folder: StateFolder) -> dict:
    """Return the output of ``egm meters`` as a process beside the machine."""
    process = await asyncio.create_subprocess_exec(
        *EGM, "meters", "--json", "--state", str(folder.root), stdout=subprocess.PIPE
    )
    output, _ = await process.communicate()
    return json.loads(output)


async def live_a_little(visit: Visit) -> None:
    """Let everything that is counted happen once."""
    await visit.operate_until_accepted("bill", "insert", amount_cents=500)
    await visit.wait_until_shown(credit_cents=500)
    for _ in range(3):
        await visit.play_game()
        await visit.wait_until_shown(state="idle")
    await visit.operate("io", "door", name="main", open=True)
    await visit.wait_until_shown(state="door_open")
    await visit.operate("io", "door", name="main", open=False)
    await visit.wait_until_shown(state="idle")
    await visit.operate("printer", "paper", tickets=0)
    visit.send_intent("game", "lantern-harbour")  # which has progressive levels
    await visit.wait_until_shown(game_id="lantern-harbour")


def queries() -> list[tuple[str, str]]:
    """Return title and query of every panel, with values for Grafana's variables."""
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    return [
        (panel["title"], target["expr"].replace("$instance", ".*").replace("$__rate_interval", "1m"))
        for panel in dashboard["panels"]
        for target in panel.get("targets", ())
    ]


@pytest.mark.requirement("K-08", "D-16", "K-14")
def test_prometheus_has_the_journals_numbers_and_every_panel_and_rule_works(tmp_path):
    folder = StateFolder(tmp_path / "state")

    async def session():
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(
                cabinet(folder, tables="[sas.floor]\n", games=(*ONE_GAME, "lantern-harbour"))
            )
            visit = await stack.enter_async_context(Visit.connect(folder))
            await visit.wait_until_shown(state="idle", notices=())
            await live_a_little(visit)
            port = (folder.run_folder / "metrics.port").read_text()
            text = await asyncio.to_thread(
                lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").read()
            )
            assert await asyncio.to_thread(promtool, "check", "metrics", input_text=text) == ""
            prometheus = Prometheus(tmp_path / "prometheus", f"127.0.0.1:{port}")
            await stack.enter_async_context(prometheus.running())

            readings = {}

            async def is_scraped():
                nonlocal readings
                found = await prometheus.query("egm_journal_sequence")
                with open_view(folder.root) as view:
                    if not found or int(found[0]["value"][1]) != view.sequence:
                        return False
                readings = await readout(folder)
                return int(found[0]["value"][1]) == readings["sequence"]

            await prometheus.until(is_scraped, bool)
            for meter, value in readings["meters"].items():
                if ".since_" in meter:
                    continue
                series = build_series(meter)
                labels = ",".join(f'{key}="{label}"' for key, label in series.labels.items())
                [found] = await prometheus.query(f"{series.name}{{{labels}}}")
                assert int(found["value"][1]) == value, meter
            assert readings["meters"]["games_played"] == 3

            names = set(await asyncio.to_thread(prometheus.names))
            rules = (MONITORING / "alerts.yml").read_text()
            assert set(re.findall(r"\begm_[a-z_]+", rules)) <= names | WHEN_IT_OCCURS
            for title, query in queries():
                try:  # a rate needs two scrapes that differ
                    await prometheus.until(lambda query=query: prometheus.query(query), bool)
                except TimeoutError:
                    pytest.fail(f"panel {title!r} shows nothing: {query}")

            fires = await prometheus.until(
                prometheus.rules,
                lambda rules: any(rule["name"] == "EgmPaper" and rule["state"] == "firing" for rule in rules),
            )
            assert {rule["health"] for rule in fires} == {"ok"}
            firing = {rule["name"] for rule in fires if rule["state"] == "firing"}
            assert firing == {"EgmPaper"}, "nothing else is wrong with this machine"

    asyncio.run(session())


@pytest.mark.parametrize("name", ["alerts", "alerts-controller"])
def test_every_alert_fires_at_its_first_occurrence(tmp_path, name):
    """Tested with Prometheus' own rule tests, which compare labels but not annotations."""
    rules = (MONITORING / f"{name}.yml").read_text()
    (tmp_path / f"{name}.yml").write_text(re.sub(r"\n {8}annotations:(\n {10}.*)+", "", rules))
    tests = shutil.copy(Path(__file__).with_name(f"{name}.test.yml"), tmp_path)
    assert "SUCCESS" in promtool("test", "rules", str(tests))
    names = re.findall(r"- alert: (\w+)", rules)
    assert re.findall(r"- name: (\w+)", Path(tests).read_text()) == names
    assert set(re.findall(r"alertname: (\w+), eval_time: \w+, exp_alerts", Path(tests).read_text())) == set(
        names
    )


def test_the_controllers_alerts_use_metrics_that_it_exports():
    readings = ControllerMetrics()
    sign = SignRecord(id="1", status="lit", status_since="", heard_at="", shown_cents_by_level={})
    readings.replace_metrics([LevelValue(level="A", sequence=1, time_utc="", amount_cents=7)], [sign], 0)
    names = {metric.name for metric in readings.collect()}
    rules = (MONITORING / "alerts-controller.yml").read_text()
    assert set(re.findall(r"\begm_[a-z_]+", rules)) <= names


@pytest.mark.parametrize("suffix", ["", "-controller"])
def test_promtool_accepts_the_rules_and_configurations(tmp_path, suffix):
    assert "SUCCESS" in promtool("check", "rules", str(MONITORING / f"alerts{suffix}.yml"))
    shutil.copytree(MONITORING, tmp_path / "m")
    assert "SUCCESS" in promtool("check", "config", str(tmp_path / "m" / f"prometheus{suffix}.yml"))
