// Fits plots into a narrow window. A plot shrinks to 56 % of its size at most, because smaller text is illegible;
// a wider one scrolls, and begins at its best candidate. The page is also XML, so this script must not contain less-than
// signs or ampersands.

// Writes the head and the caption of a plot, which scroll out of sight, above it.
const repeat_top = (plot, svg) => {
  if (plot.previousElementSibling?.className === "top-of-plot soft") return;
  const text = document.createElement("p");
  text.className = "top-of-plot soft";
  const lines = name => [...svg.querySelectorAll(name)].map(line => line.textContent).join(" ");
  text.textContent = lines(".head") + ": " + lines(".caption");
  plot.before(text);
};

const narrow = matchMedia("(max-width:860px)");
const fit = root => {
  for (const plot of root.querySelectorAll(".plot")) {
    const svg = plot.querySelector("svg"), room = plot.clientWidth, natural = Number(svg.getAttribute("width"));
    svg.style.width = "";
    if (!narrow.matches || !room || room >= natural) continue;
    svg.style.width = Math.max(room, 0.56 * natural) + "px";
    plot.scrollLeft = 0;
    const mark = svg.querySelector(".core, .star")?.getBoundingClientRect(), frame = plot.getBoundingClientRect();
    if (!mark || frame.right >= mark.right) continue;
    plot.scrollLeft = (mark.left + mark.right - frame.left - frame.right) / 2;
    repeat_top(plot, svg);
  }
};
fit(document);
let width = innerWidth;
addEventListener("resize", () => {
  if (width !== innerWidth) fit(document);  // phones also report a change of the height while the reader scrolls
  width = innerWidth;
});
document.addEventListener("toggle", event => fit(event.target), true);
