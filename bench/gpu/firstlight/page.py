"""Renders the page, one self-contained HTML file with all tables and the end of each log."""
import html as escape
from pathlib import Path
from typing import Any, Dict, List

LOG_END = 6000  # characters of each log on the page; logs.tar.gz has all of them
STYLE = """body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:80em;padding:0 1em}
table{border-collapse:collapse;margin:.5em 0 1.5em}td,th{border:1px solid #bbb;padding:.15em .6em;text-align:left;
vertical-align:top}td.n{text-align:right;font-variant-numeric:tabular-nums}pre{background:#f4f4f4;padding:.7em;
white-space:pre-wrap;overflow-wrap:anywhere}.failed{color:#b00}.partly,.skipped{color:#a60}.done{color:#070}"""


def text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10000 else str(value)
    return "" if value is None else str(value)


def _cell(value: Any) -> str:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    shown = escape.escape(text(value))
    return f"<td class=n>{shown}</td>" if number else f"<td>{shown}</td>"


def columns(rows: List[Dict[str, Any]]) -> List[str]:
    names: Dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    return list(names)


def _table(rows: List[Dict[str, Any]]) -> str:
    names = columns(rows)
    head = "".join(f"<th>{escape.escape(name.replace('_', ' '))}</th>" for name in names)
    body = "".join("<tr>" + "".join(_cell(row.get(name)) for name in names) + "</tr>\n" for row in rows)
    return f"<table><tr>{head}</tr>\n{body}</table>\n"


def _overview(result: Dict[str, Any]) -> str:
    rows = ""
    for name, step in result["steps"].items():
        rows += (f"<tr><td><a href='#{name}'>{name}</a></td><td class='{step['status']}'>{step['status']}</td>"
                 f"<td class=n>{step['seconds']:.1f}</td><td>{escape.escape(step.get('reason', ''))}</td></tr>\n")
    return f"<table><tr><th>step</th><th>status</th><th>seconds</th><th>why</th></tr>\n{rows}</table>\n"


def _commands(step: Dict[str, Any]) -> str:
    rows = ""
    for one in step["commands"]:
        link = one["log"].replace("/", "-")
        name, end, line = (escape.escape(part) for part in (one["name"], one["status"], one["command"][:300]))
        rows += (f"<tr><td><a href='#{link}'>{name}</a></td><td>{end}</td><td class=n>{one['seconds']:.1f}</td>"
                 f"<td><code>{line}</code></td></tr>\n")
    return f"<table><tr><th>command</th><th>end</th><th>seconds</th><th></th></tr>\n{rows}</table>\n" if rows else ""


def _builds(result: Dict[str, Any]) -> str:
    rows = result.get("builds", [])
    if not rows:
        return ""
    times, seconds = sum(row["times"] for row in rows), sum(row["seconds"] for row in rows)
    return (f"<h2>Programs that the driver compiled</h2>\n<p>{times} builds of {len(rows)} programs, "
            f"{seconds:.1f} s</p>\n" + _table(rows))


def _end_of(path: Path) -> str:
    try:
        whole = path.read_text(errors="replace")
    except OSError:
        return ""
    return whole if len(whole) <= LOG_END else f"... {len(whole) - LOG_END} characters before ...\n" + whole[-LOG_END:]


def _logs(result: Dict[str, Any], work: Path) -> str:
    parts = []
    for step in result["steps"].values():
        for one in step["commands"]:
            shown = "\n".join(filter(None, (_end_of(work / (one["log"] + end)) for end in (".out", ".err"))))
            if shown:
                link = one["log"].replace("/", "-")
                parts.append(f"<details id='{link}'><summary>{escape.escape(one['log'])}</summary>"
                             f"<pre>{escape.escape(shown)}</pre></details>\n")
    return "<h2>Logs</h2>\n<p>Whole in logs.tar.gz.</p>\n" + "".join(parts) if parts else ""


def html(result: Dict[str, Any], work: Path) -> str:
    title = "First light" + (" (rehearsal)" if result["rehearsal"] else "")
    machine = [{"what": key, "is": value} for key, value in result["machine"].items()]
    machine += [{"what": f"bundle: {key}", "is": text(value)} for key, value in result["bundle"].items()]
    body = (f"<h1>{title}</h1>\n<p>{result['started']}, {result.get('seconds', 0):.0f} s</p>\n"
            + _overview(result) + "<h2>Machine</h2>\n" + _table(machine))
    for name, step in result["steps"].items():
        body += f"<h2 id='{name}'>{name}</h2>\n"
        body += "".join(f"<h3>{escape.escape(t)}</h3>\n{_table(rows)}" for t, rows in step["tables"].items() if rows)
        body += _commands(step)
    body += _builds(result) + _logs(result, work)
    return (f"<!doctype html>\n<html lang=en><meta charset=utf-8><title>{title}</title>\n<style>{STYLE}</style>\n"
            f"<body>\n{body}</body></html>\n")


def summary(result: Dict[str, Any]) -> str:
    """Returns one line per step, for a terminal."""
    lines = [f"{name:12} {step['status']:8} {step['seconds']:7.1f} s  {step.get('reason', '')}"
             for name, step in result["steps"].items()]
    return "\n".join(lines)


def plain(title: str, rows: List[Dict[str, Any]], most: int = 40) -> str:
    """Returns a table as text, for a terminal."""
    names = columns(rows)
    cells = [names] + [[text(row.get(name))[:90] for name in names] for row in rows[:most]]
    widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
    lines = ["  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in cells]
    return "\n".join([title] + lines)
