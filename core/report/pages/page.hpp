// The looks of report.html, and the one thing its script does: sorting tables. Neither holds '<' or '&', so that the
// page is well-formed XML too.
#pragma once

#include <string_view>

namespace mokume::report {

inline constexpr std::string_view kPageStyle = R"(
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#171c26;--soft:#56606f;--faint:#6b7686;--line:#e3e7ec;--accent:#2a5f98;--warm:#b75a08;--good:#1a7f4b;--bad:#c0322b}
@media (prefers-color-scheme:dark){:root{--page:#0d1117;--card:#161b22;--ink:#e8ecf2;--soft:#9aa5b4;--faint:#8590a0;--line:#262d37;--accent:#7fb2e5;--warm:#f0a04b;--good:#56c288;--bad:#ff7b72}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","DejaVu Sans",sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1120px;margin:0 auto;padding:48px 24px 64px}
header{margin-bottom:32px}
.over{color:var(--faint);font-size:13px;letter-spacing:.02em;display:flex;gap:10px;align-items:center}
h1{font-size:32px;line-height:1.2;letter-spacing:-.015em;font-weight:650;margin:6px 0;overflow-wrap:anywhere}
h2{font-size:18px;line-height:1.3;font-weight:620;margin:0 0 4px;letter-spacing:-.005em}
h3{font-size:13px;font-weight:600;color:var(--soft);margin:24px 0 8px}
p{margin:0;max-width:110ch}
.soft{color:var(--soft)}
.pill{border:1px solid currentColor;border-radius:99px;padding:0 9px;font-size:12px;line-height:20px;color:var(--warm)}
.pill.done{color:var(--good)}
.tiles{display:grid;grid-template-columns:repeat(4,1fr);gap:16px;margin:0 0 16px}
.tile,section{background:var(--card);border:1px solid var(--line);border-radius:10px}
.tile{padding:16px 18px}
.tile b{display:block;font-size:26px;line-height:1.25;font-weight:620;letter-spacing:-.015em;margin:2px 0}
.tile span{display:block;font-size:13px;color:var(--soft)}
.tile span:first-child{color:var(--faint)}
.best{display:flex;flex-wrap:wrap;gap:8px 32px;padding:14px 18px;margin-bottom:32px}
.best div{min-width:72px}
.best dt,.best span{font-size:13px;color:var(--faint)}
.best dd{margin:0;font-weight:600;font-size:17px;overflow-wrap:anywhere}
.best dl{display:contents}
section{padding:24px 24px 26px;margin-top:24px}
section p.soft{margin-bottom:16px;font-size:14px}
.plot svg{display:block;max-width:100%;height:auto;margin:0 auto}
.plot + .plot{margin-top:24px}
.main svg{width:660px}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(440px,1fr));gap:16px}
.grid .plot{margin:0}
.grid svg{width:100%}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px}
th{font-weight:500;font-size:13px;color:var(--faint);text-align:left;white-space:nowrap}
th,td{padding:7px 26px 7px 0;border-bottom:1px solid var(--line);vertical-align:baseline}
tr:last-child td{border-bottom:0}
th.n,td.n{text-align:right;white-space:nowrap}
th:last-child,td:last-child{padding-right:0}
.sort th{cursor:pointer;user-select:none}
.sort th:hover,.sort th[aria-sort]{color:var(--ink)}
.sort th[aria-sort=ascending]::after{content:" ↑"}
.sort th[aria-sort=descending]::after{content:" ↓"}
tr.first td{color:var(--warm);font-weight:600}
.counts{display:flex;flex-wrap:wrap;gap:8px 36px;margin:12px 0 0}
.counts div b{font-weight:620;font-size:20px;display:block}
.counts div{font-size:13px;color:var(--soft)}
.counts .bad b{color:var(--bad)}
details{margin-top:20px}
details > :not(summary){margin-top:14px}
summary{cursor:pointer;color:var(--accent);font-size:14px}
pre{margin:0;padding:14px 16px;background:var(--page);border:1px solid var(--line);border-radius:8px;overflow-x:auto;font:13px/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:6px 24px;margin:12px 0 0;font-size:14px}
.facts dt{color:var(--faint)}
.facts dd{margin:0;overflow-wrap:anywhere}
footer{margin-top:28px;color:var(--faint);font-size:13px;overflow-wrap:anywhere}
@media (max-width:860px){.tiles{grid-template-columns:repeat(2,1fr)}.grid{grid-template-columns:1fr}main{padding:28px 14px}section{padding:18px 16px}}
@media print{body{background:none}section,.tile{break-inside:avoid}}
)";

inline constexpr std::string_view kPageScript = R"(
for (const table of document.querySelectorAll("table.sort")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, column) => {
    const key = row => row.cells[column].dataset.v ?? row.cells[column].textContent;
    const order = (a, b) => {
      const x = Number(key(a)), y = Number(key(b));
      return isNaN(x) || isNaN(y) ? key(a).localeCompare(key(b)) : x - y;
    };
    const sort = () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      body.append(...[...body.rows].sort((a, b) => up ? order(a, b) : order(b, a)));
    };
    head.tabIndex = 0;
    head.addEventListener("click", sort);
    head.addEventListener("keydown", event => { if (event.key === "Enter") sort(); });
  });
}
)";

}  // namespace mokume::report
