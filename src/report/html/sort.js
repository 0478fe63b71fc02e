"use strict";
document.querySelectorAll("table.sortable").forEach(function (table) {
  var heads = Array.from(table.tHead.rows[0].cells);
  var body = table.tBodies[0];
  heads.forEach(function (head, column) {
    var numeric = head.classList.contains("number");
    var button = document.createElement("button");
    button.type = "button";
    while (head.firstChild) { button.appendChild(head.firstChild); }
    head.appendChild(button);
    button.addEventListener("click", function () {
      var old = head.getAttribute("aria-sort");
      var down = old === null ? numeric : old === "ascending";
      var keyed = Array.from(body.rows, function (row) {
        var text = row.cells[column].textContent;
        return { row: row, key: numeric ? parseFloat(text) : text };
      });
      keyed.sort(function (one, other) {
        if (!numeric) {
          var order = one.key.localeCompare(other.key, undefined, { numeric: true });
          return down ? -order : order;
        }
        // What has no number stays last either way.
        if (isNaN(one.key)) { return isNaN(other.key) ? 0 : 1; }
        if (isNaN(other.key)) { return -1; }
        return down ? other.key - one.key : one.key - other.key;
      });
      body.append.apply(body, keyed.map(function (entry) { return entry.row; }));
      heads.forEach(function (each) { each.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
    });
  });
});
