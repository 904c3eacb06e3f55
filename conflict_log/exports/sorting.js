// Sorts the table by the column whose head was clicked; the table may be another by now.
let sorted = null;
function sortRows() {
  const table = document.getElementById("rows");
  if (table === null || sorted === null) return;
  const heads = table.tHead.rows[0].cells;
  for (const head of heads) head.removeAttribute("aria-sort");
  heads[sorted.column].setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
  const value = (row) => row.cells[sorted.column].dataset.value;
  const rows = [...table.tBodies[0].rows].sort((one, other) => {
    const a = value(one), b = value(other);
    const order = isNaN(a) ? a.localeCompare(b) : a - b;
    return sorted.down ? -order : order;
  });
  table.tBodies[0].append(...rows);
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("#rows th button");
  if (button === null) return;
  const head = button.parentElement;
  sorted = { column: head.cellIndex, down: head.getAttribute("aria-sort") !== "descending" };
  sortRows();
});
