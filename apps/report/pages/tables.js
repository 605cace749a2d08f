// Sorts a table of class "sort" by the column whose head is clicked. The page is also XML, so this script must not
// contain less-than signs or ampersands.
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
